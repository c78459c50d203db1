package storage

import (
	"errors"
	"fmt"
	"math/rand"
	"strings"
	"syscall"
	"testing"
	"time"

	"herd/internal/mem"
	"herd/internal/vfs"
)

// loadAll reads every row of the snapshot into a model.
func loadAll(t *testing.T, s *Snapshot) dbModel {
	t.Helper()
	m := dbModel{}
	var c Cursor
	s.Trees(func(id TreeID, _ int64) bool {
		m[id] = rowsModel{}
		c.Init(View{Snap: s}, id, nil, nil, false)
		for c.Next() {
			m[id][string(c.Key())] = string(c.Value())
		}
		must(t, c.Err())
		return true
	})
	return m
}

func same(a, b dbModel) bool {
	if len(a) != len(b) {
		return false
	}
	for t, rows := range a {
		other, ok := b[t]
		if !ok || len(rows) != len(other) {
			return false
		}
		for k, v := range rows {
			if w, ok := other[k]; !ok || v != w {
				return false
			}
		}
	}
	return true
}

// TestCrashAtEverySync loses power at each sync of a run of checkpoints, keeping none, some or all of what was not
// synced: the store opens at the last or the running checkpoint, complete, and check finds nothing.
func TestCrashAtEverySync(t *testing.T) {
	for _, keep := range []int{0, 50, 100} {
		t.Run(fmt.Sprint(keep), func(t *testing.T) {
			f := newFixture(t, int64(keep), 512)
			fs := f.fs.(*vfs.Mem)
			states := map[Seq]dbModel{0: {}}
			fs.SetSyncHook(func(n int, l vfs.Label) {
				crashed := fs.CrashClone(vfs.CrashOptions{Rand: rand.New(rand.NewSource(int64(n))), KeepPercent: keep})
				st, m, err := openStore(crashed, 512, 0, nil)
				if err != nil {
					t.Errorf("sync %d (%s): %v", n, l, err)
					return
				}
				want, ok := states[m.Seq]
				if !ok || !same(loadAll(t, st.Base()), want) {
					t.Errorf("sync %d (%s): contents at %d are not those of the checkpoint", n, l, m.Seq)
				}
				if err := st.Check(func(p Problem) {
					if !p.Note {
						t.Errorf("sync %d: %s: %s", n, p.Where, p.What)
					}
				}); err != nil {
					t.Error(err)
				}
				st.Close()
			})
			f.st.forkFlush = 10 << 10
			for round := range 12 {
				for range 5 {
					f.apply(f.changes(f.model, 60))
				}
				if round%3 == 1 { // a big commit, during which a checkpoint runs
					fork, err := f.st.Fork(f.tip)
					must(t, err)
					big := f.bulk(800, "big/")
					must(t, fork.Merge(big[:len(big)/2]))
					states[f.seq] = f.model.clone()
					f.checkpoint()
					must(t, fork.Merge(big[len(big)/2:]))
					f.seq++
					f.tip, err = fork.Finish(f.seq, f.tip)
					must(t, err)
					f.pin()
					f.model.put(big)
				}
				states[f.seq] = f.model.clone()
				f.checkpoint()
				must(t, f.st.Maintain())
			}
			fs.SetSyncHook(nil)
			f.notes()
			if !same(loadAll(t, f.tip), f.model) {
				t.Error("the contents are not the model's")
			}
		})
	}
}

// TestFaults fails the n-th call of each label, for all n: the checkpoint reports it, the store goes on or says that it
// is broken, and a restart finds a whole checkpoint.
func TestFaults(t *testing.T) {
	boom := errors.New("boom")
	for _, l := range []vfs.Label{labelSegment, labelWrite, labelSync, labelManifest} {
		failed := 0
		for nth := 1; nth < 60; nth++ {
			fault := vfs.NewFault(vfs.NewMem())
			f := &fixture{t: t, r: rand.New(rand.NewSource(int64(nth))), fs: fault, page: 512, model: dbModel{}, saved: dbModel{}, next: 1024}
			f.open()
			for range 3 {
				f.apply(f.changes(f.model, 100))
			}
			f.checkpoint()
			fault.Add(vfs.Rule{Label: l, Nth: nth, Err: boom})
			before := f.saved
			for range 6 {
				f.apply(f.changes(f.model, 100))
				err := f.st.Checkpoint(f.tip, Meta{}, CheckpointOptions{})
				if err == nil {
					f.saved = f.model.clone()
					before = f.saved
					continue
				}
				if !errors.Is(err, boom) {
					t.Fatalf("%s %d: %v", l, nth, err)
				}
				failed++
				if errors.Is(err, ErrBroken) {
					if l != labelSync && (l != labelManifest || !vfs.SyncFailed(err)) {
						t.Fatalf("%s %d: broken by %v", l, nth, err)
					}
					if err := f.st.Checkpoint(f.tip, Meta{}, CheckpointOptions{}); !errors.Is(err, ErrBroken) {
						t.Fatalf("%s %d: a checkpoint after a failed sync: %v", l, nth, err)
					}
					break
				}
			}
			fault.Clear()
			f.slot.Close()
			f.st.Close()
			st, _, err := openStore(fault, 512, 0, nil)
			must(t, err)
			if got := loadAll(t, st.Base()); !same(got, before) && !same(got, f.model) {
				t.Fatalf("%s %d: after a restart the contents are no checkpoint's", l, nth)
			}
			must(t, st.Check(func(p Problem) {
				if !p.Note {
					t.Errorf("%s %d: %s: %s", l, nth, p.Where, p.What)
				}
			}))
			st.Close()
		}
		if failed == 0 {
			t.Errorf("label %s never failed", l)
		}
	}
}

