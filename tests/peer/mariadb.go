package peer

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"syscall"

	"github.com/go-sql-driver/mysql"
)

// StartMariaDB makes a MariaDB with a database test and user root without password, and starts it with settings (name=value).
func StartMariaDB(ctx context.Context, settings []string) (*Server, error) {
	daemon, err := exec.LookPath("mariadbd")
	if err != nil {
		return nil, fmt.Errorf("mariadbd: %w", ErrNotInstalled)
	}
	install, err := exec.LookPath("mariadb-install-db")
	if err != nil {
		return nil, fmt.Errorf("mariadb-install-db: %w", ErrNotInstalled)
	}
	as, err := credential("mysql")
	if err != nil {
		return nil, err
	}
	dir, err := folder("my", as)
	if err != nil {
		return nil, err
	}
	make := exec.CommandContext(ctx, install, "--no-defaults", "--datadir="+dir+"/data", "--auth-root-authentication-method=normal", "--skip-name-resolve")
	make.Dir = dir
	make.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	if out, err := make.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("mariadb-install-db in %s: %w: %s", dir, err, out)
	}
	s := &Server{Dir: dir, stop: syscall.SIGTERM}
	if s.Port, err = FreePort(); err != nil {
		return nil, err
	}
	s.URL = fmt.Sprintf("mysql://root@127.0.0.1:%d/test", s.Port)
	args := []string{"--no-defaults", "--datadir=" + dir + "/data", "--bind-address=127.0.0.1", "--port=" + strconv.Itoa(s.Port),
		"--socket=" + dir + "/s", "--pid-file=" + dir + "/pid", "--skip-name-resolve", "--skip-log-bin", "--max-connections=1000"}
	for _, setting := range settings {
		args = append(args, "--"+setting)
	}
	config := mysql.NewConfig()
	config.User, config.Net, config.Addr = "root", "tcp", fmt.Sprintf("127.0.0.1:%d", s.Port)
	config.Logger = silent{}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	ready := func(ctx context.Context) error {
		c, err := connector.Connect(ctx)
		if err != nil {
			return err
		}
		defer c.Close()
		st, err := c.Prepare("CREATE DATABASE IF NOT EXISTS test")
		if err != nil {
			return err
		}
		defer st.Close()
		_, err = st.Exec(nil) //nolint:staticcheck // the context form only wraps this one
		return err
	}
	return s, launch(ctx, s, as, ready, daemon, args...)
}

// silent drops the driver's messages about refused connections while the server starts.
type silent struct{}

// Print drops its arguments.
func (silent) Print(...any) {}
