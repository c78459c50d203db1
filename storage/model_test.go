package storage

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"testing"

	"herd/internal/mem"
	"herd/internal/vfs"
	"herd/storage/block"
)

// seeds is how many runs of TestModel there are: `go test -run Model -seeds 200 ./storage` looks further.
var firstSeed = flag.Int64("first", 0, "first seed of the model test")
var seeds = flag.Int64("seeds", 3, "runs of the model test per page size")

// rows is a model of one tree; db of all trees.
type rowsModel map[string]string
type dbModel map[TreeID]rowsModel

func (d dbModel) clone() dbModel {
	c := dbModel{}
	for t, r := range d {
		c[t] = maps.Clone(r)
	}
	return c
}

func (r rowsModel) sorted() []string { return slices.Sorted(maps.Keys(r)) }

// fixture is a store beside its model.
type fixture struct {
	t      *testing.T
	r      *rand.Rand
	fs     vfs.FS
	page   int
	limit  int64
	st     *Store
	tip    *Snapshot
	seq    Seq
	model  dbModel
	saved  dbModel // what the manifest has
	slot   *ReaderSlot
	acct   *mem.Account
	next   TreeID
	moves  int // overlays that moved to private blocks
	grafts int // of these, some whose leaves a fork took
}

func newFixture(t *testing.T, seed int64, page int) *fixture {
	f := &fixture{t: t, r: rand.New(rand.NewSource(seed)), fs: vfs.NewMem(), page: page, model: dbModel{}, saved: dbModel{}, next: 1024}
	f.open()
	return f
}

func openStore(fsys vfs.FS, page int, limit int64, acct *mem.Account) (*Store, Manifest, error) {
	ms, err := NewFileManifests(fsys, "/db")
	if err != nil {
		return nil, Manifest{}, err
	}
	return Open(Options{FS: fsys, Dir: "/db/blocks", Manifests: ms, PageSize: page, Segment: 64 << 10, MemLimit: limit, Mem: acct})
}

func (f *fixture) open() {
	f.t.Helper()
	var err error
	f.acct = mem.NewRoot(0)
	f.st, _, err = openStore(f.fs, f.page, f.limit, f.acct)
	if err != nil {
		f.t.Fatal(err)
	}
	f.tip, f.seq, f.model = f.st.Base(), f.st.Base().Seq(), f.saved.clone()
	f.slot = f.st.NewSlot()
	f.pin()
}

func (f *fixture) pin() {
	f.t.Helper()
	if !f.slot.Pin(f.tip) {
		f.t.Fatal("the newest snapshot cannot be pinned")
	}
}

// reopen closes the store and opens it again: what no checkpoint saved is lost.
func (f *fixture) reopen() {
	f.t.Helper()
	f.slot.Close()
	f.check()
	if err := f.st.Close(); err != nil {
		f.t.Fatal(err)
	}
	if n := f.acct.Used(); n != 0 {
		f.t.Fatalf("%d bytes are still booked after Close", n)
	}
	f.open()
	f.compare(View{Snap: f.tip}, f.model)
}

func (f *fixture) check() {
	f.t.Helper()
	f.st.CheckSnapshot(f.tip, func(p Problem) { f.t.Errorf("check: %s: %s", p.Where, p.What) })
	if err := f.st.Check(func(p Problem) { f.t.Errorf("check: %s: %s", p.Where, p.What) }); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) key() []byte {
	switch f.r.Intn(3) {
	case 0:
		return fmt.Appendf(nil, "%05d", f.r.Intn(3000))
	case 1:
		return fmt.Appendf(nil, "long/common/prefix/of/keys/%04d", f.r.Intn(1000))
	}
	return bytes.Repeat([]byte{byte('a' + f.r.Intn(4))}, f.r.Intn(20))
}

func (f *fixture) val() []byte {
	n := f.r.Intn(60)
	switch f.r.Intn(20) {
	case 0:
		n = f.r.Intn(5000)
	case 1:
		n = 0
	case 2, 3, 4, 5, 6, 7, 8, 9:
		n = 24 // an update then often keeps the length
	}
	p := make([]byte, n)
	f.r.Read(p)
	return p
}

// trees returns the model's trees in order.
func (f *fixture) trees() []TreeID { return slices.Sorted(maps.Keys(f.model)) }

