package exec

import (
	"bytes"
	"runtime"
	"testing"

	"herd/engine"
	"herd/internal/mem"
	"herd/internal/vfs"
	"herd/planner/plan"
	"herd/sql/types"
)

// TestCopyInAllocations copies many rows, whose transaction moves out of memory meanwhile: what is allocated belongs to
// the leaves, the log and the locks, not to the row on its way.
func TestCopyInAllocations(t *testing.T) {
	e, err := engine.Open(engine.Options{FS: vfs.OS, Dir: t.TempDir(), CheckpointPeriod: -1, Fatal: func(error) {}})
	must(t, err)
	d := &db{t: t, e: e, mem: mem.NewRoot(0), oid: 20000, s: e.System().NewSession(engine.SessionOptions{})}
	defer func() {
		d.s.Close()
		must(t, e.Close())
	}()
	r := d.table("bulk", 1, "id int8", "payload text!")
	cols := []plan.Typed{typed(types.Int8OID), typed(types.TextOID)}
	row := []plan.Expr{&plan.Param{Typed: cols[0], Index: 0}, &plan.Param{Typed: cols[1], Index: 1}}
	in, err := NewCopyIn(&plan.Plan{Root: insert(r, rows(row)), Params: cols}, nil)
	must(t, err)
	tx := d.s.Begin(engine.TxOptions{})
	env := d.env(tx, tx.BeginStatement())
	defer env.Acct.Close()
	must(t, in.Open(env))
	payload := bytes.Repeat([]byte("payload "), 125)
	params := make([]types.Datum, 2)
	next := int64(0)
	add := func(n int) {
		for range n {
			params[0], params[1] = types.Int(next), types.Bytes(payload)
			next++
			must(t, in.Add(params))
		}
	}
	add(20000)
	const n = 40000
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	add(n)
	runtime.ReadMemStats(&after)
	count, size := float64(after.Mallocs-before.Mallocs)/n, float64(after.TotalAlloc-before.TotalAlloc)/n
	t.Logf("%.2f allocations and %.0f bytes a row", count, size)
	// A row's bytes are kept twice: in the transaction, and from there in a leaf, of which each takes some ten allocations for
	// seven rows.
	if count > 1.9 || size > 3.5*float64(len(payload)) {
		t.Errorf("%.2f allocations and %.0f bytes a row of %d", count, size, len(payload))
	}
	_, err = in.Finish()
	must(t, err)
	must(t, in.Close())
	must(t, tx.Commit())
	must(t, d.s.WaitDurable())
	view := d.s.Begin(engine.TxOptions{}).BeginStatement()
	if got := view.Count(r.TreeID); got != next {
		t.Errorf("%d rows, want %d", got, next)
	}
	d.s.Begin(engine.TxOptions{}).Rollback()
}
