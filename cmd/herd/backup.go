package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"

	"herd/backup"
	"herd/internal/vfs"
)

// backupFlags are the flags of herd backup.
type backupFlags struct {
	url, rate             string
	databases             []string
	replace, verify, mute bool
}

func newBackupCommand() *cobra.Command {
	var f backupFlags
	c := &cobra.Command{
		Use:   "backup FILE",
		Short: "Back up a running server into a file",
		Long: `Writes a consistent state of every database, of the roles and of the list of databases into FILE, or to standard output when
FILE is -. The server goes on working; each database's state is that behind one entry of its log. The user must be a superuser.

FILE appears when it is complete and on disk. "herd restore --verify FILE" checks it, "herd restore FILE DIR" makes a folder of it
that "herd server --base-dir DIR" starts with. Configuration, certificates and server.users.file are not part of a backup.`,
		Example: `  herd backup --url postgres://postgres@127.0.0.1:5432/postgres /backups/monday.herd
  herd backup --database shop --rate 50M shop.herd
  herd backup - | ssh elsewhere 'cat > monday.herd'`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			rate, err := parseBytes(f.rate)
			if err != nil {
				return usageError{cmd.CommandPath(), fmt.Errorf("--rate: %w", err)}
			}
			return f.run(cmd, args[0], rate)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.url, "url", "postgres://postgres@127.0.0.1:5432/postgres", "server to connect to; PGPASSWORD gives the password")
	flags.StringArrayVar(&f.databases, "database", nil, "only this `name`, with the roles and the list of databases; repeatable")
	flags.StringVar(&f.rate, "rate", "0", "most `bytes` a second that the server reads for the backup (K, M, G); 0: as fast as it goes")
	flags.BoolVar(&f.replace, "replace", false, "replace FILE if it exists, once the new backup is complete")
	flags.BoolVar(&f.verify, "verify", false, "read FILE again and verify it")
	flags.BoolVar(&f.mute, "quiet", false, "print no progress")
	return c
}

// parseBytes reads a number with K, M or G.
func parseBytes(s string) (int64, error) {
	unit := int64(1)
	digits := strings.TrimRight(strings.ToUpper(s), "B")
	for suffix, n := range map[string]int64{"K": 1 << 10, "M": 1 << 20, "G": 1 << 30} {
		if d, ok := strings.CutSuffix(digits, suffix); ok {
			digits, unit = d, n
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > (1<<62)/unit {
		return 0, fmt.Errorf("%q is not a number of bytes", s)
	}
	return n * unit, nil
}

func (f *backupFlags) run(cmd *cobra.Command, name string, rate int64) error {
	ctx, started := cmd.Context(), time.Now()
	conn, err := connectReplication(ctx, f.url, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	show := newMeter(cmd.ErrOrStderr(), f.mute)
	sql := "BACKUP"
	for i, d := range f.databases {
		sql += map[bool]string{true: " DATABASE ", false: ", "}[i == 0] + quoteName(d)
	}
	sql += " RATE " + strconv.FormatInt(rate, 10)
	var file, pieces int64
	fill := func(w *backup.Writer) error {
		if _, err := conn.CopyTo(ctx, &pieceWriter{w: w, show: show}, sql); err != nil {
			return fmt.Errorf("from the server: %w", err)
		}
		file, pieces = w.Written()
		return nil
	}
	if name == "-" {
		err = streamBackup(cmd.OutOrStdout(), fill)
	} else {
		err = backup.Create(vfs.OS, name, f.replace, fill)
	}
	show.end()
	if err != nil {
		if errors.Is(err, os.ErrExist) {
			return fmt.Errorf("%w; --replace replaces it", err)
		}
		return err
	}
	out := cmd.ErrOrStderr()
	if name != "-" {
		out = cmd.OutOrStdout()
	}
	fmt.Fprintf(out, "%s: %s of data in a file of %s, %.1f s\n", name, megabytes(pieces), megabytes(file), time.Since(started).Seconds())
	if f.verify && name != "-" {
		return verifyBackup(cmd, name, false, f.mute)
	}
	return nil
}

// streamBackup writes a backup to a pipe.
func streamBackup(out io.Writer, fill func(*backup.Writer) error) error {
	w, err := backup.NewWriter(out)
	if err == nil {
		err = fill(w)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return fmt.Errorf("back up to standard output: %w", err)
	}
	return nil
}

// connectReplication opens a connection that takes BACKUP.
func connectReplication(ctx context.Context, url string, errOut io.Writer) (*pgconn.PgConn, error) {
	config, err := pgconn.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("server address: %w", err)
	}
	config.RuntimeParams["replication"] = "true"
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { fmt.Fprintf(errOut, "%s:  %s\n", n.Severity, n.Message) }
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connect to %s:%d: %w", config.Host, config.Port, err)
	}
	return conn, nil
}

// pieceWriter takes COPY data, a message a piece: its kind and the piece.
type pieceWriter struct {
	w    *backup.Writer
	show *meter
}

// Write implements io.Writer.
func (p *pieceWriter) Write(message []byte) (int, error) {
	if len(message) == 0 {
		return 0, errors.New("an empty message in the backup's stream")
	}
	if err := p.w.Piece(backup.Kind(message[0]), message[1:]); err != nil {
		return 0, err
	}
	file, pieces := p.w.Written()
	p.show.show("%s read, %s written", megabytes(pieces), megabytes(file))
	return len(message), nil
}
