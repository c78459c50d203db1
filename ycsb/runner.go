package ycsb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Options says what to run. Zero values of counts are errors; Validate names them.
type Options struct {
	// Workloads are run in order. An empty list only loads.
	Workloads []Workload
	// Records are loaded before the first run.
	Records int64
	// Operations ends a run; 0 with a Duration means until the time is up.
	Operations int64
	// Duration ends a run; 0 means when the operations are done.
	Duration time.Duration
	// Threads is the number of connections.
	Threads int
	// Target is the rate of a run (not of the load) in operations a second over all threads; 0 is as fast as possible.
	Target float64
	// FieldCount and FieldLength shape a row: columns, and bytes in each.
	FieldCount, FieldLength int
	// Drop allows a table of the same name to be dropped and loaded anew.
	Drop bool
	// Seed makes key and value choices repeatable for one thread.
	Seed uint64
	// Targets are the servers, run one after the other.
	Targets []Target
	// Series has each run (not the load) kept by second, with marks of checkpoints and index builds.
	Series bool
	// Log receives progress and tables; nil for none.
	Log io.Writer
}

// Target is one server to measure.
type Target struct {
	// Label heads the server's column.
	Label string
	// Device names the storage profile the server runs on; empty for its own.
	Device string
	// Start makes the server ready and returns its address and what ends it. Called once, before the load.
	Start func(ctx context.Context) (url string, stop func() error, err error)
}

// At returns a Start function for a server that is already running.
func At(url string) func(context.Context) (string, func() error, error) {
	return func(context.Context) (string, func() error, error) {
		return url, func() error { return nil }, nil
	}
}

// Bounds of Options.
const (
	ThreadsMax     = 10_000
	FieldCountMax  = 500
	FieldLengthMax = 256 << 20
)

// Validate names the first option that is out of bounds.
func (o *Options) Validate() error {
	switch {
	case o.Records < 1:
		return fmt.Errorf("records = %d: expected at least 1", o.Records)
	case o.Operations < 0 || o.Operations == 0 && o.Duration <= 0:
		return fmt.Errorf("operations = %d and duration = %s: expected at least one of the two", o.Operations, o.Duration)
	case o.Threads < 1 || o.Threads > ThreadsMax:
		return fmt.Errorf("threads = %d: expected 1 to %d", o.Threads, ThreadsMax)
	case o.Target < 0:
		return fmt.Errorf("target = %g: expected operations a second, or 0 for as fast as possible", o.Target)
	case o.FieldCount < 1 || o.FieldCount > FieldCountMax:
		return fmt.Errorf("fieldcount = %d: expected 1 to %d", o.FieldCount, FieldCountMax)
	case o.FieldLength < 1 || o.FieldLength > FieldLengthMax:
		return fmt.Errorf("fieldlength = %d: expected 1 to %d", o.FieldLength, FieldLengthMax)
	case len(o.Targets) == 0:
		return errors.New("no server to run on")
	}
	return nil
}

// Run measures every target and returns what was measured up to an error or the end of ctx. A failed check of rows
// is in the report and is an error at the end.
func Run(ctx context.Context, o Options) (*Report, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	report := newReport(&o)
	for _, t := range o.Targets {
		if err := runTarget(ctx, &o, t, report); err != nil {
			return report, fmt.Errorf("%s: %w", t.Label, err)
		}
	}
	return report, report.checkError()
}

// table is what a target's usertable holds, as far as this program knows.
type table struct {
	loaded  bool
	ordered bool
	rows    *rowBook
}

func runTarget(ctx context.Context, o *Options, t Target, report *Report) (err error) {
	url, stop, err := t.Start(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	drv, err := newDriver(url, o.FieldCount)
	if err != nil {
		return err
	}
	version, err := drv.version(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(o.Log, "%s: %s\n", t.Label, version)
	s := &suite{o: o, drv: drv, target: t, version: version, report: report}
	if len(o.Workloads) == 0 {
		return s.prepare(ctx, false)
	}
	for _, w := range o.Workloads {
		if err := s.prepare(ctx, w.Ordered); err != nil {
			return err
		}
		if err := s.run(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// suite runs workloads on one server.
type suite struct {
	o       *Options
	drv     driver
	target  Target
	version string
	report  *Report
	table   table
}

// prepare sees to it that the table holds exactly the records 0 to Records-1 in the wanted key order.
func (s *suite) prepare(ctx context.Context, ordered bool) error {
	if s.table.loaded && s.table.ordered == ordered && s.table.rows.counter.last() == s.o.Records-1 {
		return nil
	}
	rows, exists, err := s.drv.tableRows(ctx)
	if err != nil {
		return err
	}
	mine := s.table.rows != nil // the table was made or loaded by this run
	if exists && rows == s.o.Records && !mine && !s.o.Drop {
		fmt.Fprintf(s.o.Log, "%s: table %s holds %d rows, taken as loaded\n", s.target.Label, tableName, rows)
		s.table = table{loaded: true, ordered: ordered, rows: newRowBook(s.o.Records)}
		return nil
	}
	if exists && rows > 0 && !mine && !s.o.Drop {
		return fmt.Errorf("table %s holds %d rows, not the %d of --records; --drop removes it and loads anew", tableName, rows, s.o.Records)
	}
	if exists {
		if err := s.drv.dropTable(ctx); err != nil {
			return err
		}
	}
	if err := s.drv.createTable(ctx); err != nil {
		return err
	}
	s.table = table{ordered: ordered, rows: newRowBook(0)}
	p := newPhase(s, Workload{Name: "load", Mix: "100 insert", Insert: 1, Ordered: ordered}, s.o.Records, 0)
	if err := s.finish(ctx, p); err != nil {
		return err
	}
	s.table.loaded = true
	return s.drv.settle(ctx)
}

func (s *suite) run(ctx context.Context, w Workload) error {
	p := newPhase(s, w, s.o.Operations, s.o.Duration)
	p.target = s.o.Target
	if s.o.Series {
		p.series = &series{}
	}
	return s.finish(ctx, p)
}

// finish runs a phase, checks the rows and adds both to the report.
func (s *suite) finish(ctx context.Context, p *phase) error {
	result, err := p.run(ctx)
	if err != nil {
		return err
	}
	result.Server, result.Version, result.Device = s.target.Label, s.version, s.target.Device
	fmt.Fprintf(s.o.Log, "%s: checking rows\n", p.title())
	check, err := verify(ctx, s.drv, s.table.rows, p.w.Ordered, p.updates)
	if err != nil {
		return fmt.Errorf("check of rows after %s: %w", p.w.Name, err)
	}
	result.Check = check
	s.report.Phases = append(s.report.Phases, result)
	return result.WriteText(s.o.Log)
}
