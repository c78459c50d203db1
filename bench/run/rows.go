package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// settings are the sizes that the flags choose.
type settings struct {
	duration   time.Duration // of one measurement
	scale      int           // of pgbench, for all but tpcb-1
	records    int64         // YCSB
	operations int64
	bulkRows   int64
	runs       int    // median of so many
	tpch       string // folder of bench/tpch
}

// bound is the server of bench/null, against which no row is judged: it shows what the machine and the client leave to win.
const bound = "null"

// figure is one measured value of one server.
type figure struct {
	server string
	value  float64
	err    error
}

// result is one line of the table.
type result struct {
	name, work, unit string
	figures          []figure
	goal             float64 // herd against the best of the others, or against limit
	limit            float64 // 0: against the others
	smaller          bool    // smaller is better
}

// bench is what the measurements share.
type bench struct {
	ctx   context.Context
	s     settings
	fleet *fleet
	log   func(format string, args ...any)
	ready map[string]bool // what has been loaded: "herd pgbench 10"
	ycsb  []result        // of all YCSB rows, measured together
	bulk  []result        // of COPY, memory and restart, measured together
}

// row is a line that can be asked for by name.
type row struct {
	name string
	run  func(b *bench, name string) ([]result, error)
}

// ratio is herd's value against the best of the others, or against the limit.
func (r *result) ratio() (float64, bool) {
	var herd, best float64
	for _, f := range r.figures {
		switch {
		case f.err != nil:
			if f.server == "herd" {
				return 0, false
			}
		case f.server == bound:
		case f.server == "herd":
			herd = f.value
		case best == 0 || (f.value > best) != r.smaller:
			best = f.value
		}
	}
	if r.limit != 0 {
		best = r.limit
	}
	if herd == 0 || best == 0 {
		return 0, false
	}
	return herd / best, true
}

// reached says whether the goal is reached, or that it cannot be told.
func (r *result) reached() string {
	ratio, ok := r.ratio()
	switch {
	case !ok:
		return "?"
	case r.smaller && ratio <= r.goal, !r.smaller && ratio >= r.goal:
		return "yes"
	}
	return "NO"
}

var clientCounts = []int{1, 8, 32, 200}

// allRows lists the rows in the order of the table.
func allRows() []row {
	var rows []row
	add := func(name string, run func(*bench, string) ([]result, error)) { rows = append(rows, row{name, run}) }
	for _, mode := range []string{"prepared", "simple"} {
		for _, clients := range clientCounts {
			goal := map[string]float64{"prepared": 1.7, "simple": 1.5}[mode]
			p := pgbench{work: "point select, " + mode, args: []string{"-S", "-M", mode}, clients: clients, goal: goal}
			add(fmt.Sprintf("select-%s-%d", mode, clients), p.row)
		}
	}
	for _, clients := range clientCounts {
		goal := map[int]float64{1: 0, 8: 0, 32: 2.5, 200: 3}[clients]
		p := pgbench{work: "one-row UPDATE by key, prepared", args: []string{"-M", "prepared"}, script: updateScript, clients: clients, goal: goal}
		add(fmt.Sprintf("update-%d", clients), p.row)
	}
	add("tpcb-10", pgbench{work: "TPC-B, prepared", args: []string{"-M", "prepared", "-b", "tpcb-like"}, clients: 32, goal: 2}.row)
	add("tpcb-1", pgbench{work: "TPC-B, prepared", args: []string{"-M", "prepared", "-b", "tpcb-like"}, clients: 32, goal: 3, scale: 1}.row)
	for _, w := range ycsbOrder {
		add("ycsb-"+w, (*bench).ycsbRow)
	}
	for _, name := range []string{"copy", "memory", "restart"} {
		add(name, (*bench).bulkRow)
	}
	queryRows(add)
	add("tpch", tpchRow)
	return rows
}

// pick returns the rows whose name is, or begins with, one of the wanted names; all when none is wanted.
func pick(rows []row, wanted []string) ([]row, error) {
	if len(wanted) == 0 {
		return rows, nil
	}
	var out []row
	for _, w := range wanted {
		before := len(out)
		for _, r := range rows {
			if r.name == w || strings.HasPrefix(r.name, w+"-") {
				out = append(out, r)
			}
		}
		if len(out) == before {
			return nil, fmt.Errorf("no row %q; -list shows all", w)
		}
	}
	slices.SortStableFunc(out, func(a, b row) int {
		index := func(r row) int { return slices.IndexFunc(rows, func(x row) bool { return x.name == r.name }) }
		return index(a) - index(b)
	})
	return slices.CompactFunc(out, func(a, b row) bool { return a.name == b.name }), nil
}

// median measures so often as the settings say and returns the middle value.
func (b *bench) median(measure func() (float64, error)) (float64, error) {
	var values []float64
	for range b.s.runs {
		v, err := measure()
		if err != nil {
			return 0, err
		}
		values = append(values, v)
	}
	slices.Sort(values)
	return values[len(values)/2], nil
}
