package peer

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// BuildHerd compiles herd from the working tree to a file. Any folder of the repository may be the working directory.
func BuildHerd(ctx context.Context, file string) error {
	c := exec.CommandContext(ctx, "go", "build", "-o", file, "herd/cmd/herd")
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("build herd: %w: %s", err, out)
	}
	return nil
}

// Program returns the herd program that was given, or, with "", one that it builds into a folder.
func Program(ctx context.Context, given, dir string) (string, error) {
	if given != "" {
		return given, nil
	}
	built := filepath.Join(dir, "herd")
	return built, BuildHerd(ctx, built)
}

// Herd is how a herd server is started. The same value starts it again on the same data and port.
type Herd struct {
	// Binary is the program, from BuildHerd.
	Binary string
	// Dir is the base folder.
	Dir string
	// Port is the loopback port; Start chooses one when it is 0.
	Port int
	// Settings are key=value pairs for --set.
	Settings []string
	// Flags are further arguments of "herd server".
	Flags []string
	// Messages takes what the server writes to standard error; nil is this process's own.
	Messages *os.File
}

// Start starts the server and waits until it listens. Took says how long that was. Stop of the result removes Dir.
func (h *Herd) Start(ctx context.Context) (*Server, error) {
	if h.Port == 0 {
		port, err := FreePort()
		if err != nil {
			return nil, err
		}
		h.Port = port
	}
	args := []string{"server", "--base-dir", h.Dir, "--host", "127.0.0.1", "--port", fmt.Sprint(h.Port), "--set", "http.enabled=false"}
	for _, set := range h.Settings {
		args = append(args, "--set", set)
	}
	args = append(args, h.Flags...)
	s := &Server{URL: fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", h.Port), Port: h.Port, Dir: h.Dir, stop: syscall.SIGTERM}
	s.process = exec.CommandContext(ctx, h.Binary, args...)
	s.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	s.process.Stderr = os.Stderr
	if h.Messages != nil {
		s.process.Stderr = h.Messages
	}
	out, err := s.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	start := time.Now()
	if err := s.process.Start(); err != nil {
		return nil, fmt.Errorf("start herd: %w", err)
	}
	s.Pid, s.done = s.process.Process.Pid, make(chan struct{})
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return nil, fmt.Errorf("herd with data in %s ended while starting: %w", h.Dir, s.process.Wait())
		}
		if strings.HasPrefix(strings.TrimSpace(line), "listening on") {
			break
		}
	}
	s.Took = time.Since(start)
	go func() {
		_, _ = io.Copy(io.Discard, lines) // ends with the process
		s.ended = s.process.Wait()
		close(s.done)
	}()
	return s, nil
}

// Kill ends the process with SIGKILL, as a crash would, and waits for it.
func (s *Server) Kill() error {
	if err := s.process.Process.Kill(); err != nil {
		return err
	}
	<-s.done
	return nil
}

// built holds the folder of the program that StartHerdFor has built in this process.
var built = sync.OnceValues(func() (string, error) {
	if binary := os.Getenv("HERD_BINARY"); binary != "" {
		return binary, nil
	}
	dir, err := os.MkdirTemp("", "herd-test-")
	if err != nil {
		return "", err
	}
	removeBuilt = func() error { return os.RemoveAll(dir) }
	binary := filepath.Join(dir, "herd")
	return binary, BuildHerd(context.Background(), binary)
})

var removeBuilt = func() error { return nil }

// Main runs a package's tests and then removes the herd that StartHerdFor built. A TestMain calls it.
func Main(m *testing.M) int {
	code := m.Run()
	if err := removeBuilt(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// HerdFor returns a herd for a test that starts and ends it itself, on a folder that goes with the test. The program is
// that of StartHerdFor.
func HerdFor(tb testing.TB, settings ...string) *Herd {
	tb.Helper()
	binary, err := built()
	if err != nil {
		tb.Fatal(err)
	}
	return &Herd{Binary: binary, Dir: filepath.Join(tb.TempDir(), "data"), Settings: settings}
}

// StartHerdFor starts a herd for a test, with settings (key=value), and ends it with the test. The program is HERD_BINARY or is
// built once in a process; packages that use it have a TestMain that calls Main.
func StartHerdFor(tb testing.TB, settings ...string) *Server {
	tb.Helper()
	s, err := HerdFor(tb, settings...).Start(context.Background())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Stop(); err != nil {
			tb.Error(err)
		}
	})
	return s
}
