package main

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// result is a phase's line in the table.
type result struct {
	name  string
	what  string
	took  time.Duration
	ops   int64         // rows or operations, 0 = not counted
	reads int64         // blocks
	rss   int64         // bytes
	cpu   time.Duration // of the server
	note  string
	err   error
}

func (r *result) row() string {
	rate, reads, cpu := "", "", ""
	if r.ops > 0 && r.took > 0 {
		rate = fmt.Sprintf("%.0f", float64(r.ops)/r.took.Seconds())
		reads = fmt.Sprintf("%.2f", float64(r.reads)/float64(r.ops))
		cpu = fmt.Sprintf("%.1f", float64(r.cpu.Microseconds())/float64(r.ops))
	}
	note := r.note
	if r.err != nil {
		note = strings.ReplaceAll("FAILED: "+r.err.Error(), "\n", " ")
	}
	return fmt.Sprintf("| %s | %s | %.1f | %d | %s | %s | %d | %s | %d | %s |", r.name, r.what, r.took.Seconds(), r.ops, rate, cpu, r.reads, reads, r.rss>>20, note)
}

const tableHead = "| phase | what | seconds | operations | a second | server's processor us an operation | blocks read | an operation | resident MiB | |\n|---|---|---|---|---|---|---|---|---|---|"

// report writes the table as Markdown.
func report(file, title string, results []result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n\n%s\n", title, "`"+strings.Join(append([]string{"large"}, os.Args[1:]...), " ")+"`", tableHead)
	for i := range results {
		fmt.Fprintln(&b, results[i].row())
	}
	return os.WriteFile(file, []byte(b.String()), 0o644)
}
