package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// client runs scripts with psql as pg_regress does.
type client struct {
	psql    string
	server  *url.URL
	source  string
	out     string // where scripts write files
	timeout time.Duration
}

const database = "regression"

// environment is what pg_regress sets for psql.
func (c *client) environment() []string {
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "LC_") && !strings.HasPrefix(kv, "LANG") && !strings.HasPrefix(kv, "PG") {
			env = append(env, kv)
		}
	}
	return append(env, "LANG=C", "LC_MESSAGES=C", "PGTZ=America/Los_Angeles", "PGDATESTYLE=Postgres, MDY",
		"PGOPTIONS=-c intervalstyle=postgres_verbose", "PG_ABS_SRCDIR="+c.source, "PG_ABS_BUILDDIR="+c.out, "PG_LIBDIR="+c.source, "PG_DLSUFFIX=.so")
}

// makeDatabase drops the database of an earlier run and makes a new one.
func (c *client) makeDatabase(ctx context.Context) error {
	setup := []string{
		"DROP DATABASE IF EXISTS " + database,
		"CREATE DATABASE " + database + " TEMPLATE=template0 LC_COLLATE='C' LC_CTYPE='C'",
		"ALTER DATABASE " + database + " SET lc_messages TO 'C'",
		"ALTER DATABASE " + database + " SET lc_monetary TO 'C'",
		"ALTER DATABASE " + database + " SET lc_numeric TO 'C'",
		"ALTER DATABASE " + database + " SET lc_time TO 'C'",
		"ALTER DATABASE " + database + " SET bytea_output TO 'hex'",
		"ALTER DATABASE " + database + " SET timezone_abbreviations TO 'Default'",
	}
	for _, dir := range []string{"results", "testtablespace"} {
		if err := os.MkdirAll(filepath.Join(c.out, dir), 0o777); err != nil {
			return fmt.Errorf("making %s for the scripts' files: %w", dir, err)
		}
	}
	for _, sql := range setup {
		out, err := exec.CommandContext(ctx, c.psql, "-X", "-q", "-v", "ON_ERROR_STOP=1", "-c", sql, c.server.String()).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %w: %s", sql, err, out)
		}
	}
	return nil
}

// run feeds a script to psql and returns its output. A script that takes too long is cut off.
func (c *client) run(ctx context.Context, text []byte) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	to := *c.server
	to.Path = "/" + database
	cmd := exec.CommandContext(ctx, c.psql, "-X", "-a", "-q", "-v", "HIDE_TABLEAM=on", "-v", "HIDE_TOAST_COMPRESSION=on",
		"-v", "VERBOSITY=verbose", "-d", to.String())
	cmd.Env = c.environment()
	cmd.Stdin = bytes.NewReader(bytes.ReplaceAll(text, []byte(`\set VERBOSITY default`), []byte(`\set VERBOSITY verbose`)))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	echoed := strings.ReplaceAll(out.String(), `\set VERBOSITY verbose`, `\set VERBOSITY default`)
	if ctx.Err() != nil {
		return echoed, fmt.Errorf("cut off after %s", c.timeout)
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return echoed, fmt.Errorf("psql ended with %d", exit.ExitCode())
	}
	return echoed, err
}

var (
	stateInMessage = regexp.MustCompile(`(?m)^((?:DEBUG|LOG|INFO|NOTICE|WARNING|ERROR|FATAL|PANIC):  )([0-9A-Z]{5}): `)
	verboseOnly    = regexp.MustCompile(`(?m)^(?:SCHEMA NAME|TABLE NAME|COLUMN NAME|DATATYPE NAME|CONSTRAINT NAME|LOCATION):  .*\n`)
)

// plain takes out of an answer what VERBOSITY=verbose adds, and returns the SQLSTATE of its errors.
func plain(answer string) (string, []string) {
	var states []string
	for _, m := range stateInMessage.FindAllStringSubmatch(answer, -1) {
		if strings.HasPrefix(m[1], "ERROR") {
			states = append(states, m[2])
		}
	}
	answer = stateInMessage.ReplaceAllString(answer+"\n", "$1")
	return strings.TrimSuffix(verboseOnly.ReplaceAllString(answer, ""), "\n"), states
}
