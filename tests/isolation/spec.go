package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"herd/tests/peer"
)

// database is the one every spec runs in: made anew for each, so that a spec that fails does not disturb the next.
const database = "isolation_regression"

// specTimeMax ends a spec whose steps wait for ever.
const specTimeMax = 2 * time.Minute

// runner runs specs of one folder against one server.
type runner struct {
	url    string // of the server's maintenance database
	dir    string // with specs, expected and isolation_schedule
	tester string // the isolationtester program
	// rewrite makes what the server prints the wanted output.
	rewrite bool
}

// result is the outcome of a spec; an empty diff is a pass.
type result struct {
	diff string
	took time.Duration
}

// newRunner finds isolationtester, which is installed beside the programs of bindir.
func newRunner(url, dir, bindir string) (*runner, error) {
	if bindir == "" {
		var err error
		if bindir, err = peer.PostgresBin(); err != nil {
			return nil, err
		}
	}
	r := &runner{url: url, dir: dir, tester: filepath.Join(bindir, "..", "lib", "pgxs", "src", "test", "isolation", "isolationtester")}
	if _, err := os.Stat(r.tester); err != nil {
		return nil, fmt.Errorf("isolationtester: %w: %w", peer.ErrNotInstalled, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "specs")); err != nil {
		return nil, fmt.Errorf("specs: %w: %w", peer.ErrNotInstalled, err)
	}
	return r, nil
}

// schedule returns the names of all specs in their order.
func (r *runner) schedule() ([]string, error) {
	text, err := os.ReadFile(filepath.Join(r.dir, "isolation_schedule"))
	if err != nil {
		return nil, err
	}
	var names []string
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "test:"); ok {
			names = append(names, strings.Fields(rest)...)
		}
	}
	return names, nil
}

// run runs a spec and compares what it prints with each of PostgreSQL's outputs, which may be several.
func (r *runner) run(ctx context.Context, name string) (result, error) {
	if err := r.freshDatabase(ctx); err != nil {
		return result{}, err
	}
	spec, err := os.ReadFile(filepath.Join(r.dir, "specs", name+".spec"))
	if err != nil {
		return result{}, err
	}
	start := time.Now()
	got, err := r.isolationtester(ctx, name, spec)
	if err != nil {
		return result{}, err
	}
	res := result{took: time.Since(start)}
	if r.rewrite {
		return res, os.WriteFile(filepath.Join(r.dir, "expected", name+".out"), got, 0o644)
	}
	wanted, err := filepath.Glob(filepath.Join(r.dir, "expected", name+"*.out"))
	if err != nil {
		return result{}, err
	}
	for _, file := range wanted {
		variant := strings.TrimPrefix(strings.TrimSuffix(filepath.Base(file), ".out"), name)
		if variant != "" && (len(variant) != 2 || variant[0] != '_') {
			continue // another spec whose name begins with this one's
		}
		want, err := os.ReadFile(file)
		if err != nil {
			return result{}, err
		}
		if bytes.Equal(want, got) {
			return result{took: res.took}, nil
		}
		diff, err := difference(file, got)
		if err != nil {
			return result{}, err
		}
		if res.diff == "" || len(diff) < len(res.diff) {
			res.diff = diff
		}
	}
	if res.diff == "" {
		return result{}, fmt.Errorf("spec %s: no expected output in %s", name, r.dir)
	}
	return res, nil
}

// isolationtester runs a spec with the environment that PostgreSQL's own driver sets.
func (r *runner) isolationtester(ctx context.Context, name string, spec []byte) ([]byte, error) {
	cfg, err := pgconn.ParseConfig(r.url)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, specTimeMax)
	defer cancel()
	c := exec.CommandContext(ctx, r.tester, "dbname="+database)
	c.Env = append(os.Environ(), "PGHOST="+cfg.Host, fmt.Sprintf("PGPORT=%d", cfg.Port), "PGUSER="+cfg.User, "PGPASSWORD="+cfg.Password,
		"PGAPPNAME=isolation/"+name, "PGTZ=PST8PDT", "PGDATESTYLE=Postgres, MDY", "PGOPTIONS=-c intervalstyle=postgres_verbose",
		"LC_MESSAGES=C", "PGCLIENTENCODING=")
	c.Stdin = bytes.NewReader(spec)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err = c.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		if ctx.Err() != nil {
			fmt.Fprintf(&out, "ended after %s\n", specTimeMax)
		}
		err = nil // what it printed tells why
	}
	return out.Bytes(), err
}

func (r *runner) freshDatabase(ctx context.Context) error {
	c, err := pgconn.Connect(ctx, r.url)
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	for _, sql := range []string{"DROP DATABASE IF EXISTS " + database + " WITH (FORCE)", "CREATE DATABASE " + database} {
		if _, err := c.Exec(ctx, sql).ReadAll(); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	return nil
}

// difference is diff's output for a file and what was printed instead.
func difference(file string, got []byte) (string, error) {
	c := exec.Command("diff", "-U3", "--label", file, "--label", "this server", file, "-")
	c.Stdin = bytes.NewReader(got)
	out, err := c.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 1 {
		return string(out), nil
	}
	return "", fmt.Errorf("diff of %s: %w", file, err)
}

//go:embed exempt.txt
var exemptText string

// exemptions returns the specs that need what herd refuses, or that PostgreSQL's output is not demanded of, with the reason.
func exemptions() (map[string]string, error) {
	list := map[string]string{}
	for line := range strings.Lines(exemptText) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, reason, ok := strings.Cut(line, " ")
		if !ok || list[name] != "" {
			return nil, fmt.Errorf("exempt.txt: line %q has no reason, or its spec is there twice", line)
		}
		list[name] = strings.TrimSpace(reason)
	}
	return list, nil
}
