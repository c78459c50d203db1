package storage

import (
	"bytes"
	"syscall"
	"testing"

	"herd/internal/mem"
	"herd/internal/vfs"
)

// TestOverlayMoveFails lets the device be full while an overlay moves: the overlay says so once, keeps its changes, the
// newer ones in front, and moves them when there is room again.
func TestOverlayMoveFails(t *testing.T) {
	fault := vfs.NewFault(vfs.NewMem())
	st, _, err := openStore(fault, 0, 0, mem.NewRoot(0))
	must(t, err)
	defer st.Close()
	base, err := st.Apply(st.Base(), 1, ChangeSet{{Tree: benchTree, Op: OpCreateTree}})
	must(t, err)
	acct := mem.NewRoot(0)
	o := NewOverlay(acct)
	o.SpillTo(st)
	val := func(i, gen int) []byte { return bytes.Repeat([]byte{byte(i), byte(gen)}, 200) }
	const n = 2000
	for i := range n {
		must(t, o.Put(benchTree, benchKey(nil, uint64(i)), val(i, 1), 1))
	}
	fault.Add(vfs.Rule{Label: labelWrite, Op: vfs.OpWrite, Nth: 1, Err: syscall.ENOSPC})
	must(t, o.moveAhead())
	for i := range n / 2 { // newer than what is on its way
		must(t, o.Put(benchTree, benchKey(nil, uint64(i)), val(i, 2), 2))
	}
	check := func(when string) {
		t.Helper()
		v := View{Snap: base, Own: o.Root()}
		for i := range n {
			gen := 1
			if i < n/2 {
				gen = 2
			}
			got, _, found, _ := v.GetOwn(benchTree, benchKey(nil, uint64(i)))
			if !found || !bytes.Equal(got, val(i, gen)) {
				t.Fatalf("%s: row %d: %t", when, i, found)
			}
		}
		for _, reverse := range []bool{false, true} {
			var c Cursor
			c.Init(v, benchTree, nil, nil, reverse)
			rows := 0
			for ; c.Next(); rows++ {
			}
			must(t, c.Err())
			if rows != n {
				t.Fatalf("%s: %d rows", when, rows)
			}
		}
	}
	check("on its way")
	if err := o.settle(); err == nil {
		t.Fatal("the move did not fail")
	}
	check("failed")
	must(t, o.move())
	if o.root.mid != nil || o.root.top != nil || !o.Moved() {
		t.Fatal("not moved")
	}
	check("moved")
	o.Reset()
	if acct.Used() != 0 {
		t.Errorf("%d bytes are booked after Reset", acct.Used())
	}
}

// TestOverlayRollbackWhileMoving goes back to roots of before and after a move began.
func TestOverlayRollbackWhileMoving(t *testing.T) {
	st, s, slot := loaded(t, 100, 100, false)
	defer st.Close()
	defer slot.Close()
	acct := mem.NewRoot(0)
	o := NewOverlay(acct)
	o.SpillTo(st)
	put := func(from, to int) {
		for i := from; i < to; i++ {
			must(t, o.Put(benchTree, benchKey(nil, uint64(1000+i)), make([]byte, 300), 1))
		}
	}
	rows := func() int {
		var c Cursor
		c.Init(View{Snap: s, Own: o.Root()}, benchTree, nil, nil, false)
		n := 0
		for ; c.Next(); n++ {
		}
		must(t, c.Err())
		return n - 100
	}
	put(0, 500)
	before := o.Root()
	put(500, 1000)
	must(t, o.moveAhead())
	put(1000, 1100)
	after := o.Root()
	put(1100, 1200)
	o.Rollback(after)
	if n := rows(); n != 1100 {
		t.Fatalf("%d rows, on its way", n)
	}
	must(t, o.settle())
	if n := rows(); n != 1100 || o.root.base == nil {
		t.Fatalf("%d rows, moved", n)
	}
	o.Rollback(after) // what has moved is on its way again
	must(t, o.move())
	if n := rows(); n != 1100 {
		t.Fatalf("%d rows, moved again", n)
	}
	must(t, o.moveAhead())
	o.Rollback(before)
	must(t, o.settle())
	if n := rows(); n != 500 {
		t.Fatalf("%d rows, rolled back", n)
	}
	must(t, o.move())
	if n := rows(); n != 500 {
		t.Fatalf("%d rows, moved after that", n)
	}
	o.Reset()
	if acct.Used() != 0 {
		t.Errorf("%d bytes are booked after Reset", acct.Used())
	}
}

// TestOverlayMoveOfNobody lets a move fail whose changes were rolled back meanwhile: nobody hears of it. What is in memory again
// is booked again.
func TestOverlayMoveOfNobody(t *testing.T) {
	fault := vfs.NewFault(vfs.NewMem())
	st, _, err := openStore(fault, 0, 0, mem.NewRoot(0))
	must(t, err)
	defer st.Close()
	acct := mem.NewRoot(0)
	o := NewOverlay(acct)
	o.SpillTo(st)
	put := func(from, to int) {
		for i := from; i < to; i++ {
			must(t, o.Put(benchTree, benchKey(nil, uint64(i)), make([]byte, 300), 1))
		}
	}
	put(0, 100)
	before := o.Root()
	put(100, 2000)
	fault.Add(vfs.Rule{Label: labelWrite, Op: vfs.OpWrite, Nth: 1, Err: syscall.ENOSPC})
	must(t, o.moveAhead())
	o.Rollback(before)
	must(t, o.settle())
	if len(o.private) != 0 {
		t.Errorf("%d blocks of a move that failed are kept", len(o.private))
	}
	put(100, 2000)
	used, whole := acct.Used(), o.Root()
	must(t, o.move())
	if acct.Used() >= used {
		t.Errorf("%d bytes are booked after a move, %d before", acct.Used(), used)
	}
	o.Rollback(whole)
	if acct.Used() < used {
		t.Errorf("%d bytes are booked, %d when the same was in memory before", acct.Used(), used)
	}
	o.Reset()
	if acct.Used() != 0 {
		t.Errorf("%d bytes are booked after Reset", acct.Used())
	}
}

// TestOverlayDropsWhatIsOnItsWay makes a tree that moves, goes back to where it was on its way, and drops it: who was told of the
// making is told of the drop.
func TestOverlayDropsWhatIsOnItsWay(t *testing.T) {
	st, _, slot := loaded(t, 100, 100, false)
	defer st.Close()
	defer slot.Close()
	o := NewOverlay(mem.NewRoot(0))
	o.SpillTo(st)
	defer o.Reset()
	var told ChangeSet
	o.OnMove(func(cs ChangeSet) error {
		for _, c := range cs {
			told = append(told, Change{Tree: c.Tree, Op: c.Op})
		}
		return nil
	})
	const made = benchTree + 7
	must(t, o.CreateTree(made))
	for i := range 500 {
		must(t, o.Put(made, benchKey(nil, uint64(i)), make([]byte, 300), 1))
	}
	must(t, o.moveAhead())
	onItsWay := o.Root()
	must(t, o.settle())
	o.Rollback(onItsWay)
	must(t, o.DropTree(made))
	w := o.WalkMemory()
	rest := w.Next(nil, 10)
	must(t, w.Err())
	if len(told) == 0 || told[0].Op != OpCreateTree {
		t.Fatal("the making was not told")
	}
	if len(rest) != 1 || rest[0].Op != OpDropTree || rest[0].Tree != made {
		t.Errorf("what is left to be told: %v, not the drop", rest)
	}
}
