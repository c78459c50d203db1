package main

import (
	"context"
	"errors"
	"os"
	"testing"

	"herd/tests/peer"
)

// A few thousand statements have PostgreSQL's answers.
func TestStatements(t *testing.T) {
	ctx := context.Background()
	s, err := start(ctx, "", "")
	if errors.Is(err, peer.ErrNotInstalled) {
		t.Skipf("peer missing: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	o := options{seed: 1, statements: 5000, perRound: 200, failures: 5}
	if err := errors.Join(o.rounds(ctx, s, os.Stderr), s.close()); err != nil {
		t.Error(err)
	}
}

// The comparison notices each way in which answers can differ.
func TestCompare(t *testing.T) {
	row := func(values ...string) [][]byte {
		out := make([][]byte, len(values))
		for i, v := range values {
			out[i] = []byte(v)
		}
		return out
	}
	base := func() *answer {
		return &answer{tag: "SELECT 2", columns: []string{"a 23/-1/4"}, types: []uint32{23}, rows: [][][]byte{row("1"), row("2")}, status: 'I'}
	}
	st := &statement{ordered: true}
	if d := compare(st, base(), base()); d != "" {
		t.Errorf("equal answers differ: %s", d)
	}
	for want, change := range map[string]func(a *answer){
		"SQLSTATE": func(a *answer) { a.code = "22012" }, "tag": func(a *answer) { a.tag = "SELECT 1" }, "columns": func(a *answer) { a.columns[0] = "b 23/-1/4" },
		"status of the transaction": func(a *answer) { a.status = 'E' }, "rows": func(a *answer) { a.rows[0], a.rows[1] = a.rows[1], a.rows[0] },
	} {
		a := base()
		change(a)
		if d := compare(st, base(), a); d != want {
			t.Errorf("%s is taken as %q", want, d)
		}
	}
	swapped := base()
	swapped.rows[0], swapped.rows[1] = swapped.rows[1], swapped.rows[0]
	if d := compare(&statement{}, base(), swapped); d != "" {
		t.Errorf("rows without an order: %s", d)
	}
	null := base()
	null.rows[0][0] = nil
	if d := compare(st, base(), null); d != "rows" {
		t.Errorf("NULL: %q", d)
	}
}
