package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
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

	"herd/sql/dump"
)

// importFlags are the flags of herd import.
type importFlags struct {
	url, dialect string
	goOn, quiet  bool
}

func newImportCommand() *cobra.Command {
	var f importFlags
	c := &cobra.Command{
		Use:   "import FILE.sql[.gz]",
		Short: "Load a dump of mysqldump or a plain one of pg_dump",
		Long: `Load a dump of mysqldump (MySQL, MariaDB) or a plain one of pg_dump into a database; - reads standard input.

INSERTs of a MySQL dump travel as COPY; its secondary indexes and foreign keys are made after the rows. Every statement is
a transaction of its own unless the dump says BEGIN, as with the mysql client and psql.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch f.dialect {
			case "", string(dump.MySQL), string(dump.Postgres):
			default:
				return usageError{cmd.CommandPath(), fmt.Errorf("--dialect %s: expected mysql or postgres", f.dialect)}
			}
			return f.run(cmd, args[0])
		},
	}
	c.Flags().StringVar(&f.url, "url", "postgres://postgres@127.0.0.1:5432/postgres", "server to connect to; PGPASSWORD gives the password")
	c.Flags().StringVar(&f.dialect, "dialect", "", "`language` of the dump: mysql or postgres (default: seen from the file)")
	c.Flags().BoolVar(&f.goOn, "keep-going", false, "go on after an error")
	c.Flags().BoolVar(&f.quiet, "quiet", false, "print no progress")
	return c
}

func (f *importFlags) run(cmd *cobra.Command, name string) error {
	file := os.Stdin
	if name != "-" {
		var err error
		if file, err = os.Open(name); err != nil {
			return err
		}
		defer file.Close()
	}
	counted := &countingReader{r: file}
	in, dialect, err := openDump(counted, name, dump.Dialect(f.dialect))
	if err != nil {
		return err
	}
	conn, err := connectShell(cmd.Context(), f.url, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(cmd.Context()))
	im := &importer{ctx: cmd.Context(), conn: conn, in: dump.NewReader(in, dialect), name: name, goOn: f.goOn, errOut: cmd.ErrOrStderr(), started: time.Now()}
	if !f.quiet {
		im.progress = newProgress(cmd.ErrOrStderr(), counted, file)
	}
	load := im.postgres
	if dialect == dump.MySQL {
		load = (&mysqlImport{importer: im}).run
	}
	if err := load(); err != nil {
		return fmt.Errorf("%s, line %d: %w", name, im.in.Line(), err)
	}
	im.progress.end()
	fmt.Fprintf(cmd.OutOrStdout(), "%s: %d statements, %d rows in %.1f s\n", name, im.statements, im.rows, time.Since(im.started).Seconds())
	if im.failures > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "%d statements failed\n", im.failures)
		return errReported
	}
	return nil
}

// openDump uncompresses by content and finds the dialect when none is given.
func openDump(r io.Reader, name string, d dump.Dialect) (io.Reader, dump.Dialect, error) {
	const size = 1 << 16
	in := bufio.NewReaderSize(r, size)
	if head, _ := in.Peek(2); len(head) == 2 && head[0] == 0x1f && head[1] == 0x8b {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", name, err)
		}
		in = bufio.NewReaderSize(z, size)
	}
	if d == "" {
		head, err := in.Peek(size)
		if err != nil && err != io.EOF {
			return nil, "", fmt.Errorf("%s: %w", name, err)
		}
		if d = dump.Detect(head); d == "" {
			return nil, "", fmt.Errorf("%s: the file does not show its dialect; give --dialect", name)
		}
	}
	return in, d, nil
}

// importer sends a dump to a server.
type importer struct {
	ctx        context.Context
	conn       *pgconn.PgConn
	in         *dump.Reader
	name       string
	goOn       bool
	errOut     io.Writer
	started    time.Time
	progress   *progress
	statements int64
	rows       int64
	failures   int64
}

// exec runs one statement and drops its rows.
func (im *importer) exec(sql string) error {
	im.statements++
	r := im.conn.Exec(im.ctx, sql)
	for r.NextResult() {
		tag, err := r.ResultReader().Close()
		if err == nil && tag.Insert() {
			im.rows += tag.RowsAffected()
		}
	}
	return im.failed(r.Close(), sql)
}

// failed reports a statement's error and returns it unless the import is to go on.
func (im *importer) failed(err error, sql string) error {
	var pgErr *pgconn.PgError
	if err == nil || !im.goOn || !errors.As(err, &pgErr) || im.conn.IsClosed() {
		return err
	}
	const shown = 100
	if len(sql) > shown {
		sql = sql[:shown] + "..."
	}
	im.failures++
	im.progress.clear()
	fmt.Fprintf(im.errOut, "%s, line %d: %v: %s\n", im.name, im.in.Line(), err, strings.ReplaceAll(sql, "\n", " "))
	return nil
}

// copy sends a COPY statement with its data.
func (im *importer) copy(sql string, data io.Reader) error {
	im.statements++
	tag, err := im.conn.CopyFrom(im.ctx, data, sql)
	im.rows += tag.RowsAffected()
	return im.failed(err, sql)
}

// postgres loads a plain dump of pg_dump.
func (im *importer) postgres() error {
	for {
		text, err := im.in.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		im.progress.show(im.rows)
		sql := string(text)
		switch {
		case text[0] == '\\':
			err = psqlCommand(sql)
		case isCopyFromStdin(sql):
			if err = im.in.StartCopy(); err == nil {
				err = im.copy(sql, im.in.CopyData())
			}
		default:
			err = im.exec(sql)
		}
		if err != nil {
			return err
		}
	}
}

// psqlCommand accepts the commands by which pg_dump restricts psql, and no other.
func psqlCommand(line string) error {
	switch f := strings.Fields(line); f[0] {
	case `\restrict`, `\unrestrict`:
		return nil
	default:
		return fmt.Errorf("command %s of psql is not supported", f[0])
	}
}

// isCopyFromStdin says whether a statement is COPY ... FROM stdin.
func isCopyFromStdin(sql string) bool {
	f := strings.Fields(strings.ToLower(sql))
	if len(f) < 4 || f[0] != "copy" {
		return false
	}
	for i := 1; i < len(f); i++ {
		if f[i] == "from" {
			return i+1 < len(f) && f[i+1] == "stdin"
		}
	}
	return false
}

// countingReader counts the bytes read from a file, for progress.
type countingReader struct {
	r io.Reader
	n int64
}

// Read implements io.Reader.
func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// progress prints how far an import is: on a terminal in one line, elsewhere a line now and then. A nil one prints nothing.
type progress struct {
	out      io.Writer
	in       *countingReader
	total    int64
	terminal bool
	last     time.Time
	shown    bool
}

func newProgress(out io.Writer, in *countingReader, file *os.File) *progress {
	p := &progress{out: out, in: in, last: time.Now()}
	if st, err := file.Stat(); err == nil && st.Mode().IsRegular() {
		p.total = st.Size()
	}
	if f, ok := out.(*os.File); ok {
		p.terminal = term.IsTerminal(int(f.Fd()))
	}
	return p
}

func (p *progress) show(rows int64) {
	if p == nil {
		return
	}
	every := 10 * time.Second
	if p.terminal {
		every = 500 * time.Millisecond
	}
	if time.Since(p.last) < every {
		return
	}
	p.last, p.shown = time.Now(), true
	const mb = 1 << 20
	text := fmt.Sprintf("%d MB, %d rows", p.in.n/mb, rows)
	if p.total > 0 {
		text = fmt.Sprintf("%d %% of %d MB, %d rows", 100*p.in.n/p.total, p.total/mb, rows)
	}
	if p.terminal {
		fmt.Fprintf(p.out, "\r\x1b[K%s", text)
	} else {
		fmt.Fprintln(p.out, text)
	}
}

// clear makes room for other output on a terminal.
func (p *progress) clear() {
	if p != nil && p.terminal && p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}

func (p *progress) end() { p.clear() }

// quoteName makes a quoted name of PostgreSQL's SQL.
func quoteName(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

// bytesHave says whether text begins with a word, in any case.
func bytesHave(text []byte, word string) bool {
	return len(text) > len(word) && bytes.EqualFold(text[:len(word)], []byte(word)) && (text[len(word)] == ' ' || text[len(word)] == '\n')
}
