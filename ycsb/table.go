package ycsb

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// WriteComparison prints one row a workload and one column a server and storage profile, as HerdDB published its figures: operations a
// second, and the ratio of the first server to each other one in per cent. Used when more than one target ran.
func (r *Report) WriteComparison(w io.Writer) error {
	columns, rows := r.columns(), r.rows()
	header := []string{"workload", "mix"}
	rule := []string{"---", "---"}
	for i, c := range columns {
		header, rule = append(header, c), append(rule, "---:")
		if i > 0 {
			header, rule = append(header, columns[0]+" / "+c), append(rule, "---:")
		}
	}
	lines := [][]string{header, rule}
	for _, name := range rows {
		lines = append(lines, r.row(name, columns))
	}
	for _, line := range lines {
		if _, err := fmt.Fprintf(w, "| %s |\n", strings.Join(line, " | ")); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w, "\nops/s; ratios in per cent. - means not run.")
	return err
}

func (r *Report) row(workload string, columns []string) []string {
	line := []string{workload, ""}
	var first float64
	for i, c := range columns {
		p := r.find(workload, c)
		if p != nil {
			line[1] = p.Mix
		}
		if i == 0 && p != nil {
			first = p.Throughput
		}
		if p == nil {
			line = append(line, "-")
		} else {
			line = append(line, fmt.Sprintf("%.0f", p.Throughput))
		}
		if i == 0 {
			continue
		}
		if p == nil || first == 0 || p.Throughput == 0 {
			line = append(line, "-")
		} else {
			line = append(line, fmt.Sprintf("%.0f", 100*first/p.Throughput))
		}
	}
	return line
}

func (p *Phase) column() string {
	if p.Device != "" {
		return p.Device + " " + p.Server
	}
	return p.Server
}

func (r *Report) columns() []string {
	var out []string
	for _, p := range r.Phases {
		if !slices.Contains(out, p.column()) {
			out = append(out, p.column())
		}
	}
	return out
}

// rows lists the workloads that ran, in the order of published tables.
func (r *Report) rows() []string {
	var out []string
	for _, name := range append([]string{"load"}, Names()...) {
		if slices.ContainsFunc(r.Phases, func(p *Phase) bool { return p.Workload == name }) {
			out = append(out, name)
		}
	}
	return out
}

// find returns the first run of a workload in a column: later loads of the same run only restore the table.
func (r *Report) find(workload, column string) *Phase {
	for _, p := range r.Phases {
		if p.Workload == workload && p.column() == column {
			return p
		}
	}
	return nil
}
