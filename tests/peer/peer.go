package peer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// Server is a running peer.
type Server struct {
	// URL is how a client connects: postgres://postgres@127.0.0.1:PORT/postgres or mysql://root@127.0.0.1:PORT/test.
	URL string
	// Port is the loopback port.
	Port int
	// Dir holds the server's data and its log file.
	Dir string
	// Pid is the server's process.
	Pid int
	// Took is the time from the start to the first sign of readiness, for herd.
	Took time.Duration

	process *exec.Cmd
	done    chan struct{} // closed when the process has ended
	ended   error         // how a herd ended; valid after done
	stop    syscall.Signal
}

// ErrNotInstalled is wrapped by the errors of Start functions when the server's programs are missing.
var ErrNotInstalled = errors.New("not installed")

// Stop ends the server, waits for it, and removes its folder.
func (s *Server) Stop() error {
	err := s.Shutdown()
	return errors.Join(err, os.RemoveAll(s.Dir))
}

// Shutdown ends the server and keeps its folder, so that it can be started again.
func (s *Server) Shutdown() error {
	const patience = 60 * time.Second
	_ = s.process.Process.Signal(s.stop) // fails only when it has ended already
	select {
	case <-s.done:
		if s.ended != nil {
			return fmt.Errorf("server with data in %s: %w", s.Dir, s.ended)
		}
		return nil
	case <-time.After(patience):
		_ = s.process.Process.Kill()
		<-s.done
		return fmt.Errorf("server with data in %s did not stop within %s", s.Dir, patience)
	}
}

// launch starts a server's program, its output in a log file, and waits until ready says that it answers.
func launch(ctx context.Context, s *Server, as *syscall.Credential, ready func(context.Context) error, name string, args ...string) error {
	logFile, err := os.OpenFile(s.Dir+"/server.log", os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer logFile.Close()
	s.process = exec.Command(name, args...)
	s.process.Dir, s.process.Stdout, s.process.Stderr = s.Dir, logFile, logFile
	s.process.SysProcAttr = &syscall.SysProcAttr{Credential: as, Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := s.process.Start(); err != nil {
		return fmt.Errorf("start %s: %w", name, err)
	}
	s.Pid, s.done = s.process.Process.Pid, make(chan struct{})
	go func() {
		_ = s.process.Wait() // how it ended is in its log
		close(s.done)
	}()
	const patience, pause = 60 * time.Second, 50 * time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-s.done:
			text, _ := os.ReadFile(s.Dir + "/server.log")
			return fmt.Errorf("%s ended while starting: %s", name, text)
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("%s does not answer: %w", name, err), s.Shutdown())
		case <-time.After(pause):
		}
	}
}

// credential returns whom to run a server as: servers that refuse root run as their own user when we are root.
func credential(name string) (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		return nil, fmt.Errorf("user %s: %w", name, ErrNotInstalled)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

// folder makes a folder that the server's user owns.
func folder(name string, as *syscall.Credential) (string, error) {
	dir, err := os.MkdirTemp("/tmp", "herd-peer-"+name+"-") // a short path: it holds a socket
	if err != nil {
		return "", err
	}
	if as != nil {
		err = os.Chown(dir, int(as.Uid), int(as.Gid))
	}
	return dir, err
}

// FreePort returns a loopback port that nobody listens on.
func FreePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// Postgres starts a PostgreSQL for a test and returns its address. The test is skipped when PostgreSQL is not installed. Durability is off.
func Postgres(tb testing.TB) string {
	tb.Helper()
	return forTest(tb, StartPostgres, []string{"fsync=off", "synchronous_commit=off", "full_page_writes=off"})
}

// MariaDB starts a MariaDB for a test and returns its address. The test is skipped when MariaDB is not installed.
func MariaDB(tb testing.TB) string {
	tb.Helper()
	return forTest(tb, StartMariaDB, []string{"innodb_flush_log_at_trx_commit=0"})
}

func forTest(tb testing.TB, start func(context.Context, []string) (*Server, error), settings []string) string {
	tb.Helper()
	s, err := start(context.Background(), settings)
	if errors.Is(err, ErrNotInstalled) {
		tb.Skipf("peer missing: %v", err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Stop(); err != nil {
			tb.Error(err)
		}
	})
	return s.URL
}
