package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"herd/backup"
	"herd/conf"
	"herd/engine"
	"herd/internal/mem"
	"herd/internal/vfs"
	"herd/sql/session"
	"herd/txlog"
)

// restoreFlags are the flags of herd restore.
type restoreFlags struct {
	conf                 confFlags
	verify, resume, mute bool
	databases, archives  []string
	toTime, toIndex      string
}

func newRestoreCommand() *cobra.Command {
	var f restoreFlags
	c := &cobra.Command{
		Use:   "restore FILE DIR | restore --verify FILE",
		Short: "Make a base folder of a backup, or verify a backup",
		Long: `Makes the base folder DIR, which must be empty or missing, of the backup FILE (- is standard input). A server does not open the
folder before it is complete.

With --archive the archived log (server.log.archive.dir) is replayed on top of the backup: as far as it goes, or up to --to-time or
--to-index. Folders of the log itself (DIR/txlog of a server that has stopped) may be given as archives, too.

With --verify nothing is restored: every checksum is verified, the rows are counted and summed up against what the server's tables
said, and what the backup holds is printed. A verification that was stopped goes on with --resume.`,
		Example: `  herd restore monday.herd /srv/herd
  herd restore monday.herd /srv/herd --archive /archive --to-time "2026-12-01 14:30:00"
  herd restore --verify monday.herd`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			wrong := func(text string) error { return usageError{cmd.CommandPath(), errors.New(text)} }
			switch {
			case f.verify && len(args) != 1:
				return wrong("--verify takes a file and no folder")
			case f.verify:
				return verifyBackup(cmd, args[0], f.resume, f.mute)
			case f.resume:
				return wrong("--resume goes with --verify")
			case len(args) != 2:
				return wrong("a file and a folder are needed")
			}
			return f.run(cmd, args[0], args[1])
		},
	}
	flags := c.Flags()
	flags.BoolVar(&f.verify, "verify", false, "verify the backup and say what it holds")
	flags.BoolVar(&f.resume, "resume", false, "go on with a verification that was stopped")
	flags.StringArrayVar(&f.databases, "database", nil, "restore only this `name`, with the roles; repeatable")
	flags.StringArrayVar(&f.archives, "archive", nil, "`folder` of archived log to replay; repeatable")
	flags.StringVar(&f.toTime, "to-time", "", "replay no commit later than this `time` (2006-01-02 15:04:05[.999][+02:00], UTC without an offset)")
	flags.StringVar(&f.toIndex, "to-index", "", "replay up to this log `entry` of a database: NAME=N, or N when one database is restored; the others up to its time")
	flags.BoolVar(&f.mute, "quiet", false, "print no progress")
	f.conf.register(c)
	return c
}

// target reads --archive, --to-time and --to-index.
func (f *restoreFlags) target() (t engine.RestoreTarget, err error) {
	t.Archives = f.archives
	if f.toTime != "" && f.toIndex != "" {
		return t, errors.New("--to-time and --to-index exclude each other")
	}
	if (f.toTime != "" || f.toIndex != "") && len(f.archives) == 0 {
		return t, errors.New("--to-time and --to-index need --archive")
	}
	if f.toTime != "" {
		if t.Time, err = parseTime(f.toTime); err != nil {
			return t, fmt.Errorf("--to-time: %w", err)
		}
	}
	if f.toIndex != "" {
		name, number, named := strings.Cut(f.toIndex, "=")
		switch {
		case named:
			t.Of = name
		case len(f.databases) == 1:
			t.Of, number = f.databases[0], f.toIndex
		default:
			return t, errors.New("--to-index: say of which database (NAME=N), each has a log of its own")
		}
		n, err := strconv.ParseUint(number, 10, 64)
		if err != nil || n == 0 {
			return t, fmt.Errorf("--to-index: %q is not the number of a log entry", number)
		}
		t.Index = txlog.Seq(n)
	}
	return t, nil
}

// parseTime reads a time as PostgreSQL writes it or by RFC 3339.
func parseTime(s string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999-07", "2006-01-02 15:04:05.999999999"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time like 2006-01-02 15:04:05", s)
}

