package ycsb

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Second is what was answered within one second of a run, the first being 0; times are nanoseconds. An operation counts
// in the second in which its answer came.
type Second struct {
	Second int   `json:"second"`
	Ops    int64 `json:"ops"`
	P50    int64 `json:"p50_ns"`
	P99    int64 `json:"p99_ns"`
	P999   int64 `json:"p999_ns"`
	Max    int64 `json:"max_ns"`
}

// Mark is something that happened in the server during a run.
type Mark struct {
	// Seconds since the run began at which it was seen: up to sampleEvery late.
	Seconds float64 `json:"seconds"`
	What    string  `json:"what"`
}

// What a Mark says.
const (
	MarkCheckpoint = "checkpoint ended"
	MarkIndexBegin = "index build began"
	MarkIndexEnd   = "index build ended"
)

// secondDigits is the precision of the histograms of single seconds: there are many of them.
const secondDigits = 2

// series collects latencies by second.
type series struct {
	shards [measureShards]struct {
		mu      sync.Mutex // guards seconds
		seconds []*hdrhistogram.Histogram
	}
	mu    sync.Mutex // guards marks
	marks []Mark
}

// record adds an operation that was answered at a time since the run began.
func (s *series) record(worker int, at, latency time.Duration) {
	second := int(max(at, 0) / time.Second)
	ns := min(max(int64(latency), latencyMin), latencyMax)
	p := &s.shards[worker%measureShards]
	p.mu.Lock()
	for len(p.seconds) <= second {
		p.seconds = append(p.seconds, hdrhistogram.New(latencyMin, latencyMax, secondDigits))
	}
	_ = p.seconds[second].RecordValue(ns) // cannot fail: ns is in range
	p.mu.Unlock()
}

// list returns the full seconds of a run that took a time. The workers have ended.
func (s *series) list(elapsed time.Duration) []Second {
	out := make([]Second, int(elapsed/time.Second))
	for i := range out {
		h := hdrhistogram.New(latencyMin, latencyMax, secondDigits)
		for j := range s.shards {
			if p := &s.shards[j]; i < len(p.seconds) {
				h.Merge(p.seconds[i])
			}
		}
		out[i] = Second{Second: i, Ops: h.TotalCount()}
		if out[i].Ops > 0 {
			out[i].P50, out[i].P99, out[i].P999, out[i].Max = h.ValueAtQuantile(50), h.ValueAtQuantile(99), h.ValueAtQuantile(99.9), h.Max()
		}
	}
	return out
}

// overall returns the latencies of all operations of a run. The workers have ended.
func (s *series) overall() *Latency {
	h := hdrhistogram.New(latencyMin, latencyMax, secondDigits)
	for i := range s.shards {
		for _, one := range s.shards[i].seconds {
			h.Merge(one)
		}
	}
	return &Latency{Op: "all", Count: h.TotalCount(), Mean: h.Mean(), P50: h.ValueAtQuantile(50), P95: h.ValueAtQuantile(95),
		P99: h.ValueAtQuantile(99), P999: h.ValueAtQuantile(99.9), Max: h.Max()}
}

// activity is what a server says about its work in the background.
type activity struct {
	checkpoints int64 // finished so far
	builds      int64 // indexes being built now
}

// sampleEvery is the time between two questions for marks.
const sampleEvery = 200 * time.Millisecond

// watch asks the server what it is doing until stop is closed. A server that cannot tell has no marks.
func (s *series) watch(ctx context.Context, drv driver, start time.Time, stop <-chan struct{}) {
	ask, end, err := drv.activity(ctx)
	if err != nil {
		return
	}
	defer end()
	before, err := ask(ctx)
	if err != nil {
		return
	}
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now, err := ask(ctx)
		if err != nil {
			return
		}
		s.note(time.Since(start), before, now)
		before = now
	}
}

// note makes marks of what changed between two samples.
func (s *series) note(at time.Duration, before, now activity) {
	s.mu.Lock()
	defer s.mu.Unlock()
	add := func(what string) { s.marks = append(s.marks, Mark{at.Seconds(), what}) }
	if now.checkpoints > before.checkpoints {
		add(MarkCheckpoint)
	}
	if now.builds > before.builds {
		add(MarkIndexBegin)
	}
	if now.builds < before.builds {
		add(MarkIndexEnd)
	}
}

// Quiet returns the seconds without an operation.
func (p *Phase) Quiet() (seconds []int) {
	for _, s := range p.Series {
		if s.Ops == 0 {
			seconds = append(seconds, s.Second)
		}
	}
	return seconds
}

// WriteSeries writes the seconds of all phases that have them as CSV, milliseconds with three places; the last column lists
// the marks.
func (r *Report) WriteSeries(w io.Writer) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"server", "workload", "second", "ops", "p50_ms", "p99_ms", "p99.9_ms", "max_ms", "marks"}) // Error tells
	for _, p := range r.Phases {
		p.writeSeries(out)
	}
	out.Flush()
	return out.Error()
}

func (p *Phase) writeSeries(out *csv.Writer) {
	marks := map[int][]string{}
	for _, m := range p.Marks {
		marks[int(m.Seconds)] = append(marks[int(m.Seconds)], m.What)
	}
	ms := func(ns int64) string { return strconv.FormatFloat(float64(ns)/float64(time.Millisecond), 'f', 3, 64) }
	for _, s := range p.Series {
		_ = out.Write([]string{p.Server, p.Workload, fmt.Sprint(s.Second), fmt.Sprint(s.Ops), ms(s.P50), ms(s.P99), ms(s.P999), ms(s.Max),
			strings.Join(marks[s.Second], "; ")})
	}
}
