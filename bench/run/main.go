package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"herd/tests/peer"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) (err error) {
	s := settings{}
	pflag.DurationVar(&s.duration, "duration", 15*time.Second, "time of each pgbench measurement")
	pflag.IntVar(&s.scale, "scale", 10, "pgbench scale")
	pflag.Int64Var(&s.records, "records", 1_000_000, "YCSB records")
	pflag.Int64Var(&s.operations, "operations", 1_000_000, "YCSB operations")
	pflag.Int64Var(&s.bulkRows, "bulk-rows", 1_000_000, "rows of COPY, memory and restart")
	pflag.IntVar(&s.runs, "runs", 1, "measurements of each figure, of which the median counts")
	pflag.StringVar(&s.tpch, "tpch", "", "folder of bench/tpch, for the row tpch")
	quick := pflag.Bool("quick", false, "short: 3 s, 100,000 records and rows")
	list := pflag.Bool("list", false, "list the rows")
	out := pflag.String("out", "", "file for the table; by default bench/results/DATE.md when all rows ran, none otherwise")
	sets := pflag.StringArray("set", nil, "setting key=value of herd; repeatable")
	binary := pflag.String("herd", "", "herd program; by default it is built from the working tree")
	pflag.Parse()
	if *quick {
		s.shorten()
	}
	rows, err := pick(allRows(), pflag.Args())
	if err != nil {
		return err
	}
	if *list {
		for _, r := range rows {
			fmt.Println(r.name)
		}
		return nil
	}
	if *out == "" && pflag.NArg() == 0 && !*quick {
		*out = filepath.Join("bench", "results", time.Now().UTC().Format("2006-01-02")+".md")
	}
	dir, err := os.MkdirTemp("", "herd-bench-")
	if err != nil {
		return err
	}
	b := &bench{ctx: ctx, s: s, fleet: &fleet{binary: filepath.Join(dir, "herd"), dir: dir, keep: *sets, running: map[string]*server{}},
		log: func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }, ready: map[string]bool{}}
	defer func() { err = errors.Join(err, b.fleet.endAll(), os.RemoveAll(dir)) }()
	if *binary != "" {
		b.fleet.binary = *binary
	} else if err := peer.BuildHerd(ctx, b.fleet.binary); err != nil {
		return err
	}
	return b.runAll(rows, *out)
}

// shorten sets what no flag has set.
func (s *settings) shorten() {
	for flag, set := range map[string]func(){
		"duration":   func() { s.duration = 3 * time.Second },
		"records":    func() { s.records = 100_000 },
		"operations": func() { s.operations = 100_000 },
		"bulk-rows":  func() { s.bulkRows = 100_000 },
	} {
		if !pflag.CommandLine.Changed(flag) {
			set()
		}
	}
}

func (b *bench) runAll(rows []row, out string) error {
	started := time.Now()
	var results []result
	for _, r := range rows {
		if b.ctx.Err() != nil {
			break // the table shows what has been measured
		}
		got, err := r.run(b, r.name)
		if err != nil {
			got = []result{{name: r.name, work: "failed: " + err.Error()}}
		}
		for i := range got {
			b.log("%s", got[i].line())
		}
		results = append(results, got...)
	}
	table := writeTable(results, started, "go run ./bench/run "+strings.Join(os.Args[1:], " "), b.s)
	fmt.Print(table)
	if err := b.ctx.Err(); err != nil || out == "" {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	return os.WriteFile(out, []byte(table), 0o644)
}

// line says a result in one line of progress.
func (r *result) line() string {
	text := r.name + ":"
	for _, f := range r.figures {
		if f.err != nil {
			text += fmt.Sprintf(" %s failed: %v", f.server, f.err)
			continue
		}
		text += fmt.Sprintf(" %s %s", f.server, number(f.value))
	}
	if ratio, ok := r.ratio(); ok {
		text += fmt.Sprintf(" (%.2f)", ratio)
	}
	return text
}
