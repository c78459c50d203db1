package storage

import (
	"maps"
	"math/rand"
	"testing"
	"time"

	"herd/internal/mem"
	"herd/internal/vfs"
)

// update puts one row and returns the new snapshot, pinned by slot.
func update(t *testing.T, st *Store, s *Snapshot, slot *ReaderSlot, row uint64, val []byte) *Snapshot {
	t.Helper()
	next, err := st.Apply(s, s.Seq()+1, ChangeSet{{Tree: benchTree, Op: OpPut, Key: benchKey(nil, row), Val: val}})
	must(t, err)
	if !slot.Pin(next) {
		t.Fatal("the newest snapshot cannot be pinned")
	}
	return next
}

// TestReleaseInSteps ends a long reader: no commit may have to take away all that the reader kept, and in the end all is gone.
func TestReleaseInSteps(t *testing.T) {
	st, s, slot := loaded(t, 20000, 1000, false)
	defer st.Close()
	reader := st.NewSlot()
	reader.Pin(s)
	val := make([]byte, 1000)
	for i := range uint64(6000) {
		s = update(t, st, s, slot, i*7919%20000, val)
	}
	kept := st.retired.q.len()
	if kept < 2000 {
		t.Fatalf("only %d replaced blocks are kept", kept)
	}
	reader.Close()
	for i := range uint64(5) {
		before := st.retired.q.base
		s = update(t, st, s, slot, i, val)
		if n := st.retired.q.base - before; n > releaseShare+100 {
			t.Fatalf("a commit released %d blocks", n)
		}
	}
	if !st.releaseSome(100) {
		t.Error("a step of 100 says that nothing is left")
	}
	st.release()
	if n := st.retired.q.len(); n != 0 || st.retired.bytes != 0 {
		t.Errorf("%d blocks and %d bytes are left", n, st.retired.bytes)
	}
}

// TestDropInSteps drops a large tree: its blocks go in steps as well.
func TestDropInSteps(t *testing.T) {
	st, s, slot := loaded(t, 20000, 100, false)
	defer st.Close()
	before := st.Stats().Blocks
	s, err := st.Apply(s, s.Seq()+1, ChangeSet{{Tree: benchTree, Op: OpDropTree}})
	must(t, err)
	slot.Pin(s)
	if n := st.Stats().Blocks; n < before {
		t.Fatalf("the commit took %d blocks away", before-n)
	}
	st.expandDrops(noVersion)
	for step := 0; ; step++ {
		n := st.Stats().Blocks
		more := st.releaseSome(50)
		if gone := n - st.Stats().Blocks; gone > 50 {
			t.Fatalf("step %d took %d blocks away", step, gone)
		}
		if !more {
			break
		}
	}
	if n := st.Stats().Blocks; n > before/100 {
		t.Errorf("%d of %d blocks are left", n, before)
	}
}

// TestCountedBytes compares the dead bytes that are counted step by step with a count of all, beside forks that are
// abandoned, dropped trees and pins that come and go.
func TestCountedBytes(t *testing.T) {
	for seed := range int64(4) {
		f := newFixture(t, seed, 512)
		var pins []*ReaderSlot
		for round := range 120 {
			switch f.r.Intn(6) {
			case 0:
				slot := f.st.NewSlot()
				slot.Pin(f.tip)
				pins = append(pins, slot)
			case 1:
				if len(pins) > 0 {
					pins[0].Close()
					pins = pins[1:]
				}
			case 2:
				f.checkpoint()
			case 3:
				must(t, f.st.Maintain())
			case 4:
				f.st.releaseSome(1 + f.r.Intn(40))
			}
			f.apply(f.changes(f.model, 30))
			for f.st.countSome(f.st.manifestVer.Load(), 1+f.r.Intn(20)) {
				f.st.releaseSome(f.r.Intn(20))
			}
			f.compareCounted(round)
		}
		for _, slot := range pins {
			slot.Close()
		}
		f.st.release()
		f.compareCounted(-1)
		f.checkpoint()
		f.reopen()
	}
}

