package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// listeningOn begins the line in which a server says its address; startEmbedded looks for it.
const listeningOn = "listening on"

// embedded is a server that runs as a child process, so that it has a heap, a collector and a scheduler of its own as it would in
// production, and so that clients reach it over a real connection.
type embedded struct {
	process *exec.Cmd
	stdin   io.Closer // the child ends when this is closed, even if this process dies
	address string
	done    chan error
}

// startEmbedded starts `herd server` of this program on a free loopback port and waits until it listens.
func startEmbedded(ctx context.Context, baseDir string, sets []string) (*embedded, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := []string{"server", "--until-stdin-closes", "--host", "127.0.0.1", "--port", "0", "--base-dir", baseDir, "--set", "http.enabled=false"}
	for _, set := range sets {
		args = append(args, "--set", set)
	}
	s := &embedded{process: exec.Command(program, args...), done: make(chan error, 1)}
	s.process.Stderr = os.Stderr
	if s.stdin, err = s.process.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.process.Start(); err != nil {
		return nil, fmt.Errorf("start embedded server: %w", err)
	}
	ready := make(chan string, 1)
	go func() { // ends with the child, whose output it reads
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if address, ok := strings.CutPrefix(strings.TrimSpace(lines.Text()), listeningOn); ok {
				ready <- strings.TrimSpace(address)
			}
		}
		s.done <- s.process.Wait()
	}()
	select {
	case s.address = <-ready:
		return s, nil
	case err := <-s.done:
		return nil, fmt.Errorf("embedded server ended while starting: %w", err)
	case <-ctx.Done():
		return nil, fmt.Errorf("start embedded server: %w", ctx.Err())
	}
}

func (s *embedded) url() string {
	return "postgres://postgres@" + s.address + "/postgres?sslmode=disable"
}

// stop ends the server and waits for it.
func (s *embedded) stop() error {
	const patience = 60 * time.Second
	_ = s.stdin.Close() // a child that is gone has closed it
	select {
	case err := <-s.done:
		if err != nil {
			return fmt.Errorf("embedded server: %w", err)
		}
		return nil
	case <-time.After(patience):
		_ = s.process.Process.Kill()
		return fmt.Errorf("embedded server did not stop within %s", patience)
	}
}
