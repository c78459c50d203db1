package btree

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"herd/storage/block"
)

// leavesOf returns a tree of n rows and the handles of its leaves.
func leavesOf(t *testing.T, ed *Editor, n int) (Root, []*Handle) {
	t.Helper()
	var cs []Change
	for i := range n {
		cs = append(cs, Change{Op: OpPut, Key: fmt.Appendf(nil, "%06d", i), Val: []byte("0123456789")})
	}
	ed.Reset(1)
	root, err := ed.Apply(1, Root{}, cs)
	if err != nil {
		t.Fatal(err)
	}
	b := root.H.Block()
	if b.Kind != block.KindInner || b.Level != 1 {
		t.Fatal("the tree has not two levels")
	}
	var hs []*Handle
	for _, h := range b.Children() {
		hs = append(hs, h)
	}
	return root, hs
}

// TestJoinBesideEviction empties a leaf while its neighbour, with which it is to be joined, is evicted and loaded.
func TestJoinBesideEviction(t *testing.T) {
	ed := &Editor{Page: 512}
	root, hs := leavesOf(t, ed, 60)
	neighbour := hs[1]
	var cs []Change
	l := hs[0].Block().Leaf()
	for i := range l.Len() - 1 {
		cs = append(cs, Change{Op: OpDelete, Key: l.AppendKey(nil, i)})
	}
	// The neighbour is small enough, too.
	l = neighbour.Block().Leaf()
	small := make([]Change, 0, l.Len())
	for i := range l.Len() - 10 {
		small = append(small, Change{Op: OpDelete, Key: l.AppendKey(nil, i)})
	}
	ed.Reset(2)
	root, err := ed.Apply(1, root, small)
	if err != nil {
		t.Fatal(err)
	}
	neighbour = root.H.Block().Inner().Kid(1)
	var stop atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for b := neighbour.Block(); !stop.Load(); {
			neighbour.DropBlock(b)
			neighbour.SetBlock(b)
		}
	})
	defer wg.Wait()
	defer stop.Store(true)
	joined := 0
	for end := time.Now().Add(time.Second); time.Now().Before(end); {
		ed.Reset(3)
		r, err := ed.Apply(1, root, cs)
		if err != nil {
			t.Fatal(err)
		}
		if r.H.Block().ChildCount() < root.H.Block().ChildCount() {
			joined++
		}
	}
	if joined == 0 {
		t.Error("nothing was joined")
	}
}

// TestDeadHandlesKeepNothing makes a tree in several passes, each of which replaces what the one before has made: handles
// are allocated together, so one that is dead must not have its block.
func TestDeadHandlesKeepNothing(t *testing.T) {
	ed := &Editor{Page: 2048}
	var cs []Change
	for i := range 5 * chunk {
		cs = append(cs, Change{Op: OpPut, Key: fmt.Appendf(nil, "%06d", i), Val: []byte("0123456789")})
	}
	ed.Reset(1)
	root, err := ed.Apply(1, Root{}, cs)
	if err != nil {
		t.Fatal(err)
	}
	verify(t, root)
	dead := 0
	for _, h := range ed.Created {
		if !h.Flag(FlagDead) {
			continue
		}
		if dead++; h.Block() != nil {
			t.Error("a dead handle has a block")
		}
	}
	if dead == 0 {
		t.Error("no handle died")
	}
}
