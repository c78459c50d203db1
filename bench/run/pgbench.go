package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"

	"herd/tests/peer"
)

// updateScript changes one row by its key.
const updateScript = "\\set aid random(1, 100000 * :scale)\nUPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = :aid;\n"

// pgbench is a row measured by PostgreSQL's pgbench on herd and on PostgreSQL.
type pgbench struct {
	work    string
	args    []string
	script  string // file for -f; empty for a built-in one
	clients int
	scale   int // 0: the flags'
	goal    float64
}

func (p pgbench) row(b *bench, name string) ([]result, error) {
	scale := p.scale
	if scale == 0 {
		scale = b.s.scale
	}
	r := result{name: name, work: fmt.Sprintf("%s, %d clients, scale %d", p.work, p.clients, scale), unit: "tps", goal: p.goal}
	for _, server := range []string{"herd", "postgres", bound} {
		value, err := b.median(func() (float64, error) { return p.measure(b, server, scale) })
		r.figures = append(r.figures, figure{server, value, err})
	}
	return []result{r}, nil
}

var (
	tpsLine    = regexp.MustCompile(`(?m)^tps = ([0-9.]+) \(without initial connection time\)`)
	failedLine = regexp.MustCompile(`(?m)^number of failed transactions: ([1-9][0-9]*) `)
)

func (p pgbench) measure(b *bench, name string, scale int) (float64, error) {
	s, err := b.fleet.get(b.ctx, name)
	if err != nil {
		return 0, err
	}
	if err := b.loadPgbench(s, scale); err != nil {
		return 0, err
	}
	args := append([]string{"-n", "-c", strconv.Itoa(p.clients), "-j", "2", "-T", strconv.Itoa(int(b.s.duration.Seconds()))}, p.args...)
	if name == bound || p.script != "" {
		args = append(args, "-D", "scale="+strconv.Itoa(scale)) // pgbench counts branches only for its own scripts, and the null server has none
	}
	if p.script != "" {
		file := filepath.Join(b.fleet.dir, "script.sql")
		if err := os.WriteFile(file, []byte(p.script), 0o600); err != nil {
			return 0, err
		}
		args = append(args, "-f", file)
	}
	out, err := b.pgbench(s, args...)
	if err != nil {
		return 0, err
	}
	if m := failedLine.FindStringSubmatch(out); m != nil {
		return 0, fmt.Errorf("%s transactions failed", m[1])
	}
	m := tpsLine.FindStringSubmatch(out)
	if m == nil {
		return 0, fmt.Errorf("no tps in pgbench's output: %s", out)
	}
	return strconv.ParseFloat(m[1], 64)
}

// loadPgbench fills pgbench's tables unless they are there at this scale.
func (b *bench) loadPgbench(s *server, scale int) error {
	key := fmt.Sprint(s.name, " pgbench ", scale)
	if b.ready[key] {
		return nil
	}
	if s.name == bound {
		return nil // it has no tables
	}
	b.log("%s: pgbench -i -s %d", s.name, scale)
	if _, err := b.pgbench(s, "-i", "-q", "-s", strconv.Itoa(scale)); err != nil {
		return err
	}
	for k := range b.ready {
		if len(k) > len(s.name) && k[:len(s.name)+1] == s.name+" " {
			delete(b.ready, k) // the tables have another scale now
		}
	}
	b.ready[key] = true
	return nil
}

func (b *bench) pgbench(s *server, args ...string) (string, error) {
	bin, err := peer.PostgresBin()
	if err != nil {
		return "", err
	}
	out, err := exec.CommandContext(b.ctx, filepath.Join(bin, "pgbench"), append(args, s.url)...).CombinedOutput()
	if err != nil {
		const shown = 600
		return "", fmt.Errorf("pgbench on %s: %w: %.*s", s.name, err, shown, out)
	}
	return string(out), nil
}
