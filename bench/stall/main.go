package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"herd/tests/peer"
)

// settings are the flags.
type settings struct {
	binary   string
	out      string
	dir      string
	sets     []string
	url      string
	duration time.Duration
	peak     time.Duration
	rate     float64
	share    float64
	records  int64
	threads  int
	bulkRows int
	bulkRate int
	clients  int
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "stall:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) (err error) {
	s := settings{}
	bulk := pflag.Bool("bulk", false, "measure small commits beside large statements instead")
	pflag.StringVar(&s.binary, "herd", "", "herd program; by default it is built from the working tree")
	pflag.StringVar(&s.out, "out", "", "folder for the series (CSV, JSON) and plots (SVG); by default none are written")
	pflag.StringVar(&s.dir, "dir", "", "folder on the device to measure; by default a temporary one")
	pflag.StringArrayVar(&s.sets, "set", nil, "setting key=value of the server; repeatable")
	pflag.StringVar(&s.url, "url", "", "for --bulk: a running server to measure, postgres://...")
	pflag.DurationVar(&s.duration, "duration", 5*time.Minute, "time of each of the two runs")
	pflag.DurationVar(&s.peak, "peak", 30*time.Second, "time of the run that finds the peak")
	pflag.Float64Var(&s.rate, "rate", 0, "operations a second of the two runs, instead of a share of the peak")
	pflag.Float64Var(&s.share, "share", 0.6, "share of the peak")
	pflag.Int64Var(&s.records, "records", 1_000_000, "YCSB records")
	pflag.IntVar(&s.threads, "threads", 200, "YCSB connections")
	pflag.IntVar(&s.bulkRows, "bulk-rows", 1_000_000, "rows of the large statements")
	pflag.IntVar(&s.bulkRate, "bulk-rate", 200, "small commits a second beside the large statements")
	pflag.IntVar(&s.clients, "bulk-clients", 8, "connections of the small commits")
	pflag.Parse()
	temporary, err := os.MkdirTemp(s.dir, "herd-stall-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
	if s.url == "" {
		if s.binary, err = peer.Program(ctx, s.binary, temporary); err != nil {
			return err
		}
	}
	s.dir = temporary
	if s.out != "" {
		if err := os.MkdirAll(s.out, 0o755); err != nil {
			return err
		}
	}
	if *bulk {
		return runBulk(ctx, &s)
	}
	return runLoad(ctx, &s)
}

// start starts a herd on the folder of this program.
func (s *settings) start(ctx context.Context, sets ...string) (*peer.Server, error) {
	h := &peer.Herd{Binary: s.binary, Dir: filepath.Join(s.dir, "data"), Settings: append(append([]string(nil), sets...), s.sets...)}
	return h.Start(ctx)
}
