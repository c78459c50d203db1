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

type options struct {
	size, limit int64 // MiB
	clients     int
	time        time.Duration
	port        int
	dir, binary string
	out         string
	only        []string
	sets        []string
}

func main() {
	var o options
	pflag.Int64Var(&o.size, "size", 1024, "MiB of rows to load; indexes come on top")
	pflag.Int64Var(&o.limit, "limit", 100, "server.memory.max.limit in MiB")
	pflag.IntVar(&o.clients, "clients", 8, "connections of the phases of point operations")
	pflag.DurationVar(&o.time, "time", 15*time.Second, "length of each phase of point operations")
	pflag.IntVar(&o.port, "port", 0, "port of the server, the next one is that of its metrics; 0: free ones")
	pflag.StringVar(&o.dir, "dir", "", "folder for the data; by default a temporary one")
	pflag.StringVar(&o.binary, "herd", "", "herd program; by default it is built from the working tree")
	pflag.StringVar(&o.out, "out", "", "file for the table")
	pflag.StringSliceVar(&o.only, "only", nil, "phases to run besides the load, by name; by default all")
	pflag.StringArrayVar(&o.sets, "set", nil, "setting key=value of herd; repeatable")
	pflag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "large:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (err error) {
	dir, err := os.MkdirTemp(o.dir, "herd-large-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	program, err := peer.Program(ctx, o.binary, dir)
	if err != nil {
		return err
	}
	h := &peer.Herd{Binary: program, Dir: filepath.Join(dir, "data"), Port: o.port}
	metrics := o.port + 1
	if o.port == 0 {
		if metrics, err = peer.FreePort(); err != nil {
			return err
		}
	}
	h.Settings = append([]string{"http.enabled=true", fmt.Sprintf("http.port=%d", metrics),
		fmt.Sprintf("server.memory.max.limit=%dM", o.limit)}, o.sets...)
	rss := startSampler()
	defer rss.stop()
	s, err := startServer(ctx, h, metrics, rss)
	if err != nil {
		return err
	}
	b := &bench{o: o, h: h, s: s, metricsPort: metrics, rows: o.size << 20 / rowBytes}
	fmt.Println(tableHead)
	failed := b.all(ctx)
	if o.out != "" {
		failed = errors.Join(failed, report(o.out, fmt.Sprintf("%d MiB of rows under %d MiB of memory", o.size, o.limit), b.results))
	}
	if most, bound := rss.ever>>20, o.limit*5/4; most > bound {
		failed = errors.Join(failed, fmt.Errorf("the resident set reached %d MiB, more than %d", most, bound))
	}
	return errors.Join(failed, b.s.Kill())
}
