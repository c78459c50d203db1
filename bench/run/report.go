package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// writeTable renders the results as markdown.
func writeTable(results []result, started time.Time, command string, s settings) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Measured %s\n\n`%s`\n\n", started.UTC().Format("2006-01-02 15:04 UTC"), command)
	fmt.Fprintf(&b, "%d cores (%s), %s, commit %s. Client and server on the same machine; synchronous commits everywhere; %s a measurement, median of %d.\n",
		runtime.NumCPU(), output("sh", "-c", "grep -m1 'model name' /proc/cpuinfo | cut -d: -f2"), output("uname", "-sr"), output("git", "rev-parse", "--short", "HEAD"), s.duration, s.runs)
	fmt.Fprintf(&b, "PostgreSQL: %s; MariaDB: %s; PostgreSQL 15 and MariaDB 10.11 where installed as packaged.\n\n", strings.Join(postgresSettings, ", "), strings.Join(mariadbSettings, ", "))
	b.WriteString("| row | work | unit | herd | PostgreSQL | MariaDB | null server | ratio | goal | reached |\n|---|---|---|---:|---:|---:|---:|---:|---:|---|\n")
	var failures []string
	for i := range results {
		r := &results[i]
		columns := map[string]string{"herd": "-", "postgres": "-", "mariadb": "-", bound: "-"}
		for _, f := range r.figures {
			if f.err != nil {
				columns[f.server] = "failed"
				failures = append(failures, fmt.Sprintf("- %s on %s: %v", r.name, f.server, f.err))
				continue
			}
			columns[f.server] = number(f.value)
		}
		ratio, goal, reached := "-", "-", "-"
		if v, ok := r.ratio(); ok {
			ratio = fmt.Sprintf("%.2f", v)
		}
		if r.goal > 0 {
			sign := ">= "
			if r.smaller {
				sign = "<= "
			}
			goal, reached = sign+fmt.Sprintf("%g", r.goal), r.reached()
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", r.name, r.work, r.unit, columns["herd"], columns["postgres"], columns["mariadb"], columns[bound], ratio, goal, reached)
	}
	b.WriteString("\nratio: herd against the better of the others, or against the limit that the row names. null server: bench/null, which answers a fixed row and shares its synchronous writes.\n")
	if failures != nil {
		b.WriteString("\nFailed:\n\n" + strings.Join(failures, "\n") + "\n")
	}
	return b.String()
}

func number(v float64) string {
	switch {
	case v < 10:
		return fmt.Sprintf("%.2f", v)
	case v < 1e6:
		return fmt.Sprintf("%.0f", v)
	default:
		return fmt.Sprintf("%.0f M", v/1e6)
	}
}

// output returns what a program prints, for the heading; empty when it fails.
func output(name string, args ...string) string {
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		return "?"
	}
	return strings.TrimSpace(string(out))
}
