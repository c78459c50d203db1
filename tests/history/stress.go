package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"herd/tests/peer"
)

// options say what a run does.
type options struct {
	level    level
	seed     uint64
	time     time.Duration
	kills    int
	clients  int // of lists, accounts and pairs each
	counters int
	ballast  int // rows of 1 KiB that are scanned meanwhile: more than fits into memory
}

// outcome is what a run found.
type outcome struct {
	problems  []string
	summaries []string
}

// stress runs all loads on a server, which it starts and leaves stopped. The server is killed o.kills times meanwhile.
func stress(ctx context.Context, h *peer.Herd, o options) (out outcome, err error) {
	s, err := h.Start(ctx)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, s.Kill()) }()
	if err := prepare(ctx, s.URL, o.ballast); err != nil {
		return out, err
	}
	load, cancel := context.WithTimeout(ctx, o.time)
	defer cancel()
	var once sync.Once
	var trouble error
	fail := func(err error) { once.Do(func() { trouble = err; cancel() }) }
	l := &lists{seed: o.seed, level: o.level}
	m := &sums{seed: o.seed, level: o.level}
	var wg sync.WaitGroup
	clients(&wg, o.clients, fail, func(n int) error { return l.run(load, s.URL, n) })
	clients(&wg, o.clients, fail, func(n int) error { return m.run(load, s.URL, 1000+n, m.bank) })
	clients(&wg, o.clients, fail, func(n int) error { return m.run(load, s.URL, 2000+n, m.skew) })
	clients(&wg, o.counters, fail, func(n int) error { return m.run(load, s.URL, 3000+n, m.count) })
	clients(&wg, 1, fail, func(int) error { return m.run(load, s.URL, 4000, checkpoint) })
	if o.ballast > 0 {
		clients(&wg, 1, fail, func(int) error { return m.run(load, s.URL, 5000, scan) })
	}
	s, err = kill(load, ctx, h, s, o)
	if err != nil {
		fail(err)
	}
	wg.Wait()
	if trouble != nil {
		return out, trouble
	}
	for _, finish := range []func(context.Context, string) ([]string, string, error){l.finish, m.finish} {
		problems, summary, err := finish(ctx, s.URL)
		if err != nil {
			return out, err
		}
		out.problems, out.summaries = append(out.problems, problems...), append(out.summaries, summary)
	}
	return out, nil
}

// kill ends the server at random moments and starts it again, and returns when the load is over.
func kill(load, ctx context.Context, h *peer.Herd, s *peer.Server, o options) (*peer.Server, error) {
	r := rand.New(rand.NewPCG(o.seed, 9999))
	for range o.kills {
		part := o.time / time.Duration(o.kills+1)
		select {
		case <-load.Done():
			return s, nil
		case <-time.After(part/2 + time.Duration(r.Int64N(int64(part)/2+1))):
		}
		if err := s.Kill(); err != nil {
			return s, err
		}
		next, err := h.Start(ctx)
		if err != nil {
			return s, fmt.Errorf("start after a kill: %w", err)
		}
		s = next
	}
	<-load.Done()
	return s, nil
}

func prepare(ctx context.Context, url string, ballast int) error {
	c := &client{url: url}
	defer c.close()
	if err := c.connect(ctx); err != nil {
		return err
	}
	schema := listsSchema + "; " + sumsSchema
	if ballast > 0 {
		schema += fmt.Sprintf("; CREATE TABLE ballast (id int PRIMARY KEY, pad text); INSERT INTO ballast SELECT g, repeat(md5(g::text), 32) FROM generate_series(1, %d) g", ballast)
	}
	_, err := c.conn.Exec(ctx, schema).ReadAll()
	return err
}

// checkpoint asks for a checkpoint now and then.
func checkpoint(ctx context.Context, c *client, r *rand.Rand) error {
	select {
	case <-ctx.Done():
	case <-time.After(time.Duration(50+r.IntN(200)) * time.Millisecond):
	}
	if _, err := c.exec(ctx, "CHECKPOINT"); err != nil && !errors.Is(err, errEnded) {
		return err
	}
	return nil
}

// scan reads the ballast, which pushes other blocks out of memory.
func scan(ctx context.Context, c *client, _ *rand.Rand) error {
	if _, err := c.exec(ctx, "SELECT count(pad) FROM ballast"); err != nil && !errors.Is(err, errEnded) && !retryable(err) {
		return err
	}
	return nil
}
