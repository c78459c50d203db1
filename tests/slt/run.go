package main

import (
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"sort"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// outcome is what happened to one file.
type outcome struct {
	passed, failed int
	failures       []string // the first few, in words
}

// runner runs files against one server.
type runner struct {
	url      string
	extended bool
	showMax  int // failures described per file
}

// runFile makes a database, runs every record of a file in it, and drops it.
func (r *runner) runFile(ctx context.Context, path string) (outcome, error) {
	records, err := parseFile(path)
	if err != nil {
		return outcome{}, err
	}
	const database = "herd_slt"
	admin, err := pgconn.Connect(ctx, r.url)
	if err != nil {
		return outcome{}, fmt.Errorf("connect for tests: %w", err)
	}
	defer admin.Close(ctx)
	for _, sql := range []string{"DROP DATABASE IF EXISTS " + database, "CREATE DATABASE " + database} {
		if _, err := admin.Exec(ctx, sql).ReadAll(); err != nil {
			return outcome{}, fmt.Errorf("%s: %w", sql, err)
		}
	}
	u, err := url.Parse(r.url)
	if err != nil {
		return outcome{}, err
	}
	u.Path = "/" + database
	out, err := r.runRecords(ctx, u.String(), records)
	if err != nil {
		return out, err
	}
	_, err = admin.Exec(ctx, "DROP DATABASE "+database).ReadAll()
	return out, err
}

func (r *runner) runRecords(ctx context.Context, address string, records []record) (outcome, error) {
	var out outcome
	c, err := pgconn.Connect(ctx, address)
	if err != nil {
		return out, fmt.Errorf("connect for tests: %w", err)
	}
	defer func() { c.Close(ctx) }()
	for i := range records {
		if c.IsClosed() {
			if c, err = pgconn.Connect(ctx, address); err != nil {
				return out, fmt.Errorf("connect again after line %d: %w", records[i-1].line, err)
			}
		}
		problem := r.runRecord(ctx, c, &records[i])
		if problem == "" {
			out.passed++
			continue
		}
		out.failed++
		if len(out.failures) < r.showMax {
			out.failures = append(out.failures, fmt.Sprintf("line %d: %s\n    %s", records[i].line, strings.ReplaceAll(records[i].sql, "\n", "\n    "), problem))
		}
	}
	return out, nil
}

// runRecord returns what is wrong with the server's answer, or "".
func (r *runner) runRecord(ctx context.Context, c *pgconn.PgConn, rec *record) string {
	result, err := r.execute(ctx, c, rec.sql)
	if rec.state != "" {
		var pgErr *pgconn.PgError
		if err == nil {
			return "succeeded, expected error " + rec.state
		}
		if !errors.As(err, &pgErr) || pgErr.Code != rec.state {
			return fmt.Sprintf("got error %v, expected %s", err, rec.state)
		}
		return ""
	}
	if err != nil {
		return "got error " + err.Error()
	}
	if !rec.query {
		return ""
	}
	if result.columns != rec.columns {
		return fmt.Sprintf("got %d columns, expected %d", result.columns, rec.columns)
	}
	return compare(flatten(result.rows, rec.sort), rec.want)
}

// answer is a result with its columns, which a result without rows has, too.
type answer struct {
	columns int
	rows    [][][]byte
}

func (r *runner) execute(ctx context.Context, c *pgconn.PgConn, sql string) (*answer, error) {
	if r.extended {
		return readAnswer(c.ExecParams(ctx, sql, nil, nil, nil, nil))
	}
	results := c.Exec(ctx, sql)
	var all []*answer
	for results.NextResult() {
		a, err := readAnswer(results.ResultReader())
		if err != nil {
			return nil, errors.Join(err, results.Close())
		}
		all = append(all, a)
	}
	if err := results.Close(); err != nil {
		return nil, err
	}
	if len(all) != 1 {
		return nil, fmt.Errorf("%d results for one statement", len(all))
	}
	return all[0], nil
}

func readAnswer(reader *pgconn.ResultReader) (*answer, error) {
	a := &answer{}
	for reader.NextRow() {
		row := make([][]byte, len(reader.Values()))
		for i, v := range reader.Values() {
			row[i] = slices.Clone(v)
		}
		a.rows = append(a.rows, row)
	}
	_, err := reader.Close()
	a.columns = len(reader.FieldDescriptions())
	return a, err
}

// flatten writes values as the files do and sorts rows or values.
func flatten(rows [][][]byte, order string) []string {
	texts := make([][]string, len(rows))
	for i, row := range rows {
		for _, v := range row {
			switch {
			case v == nil:
				texts[i] = append(texts[i], "NULL")
			case len(v) == 0:
				texts[i] = append(texts[i], "(empty)")
			default:
				texts[i] = append(texts[i], string(v))
			}
		}
	}
	if order == "rowsort" {
		slices.SortFunc(texts, slices.Compare[[]string])
	}
	flat := slices.Concat(texts...)
	if order == "valuesort" {
		sort.Strings(flat)
	}
	return flat
}

// compare holds values against the recorded lines, which are values or a count and a digest.
func compare(got, want []string) string {
	const digestFrom = 30
	if len(got) > digestFrom {
		sum := md5.Sum([]byte(strings.Join(got, "\n") + "\n"))
		line := fmt.Sprintf("%d values hashing to %x", len(got), sum)
		if len(want) == 1 && want[0] == line {
			return ""
		}
		return fmt.Sprintf("got %s, expected %s", line, strings.Join(want, " "))
	}
	if slices.Equal(got, want) {
		return ""
	}
	return fmt.Sprintf("got %q, expected %q", got, want)
}
