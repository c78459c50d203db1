package ycsb

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"herd/tests/peer"
)

func options(url string) Options {
	return Options{Records: 1000, Operations: 2000, Threads: 8, FieldCount: 3, FieldLength: 20, Drop: true,
		Targets: []Target{{Label: "peer", Start: At(url)}}}
}

func allWorkloads(t *testing.T) []Workload {
	t.Helper()
	var out []Workload
	for _, name := range Names() {
		w, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, w)
	}
	return out
}

// Every workload runs without error on both protocols, and the check finds every row.
func TestRunOnPeers(t *testing.T) {
	for name, start := range map[string]func(testing.TB) string{"PostgreSQL": peer.Postgres, "MariaDB": peer.MariaDB} {
		t.Run(name, func(t *testing.T) {
			o := options(start(t))
			o.Workloads = allWorkloads(t)
			var log bytes.Buffer
			o.Log = &log
			report, err := Run(context.Background(), o)
			if err != nil {
				t.Fatalf("%v\n%s", err, log.String())
			}
			inserted := map[string]bool{}
			for _, p := range report.Phases {
				if p.Errors != 0 || !p.Check.OK() || p.Operations < 1000 {
					t.Errorf("%s: %d operations, %d errors %v, check %s", p.Workload, p.Operations, p.Errors, p.ErrorTexts, p.Check)
				}
				if p.Check.RowsFound != p.Check.RowsAcknowledged {
					t.Errorf("%s: %s", p.Workload, p.Check)
				}
				if (p.Workload == "a" || p.Workload == "ems1") && p.Check.UpdatesChecked == 0 {
					t.Errorf("%s: no update was checked", p.Workload)
				}
				inserted[p.Workload] = p.Check.RowsFound > 1000
			}
			for _, w := range o.Workloads {
				if inserted[w.Name] != (w.Insert > 0) {
					t.Errorf("%s: rows inserted is %v", w.Name, inserted[w.Name])
				}
			}
			checkOutput(t, report)
		})
	}
}

func checkOutput(t *testing.T, report *Report) {
	t.Helper()
	var table, raw bytes.Buffer
	if err := report.WriteComparison(&table); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| workload | mix | peer |", "| load | 100 insert |", "| ems1 |"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("comparison lacks %q:\n%s", want, table.String())
		}
	}
	if err := report.WriteJSON(&raw); err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal(raw.Bytes(), &back); err != nil || len(back.Phases) != len(report.Phases) {
		t.Errorf("JSON does not read back: %v", err)
	}
}

// The check notices a lost row, a foreign row and a lost update.
func TestCheckNotices(t *testing.T) {
	url := peer.Postgres(t)
	o := options(url)
	o.Workloads = allWorkloads(t)[:1]
	if _, err := Run(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	d := &pgDriver{url: url, fields: o.FieldCount}
	exec := func(sql string) {
		t.Helper()
		if _, err := d.value(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	book := newRowBook(o.Records)
	exec("DELETE FROM usertable WHERE ycsb_key = '" + string(appendKey(nil, 7, false)) + "'")
	exec("INSERT INTO usertable VALUES ('user1')")
	updates := []updateLog{
		{record: 8, field: 1, hash: 1, start: 10, end: 20}, // the value read back has another hash
		{record: 9, field: 1, hash: 2, start: 10},          // never acknowledged: nothing to find
	}
	check, err := verify(ctx, d, book, false, updates)
	if err != nil {
		t.Fatal(err)
	}
	if check.RowsMissing != 1 || check.RowsUnknown != 1 || check.UpdatesLost != 1 || check.UpdatesChecked != 1 || check.OK() {
		t.Fatalf("check: %+v", check)
	}
}

func TestTargetRateAndDuration(t *testing.T) {
	o := options(peer.Postgres(t))
	o.Workloads = allWorkloads(t)[2:3]
	o.Operations, o.Duration, o.Target = 0, 1500*time.Millisecond, 200
	report, err := Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	run := report.Phases[1]
	if run.Operations < 250 || run.Operations > 310 {
		t.Fatalf("%d operations in 1.5 s at 200 a second", run.Operations)
	}
}

// A table that somebody else filled is left alone.
func TestForeignTable(t *testing.T) {
	url := peer.Postgres(t)
	d := &pgDriver{url: url, fields: 3}
	ctx := context.Background()
	if err := d.createTable(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := d.value(ctx, "INSERT INTO usertable VALUES ('mine')"); err != nil {
		t.Fatal(err)
	}
	o := options(url)
	o.Drop = false
	if _, err := Run(ctx, o); err == nil || !strings.Contains(err.Error(), "--drop") {
		t.Fatalf("error %v", err)
	}
	if rows, _, err := d.tableRows(ctx); err != nil || rows != 1 {
		t.Fatalf("%d rows, %v", rows, err)
	}
}

func TestOptionBounds(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"records":     func(o *Options) { o.Records = 0 },
		"operations":  func(o *Options) { o.Operations = 0 },
		"threads":     func(o *Options) { o.Threads = 0 },
		"target":      func(o *Options) { o.Target = -1 },
		"fieldcount":  func(o *Options) { o.FieldCount = 0 },
		"fieldlength": func(o *Options) { o.FieldLength = -5 },
	} {
		o := options("postgres://")
		change(&o)
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, err := newDriver("http://x", 1); err == nil {
		t.Error("http address: no error")
	}
}

// The PostgreSQL path of a read or an update allocates nothing, so that the client leaves the cores to the server.
func TestClientAllocations(t *testing.T) {
	o := options(peer.Postgres(t))
	if _, err := Run(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	c, err := (&pgDriver{url: mustURL(t, o), fields: 3}).open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	key := appendKey(nil, 5, false)
	value := []byte("value")
	if n := testing.AllocsPerRun(200, func() {
		if _, err := c.read(key); err != nil {
			t.Fatal(err)
		}
		if err := c.update(key, 1, value); err != nil {
			t.Fatal(err)
		}
	}); n > 1 { // the closure that adds up a row's length
		t.Fatalf("%v allocations for a read and an update", n)
	}
}

func mustURL(t *testing.T, o Options) string {
	t.Helper()
	url, _, err := o.Targets[0].Start(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return url
}
