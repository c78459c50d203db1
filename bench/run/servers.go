package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"herd/tests/peer"
)

// Durability is PostgreSQL's default: fsync and synchronous_commit on.
var postgresSettings = []string{"shared_buffers=2GB", "max_connections=300"}

var mariadbSettings = []string{"innodb_flush_log_at_trx_commit=1", "innodb_buffer_pool_size=4G", "innodb_flush_method=O_DIRECT", "innodb_log_file_size=1G"}

// server is one of the systems that are measured.
type server struct {
	name string
	url  string
	pid  int
	// restart stops the server cleanly and starts it on the same data, returning how long the start took to its first answer.
	restart func(ctx context.Context) (time.Duration, error)
	stop    func() error
}

// fleet starts servers when a row first needs them.
type fleet struct {
	binary  string // herd
	dir     string // herd's data folders
	keep    []string
	running map[string]*server
}

// get returns a running server by name: herd, postgres or mariadb.
func (f *fleet) get(ctx context.Context, name string) (*server, error) {
	if s := f.running[name]; s != nil {
		return s, nil
	}
	var s *server
	var err error
	switch name {
	case "herd":
		s, err = f.startHerd(ctx)
	case "postgres":
		s, err = startPeer(ctx, name, peer.StartPostgres, postgresSettings)
	default:
		s, err = startPeer(ctx, name, peer.StartMariaDB, mariadbSettings)
	}
	if err != nil {
		return nil, err
	}
	f.running[name] = s
	return s, nil
}

func startPeer(ctx context.Context, name string, start func(context.Context, []string) (*peer.Server, error), settings []string) (*server, error) {
	p, err := start(ctx, settings)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return &server{name: name, url: p.URL, pid: p.Pid, stop: p.Stop}, nil
}

// end stops one server, so that the next row's servers have the memory.
func (f *fleet) end(name string) error {
	s := f.running[name]
	if s == nil {
		return nil
	}
	delete(f.running, name)
	return s.stop()
}

func (f *fleet) endAll() error {
	var all []error
	for name := range f.running {
		all = append(all, f.end(name))
	}
	return errors.Join(all...)
}

// build compiles herd from the working tree.
func (f *fleet) build(ctx context.Context) error {
	c := exec.CommandContext(ctx, "go", "build", "-o", f.binary, "./cmd/herd")
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("build herd: %w: %s", err, out)
	}
	return nil
}

func (f *fleet) startHerd(ctx context.Context) (*server, error) {
	base, err := os.MkdirTemp(f.dir, "herd-bench-")
	if err != nil {
		return nil, err
	}
	port, err := peer.FreePort()
	if err != nil {
		return nil, err
	}
	s := &server{name: "herd", url: fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", port)}
	launch := func() (stop func() error, err error) { return f.launchHerd(ctx, s, base, port) }
	end, err := launch()
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(base))
	}
	s.stop = func() error { return errors.Join(end(), os.RemoveAll(base)) }
	s.restart = func(context.Context) (time.Duration, error) {
		if err := end(); err != nil {
			return 0, err
		}
		start := time.Now()
		if end, err = launch(); err != nil {
			return 0, err
		}
		return time.Since(start), nil
	}
	return s, nil
}

// launchHerd starts herd and waits until it says that it listens.
func (f *fleet) launchHerd(ctx context.Context, s *server, base string, port int) (func() error, error) {
	args := []string{"server", "--until-stdin-closes", "--base-dir", filepath.Join(base, "data"), "--port", strconv.Itoa(port), "--set", "http.enabled=false"}
	for _, set := range f.keep {
		args = append(args, "--set", set)
	}
	c := exec.CommandContext(ctx, f.binary, args...)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, fmt.Errorf("start herd: %w", err)
	}
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return nil, fmt.Errorf("herd ended while starting: %w", errors.Join(err, c.Wait()))
		}
		if strings.HasPrefix(strings.TrimSpace(line), "listening on") {
			break
		}
	}
	s.pid = c.Process.Pid
	return func() error {
		_ = in.Close() // the server ends when its standard input does
		_, _ = io.Copy(io.Discard, lines)
		if err := c.Wait(); err != nil {
			return fmt.Errorf("stop herd: %w", err)
		}
		return nil
	}, nil
}

// residentBytes returns the memory of a process that is in RAM.
func residentBytes(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "VmRSS:" {
			kib, err := strconv.ParseInt(fields[1], 10, 64)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("no VmRSS of process %d", pid)
}
