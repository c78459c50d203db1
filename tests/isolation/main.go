package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/pflag"

	"herd/tests/peer"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "isolation:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	url := pflag.String("url", "", "server to test, as superuser; by default a herd is built and started")
	bindir := pflag.String("bindir", "", "PostgreSQL's bin folder; by default it is looked for")
	all := pflag.Bool("all", false, "run the specs of the list of exemptions, too")
	rewrite := pflag.Bool("rewrite", false, "write the wanted output from what the server prints: for the specs in hermitage, with --url of a PostgreSQL")
	quiet := pflag.Bool("quiet", false, "no differences, only names")
	pflag.Usage = func() {
		fmt.Fprintf(os.Stderr, "usage: isolation [flags] DIR [SPEC...]\nDIR is src/test/isolation of PostgreSQL's source; without SPEC every spec of its schedule runs.\n%s",
			pflag.CommandLine.FlagUsages())
	}
	pflag.Parse()
	if pflag.NArg() == 0 {
		pflag.Usage()
		os.Exit(2)
	}
	if *url == "" {
		s, err := startHerd(ctx)
		if err != nil {
			return err
		}
		defer s.Stop()
		*url = s.URL
	}
	r, err := newRunner(*url, pflag.Arg(0), *bindir)
	if err != nil {
		return err
	}
	r.rewrite = *rewrite
	names := pflag.Args()[1:]
	if len(names) == 0 {
		if names, err = r.schedule(); err != nil {
			return err
		}
	} else {
		*all = true
	}
	exempt, err := exemptions()
	if err != nil {
		return err
	}
	passed, refused, wrong := 0, 0, 0
	for _, name := range names {
		reason := exempt[name]
		if reason != "" && !*all {
			refused++
			continue
		}
		res, err := r.run(ctx, name)
		if err != nil {
			return err
		}
		switch {
		case res.diff == "":
			passed++
			fmt.Printf("ok      %-34s %5d ms\n", name, res.took.Milliseconds())
		case reason != "":
			refused++
			fmt.Printf("exempt  %-34s %5d ms  %s\n", name, res.took.Milliseconds(), reason)
		default:
			wrong++
			fmt.Printf("DIFFERS %-34s %5d ms\n", name, res.took.Milliseconds())
		}
		if res.diff != "" && !*quiet && (reason == "" || pflag.NArg() > 1) {
			fmt.Print(res.diff)
		}
	}
	fmt.Printf("%d passed, %d exempt, %d differ\n", passed, refused, wrong)
	if wrong > 0 {
		return fmt.Errorf("%d specs differ from PostgreSQL's output", wrong)
	}
	return nil
}

// startHerd builds and starts a herd on a new folder.
func startHerd(ctx context.Context) (*peer.Server, error) {
	dir, err := os.MkdirTemp("", "herd-isolation-")
	if err != nil {
		return nil, err
	}
	h := &peer.Herd{Binary: filepath.Join(dir, "herd"), Dir: filepath.Join(dir, "data")}
	if err := peer.BuildHerd(ctx, h.Binary); err != nil {
		return nil, err
	}
	s, err := h.Start(ctx)
	if err != nil {
		return nil, err
	}
	s.Dir = dir // all of it goes with the server
	return s, nil
}
