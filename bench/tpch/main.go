package main

// #include "extension.h"
import "C"

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/duckdb/duckdb-go-bindings"
)

var tables = []string{"region", "nation", "supplier", "part", "partsupp", "customer", "orders", "lineitem"}

func main() {
	scale := flag.Float64("scale", 0.2, "scale factor")
	out := flag.String("out", "", "folder for the files")
	flag.Parse()
	if err := run(*scale, *out); err != nil {
		fmt.Fprintln(os.Stderr, "tpch:", err)
		os.Exit(1)
	}
}

func run(scale float64, out string) error {
	if out == "" {
		return errors.New("-out is missing")
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	d, err := open()
	if err != nil {
		return err
	}
	if err := d.exec(fmt.Sprintf("CALL dbgen(sf=%g)", scale)); err != nil {
		return err
	}
	for _, t := range tables {
		if err := d.copyTo("FROM "+t, filepath.Join(out, t+".csv")); err != nil {
			return err
		}
	}
	return d.writeQueries(scale, out)
}

// database is one connection to a DuckDB in memory; it lives until the process ends.
type database struct{ conn duckdb_go_bindings.Connection }

func open() (*database, error) {
	var db duckdb_go_bindings.Database
	if duckdb_go_bindings.Open("", &db) != duckdb_go_bindings.StateSuccess {
		return nil, errors.New("open a database in memory")
	}
	d := &database{}
	if duckdb_go_bindings.Connect(db, &d.conn) != duckdb_go_bindings.StateSuccess {
		return nil, errors.New("connect to the database in memory")
	}
	if e := C.addTPCH(d.conn.Ptr); e != nil {
		return nil, fmt.Errorf("add extension tpch: %s", C.GoString(e))
	}
	return d, nil
}

func (d *database) exec(sql string) error {
	var r duckdb_go_bindings.Result
	state := duckdb_go_bindings.Query(d.conn, sql, &r)
	defer duckdb_go_bindings.DestroyResult(&r)
	if state != duckdb_go_bindings.StateSuccess {
		return fmt.Errorf("%s: %s", sql, duckdb_go_bindings.ResultError(&r))
	}
	return nil
}

// copyTo writes the rows of a query as CSV with a header.
func (d *database) copyTo(query, file string) error {
	return d.exec(fmt.Sprintf("COPY (%s) TO %s (FORMAT csv, HEADER)", query, quoted(file)))
}

// writeQueries writes each query and its answer: DIR/01.sql, DIR/01.csv and so on.
func (d *database) writeQueries(scale float64, dir string) error {
	known, err := d.known(fmt.Sprintf("SELECT query_nr AS nr, answer AS text FROM tpch_answers() WHERE scale_factor = %g", scale), dir)
	if err != nil {
		return err
	}
	queries, err := d.known("SELECT query_nr AS nr, query AS text FROM tpch_queries()", dir)
	if err != nil {
		return err
	}
	for n, sql := range queries {
		base := filepath.Join(dir, fmt.Sprintf("%02d", n))
		if err := os.WriteFile(base+".sql", []byte(sql), 0o644); err != nil {
			return err
		}
		if err := d.writeAnswer(sql, known[n], base); err != nil {
			return fmt.Errorf("answer %d: %w", n, err)
		}
	}
	return nil
}

// known reads the rows (nr, text) of a query.
func (d *database) known(query, dir string) (map[int]string, error) {
	file := filepath.Join(dir, "texts.json")
	defer os.Remove(file)
	if err := d.exec(fmt.Sprintf("COPY (%s) TO %s (FORMAT json)", query, quoted(file))); err != nil {
		return nil, err
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := map[int]string{}
	for dec := json.NewDecoder(f); ; {
		var row struct {
			Nr   int
			Text string
		}
		if err := dec.Decode(&row); err == io.EOF {
			return out, nil
		} else if err != nil {
			return nil, fmt.Errorf("read %s: %w", query, err)
		}
		out[row.Nr] = row.Text
	}
}

// writeAnswer writes a known answer, which is separated by | and quotes nothing, or what DuckDB answers.
func (d *database) writeAnswer(sql, known, base string) error {
	if known == "" {
		return d.copyTo(strings.TrimSuffix(strings.TrimSpace(sql), ";"), base+".csv")
	}
	f, err := os.Create(base + ".csv")
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	for line := range strings.Lines(known) {
		if err := w.Write(strings.Split(strings.TrimSuffix(line, "\n"), "|")); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	w.Flush()
	return errors.Join(w.Error(), f.Close())
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