func (f *restoreFlags) run(cmd *cobra.Command, name, dir string) error {
	t, err := f.target()
	if err != nil {
		return usageError{cmd.CommandPath(), err}
	}
	f.conf.sets = append(f.conf.sets, "server.base.dir="+dir)
	c, err := f.conf.load(cmd)
	if err != nil {
		return err
	}
	if names, err := os.ReadDir(dir); err == nil && len(names) > 0 {
		if engine.HalfRestored(vfs.OS, c.DataDir()) {
			return fmt.Errorf("restore into %s: %w", dir, engine.ErrHalfRestored)
		}
		return fmt.Errorf("restore into %s: the folder is not empty", dir)
	}
	in, size, err := openBackup(name)
	if err != nil {
		return err
	}
	defer in.Close()
	r, err := backup.NewReader(in)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer r.Close()
	started := time.Now()
	o, err := restoreOptions(c)
	if err != nil {
		return err
	}
	o.Databases, o.Target = f.databases, t
	re, err := engine.BeginRestore(o)
	if err != nil {
		return err
	}
	defer re.Abandon()
	show := newMeter(cmd.ErrOrStderr(), f.mute)
	if err := readPieces(cmd.Context(), r, size, show, re.Piece); err != nil {
		show.end()
		return fmt.Errorf("restore %s into %s (the folder is not complete, remove it): %w", name, dir, err)
	}
	show.end()
	notes, err := completeRestore(re, c)
	if err != nil {
		return fmt.Errorf("restore %s into %s (the folder is not complete, remove it): %w", name, dir, err)
	}
	out := cmd.OutOrStdout()
	for _, d := range re.Databases() {
		fmt.Fprintf(out, "%s: entry %d%s, %d trees, %d rows\n", databaseLabel(d.Name), d.Index, commitAt(d.Time), d.Trees, d.Rows)
	}
	for _, n := range notes {
		fmt.Fprintln(out, n)
	}
	fmt.Fprintf(out, "restored into %s in %.1f s; start it with: herd server --base-dir %s\n", dir, time.Since(started).Seconds(), dir)
	return nil
}

func databaseLabel(name string) string {
	if name == "" {
		return "roles and list of databases"
	}
	return "database " + name
}

func commitAt(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return " (commit of " + t.Format(time.RFC3339Nano) + ")"
}

// errStopped: a signal ended what was going on.
var errStopped = errors.New("stopped")

// openBackup opens a file, or standard input of an unknown size.
func openBackup(name string) (io.ReadSeekCloser, int64, error) {
	if name == "-" {
		return os.Stdin, 0, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	st, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, st.Size(), nil
}

// readPieces hands the pieces to take until the file has ended as it should.
func readPieces(ctx context.Context, r *backup.Reader, size int64, show *meter, take func(engine.BackupPiece, []byte) error) error {
	for {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("%w at offset %d", errStopped, r.Offset())
		}
		p, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := take(engine.BackupPiece(p.Kind), p.Data); err != nil {
			return fmt.Errorf("at offset %d: %w", p.Offset, err)
		}
		if size > 0 {
			show.show("%d %% of %s", 100*r.Offset()/size, megabytes(size))
		} else {
			show.show("%s", megabytes(r.Offset()))
		}
	}
}

// restoreOptions are the engine's options for the folder of a configuration.
func restoreOptions(c *conf.Config) (o engine.RestoreOptions, err error) {
	limit, err := memoryLimit(c.MemoryMaxBytes)
	if err != nil {
		return o, err
	}
	logger := slog.New(slog.DiscardHandler)
	o.Options = engineOptions(c, fileSystem(c.Device), limit, mem.NewRoot(accountedLimit(limit)), logger)
	o.TuneCollector = false
	return o, nil
}

// completeRestore makes the list of databases agree with what was restored and lets servers open the folder.
func completeRestore(re *engine.Restore, c *conf.Config) (notes []string, err error) {
	e, err := re.Open()
	if err != nil {
		return nil, err
	}
	srv, err := session.New(session.Options{Engine: e, Memory: mem.NewRoot(0), Logger: slog.New(slog.DiscardHandler)})
	var r session.Reconciled
	if err == nil {
		r, err = srv.Reconcile()
	}
	if e := e.Close(); err == nil {
		err = e
	}
	if err != nil {
		return nil, err
	}
	note := func(what string, names []string) {
		if len(names) > 0 {
			notes = append(notes, what+": "+strings.Join(names, ", "))
		}
	}
	note("left out, since the list of databases of that moment does not have them", r.Dropped)
	note("taken off the list of databases, since they were not restored", r.Unknown)
	note("made anew and empty, since every server has them", r.Made)
	note("named as in the list of databases", r.Renamed)
	return notes, re.Done()
}
