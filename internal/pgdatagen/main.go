package main

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	server := flag.String("server", "", "connection string of a PostgreSQL 15 server")
	out := flag.String("out", "sql/catalog/pgdata/data", "folder of the data files")
	check := flag.Bool("check", false, "compare the files with the server and write nothing")
	flag.Parse()
	if err := run(*server, *out, *check); err != nil {
		fmt.Fprintln(os.Stderr, "pgdatagen:", err)
		os.Exit(1)
	}
}

// run writes or checks every data file.
func run(server, out string, check bool) error {
	files, err := Dump(server)
	if err != nil {
		return err
	}
	for _, f := range files {
		path := filepath.Join(out, f.Name+".tsv.gz")
		if check {
			if err := compare(path, f.Text); err != nil {
				return err
			}
			continue
		}
		if err := write(path, f.Text); err != nil {
			return err
		}
	}
	return nil
}

// write stores text compressed at path, and leaves a file alone that holds it already: the
// compressed bytes may differ between versions of Go.
func write(path string, text []byte) error {
	if compare(path, text) == nil {
		return nil
	}
	var buf bytes.Buffer
	z, err := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	if err != nil {
		return fmt.Errorf("compress %s: %w", path, err)
	}
	if _, err := z.Write(text); err != nil {
		return fmt.Errorf("compress %s: %w", path, err)
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("compress %s: %w", path, err)
	}
	return os.WriteFile(path, buf.Bytes(), 0o644)
}

// compare fails when the file at path does not hold text.
func compare(path string, text []byte) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	have, err := io.ReadAll(z)
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	if !bytes.Equal(have, text) {
		return fmt.Errorf("%s differs from the server", path)
	}
	return nil
}
