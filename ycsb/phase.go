package ycsb

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// rowBook knows which records have been acknowledged.
type rowBook struct {
	counter *ackedCounter
	missing atomic.Int64 // how many numbers are in unacked
	mu      sync.Mutex   // guards unacked
	unacked map[int64]struct{}
}

func newRowBook(start int64) *rowBook {
	return &rowBook{counter: newAckedCounter(start), unacked: map[int64]struct{}{}}
}

// fail notes that a record's insert was not acknowledged; it may or may not be there.
func (b *rowBook) fail(n int64) {
	b.mu.Lock()
	b.unacked[n] = struct{}{}
	b.mu.Unlock()
	b.missing.Add(1)
}

func (b *rowBook) isMissing(n int64) bool {
	if b.missing.Load() == 0 {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	_, ok := b.unacked[n]
	return ok
}

// phase is one load or one run of a workload.
type phase struct {
	o          *Options
	w          Workload
	drv        driver
	label      string
	operations int64         // 0: until the time is up
	duration   time.Duration // 0: until the operations are done
	target     float64       // operations a second over all threads; 0: as fast as possible
	rows       *rowBook
	choose     *chooser
	m          *measures
	series     *series      // nil: not wanted
	taken      atomic.Int64 // operations begun
	start      time.Time
	deadline   time.Time // zero when there is none
	updates    []updateLog
}

func newPhase(s *suite, w Workload, operations int64, duration time.Duration) *phase {
	p := &phase{o: s.o, w: w, drv: s.drv, label: s.target.Label, operations: operations, duration: duration,
		rows: s.table.rows, m: newMeasures()}
	if s.target.Device != "" {
		p.label += " on " + s.target.Device
	}
	expected := operations
	if expected == 0 { // the key space of zipfian has to be guessed; YCSB knows the operation count
		const opsPerSecondGuess = 20_000
		expected = int64(duration.Seconds() * opsPerSecondGuess)
	}
	if w.Chooser != "" {
		p.choose = newChooser(&p.w, s.o.Records, expected, p.rows.counter.last)
	}
	return p
}

func (p *phase) title() string { return p.label + " " + p.w.Name }

// run opens the connections, starts all workers at once and waits for them.
func (p *phase) run(ctx context.Context) (*Phase, error) {
	workers := make([]*worker, p.o.Threads)
	defer func() {
		for _, w := range workers {
			if w != nil && w.conn != nil {
				w.conn.close()
			}
		}
	}()
	for i := range workers {
		c, err := p.drv.open(ctx)
		if err != nil {
			return nil, fmt.Errorf("connection %d of %d: %w", i+1, p.o.Threads, err)
		}
		workers[i] = newWorker(p, i, c)
	}
	p.start = time.Now()
	if p.duration > 0 {
		p.deadline = p.start.Add(p.duration)
	}
	var group sync.WaitGroup
	for _, w := range workers {
		group.Go(func() { w.run(ctx) })
	}
	stopProgress := make(chan struct{})
	var progress sync.WaitGroup
	progress.Go(func() { p.printProgress(stopProgress) })
	if p.series != nil {
		progress.Go(func() { p.series.watch(ctx, p.drv, p.start, stopProgress) })
	}
	group.Wait()
	elapsed := time.Since(p.start)
	close(stopProgress)
	progress.Wait()
	for _, w := range workers {
		p.updates = append(p.updates, w.updates...)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%s interrupted: %w", p.title(), err)
	}
	return p.result(elapsed), nil
}

// take claims the right to do one more operation.
func (p *phase) take(ctx context.Context, now time.Time) bool {
	if ctx.Err() != nil || !p.deadline.IsZero() && !now.Before(p.deadline) {
		return false
	}
	return p.taken.Add(1) <= p.operations || p.operations == 0
}

func (p *phase) printProgress(stop <-chan struct{}) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var before int64
	last := p.start
	for {
		select {
		case <-stop:
			return
		case now := <-tick.C:
			done := p.m.done.Load()
			rate := float64(done-before) / now.Sub(last).Seconds()
			share := ""
			if p.operations > 0 {
				share = fmt.Sprintf(" of %d (%d %%)", p.operations, done*100/p.operations)
			}
			fmt.Fprintf(p.o.Log, "%s: %3.0f s  %8.0f ops/s  %d done%s  %d errors\n", p.title(), now.Sub(p.start).Seconds(), rate,
				done, share, p.m.failed.Load())
			before, last = done, now
		}
	}
}

func (p *phase) result(elapsed time.Duration) *Phase {
	r := &Phase{Workload: p.w.Name, Mix: p.w.Mix, Threads: p.o.Threads, Records: p.o.Records, FieldCount: p.o.FieldCount,
		FieldLength: p.o.FieldLength, Target: p.target, Operations: p.m.done.Load(), Errors: p.m.failed.Load(),
		Seconds: elapsed.Seconds(), Latencies: p.m.latencies(), ErrorTexts: p.m.sample}
	r.Throughput = float64(r.Operations) / r.Seconds
	if p.series != nil {
		r.Series, r.Marks, r.Overall = p.series.list(elapsed), p.series.marks, p.series.overall()
	}
	return r
}