// changes makes a random set of n changes and applies them to m.
func (f *fixture) changes(m dbModel, n int) ChangeSet {
	o := NewOverlay(mem.NewRoot(0))
	ids := f.trees()
	if len(ids) < 3 || f.r.Intn(40) == 0 {
		f.next += TreeID(1 + f.r.Intn(50)*f.r.Intn(50))
		must(f.t, o.CreateTree(f.next))
		m[f.next] = rowsModel{}
		ids = append(ids, f.next)
	} else if len(ids) > 5 && f.r.Intn(20) == 0 {
		t := ids[f.r.Intn(len(ids))]
		must(f.t, o.DropTree(t))
		delete(m, t)
		ids = f.trees()
	}
	t := ids[f.r.Intn(len(ids))]
	if m[t] == nil {
		m[t] = rowsModel{}
	}
	del := f.r.Intn(3) == 0 // a deleting set, so that trees shrink too
	for range n {
		if f.r.Intn(10) == 0 {
			t = ids[f.r.Intn(len(ids))]
		}
		k := f.key()
		if del && f.r.Intn(4) != 0 {
			must(f.t, o.Delete(t, k, 1))
			delete(m[t], string(k))
			continue
		}
		v := f.val()
		must(f.t, o.Put(t, k, v, 1))
		m[t][string(k)] = string(v)
	}
	return slices.Clone(o.Changes())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// apply touches and applies until nothing is absent.
func (f *fixture) apply(batches ...ChangeSet) {
	f.t.Helper()
	var pins []Pin
	for _, b := range batches {
		p, err := f.st.Touch(f.tip, b)
		must(f.t, err)
		pins = append(pins, p)
	}
	for tries := 0; ; tries++ {
		s, err := f.st.Apply(f.tip, f.seq+Seq(len(batches)), batches...)
		var absent *AbsentError
		if errors.As(err, &absent) && tries < 100 {
			p, err := f.st.Touch(f.tip, batches[absent.Batch])
			must(f.t, err)
			pins = append(pins, p)
			continue
		}
		must(f.t, err)
		f.tip, f.seq = s, s.Seq()
		break
	}
	for _, p := range pins {
		p.Release()
	}
	f.pin()
}

// compare reads everything through the view in several ways.
func (f *fixture) compare(v View, m dbModel) {
	f.t.Helper()
	var c Cursor
	if v.Own.Empty() {
		n := 0
		v.Snap.Trees(func(t TreeID, rows int64) bool {
			n++
			if int(rows) != len(m[t]) || m[t] == nil {
				f.t.Fatalf("tree %d has %d rows, want %d", t, rows, len(m[t]))
			}
			return true
		})
		if n != len(m) {
			f.t.Fatalf("%d trees, want %d", n, len(m))
		}
	}
	for _, t := range slices.Sorted(maps.Keys(m)) { // in order, so that a seed always gives the same run
		rows := m[t]
		keys := rows.sorted()
		f.scan(&c, v, t, nil, nil, keys, rows)
		if len(keys) > 0 {
			for range 4 {
				lo, hi := f.key(), f.key()
				a, _ := slices.BinarySearch(keys, string(lo))
				b, _ := slices.BinarySearch(keys, string(hi))
				want := []string{}
				if a < b {
					want = keys[a:b]
				}
				f.scan(&c, v, t, lo, hi, want, rows)
				if v.Own.Empty() {
					n, err := v.Snap.RangeCount(t, lo, hi)
					must(f.t, err)
					if int(n) != len(want) {
						f.t.Fatalf("RangeCount(%q, %q) = %d, want %d", lo, hi, n, len(want))
					}
				}
			}
		}
		for range 20 {
			k := f.key()
			got, ok, err := v.Get(t, k)
			must(f.t, err)
			want, there := rows[string(k)]
			if ok != there || string(got) != want {
				f.t.Fatalf("Get(%d, %q) = %q %v, want %q %v", t, k, got, ok, want, there)
			}
		}
		if v.Own.Empty() {
			var sum uint64
			for k, v := range rows {
				sum += block.RowHash([]byte(k), []byte(v))
			}
			if got := v.Snap.Checksum(t); got != sum {
				f.t.Fatalf("tree %d: checksum %x, want %x", t, got, sum)
			}
		}
	}
	if _, _, err := v.Get(999, []byte("x")); !errors.Is(err, ErrNoTree) {
		f.t.Fatalf("Get of an unknown tree: %v", err)
	}
}

// scan runs the cursor both ways, row by row and in batches.
func (f *fixture) scan(c *Cursor, v View, t TreeID, lo, hi []byte, want []string, rows rowsModel) {
	f.t.Helper()
	for _, reverse := range []bool{false, true} {
		w := want
		if reverse {
			w = slices.Clone(want)
			slices.Reverse(w)
		}
		c.Init(v, t, lo, hi, reverse)
		i := 0
		for c.Next() {
			if i >= len(w) || string(c.Key()) != w[i] || string(c.Value()) != rows[w[i]] {
				f.t.Fatalf("tree %d [%q, %q) reverse %v: row %d is %q, want %q of %d", t, lo, hi, reverse, i, c.Key(), w[min(i, len(w)-1):min(i+1, len(w))], len(w))
			}
			i++
		}
		must(f.t, c.Err())
		if i != len(w) {
			f.t.Fatalf("tree %d [%q, %q) reverse %v: %d rows, want %d", t, lo, hi, reverse, i, len(w))
		}
		c.Init(v, t, lo, hi, reverse)
		vals := make([][]byte, 1+f.r.Intn(40))
		var keys KeyBuf
		i = 0
		for {
			keys.Reset()
			n := c.NextRows(vals, &keys)
			if n == 0 {
				break
			}
			for j := range n {
				if i >= len(w) || string(keys.Key(j)) != w[i] || string(vals[j]) != rows[w[i]] {
					f.t.Fatalf("tree %d batch reverse %v: row %d is %q", t, reverse, i, keys.Key(j))
				}
				i++
			}
		}
		must(f.t, c.Err())
		if i != len(w) {
			f.t.Fatalf("tree %d batch reverse %v: %d rows, want %d", t, reverse, i, len(w))
		}
	}
	c.Close()
}

func (f *fixture) checkpoint() {
	f.t.Helper()
	must(f.t, f.st.Checkpoint(f.tip, Meta{LogPosition: uint64(f.seq), Opaque: []byte("meta")}, CheckpointOptions{}))
	f.saved = f.model.clone()
}

// TestModel runs random operations beside a plain map.
func TestModel(t *testing.T) {
	rounds := 150
	if testing.Short() {
		rounds = 60
	}
	moves, grafts := 0, 0
	defer func() {
		if moves == 0 || grafts == 0 && !testing.Short() {
			t.Errorf("%d overlays moved to private blocks, %d were grafted", moves, grafts)
		}
	}()
	for _, page := range []int{256, 1024, 8192} {
		for seed := *firstSeed; seed < *firstSeed+*seeds; seed++ {
			t.Run(fmt.Sprintf("page%d/%d", page, seed), func(t *testing.T) {
				f := newFixture(t, seed, page)
				for i := range rounds {
					f.step(i)
				}
				f.checkpoint()
				f.compare(View{Snap: f.tip}, f.model)
				f.reopen()
				moves, grafts = moves+f.moves, grafts+f.grafts
			})
		}
	}
}

func (f *fixture) step(i int) {
	f.t.Helper()
	switch f.r.Intn(20) {
	case 0:
		f.checkpoint()
	case 1:
		f.st.Evict(int64(f.r.Intn(1 << 20)))
	case 2:
		f.compare(View{Snap: f.tip}, f.model)
		f.check()
	case 3:
		if f.r.Intn(8) == 0 {
			f.reopen()
		}
	case 4:
		must(f.t, f.st.Maintain())
	case 5:
		old, m := f.tip, f.model.clone()
		slot := f.st.NewSlot()
		if !slot.Pin(old) {
			f.t.Fatal("pin")
		}
		f.apply(f.changes(f.model, 50))
		if f.r.Intn(2) == 0 {
			f.checkpoint()
			f.st.Evict(1 << 30)
			must(f.t, f.st.Maintain())
		}
		f.compare(View{Snap: old}, m)
		slot.Close()
	case 6:
		a := f.changes(f.model, 1+f.r.Intn(10))
		b := f.changes(f.model, 1+f.r.Intn(10))
		f.apply(a, b)
	case 7:
		if len(f.model) > 0 {
			f.own()
		}
	default:
		f.apply(f.changes(f.model, 1+f.r.Intn(120)*f.r.Intn(2)))
	}
}

// own compares views with own changes, captured roots and rollback.
func (f *fixture) own() {
	f.t.Helper()
	o := NewOverlay(mem.NewRoot(0))
	if f.r.Intn(2) == 0 { // moves to private blocks now and then
		o.SpillTo(f.st)
		o.moveAt = int64(2000 + f.r.Intn(20000))
		o.runMin = 2 + f.r.Intn(20)
	}
	type saved struct {
		root Root
		m    dbModel
	}
	m := f.model.clone()
	var roots []saved
	for i := range 1 + f.r.Intn(8) {
		roots = append(roots, saved{o.Root(), m.clone()})
		for range f.r.Intn(12) * (1 + f.r.Intn(2)*10) {
			ids := slices.Sorted(maps.Keys(m))
			t := ids[f.r.Intn(len(ids))]
			k := f.key()
			switch f.r.Intn(13) {
			case 12: // a stretch of new rows in order, as COPY makes them
				for n := range f.r.Intn(60) {
					k := fmt.Appendf(nil, "run/%08d/%d", f.seq+Seq(i), n+1000)
					v := f.val()
					must(f.t, o.Put(t, k, v, uint32(4+i)))
					m[t][string(k)] = string(v)
				}
			case 0:
				if len(ids) > 2 && f.r.Intn(5) == 0 {
					must(f.t, o.DropTree(t))
					delete(m, t)
				}
			case 1:
				f.next++
				must(f.t, o.CreateTree(f.next))
				m[f.next] = rowsModel{}
			case 2, 3, 4:
				must(f.t, o.Delete(t, k, 2))
				delete(m[t], string(k))
			default:
				v := f.val()
				must(f.t, o.Put(t, k, v, 3))
				m[t][string(k)] = string(v)
			}
		}
		if f.r.Intn(4) == 0 {
			back := roots[f.r.Intn(len(roots))]
			o.Rollback(back.root)
			m = back.m.clone()
		}
	}
	roots = append(roots, saved{o.Root(), m})
	for i, s := range roots {
		if i < len(roots)-2 && f.r.Intn(3) != 0 {
			continue
		}
		if f.r.Intn(2) == 0 {
			f.st.Evict(1 << 30)
		}
		f.compare(View{Snap: f.tip, Own: s.root}, s.m)
	}
	if o.Moved() && f.r.Intn(4) == 0 { // a commit that fails
		fork, err := f.st.Fork(f.tip)
		must(f.t, err)
		must(f.t, fork.Graft(o))
		must(f.t, fork.Merge(o.Walk().Next(nil, f.r.Intn(50))))
		fork.Abandon()
		fork.Discard()
		o.Reset()
		f.compare(View{Snap: f.tip}, f.model)
		return
	}
	f.model = m.clone()
	var walked ChangeSet
	w := o.Walk()
	for n := 1; n > 0; {
		before := len(walked)
		walked = w.Next(walked, 7)
		n = len(walked) - before
	}
	must(f.t, w.Err())
	if len(walked) != len(o.Changes()) {
		f.t.Fatal("a walk and Changes differ")
	}
	if o.Moved() {
		f.moves++
	}
	if o.Moved() && f.r.Intn(2) == 0 {
		f.graft(o)
	} else {
		f.apply(walked)
	}
	f.compare(View{Snap: f.tip}, f.model)
	o.Reset()
	if n := f.st.Stats().Spilled; o.st != nil && n != 0 {
		f.t.Fatalf("%d bytes of scratch files are left after Reset", n)
	}
	f.compare(View{Snap: f.tip}, f.model)
	if o.Bytes() != 0 || o.Len() != 0 || len(o.Changes()) != 0 {
		f.t.Fatal("an overlay is not empty after Reset")
	}
}

// graft commits an overlay as a big one.
func (f *fixture) graft(o *Overlay) {
	f.t.Helper()
	fork, err := f.st.Fork(f.tip)
	must(f.t, err)
	must(f.t, fork.Graft(o))
	if len(o.grafted) > 0 {
		f.grafts++
	}
	w := o.Walk()
	for cs := w.Next(nil, 50); len(cs) > 0; cs = w.Next(nil, 50) {
		must(f.t, fork.Merge(cs))
	}
	must(f.t, w.Err())
	o.Reset()
	f.seq++
	f.tip, err = fork.Finish(f.seq, f.tip)
	must(f.t, err)
	f.pin()
	if f.r.Intn(3) == 0 {
		f.st.Evict(1 << 30)
	}
}
