package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"herd/ycsb"
)

// Goals of the comparison.
const (
	ratioMost    = 3.0
	noCheckpoint = "server.checkpoint.period=0"
)

// quiet are the settings of a run without checkpoints: none is due by time, log or changed memory.
var quiet = []string{noCheckpoint, "server.checkpoint.log.max=1024G", "server.checkpoint.page.dirty.max.threshold=1"}

// busy are those of a run with a checkpoint every 20 s.
var busy = []string{"server.checkpoint.period=20000"}

// runLoad compares two runs at a share of the peak.
func runLoad(ctx context.Context, s *settings) error {
	if s.rate == 0 {
		p, err := s.measure(ctx, "peak", nil, 0, s.peak, false)
		if err != nil {
			return err
		}
		s.rate = s.share * p.Throughput
		fmt.Printf("peak %.0f ops/s; the runs have %.0f ops/s\n", p.Throughput, s.rate)
	}
	without, err := s.measure(ctx, "without", quiet, s.rate, s.duration, false)
	if err != nil {
		return err
	}
	with, err := s.measure(ctx, "with", busy, s.rate, s.duration, true)
	if err != nil {
		return err
	}
	return compare(os.Stdout, without, with)
}

// measure runs workload a once on a server of its own, on the data that the run before has left.
func (s *settings) measure(ctx context.Context, name string, sets []string, rate float64, d time.Duration, index bool) (_ *ycsb.Phase, err error) {
	server, err := s.start(ctx, sets...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.Shutdown()) }()
	workload, err := ycsb.Find("a")
	if err != nil {
		return nil, err
	}
	o := ycsb.Options{Workloads: []ycsb.Workload{workload}, Records: s.records, Duration: d, Threads: s.threads, Target: rate,
		FieldCount: 10, FieldLength: 100, Seed: 1, Series: true, Targets: []ycsb.Target{{Label: name, Start: ycsb.At(server.URL)}}}
	built := make(chan error, 1)
	if index {
		go func() { built <- buildIndex(ctx, server.URL, d/2) }()
	} else {
		built <- nil
	}
	report, err := ycsb.Run(ctx, o)
	if err = errors.Join(err, <-built); err != nil {
		return nil, fmt.Errorf("run %q: %w", name, err)
	}
	p := report.Phases[len(report.Phases)-1]
	if p.Errors > 0 {
		return nil, fmt.Errorf("run %q: %d operations failed: %v", name, p.Errors, p.ErrorTexts)
	}
	if s.out == "" {
		return p, nil
	}
	for suffix, write := range map[string]func(io.Writer) error{".csv": report.WriteSeries, ".svg": report.WritePlot, ".json": report.WriteJSON} {
		if err := writeFile(filepath.Join(s.out, name+suffix), write); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func writeFile(name string, write func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// buildIndex builds an index on the loaded table after a time. Writers of the table go on: a plain CREATE INDEX holds them, as in PostgreSQL.
func buildIndex(ctx context.Context, url string, after time.Duration) error {
	select {
	case <-time.After(after):
	case <-ctx.Done():
		return ctx.Err()
	}
	c, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	if _, err := c.Exec(ctx, "CREATE INDEX CONCURRENTLY stall_index ON usertable (field1)"); err != nil {
		return fmt.Errorf("create index: %w", err)
	}
	return nil
}

// compare prints both runs and says which goal is missed.
func compare(w io.Writer, without, with *ycsb.Phase) error {
	ms := func(ns int64) float64 { return float64(ns) / float64(time.Millisecond) }
	fmt.Fprintln(w, "| run | ops/s | p50 ms | p99 ms | p99.9 ms | max ms | seconds without operations | checkpoints | index builds |")
	fmt.Fprintln(w, "|---|---:|---:|---:|---:|---:|---:|---:|---:|")
	for _, p := range []*ycsb.Phase{without, with} {
		marks := map[string]int{}
		for _, m := range p.Marks {
			marks[m.What]++
		}
		o := p.Overall
		fmt.Fprintf(w, "| %s | %.0f | %.2f | %.2f | %.2f | %.1f | %d | %d | %d |\n", p.Server, p.Throughput, ms(o.P50), ms(o.P99), ms(o.P999), ms(o.Max),
			len(p.Quiet()), marks[ycsb.MarkCheckpoint], marks[ycsb.MarkIndexEnd])
	}
	ratio := float64(with.Overall.P999) / float64(max(without.Overall.P999, 1))
	fmt.Fprintf(w, "p99.9 with against without: %.2f (at most %g)\n", ratio, ratioMost)
	if ratio > ratioMost {
		return fmt.Errorf("p99.9 is %.2f times that without checkpoints", ratio)
	}
	if n := len(with.Quiet()); n > 0 {
		return fmt.Errorf("%d seconds without operations: %v", n, with.Quiet())
	}
	return nil
}
