package ycsb

import (
	"bytes"
	"testing"
	"time"

	"herd/internal/golden"
)

// The report and the table of several servers and storage profiles look as they should.
func TestReportText(t *testing.T) {
	m := newMeasures()
	for i := range 1000 {
		m.record(i, OpRead, time.Duration(i+1)*time.Microsecond)
	}
	m.record(0, OpUpdate, 2*time.Second)
	m.fail(OpUpdate, errNotFound)
	phase := func(server, device, workload, mix string, rate float64) *Phase {
		return &Phase{Server: server, Device: device, Workload: workload, Mix: mix, Threads: 200, Records: 1000, Seconds: 2, Throughput: rate}
	}
	a := phase("herd", "ssd", "a", "50 read 50 update", 500.5)
	a.Operations, a.Errors, a.Latencies, a.ErrorTexts = 1001, 1, m.latencies(), m.sample
	a.Check = &Check{RowsAcknowledged: 1000, RowsFound: 999, RowsMissing: 1, UpdatesChecked: 7, Example: "row user1 (record 1) is missing"}
	r := &Report{Phases: []*Phase{phase("herd", "ssd", "load", "100 insert", 8000), a, phase("herd", "ssd", "load", "100 insert", 1), phase("herd", "hdd", "load", "100 insert", 2000),
		phase("herd", "hdd", "a", "50 read 50 update", 100), phase("postgres 127.0.0.1:5432", "", "load", "100 insert", 4000)}}
	var out bytes.Buffer
	if err := a.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteComparison(&out); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/report.txt", out.String())
	if err := r.checkError(); err == nil {
		t.Error("a missing row is no error")
	}
}
