package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/spf13/pflag"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "regress:", err)
		os.Exit(1)
	}
}

func run() error {
	server := pflag.String("url", "postgres://postgres@127.0.0.1:5432/postgres", "server to test, as a superuser who may read --source")
	source := pflag.String("source", "", "src/test/regress of PostgreSQL 15's source (Debian: apt-get source postgresql-15=15.18-0+deb12u1)")
	out := pflag.String("out", filepath.Join(os.TempDir(), "herd-regress"), "folder for outputs and causes.txt")
	psql := pflag.String("psql", "/usr/lib/postgresql/15/bin/psql", "psql of PostgreSQL 15")
	timeout := pflag.Duration("timeout", 3*time.Minute, "longest time for one script")
	summary := pflag.String("summary", "", "file for the results as a Markdown page: the table, and causes by frequency")
	again := pflag.Bool("again", false, "judge the outputs that an earlier run left in --out, without a server")
	pflag.Usage = func() {
		fmt.Fprintf(os.Stderr, "usage: regress [flags] [SCRIPT...]\nWithout scripts: all.\n%s", pflag.CommandLine.FlagUsages())
	}
	pflag.Parse()
	to, err := url.Parse(*server)
	if err != nil {
		return fmt.Errorf("--url %s: %w", *server, err)
	}
	if *source, err = filepath.Abs(*source); err != nil {
		return err
	}
	if *out, err = filepath.Abs(*out); err != nil {
		return err
	}
	list, err := choose(pflag.Args())
	if err != nil {
		return err
	}
	r := &runner{client: client{psql: *psql, server: to, source: *source, out: *out, timeout: *timeout}, again: *again}
	r.judge.kept = map[string]root{}
	if err := r.runAll(context.Background(), list); err != nil {
		return err
	}
	printTable(os.Stdout, r.tallies)
	if *summary != "" {
		if err := r.writeSummary(*summary); err != nil {
			return err
		}
	}
	return r.writeCauses(filepath.Join(*out, "causes.txt"))
}

// runner runs scripts and gathers what came of them.
type runner struct {
	client
	again   bool
	judge   judge
	tallies []*tally
	items   []*item
}

func (r *runner) runAll(ctx context.Context, list []script) error {
	if !r.again {
		if err := r.makeDatabase(ctx); err != nil {
			return err
		}
	}
	for _, s := range list {
		if err := r.runScript(ctx, s); err != nil {
			return fmt.Errorf("script %s: %w", s.name, err)
		}
	}
	return nil
}

// runScript runs a script and counts its statements, against that of PostgreSQL's expected outputs to which most are equal.
func (r *runner) runScript(ctx context.Context, s script) error {
	text, err := os.ReadFile(filepath.Join(r.source, "sql", s.name+".sql"))
	if err != nil {
		return err
	}
	start := time.Now()
	output, failure, err := r.output(ctx, s, text)
	if err != nil {
		return err
	}
	expected, err := filepath.Glob(filepath.Join(r.source, "expected", s.name+"*.out"))
	if err != nil {
		return err
	}
	list := splitScript(string(text))
	got := cutOutput(list, output)
	var best []*item
	var bestTally *tally
	for _, file := range expected {
		if !regexp.MustCompile(`/` + s.name + `(_\d)?\.out$`).MatchString(file) {
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		items, t := r.compare(s, list, string(want), got)
		if bestTally == nil || t.count[equal] > bestTally.count[equal] {
			best, bestTally = items, t
		}
	}
	if bestTally == nil {
		return fmt.Errorf("no expected output in %s", r.source)
	}
	bestTally.note = fmt.Sprintf("   %.1f s", time.Since(start).Seconds())
	if failure != nil {
		bestTally.note += ", " + failure.Error()
	}
	if s.counted {
		r.tallies = append(r.tallies, bestTally)
		r.items = append(r.items, best...)
	}
	return nil
}

// output runs a script and keeps its output in a file, or reads the one that an earlier run left.
func (r *runner) output(ctx context.Context, s script, text []byte) (output string, failure, err error) {
	file := filepath.Join(r.out, s.name+".out")
	if r.again {
		b, err := os.ReadFile(file)
		return string(b), nil, err
	}
	output, failure = r.run(ctx, text)
	return output, failure, os.WriteFile(file, []byte(output), 0o666)
}

var explains = regexp.MustCompile(`(?i)^\s*explain\b|^select (\* from )?explain_`)

// compare judges every statement of a script.
func (r *runner) compare(s script, list []*stmt, expected string, got []*string) ([]*item, *tally) {
	t := &tally{script: s.name}
	want := cutOutput(list, expected)
	r.judge.begin()
	items := make([]*item, len(list))
	for i, st := range list {
		it := &item{script: s.name, st: st, explain: explains.MatchString(st.sql())}
		if want[i] != nil {
			it.want = *want[i]
		} else {
			t.note = " (echo not found in the expected output)"
		}
		if got[i] != nil {
			var answer string
			answer, it.states = plain(*got[i])
			it.got = &answer
		}
		r.judge.judge(it, s.counted)
		t.add(it)
		items[i] = it
	}
	return items, t
}

// writeSummary writes the results page.
func (r *runner) writeSummary(file string) error {
	f, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("writing the summary: %w", err)
	}
	printSummary(f, r.tallies, r.items)
	return f.Close()
}

func (r *runner) writeCauses(file string) error {
	f, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("writing the causes: %w", err)
	}
	printCauses(f, r.items)
	return f.Close()
}
