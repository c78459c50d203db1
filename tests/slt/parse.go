package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// record is one statement or query of a test file.
type record struct {
	line    int
	sql     string
	query   bool
	state   string // expected SQLSTATE of a statement; empty when it must succeed
	sort    string // nosort, rowsort or valuesort
	columns int
	want    []string // lines after ----
}

// parseFile reads a test file. Errors name file and line.
func parseFile(path string) ([]record, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var records []record
	lines := strings.Split(string(text), "\n")
	for i := 0; i < len(lines); {
		if lines[i] == "" {
			i++
			continue
		}
		end := i
		for end < len(lines) && lines[end] != "" {
			end++
		}
		r, err := parseRecord(lines[i:end])
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, i+1, err)
		}
		r.line = i + 1
		records = append(records, r)
		i = end
	}
	return records, nil
}

func parseRecord(lines []string) (record, error) {
	head := strings.Fields(lines[0])
	r := record{}
	switch {
	case len(head) == 2 && head[0] == "statement" && head[1] == "ok":
	case len(head) == 3 && head[0] == "statement" && head[1] == "error":
		r.state = head[2]
	case len(head) == 3 && head[0] == "query":
		n, err := strconv.Atoi(head[2])
		if err != nil || n < 1 {
			return r, fmt.Errorf("bad number of columns in %q", lines[0])
		}
		r.query, r.sort, r.columns = true, head[1], n
	default:
		return r, fmt.Errorf("cannot read %q", lines[0])
	}
	sql := lines[1:]
	for i, line := range sql {
		if r.query && line == "----" {
			r.want, sql = sql[i+1:], sql[:i]
			break
		}
	}
	if len(sql) == 0 {
		return r, fmt.Errorf("no SQL after %q", lines[0])
	}
	r.sql = strings.Join(sql, "\n")
	return r, nil
}
