package peer

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
)

// PostgresBin returns the folder of PostgreSQL 15's server programs. The error wraps ErrNotInstalled.
func PostgresBin() (string, error) {
	for _, dir := range []string{os.Getenv("HERD_PG_BIN"), "/usr/lib/postgresql/15/bin", "/usr/pgsql-15/bin", "/opt/homebrew/opt/postgresql@15/bin"} {
		if _, err := os.Stat(filepath.Join(dir, "initdb")); dir != "" && err == nil {
			return dir, nil
		}
	}
	return "", fmt.Errorf("PostgreSQL 15 (HERD_PG_BIN names its bin folder): %w", ErrNotInstalled)
}

// StartPostgres makes a cluster with collation C, user postgres and no password, and starts it with settings (name=value).
func StartPostgres(ctx context.Context, settings []string) (*Server, error) {
	bin, err := PostgresBin()
	if err != nil {
		return nil, err
	}
	as, err := credential("postgres")
	if err != nil {
		return nil, err
	}
	dir, err := folder("pg", as)
	if err != nil {
		return nil, err
	}
	initdb := exec.CommandContext(ctx, bin+"/initdb", "-D", dir+"/data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N")
	initdb.Dir = dir
	initdb.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb in %s: %w: %s", dir, err, out)
	}
	s := &Server{Dir: dir, stop: syscall.SIGINT} // fast shutdown
	return s, s.startPostgres(ctx, as, bin, settings)
}

func (s *Server) startPostgres(ctx context.Context, as *syscall.Credential, bin string, settings []string) (err error) {
	if s.Port, err = FreePort(); err != nil {
		return err
	}
	s.URL = fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", s.Port)
	args := []string{"-D", s.Dir + "/data", "-h", "127.0.0.1", "-p", fmt.Sprint(s.Port), "-k", s.Dir}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	ready := func(ctx context.Context) error {
		c, err := pgconn.Connect(ctx, s.URL)
		if err != nil {
			return err
		}
		return c.Close(ctx)
	}
	return launch(ctx, s, as, ready, bin+"/postgres", args...)
}
