package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "differential:", err)
		os.Exit(1)
	}
}

// options are the command's flags.
type options struct {
	postgres, herd string
	seed           uint64
	statements     int
	perRound       int
	failures       int
	dir            string
}

func run() (err error) {
	var o options
	pflag.StringVar(&o.postgres, "postgres", "", "PostgreSQL's address (default: a private server)")
	pflag.StringVar(&o.herd, "herd", "", "herd's address (default: a private server)")
	pflag.Uint64Var(&o.seed, "seed", 1, "seed of the first round; the next ones follow")
	pflag.IntVar(&o.statements, "statements", 10000, "statements in all")
	pflag.IntVar(&o.perRound, "per-round", 200, "statements of a round")
	pflag.IntVar(&o.failures, "failures", 20, "differences after which to stop")
	pflag.StringVar(&o.dir, "scripts", "", "folder for the scripts that lead to differences")
	pflag.Parse()
	ctx := context.Background()
	s, err := start(ctx, o.postgres, o.herd)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	return o.rounds(ctx, s, os.Stdout)
}

// rounds runs rounds until there are enough statements, and reports.
func (o *options) rounds(ctx context.Context, s *servers, w *os.File) error {
	r, err := load(ctx, s.postgres)
	if err != nil {
		return err
	}
	begin, done, failed := time.Now(), 0, 0
	unsupported, listed := map[string]int{}, map[string]int{}
	seed := o.seed
	for ; done < o.statements && failed < o.failures; seed++ {
		out, err := runRound(ctx, s, r, seed, min(o.perRound, o.statements-done))
		if err != nil {
			return fmt.Errorf("seed %d: %w", seed, err)
		}
		done += out.statements
		add(unsupported, out.unsupported)
		add(listed, out.listed)
		if out.difference == "" {
			continue
		}
		failed++
		fmt.Fprintln(w, out.difference)
		if o.dir != "" {
			file := filepath.Join(o.dir, fmt.Sprintf("seed-%d.sql", seed))
			if err := os.WriteFile(file, []byte(strings.Join(out.script, "\n")+"\n"), 0o600); err != nil {
				return err
			}
		}
	}
	fmt.Fprintf(w, "%d statements, seeds %d to %d, %.0f s: %d differences\n", done, o.seed, seed-1, time.Since(begin).Seconds(), failed)
	report(w, "not supported", unsupported)
	report(w, "listed", listed)
	if failed > 0 {
		return fmt.Errorf("%d differences", failed)
	}
	return nil
}

func add(to, from map[string]int) {
	for k, n := range from {
		to[k] += n
	}
}

func report(w *os.File, title string, counts map[string]int) {
	for _, k := range slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return counts[b] - counts[a] }) {
		fmt.Fprintf(w, "%s, %d times: %s\n", title, counts[k], k)
	}
}
