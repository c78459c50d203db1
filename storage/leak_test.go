package storage

import (
	"runtime"
	"testing"
)

// TestNoLeak updates the same rows between two checkpoints: what was replaced and is not pinned must be collectable,
// although the roots of the last checkpoint and of Base are kept.
func TestNoLeak(t *testing.T) {
	st, s, slot := loaded(t, 2000, 1000, false)
	defer st.Close()
	must(t, st.Checkpoint(s, Meta{}, CheckpointOptions{}))
	heap := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	val := make([]byte, 1000)
	for i := range uint64(20000) {
		var err error
		s, err = st.Apply(s, s.Seq()+1, ChangeSet{{Tree: benchTree, Op: OpPut, Key: benchKey(nil, i*7919%2000), Val: val}})
		must(t, err)
		slot.Pin(s)
	}
	st.release()
	if grown := heap() - before; grown > 1<<20 {
		t.Errorf("the heap grew by %d bytes over 20000 updates of 2000 rows", grown)
	}
	if r := st.Stats(); r.Retired != 0 || r.Resident > 6<<20 {
		t.Errorf("%+v", r)
	}
	runtime.KeepAlive(s)
}

// TestNoLeakOfRefused applies what meets an absent block, in between of what is applied: the blocks that were made before
// the error must be collectable, although their handles lie beside living ones.
func TestNoLeakOfRefused(t *testing.T) {
	const rows = 6000
	st, s, slot := loaded(t, rows, 1000, false)
	defer st.Close()
	must(t, st.Checkpoint(s, Meta{}, CheckpointOptions{}))
	last := Change{Tree: benchTree, Op: OpPut, Key: benchKey(nil, rows-1), Val: make([]byte, 900)}
	unbooked := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc) - st.Stats().Resident
	}
	for st.Evict(1<<30) > 0 {
	}
	before := unbooked()
	refused := 0
	for i := range uint64(rows/8 - 2) {
		c := Change{Tree: benchTree, Op: OpPut, Key: benchKey(nil, i*8), Val: make([]byte, 900)}
		pin, err := st.Touch(s, ChangeSet{c})
		must(t, err)
		if _, err = st.Apply(s, s.Seq()+1, ChangeSet{c, last}); err != nil {
			refused++
		}
		s, err = st.Apply(s, s.Seq()+1, ChangeSet{c})
		must(t, err)
		pin.Release()
		slot.Pin(s)
	}
	st.release()
	if refused < rows/10 {
		t.Fatalf("%d were refused", refused)
	}
	if grown := unbooked() - before; grown > 2<<20 {
		t.Errorf("%d bytes are in memory and not on the books after %d refusals", grown, refused)
	}
	runtime.KeepAlive(s)
}
