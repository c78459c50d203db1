package ycsb

import (
	"fmt"
	"strings"
)

// Chooser names how keys are picked for reads, updates and scans.
type Chooser string

// The three key choosers that the workloads use.
const (
	Zipfian Chooser = "zipfian" // scrambled: popular keys are spread over the whole table
	Latest  Chooser = "latest"  // the newest keys are the most popular
	Uniform Chooser = "uniform"
)

// Workload is a mix of operations, as shares that add up to one.
type Workload struct {
	// Name is "a" to "f" or "ems1".
	Name string
	// Mix is the mix in words, for tables.
	Mix string
	// Read, Update, Insert, Scan and ReadModifyWrite are shares of all operations.
	Read, Update, Insert, Scan, ReadModifyWrite float64
	// Chooser picks the keys.
	Chooser Chooser
	// Ordered keeps the insertion order in the keys; otherwise key numbers are hashed.
	Ordered bool
	// ScanMax is the longest scan in rows; lengths are uniform from 1.
	ScanMax int
}

// workloads are the files workloads/workload[a-f] of YCSB 0.12, and ems1.
var workloads = []Workload{
	{Name: "a", Mix: "50 read 50 update", Read: 0.5, Update: 0.5, Chooser: Zipfian},
	{Name: "b", Mix: "95 read 5 update", Read: 0.95, Update: 0.05, Chooser: Zipfian},
	{Name: "c", Mix: "100 read", Read: 1, Chooser: Zipfian},
	{Name: "d", Mix: "95 read latest 5 insert", Read: 0.95, Insert: 0.05, Chooser: Latest},
	{Name: "e", Mix: "95 scan 5 insert", Scan: 0.95, Insert: 0.05, Chooser: Zipfian, ScanMax: 100},
	{Name: "f", Mix: "50 read 50 read-modify-write", Read: 0.5, ReadModifyWrite: 0.5, Chooser: Zipfian},
	{Name: "ems1", Mix: "32 insert 64 update 2 read 2 rmw", Read: 0.02, Update: 0.64, Insert: 0.32, ReadModifyWrite: 0.02,
		Chooser: Latest, Ordered: true, ScanMax: 1000},
}

// Find returns the workload of a name, with or without "workload" before it. The error lists all names.
func Find(name string) (Workload, error) {
	short := strings.TrimPrefix(strings.ToLower(name), "workload")
	for _, w := range workloads {
		if w.Name == short {
			return w, nil
		}
	}
	return Workload{}, fmt.Errorf("unknown workload %q; there are %s", name, strings.Join(Names(), ", "))
}

// Names lists all workloads in the order of published tables.
func Names() []string {
	var names []string
	for _, w := range workloads {
		names = append(names, w.Name)
	}
	return names
}

// Op is a kind of operation, as measured.
type Op uint8

// The kinds of operation. A read-modify-write is also measured as its read and its update.
const (
	OpRead Op = iota
	OpUpdate
	OpInsert
	OpScan
	OpReadModifyWrite
	opCount
)

var opNames = [opCount]string{"read", "update", "insert", "scan", "read-modify-write"}

// String returns the name that the report uses.
func (o Op) String() string { return opNames[o] }

// choose picks the next operation from a number uniform in [0, 1).
func (w *Workload) choose(u float64) Op {
	for _, s := range [...]struct {
		share float64
		op    Op
	}{{w.Read, OpRead}, {w.Update, OpUpdate}, {w.Insert, OpInsert}, {w.Scan, OpScan}} {
		if u < s.share {
			return s.op
		}
		u -= s.share
	}
	if w.ReadModifyWrite > 0 {
		return OpReadModifyWrite
	}
	return OpRead // rounding left a crumb above the last share
}