// TestDropOfUnreadable drops a tree whose inner nodes lie in sectors that the disk does not give back: checkpoints go on.
func TestDropOfUnreadable(t *testing.T) {
	fault := vfs.NewFault(vfs.NewMem())
	f := &fixture{t: t, r: rand.New(rand.NewSource(1)), fs: fault, page: 512, model: dbModel{}, saved: dbModel{}, next: 1024}
	f.open()
	cs := ChangeSet{{Tree: 1024, Op: OpCreateTree}}
	for i := range 4000 {
		cs = append(cs, Change{Tree: 1024, Op: OpPut, Key: fmt.Appendf(nil, "%06d", i), Val: []byte("value")})
	}
	var err error
	f.tip, err = f.st.Apply(f.tip, 1, cs)
	must(t, err)
	f.pin()
	must(t, f.st.Checkpoint(f.tip, Meta{}, CheckpointOptions{}))
	for f.st.Evict(1<<30) > 0 {
	}
	f.tip, err = f.st.Apply(f.tip, 2, ChangeSet{{Tree: 1024, Op: OpDropTree}})
	must(t, err)
	f.pin()
	fault.Add(vfs.Rule{Label: labelRead, Op: vfs.OpRead, Nth: 1, Sticky: true, Err: syscall.EIO})
	must(t, f.st.Checkpoint(f.tip, Meta{}, CheckpointOptions{}))
	must(t, f.st.Maintain())
	if fault.Fired() == 0 {
		t.Fatal("nothing was read")
	}
	f.slot.Close()
	must(t, f.st.Close())
}

// TestManifestIsOneStep: between the look at what is dead and the look at the files nothing may be buried, or a file with
// live bytes might look dead.
func TestManifestIsOneStep(t *testing.T) {
	f := newFixture(t, 1, 512)
	f.apply(f.changes(f.model, 100))
	f.checkpoint()
	f.st.segments.mu.Lock() // the manifest's maker waits here
	done := make(chan Manifest)
	go func() { done <- f.st.manifestOf(f.tip, Meta{}) }()
	held := 0
	for end := time.Now().Add(10 * time.Second); held < 20 && time.Now().Before(end); time.Sleep(time.Millisecond) {
		if held++; f.st.retired.mu.TryLock() {
			f.st.retired.mu.Unlock()
			held = 0
		}
	}
	f.st.segments.mu.Unlock()
	<-done
	if held < 20 {
		t.Error("blocks can be buried while the manifest is made")
	}
}

// TestCorruption flips single bits in segment files: each flip in a live frame is found by check, and a read of the
// damaged block is an error and no wrong row.
func TestCorruption(t *testing.T) {
	f := newFixture(t, 5, 512)
	for range 8 {
		f.apply(f.changes(f.model, 200))
	}
	f.checkpoint()
	f.slot.Close()
	must(t, f.st.Close())
	names, err := f.fs.ReadDir("test", "/db/blocks")
	must(t, err)
	r := rand.New(rand.NewSource(9))
	found, tries := 0, 0
	for range 150 {
		name := "/db/blocks/" + names[r.Intn(len(names))]
		file, err := f.fs.Open("test", name)
		must(t, err)
		size, _ := file.Size()
		off := segmentHeader + r.Int63n(size-segmentHeader)
		b := make([]byte, 1)
		_, err = file.ReadAt("test", b, off)
		must(t, err)
		flip := byte(1) << r.Intn(8)
		b[0] ^= flip
		_, err = file.WriteAt("test", b, off)
		must(t, err)

		st, _, err := openStore(f.fs, 512, 0, mem.NewRoot(0))
		must(t, err)
		tries++
		problems := 0
		must(t, st.Check(func(p Problem) { problems++ }))
		if problems > 0 {
			found++
		}
		var c Cursor
		st.Base().Trees(func(id TreeID, _ int64) bool {
			c.Init(View{Snap: st.Base()}, id, nil, nil, false)
			for c.Next() {
				if want, ok := f.saved[id][string(c.Key())]; !ok || want != string(c.Value()) {
					t.Fatalf("a damaged block gave row %q", c.Key())
				}
			}
			if c.Err() != nil && !errors.Is(c.Err(), ErrCorrupt) {
				t.Fatal(c.Err())
			}
			return true
		})
		st.Close()
		b[0] ^= flip
		_, err = file.WriteAt("test", b, off)
		must(t, err)
		file.Close()
	}
	if found != tries {
		t.Fatalf("check found %d of %d flips", found, tries)
	}
	for _, n := range names {
		frames := 0
		must(t, DumpSegment(f.fs, "/db/blocks/"+n, func(FrameInfo) error { frames++; return nil }))
		if frames == 0 && strings.HasSuffix(n, segmentSuffix) {
			t.Fatal("DumpSegment found no frames")
		}
	}
}

func TestManifestCodec(t *testing.T) {
	m := Manifest{Seq: 7, CatalogVersion: 3, NextSegment: 9, Roots: []RootEntry{{1, 2, 3, 4, 5}, {6, 0, 0, 0, 0}},
		Segments: []SegmentEntry{{1, 100, 50}}, Meta: Meta{LogPosition: 77, Opaque: []byte("abc")}}
	p := EncodeManifest(m)
	got, err := DecodeManifest(p)
	if err != nil || fmt.Sprint(got) != fmt.Sprint(m) {
		t.Fatalf("%v %v", got, err)
	}
	for i := range p {
		d := append([]byte(nil), p...)
		d[i] ^= 4
		if _, err := DecodeManifest(d); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("flip at %d is not seen", i)
		}
		if _, err := DecodeManifest(p[:i]); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("cut at %d is not seen", i)
		}
	}
}
