package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// shell runs statements on one session and prints what comes back.
type shell struct {
	conn    *pgconn.PgConn
	out     io.Writer
	errOut  io.Writer
	format  string
	timing  bool
	goOn    bool // after an error
	failed  bool
	pending splitter
}

func newSQLCommand() *cobra.Command {
	var url, file, format string
	var commands []string
	var timing, goOn bool
	c := &cobra.Command{
		Use:   "sql",
		Short: "Run SQL: statements given with -c, a file with -f, or a small interactive shell",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := newResultWriter(format, io.Discard); err != nil {
				return usageError{cmd.CommandPath(), err}
			}
			conn, err := connectShell(cmd.Context(), url, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			defer conn.Close(context.WithoutCancel(cmd.Context()))
			s := &shell{conn: conn, out: cmd.OutOrStdout(), errOut: cmd.ErrOrStderr(), format: format, timing: timing, goOn: goOn}
			return s.runInput(cmd.Context(), commands, file)
		},
	}
	c.Flags().StringVar(&url, "url", "postgres://postgres@127.0.0.1:5432/postgres", "server to connect to; PGPASSWORD gives the password")
	c.Flags().StringArrayVarP(&commands, "command", "c", nil, "`SQL` to run; repeatable")
	c.Flags().StringVarP(&file, "file", "f", "", "`file` of SQL to run; - is standard input")
	c.Flags().StringVar(&format, "format", "table", "output: table, csv or json")
	c.Flags().BoolVar(&timing, "timing", false, "print how long each statement took")
	c.Flags().BoolVar(&goOn, "keep-going", false, "go on after an error in a file or with -c")
	return c
}

func connectShell(ctx context.Context, url string, errOut io.Writer) (*pgconn.PgConn, error) {
	config, err := pgconn.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("server address: %w", err)
	}
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { fmt.Fprintf(errOut, "%s:  %s\n", n.Severity, n.Message) }
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connect to %s:%d: %w", config.Host, config.Port, err)
	}
	return conn, nil
}

// runInput runs commands, then the file; without either, standard input.
func (s *shell) runInput(ctx context.Context, commands []string, file string) error {
	for _, sql := range commands {
		s.pending.add(sql)
		if err := s.drain(ctx, true); err != nil {
			return err
		}
	}
	switch {
	case file == "" && len(commands) > 0:
	case file == "" && term.IsTerminal(int(os.Stdin.Fd())):
		return s.interact(ctx)
	case file == "" || file == "-":
		if err := s.runStream(ctx, os.Stdin); err != nil {
			return err
		}
	default:
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := s.runStream(ctx, f); err != nil {
			return err
		}
	}
	if s.failed {
		return errReported
	}
	return nil
}

func (s *shell) runStream(ctx context.Context, r io.Reader) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if err != nil && err != io.EOF {
			return err
		}
		s.pending.add(line)
		if drainErr := s.drain(ctx, err == io.EOF); drainErr != nil || err == io.EOF {
			return drainErr
		}
	}
}

// drain runs the complete statements that have been read, and at the end of input the rest. The error is errReported
// when a statement failed and the rest is not to be run.
func (s *shell) drain(ctx context.Context, last bool) error {
	for {
		sql, ok := s.pending.next()
		if !ok {
			if !last {
				return nil
			}
			sql = s.pending.rest()
		}
		if sql != "" {
			if err := s.statement(ctx, sql); err != nil {
				return err
			}
		}
		if !ok {
			return nil
		}
	}
}

// statement runs one statement and prints its results or its error.
func (s *shell) statement(ctx context.Context, sql string) error {
	start := time.Now()
	err := s.results(s.conn.Exec(ctx, sql))
	if s.timing {
		fmt.Fprintf(s.errOut, "Time: %.3f ms\n", float64(time.Since(start))/float64(time.Millisecond))
	}
	if err == nil {
		return nil
	}
	s.failed = true
	var pgErr *pgconn.PgError
	if !errors.As(err, &pgErr) || s.conn.IsClosed() {
		return err
	}
	s.printError(pgErr, sql)
	if s.goOn {
		return nil
	}
	return errReported
}

func (s *shell) results(r *pgconn.MultiResultReader) error {
	for r.NextResult() {
		if err := s.result(r.ResultReader()); err != nil {
			return errors.Join(err, r.Close())
		}
	}
	return r.Close()
}

func (s *shell) result(r *pgconn.ResultReader) error {
	w, err := newResultWriter(s.format, s.out)
	if err != nil {
		return err
	}
	columns := r.FieldDescriptions()
	if columns != nil {
		if err := w.begin(columns); err != nil {
			return err
		}
	}
	for r.NextRow() {
		if err := w.row(r.Values()); err != nil {
			return err
		}
	}
	tag, err := r.Close()
	if err != nil {
		return err
	}
	if columns != nil {
		return w.end()
	}
	if s.format == "table" {
		_, err = fmt.Fprintln(s.out, tag)
	}
	return err
}

// printError prints an error as psql does, with the line and a mark under the place.
func (s *shell) printError(e *pgconn.PgError, sql string) {
	fmt.Fprintf(s.errOut, "%s:  %s (SQLSTATE %s)\n", e.Severity, e.Message, e.Code)
	if runes := []rune(sql); e.Position > 0 && int(e.Position) <= len(runes)+1 {
		before := string(runes[:e.Position-1])
		number := strings.Count(before, "\n") + 1
		column := len([]rune(before[strings.LastIndexByte(before, '\n')+1:]))
		prefix := fmt.Sprintf("LINE %d: ", number)
		fmt.Fprintf(s.errOut, "%s%s\n%s^\n", prefix, strings.Split(sql, "\n")[number-1], strings.Repeat(" ", len(prefix)+column))
	}
	if e.Detail != "" {
		fmt.Fprintf(s.errOut, "DETAIL:  %s\n", e.Detail)
	}
	if e.Hint != "" {
		fmt.Fprintf(s.errOut, "HINT:  %s\n", e.Hint)
	}
}

// interact reads statements from a terminal with line editing. Errors of statements do not end it.
func (s *shell) interact(ctx context.Context) error {
	fd := int(os.Stdin.Fd())
	state, err := term.MakeRaw(fd)
	if err != nil {
		return err
	}
	defer func() { _ = term.Restore(fd, state) }() // the terminal may be gone
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{os.Stdin, os.Stdout}, "")
	s.out, s.errOut, s.goOn = t, t, true
	fmt.Fprintf(t, "Connected to %s. Statements end with a semicolon; Ctrl-D or \\q leaves.\n", s.conn.ParameterStatus("server_version"))
	for {
		prompt := "herd> "
		if strings.TrimSpace(s.pending.text) != "" {
			prompt = "  ... "
		}
		t.SetPrompt(prompt)
		line, err := t.ReadLine()
		if err == io.EOF || strings.TrimSpace(line) == `\q` {
			return nil
		}
		if err != nil {
			return err
		}
		s.pending.add(line + "\n")
		if err := s.drain(ctx, false); err != nil {
			return err
		}
	}
}
