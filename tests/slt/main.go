package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"herd/tests/peer"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "slt:", err)
		os.Exit(1)
	}
}

// folder is where files named without a path are.
func folder() string {
	if dir := os.Getenv("HERD_SLT_DIR"); dir != "" {
		return dir
	}
	return filepath.Join("..", "shared", "sqllogictest")
}

func run() error {
	url := pflag.String("url", "postgres://postgres@127.0.0.1:5432/postgres", "server to test")
	mode := pflag.String("mode", "both", "protocol: simple, extended or both")
	show := pflag.Int("show", 3, "failures to describe per file")
	batches := pflag.IntSlice("batches", nil, "instead of --url: a herd of its own for each of these batch sizes, as 1,3,1024")
	pflag.Usage = func() {
		fmt.Fprintf(os.Stderr, "usage: slt [flags] [FILE...]\nWithout files: every .test file in %s (HERD_SLT_DIR).\n%s", folder(), pflag.CommandLine.FlagUsages())
	}
	pflag.Parse()
	files, err := findFiles(pflag.Args())
	if err != nil {
		return err
	}
	s := suite{files: files, mode: *mode, show: *show}
	if len(*batches) == 0 {
		return s.run(*url)
	}
	return s.runBatches(*batches)
}

// suite is what to run against each server.
type suite struct {
	files []string
	mode  string
	show  int
}

// runBatches runs the suite on a herd for each batch size.
func (s *suite) runBatches(sizes []int) error {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "herd-slt-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary, err := peer.Program(ctx, os.Getenv("HERD_BINARY"), dir)
	if err != nil {
		return err
	}
	var failures []error
	for _, n := range sizes {
		h := &peer.Herd{Binary: binary, Dir: filepath.Join(dir, "data"), Flags: []string{fmt.Sprint("--batch-rows=", n)}, Settings: []string{"server.log.sync=never"}}
		server, err := h.Start(ctx)
		if err != nil {
			return err
		}
		fmt.Printf("batches of %d rows\n", n)
		failures = append(failures, s.run(server.URL), server.Stop())
	}
	return errors.Join(failures...)
}

// run runs the suite on one server.
func (s *suite) run(url string) error {
	failed := 0
	for _, extended := range []bool{false, true} {
		name := map[bool]string{false: "simple", true: "extended"}[extended]
		if s.mode != "both" && s.mode != name {
			continue
		}
		r := runner{url: url, extended: extended, showMax: s.show}
		for _, file := range s.files {
			start := time.Now()
			out, err := r.runFile(context.Background(), file)
			fmt.Printf("%-8s %-45s %6d of %6d passed  %6.1f s\n", name, filepath.Base(file), out.passed, out.passed+out.failed, time.Since(start).Seconds())
			for _, f := range out.failures {
				fmt.Println("  " + strings.ReplaceAll(f, "\n", "\n  "))
			}
			failed += out.failed
			if err != nil {
				fmt.Printf("  %s stopped: %v\n", file, err)
				failed++
			}
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d records failed", failed)
	}
	return nil
}

// findFiles resolves names: as given when such a file exists, else in the folder, with .test when it lacks it.
func findFiles(names []string) ([]string, error) {
	if len(names) == 0 {
		files, err := filepath.Glob(filepath.Join(folder(), "*.test"))
		if err == nil && len(files) == 0 {
			err = fmt.Errorf("no .test files in %s; HERD_SLT_DIR names their folder", folder())
		}
		return files, err
	}
	var files []string
	for _, name := range names {
		found := ""
		for _, try := range []string{name, filepath.Join(folder(), name), filepath.Join(folder(), name+".test")} {
			if _, err := os.Stat(try); err == nil {
				found = try
				break
			}
		}
		if found == "" {
			return nil, fmt.Errorf("%s: no such file here or in %s", name, folder())
		}
		files = append(files, found)
	}
	return files, nil
}
