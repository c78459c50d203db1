package ycsb

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// An answer counts in the second in which it came, a second without one shows, and marks stand where they were seen.
func TestSeries(t *testing.T) {
	s := &series{}
	for i := range 100 {
		s.record(i, 300*time.Millisecond, time.Duration(i+1)*time.Millisecond)
	}
	s.record(5, 2100*time.Millisecond, 1900*time.Millisecond) // due in second 0, answered in second 2
	s.record(5, 3100*time.Millisecond, time.Millisecond)      // after the last full second
	s.note(2500*time.Millisecond, activity{checkpoints: 3}, activity{checkpoints: 4, builds: 1})
	p := &Phase{Server: "herd", Workload: "a", Series: s.list(3050 * time.Millisecond), Marks: s.marks, Overall: s.overall()}
	if n := p.Quiet(); len(n) != 1 || n[0] != 1 {
		t.Errorf("quiet seconds: %v", n)
	}
	if n := p.Overall.Count; n != 102 || p.Series[0].Ops != 100 || p.Series[2].Ops != 1 {
		t.Errorf("%d operations in all: %+v", n, p.Series)
	}
	if got := time.Duration(p.Series[0].P50).Round(time.Millisecond); got < 49*time.Millisecond || got > 52*time.Millisecond {
		t.Errorf("p50 of second 0: %s", got)
	}
	if got := time.Duration(p.Series[2].Max).Round(100 * time.Millisecond); got != 1900*time.Millisecond {
		t.Errorf("max of second 2: %s", got)
	}
	r := &Report{Phases: []*Phase{{Workload: "load"}, p}}
	var text, svg bytes.Buffer
	if err := r.WriteSeries(&text); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(text.String()), "\n")
	if len(lines) != 4 || !strings.HasPrefix(lines[2], "herd,a,1,0,") || !strings.HasSuffix(lines[3], MarkCheckpoint+"; "+MarkIndexBegin) {
		t.Errorf("%q", lines)
	}
	if err := r.WritePlot(&svg); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<svg", "p99.9", "ops/s", MarkCheckpoint, MarkIndexBegin} {
		if !strings.Contains(svg.String(), want) {
			t.Errorf("the plot lacks %q", want)
		}
	}
	if err := (&Report{Phases: []*Phase{{}}}).WritePlot(&svg); err == nil {
		t.Error("a plot of nothing is no error")
	}
}
