package storage

import (
	"encoding/binary"
	"errors"
	"math/rand"
	"os"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"herd/internal/mem"
	"herd/internal/vfs"
)

// TestLargerThanMemory loads more than the memory limit onto a real disk, in random order, with checkpoints, and reads it
// back. HERD_BIG_MB sets the megabytes of rows (default 24, a quarter of which fits into memory).
func TestLargerThanMemory(t *testing.T) {
	mb := 24
	if s := os.Getenv("HERD_BIG_MB"); s != "" {
		mb = 0
		for _, c := range s {
			mb = mb*10 + int(c-'0')
		}
	}
	defer debug.SetGCPercent(debug.SetGCPercent(25))
	limit := int64(mb) << 20 / 4
	dir := t.TempDir()
	ms, err := NewFileManifests(vfs.OS, dir)
	must(t, err)
	acct := mem.NewRoot(0)
	st, _, err := Open(Options{FS: vfs.OS, Dir: dir + "/blocks", Manifests: ms, MemLimit: limit, Mem: acct})
	must(t, err)
	slot := st.NewSlot()
	s, err := st.Apply(st.Base(), 1, ChangeSet{{Tree: benchTree, Op: OpCreateTree}})
	must(t, err)
	slot.Pin(s)
	n := mb << 10
	r := rand.New(rand.NewSource(4))
	val := make([]byte, 1000)
	put := func(k uint64) {
		binary.BigEndian.PutUint64(val, k)
		cs := ChangeSet{{Tree: benchTree, Op: OpPut, Key: benchKey(nil, k*0x9E3779B97F4A7C15), Val: val}}
		for {
			pin, err := st.Touch(s, cs)
			must(t, err)
			next, err := st.Apply(s, s.Seq()+1, cs)
			pin.Release()
			var absent *AbsentError
			if errors.As(err, &absent) {
				continue
			}
			must(t, err)
			s = next
			slot.Pin(s)
			return
		}
	}
	begin := time.Now()
	for i := range uint64(n) {
		put(i)
		if st.Stats().Dirty > limit/4 {
			must(t, st.Checkpoint(s, Meta{}, CheckpointOptions{}))
			st.Evict(st.Stats().Resident - limit*3/4)
		}
	}
	t.Logf("loaded %d rows in %v: %+v", n, time.Since(begin), st.Stats())
	begin = time.Now()
	for range n / 4 {
		k := uint64(r.Intn(n))
		v, ok, err := s.Get(benchTree, benchKey(nil, k*0x9E3779B97F4A7C15))
		if err != nil || !ok || binary.BigEndian.Uint64(v) != k {
			t.Fatal(k, ok, err)
		}
	}
	var ms1 runtime.MemStats
	runtime.ReadMemStats(&ms1)
	t.Logf("%d random reads in %v: heap %d MiB, limit %d MiB; %+v", n/4, time.Since(begin), ms1.HeapAlloc>>20, limit>>20, st.Stats())
	if got := st.Stats().Resident; got > limit*11/10 {
		t.Errorf("%d bytes resident, the limit is %d", got, limit)
	}
	begin = time.Now()
	var c Cursor
	vals := make([][]byte, 256)
	rows := 0
	c.Init(View{Snap: s}, benchTree, nil, nil, false)
	for m := c.NextRows(vals, nil); m > 0; m = c.NextRows(vals, nil) {
		rows += m
	}
	must(t, c.Err())
	if rows != n {
		t.Fatalf("%d rows, want %d", rows, n)
	}
	t.Logf("scan in %v", time.Since(begin))
	must(t, st.Checkpoint(s, Meta{}, CheckpointOptions{}))
	must(t, st.Check(func(p Problem) { t.Errorf("%s: %s", p.Where, p.What) }))
	must(t, st.Close())
}
