package ycsb

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"sort"
	"strings"
	"text/tabwriter"
	"time"
)

// Report is all that one call of Run measured, as written by `herd ycsb --json`.
type Report struct {
	Started time.Time `json:"started"`
	Cores   int       `json:"cores"`
	Phases  []*Phase  `json:"phases"`
}

// Phase is one load or run on one server.
type Phase struct {
	Server      string           `json:"server"`
	Version     string           `json:"version"`
	Device      string           `json:"device,omitempty"`
	Workload    string           `json:"workload"`
	Mix         string           `json:"mix"`
	Threads     int              `json:"threads"`
	Records     int64            `json:"records"`
	FieldCount  int              `json:"field_count"`
	FieldLength int              `json:"field_length"`
	Target      float64          `json:"target_ops_s,omitempty"`
	Operations  int64            `json:"operations"`
	Errors      int64            `json:"errors"`
	Seconds     float64          `json:"seconds"`
	Throughput  float64          `json:"throughput_ops_s"`
	Latencies   []Latency        `json:"latencies"`
	ErrorTexts  map[string]int64 `json:"error_texts,omitempty"`
	Overall     *Latency         `json:"overall,omitempty"` // of all operations, when there is a series
	Series      []Second         `json:"series,omitempty"`
	Marks       []Mark           `json:"marks,omitempty"`
	Check       *Check           `json:"check"`
}

func newReport(*Options) *Report {
	return &Report{Started: time.Now().UTC(), Cores: runtime.NumCPU()}
}

// WriteJSON writes the raw figures.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// checkError is an error when a phase lost rows.
func (r *Report) checkError() error {
	var wrong []string
	for _, p := range r.Phases {
		if p.Check != nil && !p.Check.OK() {
			wrong = append(wrong, fmt.Sprintf("%s %s: %s", p.Server, p.Workload, p.Check))
		}
	}
	if wrong == nil {
		return nil
	}
	return fmt.Errorf("rows are not as acknowledged: %s", strings.Join(wrong, "; "))
}

// WriteText prints a phase for people: throughput, a latency row for each kind of operation, errors, the check.
func (p *Phase) WriteText(w io.Writer) error {
	name := p.Server
	if p.Device != "" {
		name += " on " + p.Device
	}
	fmt.Fprintf(w, "\n%s, %s (%s): %.0f ops/s; %d operations in %.1f s, %d threads, %d records, %d errors\n", name, p.Workload, p.Mix,
		p.Throughput, p.Operations, p.Seconds, p.Threads, p.Records, p.Errors)
	if p.Target > 0 {
		fmt.Fprintf(w, "target %.0f ops/s; latency counts from the intended start\n", p.Target)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "operation\tcount\tops/s\tmean\tp50\tp95\tp99\tp99.9\tmax\terrors\t")
	for _, l := range p.Latencies {
		fmt.Fprintf(t, "%s\t%d\t%.0f\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t\n", l.Op, l.Count, float64(l.Count)/p.Seconds,
			millis(l.Mean), millis(float64(l.P50)), millis(float64(l.P95)), millis(float64(l.P99)), millis(float64(l.P999)), millis(float64(l.Max)), l.Errors)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	texts := make([]string, 0, len(p.ErrorTexts))
	for text := range p.ErrorTexts {
		texts = append(texts, text)
	}
	sort.Strings(texts)
	for _, text := range texts {
		fmt.Fprintf(w, "error %d times: %s\n", p.ErrorTexts[text], text)
	}
	if p.Check != nil {
		fmt.Fprintf(w, "check: %s\n", p.Check)
	}
	_, err := fmt.Fprintln(w)
	return err
}

func millis(ns float64) string {
	switch ms := ns / float64(time.Millisecond); {
	case ms < 10:
		return fmt.Sprintf("%.3f ms", ms)
	case ms < 1000:
		return fmt.Sprintf("%.1f ms", ms)
	default:
		return fmt.Sprintf("%.0f ms", ms)
	}
}
