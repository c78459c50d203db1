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

func main() {
	o := options{}
	pflag.DurationVar(&o.time, "time", time.Minute, "time of each level")
	pflag.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano()), "seed of the clients' choices and the kills")
	pflag.IntVar(&o.kills, "kills", 5, "kills of the server at each level")
	pflag.IntVar(&o.clients, "clients", 8, "clients of lists, accounts and pairs each")
	pflag.IntVar(&o.counters, "counters", 100, "clients that add one to the counter")
	pflag.IntVar(&o.ballast, "ballast", 200_000, "rows of 1 KiB that are scanned meanwhile")
	binary := pflag.String("herd", "", "herd program; by default it is built from the working tree")
	sets := pflag.StringArray("set", []string{"server.memory.max.limit=128M"}, "setting key=value of herd; repeatable")
	pflag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o, *binary, *sets); err != nil {
		fmt.Fprintln(os.Stderr, "history:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, binary string, sets []string) (err error) {
	fmt.Println("seed", o.seed)
	dir, err := os.MkdirTemp("", "herd-history-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if binary, err = peer.Program(ctx, binary, dir); err != nil {
		return err
	}
	bad := 0
	for l := readCommitted; l <= serializable; l++ {
		o.level = l
		h := &peer.Herd{Binary: binary, Dir: filepath.Join(dir, fmt.Sprintf("data%d", l)), Settings: sets}
		out, err := stress(ctx, h, o)
		if err != nil {
			return fmt.Errorf("%s: %w", l, err)
		}
		for _, s := range out.summaries {
			fmt.Printf("%-16s %s\n", l, s)
		}
		for _, p := range out.problems {
			fmt.Printf("%-16s PROBLEM %s\n", l, p)
		}
		bad += len(out.problems)
	}
	if bad > 0 {
		return fmt.Errorf("%d problems; seed %d", bad, o.seed)
	}
	return nil
}