func (f *fixture) compareCounted(round int) {
	f.t.Helper()
	r, want, got := &f.st.retired, map[uint32]int64{}, map[uint32]int64{}
	for i := range r.countedTo - r.q.base {
		if ref := r.q.get(r.q.base + i).Ref(); ref.Addr != 0 && !ref.Addr.Scratch() {
			want[ref.Addr.Segment()] += int64(ref.Size)
		}
	}
	for _, g := range r.groups {
		for _, h := range g.handles[:g.counted] {
			if ref := h.Ref(); ref.Addr != 0 && !ref.Addr.Scratch() {
				want[ref.Addr.Segment()] += int64(ref.Size)
			}
		}
	}
	for seg, n := range r.counted {
		if n != 0 {
			got[seg] = n
		}
	}
	if !maps.Equal(got, want) {
		f.t.Fatalf("round %d: counted %v, all together %v", round, got, want)
	}
	if n := r.retiredBy(f.st.manifestVer.Load()); r.countedTo < n {
		f.t.Fatalf("round %d: %d of %d are counted", round, r.countedTo, n)
	}
}

// slowWrites holds writes of one label back until they are let go.
type slowWrites struct {
	vfs.FS
	label   vfs.Label
	waiting chan struct{} // told about each write that waits
	let     chan struct{}
}

func (s *slowWrites) Create(l vfs.Label, name string) (vfs.File, error) {
	f, err := s.FS.Create(l, name)
	return slowFile{f, s}, err
}

type slowFile struct {
	vfs.File
	s *slowWrites
}

func (f slowFile) WriteAt(l vfs.Label, p []byte, off int64) (int, error) {
	if l == f.s.label {
		f.s.waiting <- struct{}{}
		<-f.s.let
	}
	return f.File.WriteAt(l, p, off)
}

// TestCommitBesideSlowDisk has the disk hang in a write of a spill, and of a checkpoint: commits go on.
func TestCommitBesideSlowDisk(t *testing.T) {
	for _, label := range []vfs.Label{labelSpill, labelWrite} {
		t.Run(string(label), func(t *testing.T) {
			fsys := &slowWrites{FS: vfs.NewMem(), waiting: make(chan struct{}), let: make(chan struct{})}
			st, _, err := openStore(fsys, 0, 0, mem.NewRoot(0))
			must(t, err)
			slot, reader := st.NewSlot(), st.NewSlot()
			s, err := st.Apply(st.Base(), 1, ChangeSet{{Tree: benchTree, Op: OpCreateTree}})
			must(t, err)
			val := make([]byte, 1000)
			r := rand.New(rand.NewSource(1))
			for i := range uint64(300) {
				s = update(t, st, s, slot, i, val)
			}
			reader.Pin(s)
			for range 300 {
				s = update(t, st, s, slot, uint64(r.Intn(300)), val)
			}
			fsys.label = label
			at, done := s, make(chan error, 1)
			go func() {
				var err error
				if label == labelSpill {
					_, err = st.Spill(at, 1<<20)
				} else {
					pin := st.NewSlot()
					pin.Pin(at)
					err = st.Checkpoint(at, Meta{}, CheckpointOptions{})
					pin.Close()
				}
				done <- err
			}()
			<-fsys.waiting
			committed := make(chan struct{})
			go func() {
				defer close(committed)
				for range 1000 {
					s = update(t, st, s, slot, uint64(r.Intn(300)), val)
				}
			}()
			select {
			case <-committed:
			case <-time.After(10 * time.Second):
				t.Error("commits wait for a write of the disk")
			}
			go func() {
				for range fsys.waiting {
				}
			}()
			close(fsys.let)
			must(t, <-done)
			<-committed
			close(fsys.waiting)
			reader.Close()
			must(t, st.Close())
		})
	}
}
