package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"herd/conf"
	"herd/sql/session"
	"herd/web"
)

func newServerCommand() *cobra.Command {
	var flags confFlags
	var untilStdinCloses bool
	var batchRows int
	c := &cobra.Command{
		Use:   "server",
		Short: "Run the database server",
		Long: `Runs the database server until it gets SIGINT or SIGTERM.
Without configuration it listens on 127.0.0.1:5432 and keeps its data in ./herd-data; "herd conf" lists every setting.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := flags.load(cmd)
			if err != nil {
				return err
			}
			if err := session.LimitBatches(batchRows); err != nil {
				return err
			}
			ctx := cmd.Context()
			if untilStdinCloses {
				ctx = contextOfStdin(ctx)
			}
			return runServer(ctx, c, cmd.OutOrStdout())
		},
	}
	flags.register(c)
	c.Flags().BoolVar(&untilStdinCloses, "until-stdin-closes", false, "stop when standard input ends; for programs that start a server")
	c.Flags().IntVar(&batchRows, "batch-rows", 0, "most rows that operators exchange at once; for tests")
	for _, name := range []string{"until-stdin-closes", "batch-rows"} {
		_ = c.Flags().MarkHidden(name) // fails only for a flag that does not exist
	}
	return c
}

// contextOfStdin ends with standard input, which the operating system closes when the parent process has gone.
func contextOfStdin(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	return ctx
}

func newLogger(c *conf.Config) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.LogLevel)) // conf allows only names that it knows
	o := &slog.HandlerOptions{Level: level}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(os.Stderr, o))
	}
	return slog.New(slog.NewTextHandler(os.Stderr, o))
}

// runServer serves until ctx ends.
func runServer(ctx context.Context, c *conf.Config, out io.Writer) error {
	if c.Processors > 0 {
		runtime.GOMAXPROCS(int(c.Processors))
	}
	logger := newLogger(c)
	preferHugePages(c, logger)
	in, err := openInstance(ctx, c, logger)
	if err != nil && ctx.Err() != nil { // it was told to stop before it was ready
		logger.Info("stopping", "before", err)
		return nil
	}
	if err != nil {
		return err
	}
	stopTuning := func() {}
	if c.Processors == 0 {
		stopTuning = in.tuneProcessors()
	}
	served := make(chan error, 1)
	go func() { served <- in.listener.Serve() }()
	var endpoint *web.Server
	if c.HTTPEnabled {
		endpoint, err = web.Listen(web.Options{Addr: c.HTTPAddress(), Sources: in.sources(), Healthy: in.healthy, Logger: logger})
	}
	if err == nil {
		in.announce(out, endpoint)
		select {
		case <-ctx.Done():
			logger.Info("stopping")
		case err = <-served:
		}
	}
	stopTuning()
	return errors.Join(err, in.close(endpoint))
}

// announce prints what a person or a starting program wants to know.
func (in *instance) announce(out io.Writer, endpoint *web.Server) {
	address := in.listener.Addr().String()
	host, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	data, err := filepath.Abs(in.config.BaseDir)
	if err != nil {
		data = in.config.BaseDir
	}
	fmt.Fprintf(out, "herd %s is ready\n  %s %s\n  data in      %s\n", version, listeningOn, address, data)
	if endpoint != nil {
		fmt.Fprintf(out, "  metrics at   http://%s/metrics\n", endpoint.Addr())
	}
	if in.password != "" {
		fmt.Fprintf(out, "  password     %s  (of user postgres; not shown again)\n", in.password)
	}
	fmt.Fprintf(out, "  connect with psql -h %s -p %s -U postgres postgres\n", host, port)
}

// close ends sessions, then the metrics, then the engine, whose close is what a fast next start needs.
func (in *instance) close(endpoint *web.Server) error {
	const patience = 10 * time.Second
	in.stopping.Store(true)
	if in.node != nil {
		in.node.StepDown()
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := in.listener.Close(ctx)
	if endpoint != nil {
		err = errors.Join(err, endpoint.Close(ctx))
	}
	err = errors.Join(err, in.engine.Close())
	if in.node != nil {
		err = errors.Join(err, in.node.Close())
	}
	return err
}
