package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"herd/tests/peer"
)

// Durability is PostgreSQL's default: fsync and synchronous_commit on.
var postgresSettings = []string{"shared_buffers=2GB", "work_mem=256MB", "max_connections=300"}

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

// get returns a running server by name: herd, postgres, mariadb or the null server.
func (f *fleet) get(ctx context.Context, name string) (*server, error) {
	if s := f.running[name]; s != nil {
		return s, nil
	}
	var s *server
	var err error
	switch name {
	case "herd":
		s, err = f.startHerd(ctx)
	case bound:
		s, err = f.startNull(ctx)
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

func (f *fleet) startHerd(ctx context.Context) (*server, error) {
	base, err := os.MkdirTemp(f.dir, "herd-bench-")
	if err != nil {
		return nil, err
	}
	h := &peer.Herd{Binary: f.binary, Dir: base, Settings: f.keep}
	p, err := h.Start(ctx)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(base))
	}
	s := &server{name: "herd", url: p.URL, pid: p.Pid}
	s.stop = func() error { return p.Stop() }
	s.restart = func(ctx context.Context) (time.Duration, error) {
		if err := p.Shutdown(); err != nil {
			return 0, err
		}
		if p, err = h.Start(ctx); err != nil {
			return 0, err
		}
		s.pid = p.Pid
		return p.Took, nil
	}
	return s, nil
}

// startNull builds and starts the server of bench/null.
func (f *fleet) startNull(ctx context.Context) (*server, error) {
	binary := filepath.Join(f.dir, "null")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "herd/bench/null").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build bench/null: %w: %s", err, out)
	}
	c := exec.Command(binary, "--port", "0", "--log", filepath.Join(f.dir, "null.log"))
	stdout, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	stop := func() error {
		err := c.Process.Kill()
		_ = c.Wait() // it ends by the signal
		return err
	}
	const saysAddress = "listening on "
	line, err := bufio.NewReader(stdout).ReadString('\n')
	address, ok := strings.CutPrefix(strings.TrimSpace(line), saysAddress)
	if err != nil || !ok {
		return nil, errors.Join(fmt.Errorf("start bench/null: it said %q", line), err, stop())
	}
	return &server{name: bound, url: "postgres://postgres@" + address + "/postgres?sslmode=disable", pid: c.Process.Pid, stop: stop}, nil
}
