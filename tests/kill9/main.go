package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"herd/tests/peer"
)

type options struct {
	rounds, clients, scale int
	least, most            time.Duration
	binary                 string
	sets                   []string
}

func main() {
	var o options
	pflag.IntVar(&o.rounds, "rounds", 20, "kills")
	pflag.IntVar(&o.clients, "clients", 16, "connections")
	pflag.IntVar(&o.scale, "scale", 2, "pgbench scale")
	pflag.DurationVar(&o.least, "least", time.Second, "time to the kill in the first round")
	pflag.DurationVar(&o.most, "most", 4*time.Second, "time to the kill in the last round")
	pflag.StringVar(&o.binary, "herd", "", "herd program; by default it is built from the working tree")
	pflag.StringArrayVar(&o.sets, "set", nil, "setting key=value of herd; repeatable")
	pflag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "kill9:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (err error) {
	dir, err := os.MkdirTemp("", "herd-kill9-")
	if err != nil {
		return err
	}
	keep := false
	defer func() {
		if keep {
			fmt.Println("data kept in", dir)
			return
		}
		err = errors.Join(err, os.RemoveAll(dir))
	}()
	program, err := peer.Program(ctx, o.binary, dir)
	if err != nil {
		return err
	}
	h := &peer.Herd{Binary: program, Dir: filepath.Join(dir, "data"), Settings: o.sets}
	s, err := h.Start(ctx)
	if err != nil {
		return err
	}
	if err := load(ctx, s.URL, o.scale); err != nil {
		return errors.Join(err, s.Kill())
	}
	l := newLedger()
	for round := range o.rounds {
		if s, err = killRound(ctx, o, h, s, round, l); err != nil {
			keep = true
			return fmt.Errorf("round %d: %w", round+1, err)
		}
	}
	return s.Kill()
}

// load fills pgbench's tables.
func load(ctx context.Context, url string, scale int) error {
	bin, err := peer.PostgresBin()
	if err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, filepath.Join(bin, "pgbench"), "-i", "-q", "-s", fmt.Sprint(scale), url).CombinedOutput(); err != nil {
		return fmt.Errorf("pgbench -i: %w: %s", err, out)
	}
	return nil
}

// killRound runs clients, kills the server, starts it again and checks. It returns the new server.
func killRound(ctx context.Context, o options, h *peer.Herd, s *peer.Server, round int, l *ledger) (*peer.Server, error) {
	before := len(l.acked)
	var clients sync.WaitGroup
	for number := range o.clients {
		clients.Go(func() { runClient(ctx, s.URL, o.scale, round, number, l) })
	}
	wait := o.least
	if o.rounds > 1 {
		wait += (o.most - o.least) * time.Duration(round) / time.Duration(o.rounds-1)
	}
	select {
	case <-time.After(wait):
	case <-ctx.Done():
	}
	if err := s.Kill(); err != nil {
		return nil, err
	}
	clients.Wait()
	if trouble := l.trouble.Load(); trouble != nil {
		return nil, fmt.Errorf("before the kill: %w", *trouble)
	}
	s, err := h.Start(ctx)
	if err != nil {
		return nil, err
	}
	rows, problems, err := checkServer(ctx, s.URL, l)
	if err != nil {
		return nil, errors.Join(err, s.Kill())
	}
	fmt.Printf("round %2d: killed after %.1f s and %d acknowledged commits; up again in %.2f s; history has %d rows for %d acknowledged in all\n",
		round+1, wait.Seconds(), len(l.acked)-before, s.Took.Seconds(), rows, len(l.acked))
	if problems != nil {
		return nil, errors.Join(errors.New(strings.Join(problems, "; ")), s.Kill())
	}
	return s, nil
}
