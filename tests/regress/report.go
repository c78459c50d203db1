package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// tally counts the statements of a script by verdict, EXPLAIN apart.
type tally struct {
	script  string
	count   [verdicts]int
	explain [verdicts]int
	note    string
}

func (t *tally) add(it *item) {
	if it.explain {
		t.explain[it.verdict]++
		return
	}
	t.count[it.verdict]++
}

func sum(c [verdicts]int) int {
	n := 0
	for _, k := range c {
		n += k
	}
	return n
}

// printTable writes one line per script and the total.
func printTable(w io.Writer, list []*tally) {
	fmt.Fprintf(w, "%-20s %6s %6s %8s %7s %8s %7s %6s %7s %7s   %s\n", "script", "stmts", "equal", "refused", "follow", "unsupp.", "follow", "order", "differ", "share", "EXPLAIN equal")
	total := &tally{script: "total"}
	for _, t := range list {
		t.print(w)
		for v := range verdicts {
			total.count[v] += t.count[v]
			total.explain[v] += t.explain[v]
		}
	}
	total.print(w)
	all := sum(total.count)
	fmt.Fprintf(w, "%d statements; of the %d that use nothing refused %.1f %% are equal\n", all, all-total.count[refused]-total.count[follows], total.share())
	rest := all - total.count[refused] - total.count[follows] - total.count[unsupported] - total.count[followsOn]
	fmt.Fprintf(w, "of the %d that use nothing that is answered with 0A000 %.1f %% are equal\n", rest, 100*float64(total.count[equal])/float64(max(1, rest)))
}

// share is the percentage of equal statements among those that use nothing refused.
func (t *tally) share() float64 {
	base := sum(t.count) - t.count[refused] - t.count[follows]
	return 100 * float64(t.count[equal]) / float64(max(1, base))
}

func (t *tally) print(w io.Writer) {
	c := t.count
	fmt.Fprintf(w, "%-20s %6d %6d %8d %7d %8d %7d %6d %7d %6.1f%%   %d of %d%s\n", t.script, sum(c), c[equal], c[refused], c[follows], c[unsupported],
		c[followsOn], c[reordered], c[differs], t.share(), t.explain[equal], sum(t.explain), t.note)
}

// printCauses writes every statement that is not equal, by verdict and cause, the largest cause first.
func printCauses(w io.Writer, items []*item) {
	for _, v := range []verdict{differs, reordered, unsupported, followsOn, refused, follows} {
		titles, groups := grouped(items, v)
		fmt.Fprintf(w, "######## %s\n", verdictNames[v])
		for _, t := range titles {
			fmt.Fprintf(w, "\n==== %d x %s\n", len(groups[t]), t)
			for _, it := range groups[t] {
				it.print(w)
			}
		}
	}
}

func (it *item) title() string {
	switch {
	case it.verdict == follows || it.verdict == followsOn:
		return "from " + it.rootLine
	case it.explain:
		return "EXPLAIN"
	case it.cause == "rows":
		return "rows in " + it.script
	}
	return it.cause
}

func (s *stmt) place(script string) string { return fmt.Sprintf("%s:%d", script, s.line) }

// print writes a statement with the lines in which the answers differ.
func (it *item) print(w io.Writer) {
	fmt.Fprintf(w, "-- %s\n%s\n", it.st.place(it.script), it.st.sql())
	if it.verdict == follows || it.verdict == followsOn || it.verdict == refused {
		return
	}
	got := "(no answer)"
	if it.got != nil {
		got = *it.got
	}
	for _, line := range diff(strings.Split(it.want, "\n"), strings.Split(got, "\n")) {
		fmt.Fprintln(w, line)
	}
}

// diff marks the lines of two answers with -, + or nothing; the middle of long answers is compared line by line.
func diff(a, b []string) []string {
	if len(a)*len(b) > 1<<20 {
		return append(mark("-", a[:min(20, len(a))]), mark("+", b[:min(20, len(b))])...)
	}
	lcs := make([][]int, len(a)+1)
	for i := range lcs {
		lcs[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if lcs[i][j] = max(lcs[i+1][j], lcs[i][j+1]); a[i] == b[j] {
				lcs[i][j] = lcs[i+1][j+1] + 1
			}
		}
	}
	var out []string
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, "  "+a[i])
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && lcs[i+1][j] >= lcs[i][j+1]:
			out = append(out, "- "+a[i])
			i++
		default:
			out = append(out, "+ "+b[j])
			j++
		}
	}
	return out
}

func mark(sign string, lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = sign + " " + l
	}
	return out
}

// verdictNames are the headings of groups of statements.
var verdictNames = [...]string{"equal", "refused", "unsupported", "follows from refused", "follows from unsupported", "other order", "differs"}

// printSummary writes the results as a Markdown page: a table of the scripts, and the causes of what is not equal by frequency.
func printSummary(w io.Writer, list []*tally, items []*item) {
	fmt.Fprint(w, "# PostgreSQL 15's regression scripts on herd\n\n")
	fmt.Fprint(w, "Written by `go run ./tests/regress --summary`. What the columns mean is in doc.go: *refused* are statements answered with 0A000 for what is left for\n"+
		"later (PL/pgSQL, triggers, partitions, inheritance, ranges, network types, text search, row security, two-phase commit) and those that differ because of one\n"+
		"before them; *other 0A000* the same for everything else; *order* has the rows in another order; the share is that of equal statements among those that are\n"+
		"not refused. EXPLAIN is counted apart.\n\n")
	fmt.Fprint(w, "| script | statements | equal | refused | other 0A000 | order | differ | share | EXPLAIN equal |\n|---|---|---|---|---|---|---|---|---|\n")
	total := &tally{script: "**total**"}
	for _, t := range list {
		t.summary(w)
		for v := range verdicts {
			total.count[v] += t.count[v]
			total.explain[v] += t.explain[v]
		}
	}
	total.summary(w)
	for _, v := range []verdict{differs, reordered, unsupported, followsOn, refused, follows} {
		titles, groups := grouped(items, v)
		fmt.Fprintf(w, "\n## %s\n\n", verdictNames[v])
		rest := 0
		for _, t := range titles {
			if n := len(groups[t]); n > 1 {
				fmt.Fprintf(w, "- %d: %s\n", n, t)
			} else {
				rest++
			}
		}
		if rest > 0 {
			fmt.Fprintf(w, "- %d of a cause each of their own\n", rest)
		}
	}
}

func (t *tally) summary(w io.Writer) {
	c := t.count
	fmt.Fprintf(w, "| %s | %d | %d | %d | %d | %d | %d | %.1f %% | %d of %d |\n", t.script, sum(c), c[equal], c[refused]+c[follows], c[unsupported]+c[followsOn],
		c[reordered], c[differs], t.share(), t.explain[equal], sum(t.explain))
}

// grouped gathers the statements of a verdict by cause, the largest cause first.
func grouped(items []*item, v verdict) ([]string, map[string][]*item) {
	groups := map[string][]*item{}
	for _, it := range items {
		if it.verdict == v {
			groups[it.title()] = append(groups[it.title()], it)
		}
	}
	titles := make([]string, 0, len(groups))
	for t := range groups {
		titles = append(titles, t)
	}
	slices.SortFunc(titles, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(groups[b]), len(groups[a])), cmp.Compare(a, b))
	})
	return titles, groups
}
