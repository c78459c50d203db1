package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/pflag"

	"herd/tests/peer"
)

// settings are the flags.
type settings struct {
	etcd, herd string
	dir        string
	sets       []string
	clients    []int
	duration   time.Duration
	value      int
	systems    []string
	work       []string
	lean       bool
}

// system is one of those that are compared.
type system interface {
	// client opens one more client.
	client(ctx context.Context) (client, error)
	// cpu is the processor time that its processes have used so far; 0: not known.
	cpu() (time.Duration, error)
	stop() error
}

// client does operations one after the other.
type client interface {
	put(ctx context.Context, key int64, value []byte) error
	get(ctx context.Context, key int64) error
	close() error
}

// goal is what herd is to reach, as a multiple of another system's figure in the same run.
type goal struct {
	work    string
	clients int
	than    string
	factor  float64
}

var goals = []goal{{"put", 32, "etcd", 3}, {"put", 200, "etcd", 4}, {"get", 32, "etcd", 5}, {"put", 200, "postgres", 1}}

// cell names a figure.
type cell struct {
	system, work string
	clients      int
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "etcd:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) (err error) {
	s := settings{}
	pflag.StringVar(&s.etcd, "etcd", "etcd", "etcd program (Debian: etcd-server)")
	pflag.StringVar(&s.herd, "herd", "", "herd program; by default it is built from the working tree")
	pflag.StringVar(&s.dir, "dir", "", "folder on the device to measure; by default a temporary one")
	pflag.StringArrayVar(&s.sets, "set", nil, "setting key=value of herd's nodes; repeatable")
	pflag.IntSliceVar(&s.clients, "clients", []int{1, 32, 200}, "numbers of clients")
	pflag.DurationVar(&s.duration, "duration", 10*time.Second, "time of each measurement")
	pflag.IntVar(&s.value, "value", 100, "bytes of a value")
	pflag.StringSliceVar(&s.systems, "systems", []string{"herd", "etcd", "postgres"}, "systems to measure")
	pflag.StringSliceVar(&s.work, "work", []string{"put", "get"}, "kinds of work to measure, in this order")
	pflag.BoolVar(&s.lean, "lean", false, "SQL clients write the protocol themselves instead of with pgx")
	pflag.Parse()
	if s.dir, err = os.MkdirTemp(s.dir, "herd-etcd-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(s.dir)) }()
	if s.herd, err = peer.Program(ctx, s.herd, s.dir); err != nil {
		return err
	}
	figures := map[cell]figure{}
	for _, name := range s.systems {
		if err := measureSystem(ctx, &s, name, figures); err != nil {
			return fmt.Errorf("measure %s: %w", name, err)
		}
	}
	return report(out, &s, figures)
}

func (s *settings) start(ctx context.Context, name string) (system, error) {
	switch name {
	case "herd":
		return startHerd(ctx, s)
	case "etcd":
		return startEtcd(ctx, s)
	case "postgres":
		return startPostgres(ctx, s)
	}
	return nil, errors.New("no such system; there are herd, etcd and postgres")
}

// measureSystem starts a system, measures all rows and stops it.
func measureSystem(ctx context.Context, s *settings, name string, figures map[cell]figure) (err error) {
	x, err := s.start(ctx, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.stop()) }()
	l := load{system: x, value: s.value, duration: s.duration}
	for _, work := range s.work {
		for _, n := range s.clients {
			f, err := l.measure(ctx, work, n)
			if err != nil {
				return fmt.Errorf("%s with %d clients: %w", work, n, err)
			}
			fmt.Fprintf(os.Stderr, "%s %s %d: %s\n", name, work, n, f)
			figures[cell{name, work, n}] = f
		}
	}
	return nil
}

func report(out io.Writer, s *settings, figures map[cell]figure) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "work\tclients")
	for _, name := range s.systems {
		fmt.Fprintf(w, "\t%s /s\tp50\tp99\tcpu", name)
	}
	fmt.Fprintln(w)
	for _, work := range s.work {
		for _, n := range s.clients {
			fmt.Fprintf(w, "%s\t%d", work, n)
			for _, name := range s.systems {
				f := figures[cell{name, work, n}]
				fmt.Fprintf(w, "\t%.0f\t%v\t%v\t%v", f.rate, f.p50, f.p99, f.cpu)
			}
			fmt.Fprintln(w)
		}
	}
	fmt.Fprintln(w)
	for _, g := range goals {
		herd, ok := figures[cell{"herd", g.work, g.clients}]
		other, there := figures[cell{g.than, g.work, g.clients}]
		if !ok || !there {
			continue
		}
		reached := "NO"
		if herd.rate >= g.factor*other.rate {
			reached = "yes"
		}
		fmt.Fprintf(w, "%s, %d clients\t%.1f x %s\tat least %.0f x: %s\n", g.work, g.clients, herd.rate/other.rate, g.than, g.factor, reached)
	}
	return w.Flush()
}
