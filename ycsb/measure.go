package ycsb

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Latencies are recorded in nanoseconds from 100 ns to 5 minutes with three digits.
const (
	latencyMin    = 100
	latencyMax    = int64(5 * time.Minute)
	latencyDigits = 3
	measureShards = 4 // histograms of one operation; a worker always uses the same one
)

// measures collects the latencies and errors of a phase.
type measures struct {
	done   atomic.Int64 // operations answered without error
	failed atomic.Int64
	shards [measureShards]struct {
		mu   sync.Mutex // guards hist
		hist [opCount]*hdrhistogram.Histogram
	}
	errMu  sync.Mutex // guards the two below
	errs   [opCount]int64
	sample map[string]int64 // error text -> how often, the first few texts
}

func newMeasures() *measures {
	m := &measures{sample: map[string]int64{}}
	for i := range m.shards {
		for op := range m.shards[i].hist {
			m.shards[i].hist[op] = hdrhistogram.New(latencyMin, latencyMax, latencyDigits)
		}
	}
	return m
}

func (m *measures) record(worker int, op Op, latency time.Duration) {
	s := &m.shards[worker%measureShards]
	ns := min(max(int64(latency), latencyMin), latencyMax)
	s.mu.Lock()
	_ = s.hist[op].RecordValue(ns) // cannot fail: ns is in range
	s.mu.Unlock()
}

// fail counts an error, keeping a few different texts.
func (m *measures) fail(op Op, err error) {
	const textsMax = 20
	m.failed.Add(1)
	m.errMu.Lock()
	defer m.errMu.Unlock()
	m.errs[op]++
	text := err.Error()
	if _, ok := m.sample[text]; ok || len(m.sample) < textsMax {
		m.sample[text]++
	}
}

// merged returns the histogram of one operation over all workers. For use when the workers have ended, or for progress.
func (m *measures) merged(op Op) *hdrhistogram.Histogram {
	h := hdrhistogram.New(latencyMin, latencyMax, latencyDigits)
	for i := range m.shards {
		s := &m.shards[i]
		s.mu.Lock()
		h.Merge(s.hist[op])
		s.mu.Unlock()
	}
	return h
}

// Latency holds what is reported of one kind of operation; times are nanoseconds.
type Latency struct {
	Op     string  `json:"op"`
	Count  int64   `json:"count"`
	Errors int64   `json:"errors"`
	Mean   float64 `json:"mean_ns"`
	P50    int64   `json:"p50_ns"`
	P95    int64   `json:"p95_ns"`
	P99    int64   `json:"p99_ns"`
	P999   int64   `json:"p999_ns"`
	Max    int64   `json:"max_ns"`
}

// latencies returns a row for each kind of operation that occurred.
func (m *measures) latencies() []Latency {
	var out []Latency
	for op := range opCount {
		h := m.merged(op)
		if h.TotalCount() == 0 && m.errs[op] == 0 {
			continue
		}
		out = append(out, Latency{Op: op.String(), Count: h.TotalCount(), Errors: m.errs[op], Mean: h.Mean(),
			P50: h.ValueAtQuantile(50), P95: h.ValueAtQuantile(95), P99: h.ValueAtQuantile(99), P999: h.ValueAtQuantile(99.9), Max: h.Max()})
	}
	return out
}
