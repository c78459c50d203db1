package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"herd/ycsb"
)

// ycsbOrder has the workloads that insert at the end, so that few loads are needed.
var ycsbOrder = []string{"load", "a", "b", "c", "f", "d", "e", "ems1"}

// ycsbThreads is the number of connections of the published figures.
const ycsbThreads = 200

// ycsbRow measures one workload on all servers by running `herd ycsb`.
func (b *bench) ycsbRow(name string) ([]result, error) {
	workload := name[len("ycsb-"):]
	goal := 1.5
	if workload == "e" {
		goal = 2
	}
	r := result{name: name, work: fmt.Sprintf("YCSB %s, %d threads, %d records", workload, ycsbThreads, b.s.records), unit: "ops/s", goal: goal}
	for _, server := range []string{"herd", "postgres", "mariadb"} {
		value, err := b.median(func() (float64, error) { return b.runYCSB(server, workload) })
		r.figures = append(r.figures, figure{server, value, err})
	}
	return []result{r}, nil
}

// inserts tells the workloads after which the table has to be loaded anew.
var inserts = map[string]bool{"load": true, "d": true, "e": true, "ems1": true}

func (b *bench) runYCSB(name, workload string) (float64, error) {
	s, err := b.fleet.get(b.ctx, name)
	if err != nil {
		return 0, err
	}
	file := filepath.Join(b.fleet.dir, "ycsb.json")
	key := name + " ycsb"
	args := []string{"ycsb", workload, "--url", s.url, "--records", strconv.FormatInt(b.s.records, 10), "--operations", strconv.FormatInt(b.s.operations, 10),
		"--threads", strconv.Itoa(ycsbThreads), "--json", file}
	if !b.ready[key] || inserts[workload] {
		args = append(args, "--drop")
	}
	if out, err := exec.CommandContext(b.ctx, b.fleet.binary, args...).CombinedOutput(); err != nil {
		const shown = 800
		return 0, fmt.Errorf("herd ycsb %s on %s: %w: %s", workload, name, err, out[max(0, len(out)-shown):])
	}
	b.ready[key] = workload == "load" || !inserts[workload]
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	var report ycsb.Report
	if err := json.Unmarshal(text, &report); err != nil {
		return 0, err
	}
	for _, p := range report.Phases {
		if p.Workload == workload {
			if p.Errors > 0 {
				return 0, fmt.Errorf("%d of the operations failed: %v", p.Errors, p.ErrorTexts)
			}
			return p.Throughput, nil
		}
	}
	return 0, fmt.Errorf("no workload %s in the report", workload)
}
