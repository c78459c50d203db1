package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/pflag"

	"herd/tests/peer"
)

type options struct {
	rounds                  int
	least, most             time.Duration
	freezeEvery, checkEvery int
	frozen                  time.Duration
	seed                    uint64
	binary                  string
	sets                    []string
	out                     io.Writer
}

func main() {
	o := options{out: os.Stdout}
	pflag.IntVar(&o.rounds, "rounds", 20, "kills")
	pflag.DurationVar(&o.least, "least", 100*time.Millisecond, "least time to the kill")
	pflag.DurationVar(&o.most, "most", 1500*time.Millisecond, "most time to the kill")
	pflag.IntVar(&o.freezeEvery, "freeze-every", 10, "stop the process with SIGSTOP for a while in every n-th round; 0 = never")
	pflag.DurationVar(&o.frozen, "frozen", 3*time.Second, "how long it is stopped")
	pflag.IntVar(&o.checkEvery, "check-every", 5, "run herd check after every n-th kill; 0 = never")
	pflag.Uint64Var(&o.seed, "seed", 0, "of the random choices; 0 = by the clock")
	pflag.StringVar(&o.binary, "herd", "", "herd program; by default it is built from the working tree")
	pflag.StringArrayVar(&o.sets, "set", nil, "setting key=value of herd; repeatable")
	pflag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (err error) {
	if o.seed == 0 {
		o.seed = uint64(time.Now().UnixNano())
	}
	fmt.Fprintln(o.out, "seed", o.seed)
	dir, err := os.MkdirTemp("", "herd-chaos-")
	if err != nil {
		return err
	}
	program, err := peer.Program(ctx, o.binary, dir)
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	h := &peer.Herd{Binary: program, Dir: filepath.Join(dir, "data"), Settings: o.sets}
	if err := rounds(ctx, o, h); err != nil {
		fmt.Fprintln(o.out, "data kept in", dir)
		return fmt.Errorf("seed %d: %w", o.seed, err)
	}
	return os.RemoveAll(dir)
}

// rounds runs them all on one folder.
func rounds(ctx context.Context, o options, h *peer.Herd) error {
	s, err := h.Start(ctx)
	if err != nil {
		return err
	}
	m := newModel()
	if err := define(ctx, s.URL); err != nil {
		return errors.Join(err, s.Kill())
	}
	random := rand.New(rand.NewPCG(o.seed, 0))
	for round := range o.rounds {
		if s, err = o.round(ctx, h, s, m, random, round); err != nil {
			return fmt.Errorf("round %d: %w", round+1, err)
		}
		if ctx.Err() != nil {
			return errors.Join(ctx.Err(), s.Kill())
		}
	}
	return s.Kill()
}

// define makes the tables.
func define(ctx context.Context, url string) error {
	c, err := pgconn.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	_, err = c.Exec(ctx, schema).ReadAll()
	return wrap("schema", err)
}

// round runs the clients, kills the server, starts it again and compares. It returns the new server.
func (o *options) round(ctx context.Context, h *peer.Herd, s *peer.Server, m *model, random *rand.Rand, round int) (*peer.Server, error) {
	before := m.acked
	var clients sync.WaitGroup
	number := 0
	for _, w := range works {
		for range w.clients {
			n := number
			clients.Go(func() { runClient(ctx, s.URL, m, n, round, o.seed, w.work) })
			number++
		}
	}
	wait := o.least + time.Duration(random.Int64N(int64(o.most-o.least)+1))
	sleep(ctx, wait)
	frozen := o.freezeEvery > 0 && (round+1)%o.freezeEvery == 0
	if frozen {
		if err := freeze(ctx, s.Pid, o.frozen); err != nil {
			return nil, err
		}
		sleep(ctx, o.least+time.Duration(random.Int64N(int64(o.most-o.least)+1)))
	}
	if err := s.Kill(); err != nil {
		return nil, err
	}
	clients.Wait()
	if m.trouble != nil {
		return nil, fmt.Errorf("before the kill: %w", m.trouble)
	}
	if o.checkEvery > 0 && (round+1)%o.checkEvery == 0 {
		if out, err := exec.CommandContext(ctx, h.Binary, "check", h.Dir).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("herd check after the kill: %w: %s", err, out)
		}
	}
	s, err := h.Start(ctx)
	if err != nil {
		return nil, err
	}
	problems, err := verify(ctx, s.URL, m)
	if err != nil {
		return nil, errors.Join(err, s.Kill())
	}
	note := ""
	if frozen {
		note = fmt.Sprintf(", frozen for %s on the way", o.frozen)
	}
	fmt.Fprintf(o.out, "round %3d: killed after %.2f s%s and %d acknowledged changes; up again in %.2f s; %d acknowledged in all\n",
		round+1, wait.Seconds(), note, m.acked-before, s.Took.Seconds(), m.acked)
	if problems != nil {
		return nil, errors.Join(errors.New(strings.Join(problems, "\n")), s.Kill())
	}
	return s, nil
}

// freeze stops a process for a while.
func freeze(ctx context.Context, pid int, d time.Duration) error {
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return fmt.Errorf("freeze the server: %w", err)
	}
	sleep(ctx, d)
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		return fmt.Errorf("thaw the server: %w", err)
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
