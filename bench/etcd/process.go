package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"herd/tests/peer"
)

// process is one server, which keeps the end of what it prints.
type process struct {
	cmd  *exec.Cmd
	done chan struct{}

	mu  sync.Mutex
	out bytes.Buffer
}

// Write takes output.
func (p *process) Write(b []byte) (int, error) {
	const most = 64 << 10
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.out.Len() > most {
		p.out.Reset()
	}
	return p.out.Write(b)
}

func spawn(ctx context.Context, env []string, program string, args ...string) (*process, error) {
	p := &process{cmd: exec.CommandContext(ctx, program, args...), done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = p, p
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	go func() {
		_ = p.cmd.Wait() // it is told to end
		close(p.done)
	}()
	return p, nil
}

// check says that the process has ended by itself.
func (p *process) check() error {
	select {
	case <-p.done:
		p.mu.Lock()
		defer p.mu.Unlock()
		return fmt.Errorf("%s has ended: %s", p.cmd.Path, p.out.String())
	default:
		return nil
	}
}

// cpuOf is the processor time that processes have used.
func cpuOf(list []*process) (total time.Duration, err error) {
	for _, p := range list {
		used, err := peer.ProcessorTime(p.cmd.Process.Pid)
		if err != nil {
			return 0, err
		}
		total += used
	}
	return total, nil
}

func stopAll(list []*process) error {
	var errs []error
	for _, p := range list {
		if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			errs = append(errs, err)
		}
		<-p.done
	}
	return errors.Join(errs...)
}

// await calls f until it returns nil, while the processes run.
func await(ctx context.Context, list []*process, f func() error) error {
	const patience, often = 60 * time.Second, 200 * time.Millisecond
	for end := time.Now().Add(patience); ; {
		err := f()
		if err == nil || time.Now().After(end) {
			return err
		}
		for _, p := range list {
			if ended := p.check(); ended != nil {
				return ended
			}
		}
		select {
		case <-time.After(often):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// freeAddresses returns loopback addresses that nobody listens on.
func freeAddresses(n int) ([]string, error) {
	var out []string
	for range n {
		port, err := peer.FreePort()
		if err != nil {
			return nil, err
		}
		out = append(out, fmt.Sprintf("127.0.0.1:%d", port))
	}
	return out, nil
}
