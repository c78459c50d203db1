package main

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

func TestRatios(t *testing.T) {
	failed := errors.New("no")
	for name, c := range map[string]struct {
		r    result
		want string
	}{
		"better of two":   {result{figures: []figure{{"herd", 30, nil}, {"postgres", 10, nil}, {"mariadb", 20, nil}}, goal: 1.5}, "yes"},
		"not reached":     {result{figures: []figure{{"herd", 29, nil}, {"postgres", 10, nil}, {"mariadb", 20, nil}}, goal: 1.5}, "NO"},
		"smaller":         {result{figures: []figure{{"herd", 1.5e9, nil}}, goal: 1.6, limit: 1e9, smaller: true}, "yes"},
		"too large":       {result{figures: []figure{{"herd", 1.7e9, nil}}, goal: 1.6, limit: 1e9, smaller: true}, "NO"},
		"herd failed":     {result{figures: []figure{{"herd", 0, failed}, {"postgres", 10, nil}}, goal: 1.5}, "?"},
		"no peer left":    {result{figures: []figure{{"herd", 5, nil}, {"postgres", 0, failed}}, goal: 1.5}, "?"},
		"null server":     {result{figures: []figure{{"herd", 30, nil}, {"postgres", 20, nil}, {bound, 90, nil}}, goal: 1.5}, "yes"},
		"one peer failed": {result{figures: []figure{{"herd", 30, nil}, {"postgres", 0, failed}, {"mariadb", 20, nil}}, goal: 1.5}, "yes"},
	} {
		if got := c.r.reached(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestPick(t *testing.T) {
	names := func(wanted ...string) string {
		rows, err := pick(allRows(), wanted)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, r := range rows {
			out = append(out, r.name)
		}
		return strings.Join(out, " ")
	}
	if got := names("ycsb-a", "update"); got != "update-1 update-8 update-32 update-200 ycsb-a" {
		t.Errorf("picked %s", got)
	}
	if got := names("select-prepared-1"); got != "select-prepared-1" {
		t.Errorf("picked %s", got)
	}
	if got := len(strings.Fields(names())); got != 39 {
		t.Errorf("%d rows", got)
	}
	if _, err := pick(allRows(), []string{"nothing"}); err == nil {
		t.Error("row nothing: no error")
	}
}

func TestBulkReader(t *testing.T) {
	text, err := io.ReadAll(newBulkReader(3))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[2], "2\t") || len(lines[0]) != bulkTextBytes+2 {
		t.Errorf("%d lines, first of %d bytes", len(lines), len(lines[0]))
	}
}

func TestTableShowsFailures(t *testing.T) {
	table := writeTable([]result{{name: "x", work: "w", unit: "tps", goal: 2, figures: []figure{{"herd", 10, nil}, {"postgres", 0, errors.New("did not start")}}}},
		time.Unix(0, 0), "cmd", settings{})
	for _, want := range []string{"| x | w | tps | 10 | failed | - | - | - | >= 2 | ? |", "- x on postgres: did not start"} {
		if !strings.Contains(table, want) {
			t.Errorf("table lacks %q:\n%s", want, table)
		}
	}
}
