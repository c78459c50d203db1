package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"herd/ycsb"
)

// ycsbFlags are the flags of `herd ycsb`.
type ycsbFlags struct {
	options  ycsb.Options
	url      string
	compare  []string
	devices  string
	jsonFile string
	series   string
	plot     string
	server   []string
}

func newYCSBCommand() *cobra.Command {
	var f ycsbFlags
	c := &cobra.Command{
		Use:   "ycsb WORKLOAD...",
		Short: "Measure YCSB workloads on an embedded herd or any PostgreSQL or MySQL server",
		Long: "Loads the table usertable and runs workloads of YCSB on it: " + strings.Join(ycsb.Names(), ", ") + ` (workloada is the same as a), all, or load.
Without --url it starts a herd server of its own on a temporary folder and measures it over the network protocol.
A simulated hdd costs 12.2 ms for each flush and each read that does not continue the last one, and moves 150 MB/s.
Afterwards it checks that every acknowledged row is in the table; the exit status is 1 when one is not.`,
		Example: `  herd ycsb workloada
  herd ycsb all --records 1000000 --operations 1000000 --devices ssd,hdd
  herd ycsb a b --compare postgres://postgres@127.0.0.1:5432/postgres --compare mysql://root@127.0.0.1:3306/test`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	flags, o := c.Flags(), &f.options
	flags.Int64Var(&o.Records, "records", 100_000, "rows to load")
	flags.Int64Var(&o.Operations, "operations", 100_000, "operations of each workload; 0: as many as --duration allows")
	flags.DurationVar(&o.Duration, "duration", 0, "longest time of each workload (30s, 5m)")
	flags.IntVar(&o.Threads, "threads", 200, "connections")
	flags.Float64Var(&o.Target, "target", 0, "operations a second over all connections; latency then counts from the intended start; 0: as fast as possible")
	flags.IntVar(&o.FieldCount, "fieldcount", 10, "fields of a row")
	flags.IntVar(&o.FieldLength, "fieldlength", 100, "bytes of a field")
	flags.BoolVar(&o.Drop, "drop", false, "drop a table usertable that holds other rows, and load anew")
	flags.Uint64Var(&o.Seed, "seed", 1, "seed of the random choices")
	flags.StringVar(&f.url, "url", "", "server: postgres://user@host:port/database or mysql://user@host:port/database")
	flags.StringArrayVar(&f.compare, "compare", nil, "further server `url` to run the same on; repeatable")
	flags.StringVar(&f.devices, "devices", "", "storage profiles of the embedded server, run one after the other: `ssd[=DIR],hdd[=DIR]`; hdd without DIR is a simulated disk")
	flags.StringVar(&f.jsonFile, "json", "", "write the raw figures to a `file`")
	flags.StringVar(&f.series, "series", "", "write operations, p50, p99, p99.9 and maximum of each second to a CSV `file`, with the checkpoints and index builds seen")
	flags.StringVar(&f.plot, "plot", "", "draw the seconds as --series lists them to an SVG `file`")
	flags.StringArrayVar(&f.server, "set", nil, "setting `key=value` of the embedded server; repeatable")
	return c
}

func (f *ycsbFlags) run(cmd *cobra.Command, args []string) error {
	if err := f.prepare(args); err != nil {
		return usageError{cmd.CommandPath(), err}
	}
	f.options.Log = cmd.OutOrStdout()
	f.options.Series = f.series != "" || f.plot != ""
	report, runErr := ycsb.Run(cmd.Context(), f.options)
	if report == nil {
		return runErr
	}
	if len(report.Phases) > 1 {
		if err := report.WriteComparison(cmd.OutOrStdout()); err != nil {
			return err
		}
	}
	for _, file := range []struct {
		name  string
		write func(io.Writer) error
	}{{f.jsonFile, report.WriteJSON}, {f.series, report.WriteSeries}, {f.plot, report.WritePlot}} {
		if file.name == "" {
			continue
		}
		out, err := os.Create(file.name)
		if err != nil {
			return errors.Join(runErr, err)
		}
		runErr = errors.Join(runErr, file.write(out), out.Close())
	}
	return runErr
}

// prepare turns arguments and flags into options.
func (f *ycsbFlags) prepare(args []string) error {
	o := &f.options
	if len(args) == 1 && args[0] == "all" {
		args = ycsb.Names()
	}
	if len(args) == 1 && args[0] == "load" {
		args = nil
	}
	for _, arg := range args {
		w, err := ycsb.Find(arg)
		if err != nil {
			return err
		}
		o.Workloads = append(o.Workloads, w)
	}
	if f.url != "" && f.devices != "" {
		return errors.New("--devices is for the embedded server and cannot go with --url")
	}
	if err := f.targets(); err != nil {
		return err
	}
	for _, address := range f.compare {
		o.Targets = append(o.Targets, ycsb.Target{Label: labelOf(address), Start: ycsb.At(address)})
	}
	return o.Validate()
}

// targets adds the servers that are not for comparison.
func (f *ycsbFlags) targets() error {
	o := &f.options
	switch {
	case f.url != "":
		o.Targets = append(o.Targets, ycsb.Target{Label: labelOf(f.url), Start: ycsb.At(f.url)})
	case f.devices == "":
		o.Targets = append(o.Targets, ycsb.Target{Label: "herd", Start: f.embedded("", nil)})
	default:
		for _, profile := range strings.Split(f.devices, ",") {
			name, dir, given := strings.Cut(profile, "=")
			var sets []string
			switch {
			case name != "ssd" && name != "hdd" || given && dir == "":
				return fmt.Errorf("--devices %s: expected ssd, hdd, ssd=DIR or hdd=DIR", profile)
			case name == "hdd" && !given:
				sets = []string{"server.device=hdd"}
			}
			o.Targets = append(o.Targets, ycsb.Target{Label: "herd", Device: name, Start: f.embedded(dir, sets)})
		}
	}
	return nil
}

// embedded returns a Start function that runs this program's own server in a new folder below dir.
func (f *ycsbFlags) embedded(dir string, sets []string) func(context.Context) (string, func() error, error) {
	return func(ctx context.Context) (string, func() error, error) {
		folder, err := os.MkdirTemp(dir, "herd-ycsb-")
		if err != nil {
			return "", nil, fmt.Errorf("folder for embedded server: %w", err)
		}
		s, err := startEmbedded(ctx, filepath.Join(folder, "herd-data"), append(append([]string(nil), f.server...), sets...))
		if err != nil {
			return "", nil, errors.Join(err, os.RemoveAll(folder))
		}
		return s.url(), func() error { return errors.Join(s.stop(), os.RemoveAll(folder)) }, nil
	}
}

// labelOf names a server by its address without the password.
func labelOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	return u.Scheme + " " + u.Host
}
