package web

import (
	"github.com/prometheus/client_golang/prometheus"
)

// Source reads counters and hands them to an Emitter. It is called at every scrape, from any goroutine, and must not block.
type Source func(e *Emitter)

// Emitter receives the metrics of one scrape.
type Emitter struct {
	out chan<- prometheus.Metric
}

// Counter adds a number that only grows. Labels are names and values in turn.
func (e *Emitter) Counter(name, help string, value float64, labels ...string) {
	e.add(name, help, prometheus.CounterValue, value, labels)
}

// Gauge adds a number that goes up and down. Labels are names and values in turn.
func (e *Emitter) Gauge(name, help string, value float64, labels ...string) {
	e.add(name, help, prometheus.GaugeValue, value, labels)
}

func (e *Emitter) add(name, help string, kind prometheus.ValueType, value float64, labels []string) {
	desc, values := describe(name, help, labels)
	m, err := prometheus.NewConstMetric(desc, kind, value, values...)
	if err != nil {
		m = prometheus.NewInvalidMetric(desc, err)
	}
	e.out <- m
}

// Distribution is a histogram with upper bounds. Counts[i] observations lie at or below Bounds[i] and above the bound before;
// Counts may have one more element than Bounds, for what lies above the last.
type Distribution struct {
	Bounds []float64
	Counts []uint64
	Sum    float64
}

// Histogram adds a distribution. Labels are names and values in turn.
func (e *Emitter) Histogram(name, help string, d Distribution, labels ...string) {
	desc, values := describe(name, help, labels)
	buckets := make(map[float64]uint64, len(d.Bounds))
	total := uint64(0)
	for i, n := range d.Counts {
		total += n
		if i < len(d.Bounds) {
			buckets[d.Bounds[i]] = total
		}
	}
	m, err := prometheus.NewConstHistogram(desc, total, d.Sum, buckets, values...)
	if err != nil {
		m = prometheus.NewInvalidMetric(desc, err)
	}
	e.out <- m
}

func describe(name, help string, labels []string) (*prometheus.Desc, []string) {
	var names, values []string
	for i := 0; i+1 < len(labels); i += 2 {
		names, values = append(names, labels[i]), append(values, labels[i+1])
	}
	return prometheus.NewDesc(name, help, names, nil), values
}

// collector reads the sources at a scrape. It describes nothing ahead, which Prometheus calls unchecked.
type collector struct {
	sources []Source
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	e := &Emitter{out: out}
	for _, source := range c.sources {
		source(e)
	}
}
