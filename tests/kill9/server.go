package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// server is a herd process.
type server struct {
	process *exec.Cmd
	took    time.Duration // from start to listening
}

// startServer starts herd on a folder and a port and waits until it listens.
func startServer(ctx context.Context, binary, base string, port int, sets []string) (*server, error) {
	args := []string{"server", "--base-dir", base, "--port", fmt.Sprint(port), "--set", "http.enabled=false"}
	for _, set := range sets {
		args = append(args, "--set", set)
	}
	s := &server{process: exec.CommandContext(ctx, binary, args...)}
	s.process.Stderr = os.Stderr
	out, err := s.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	start := time.Now()
	if err := s.process.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", binary, err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.HasPrefix(strings.TrimSpace(lines.Text()), "listening on") {
			s.took = time.Since(start)
			return s, nil
		}
	}
	return nil, fmt.Errorf("server did not start on %s: %w", base, s.process.Wait())
}

// kill ends the process as a power failure would and waits for it.
func (s *server) kill() error {
	if err := s.process.Process.Kill(); err != nil {
		return err
	}
	_ = s.process.Wait() // "signal: killed" is what is wanted
	return nil
}
