package storage

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"herd/storage/btree"
)

// item is a change on its way through Apply, with the batch it came from.
type item struct {
	Change
	batch int32
}

// class orders the operations of one tree: create, rows, drop.
func class(op Op) int {
	switch op {
	case OpCreateTree:
		return 0
	case OpDropTree:
		return 2
	}
	return 1
}

// applier is the scratch space of one Apply at a time.
type applier struct {
	ed      btree.Editor
	items   []item
	changes []Change
	owners  []int32
	drops   []*tree
}

// gather merges the batches into ap.changes, sorted by tree; of several changes to one key the last batch's counts.
// ap.owners says which batch each came from.
func (ap *applier) gather(batches []ChangeSet) {
	clear(ap.changes)
	ap.changes, ap.owners = ap.changes[:0], ap.owners[:0]
	if len(batches) == 1 {
		ap.changes = append(ap.changes, batches[0]...)
		return
	}
	ap.items = ap.items[:0]
	for b, cs := range batches {
		for i := range cs {
			ap.items = append(ap.items, item{cs[i], int32(b)})
		}
	}
	slices.SortStableFunc(ap.items, func(a, b item) int {
		if a.Tree != b.Tree {
			if a.Tree < b.Tree {
				return -1
			}
			return 1
		}
		if x, y := class(a.Op), class(b.Op); x != y {
			return x - y
		}
		return bytes.Compare(a.Key, b.Key)
	})
	for i := range ap.items {
		it := &ap.items[i]
		if n := len(ap.changes); n > 0 && class(it.Op) == 1 {
			if p := &ap.changes[n-1]; p.Tree == it.Tree && class(p.Op) == 1 && bytes.Equal(p.Key, it.Key) {
				*p, ap.owners[n-1] = it.Change, it.batch
				continue
			}
		}
		ap.changes = append(ap.changes, it.Change)
		ap.owners = append(ap.owners, it.batch)
	}
	clear(ap.items)
}

func (ap *applier) owner(i int) int {
	if len(ap.owners) == 0 {
		return 0
	}
	return int(ap.owners[i])
}

// run applies ap.changes to rt and reports whether a system tree was touched.
func (ap *applier) run(rt *roots) (catalog bool, err error) {
	cs := ap.changes
	for i := 0; i < len(cs); {
		t := cs[i].Tree
		catalog = catalog || t < SystemTrees
		switch cs[i].Op {
		case OpCreateTree:
			if t == 0 || rt.get(t) != nil {
				return false, fmt.Errorf("create tree %d: exists or has no number", t)
			}
			rt.set(ap.ed.Ver, t, &tree{id: t})
			i++
			continue
		case OpDropTree:
			tr := rt.get(t)
			if tr == nil {
				return false, fmt.Errorf("drop: %w", noTree(t))
			}
			dropped := *tr
			ap.drops = append(ap.drops, &dropped)
			rt.set(ap.ed.Ver, t, nil)
			i++
			continue
		}
		j := i + 1
		for j < len(cs) && cs[j].Tree == t && class(cs[j].Op) == 1 {
			j++
		}
		if err := ap.rows(rt, t, i, j); err != nil {
			return false, err
		}
		i = j
	}
	return catalog, nil
}

// rows applies ap.changes[i:j], all of tree t.
func (ap *applier) rows(rt *roots, t TreeID, i, j int) error {
	tr := rt.get(t)
	if tr == nil {
		return fmt.Errorf("apply: %w", noTree(t))
	}
	for k := i; k < j; k++ {
		c := &ap.changes[k]
		if len(c.Key) > MaxKey || len(c.Val) > MaxValue {
			return fmt.Errorf("apply to tree %d: key of %d and value of %d bytes: %w", t, len(c.Key), len(c.Val), ErrTooLong)
		}
		if k > i && bytes.Compare(ap.changes[k-1].Key, c.Key) >= 0 {
			return fmt.Errorf("apply to tree %d: keys do not ascend", t)
		}
	}
	root, err := ap.ed.Apply(t, tr.root, ap.changes[i:j:j])
	if err != nil {
		if errors.Is(err, btree.ErrAbsent) {
			return &AbsentError{Batch: ap.owner(i + ap.ed.AbsentAt), Tree: t}
		}
		return fmt.Errorf("apply to tree %d: %w", t, err)
	}
	if root != tr.root {
		rt.replace(ap.ed.Ver, t, root)
	}
	return nil
}

// Apply returns the snapshot that follows s: batches are applied in order, seq is the number of the last. It is pure
// with respect to s and reads nothing from disk: an *AbsentError names the batch to send back to Touch; then s is still
// the newest. Calls on one Store must not overlap (the engine's commit mutex). Keys and values are copied.
func (st *Store) Apply(s *Snapshot, seq Seq, batches ...ChangeSet) (*Snapshot, error) {
	ap := &st.applier
	ap.gather(batches)
	ap.begin(st, st.ver.Add(1), nil)
	next := &Snapshot{st: st, seq: seq, catalog: s.catalog, ver: ap.ed.Ver, roots: s.roots}
	catalog, err := ap.run(&next.roots)
	if err != nil {
		ap.ed.Discard()
		ap.forget()
		if absent := (*AbsentError)(nil); errors.As(err, &absent) {
			absent.All = s.absent(batches, absent.Batch)
		}
		return nil, err
	}
	if catalog {
		next.catalog = seq
	}
	st.install(next.ver, ap.ed.Created, ap.ed.Retired, ap.drops)
	ap.forget()
	return next, nil
}

// absent returns the batches that need a block which is not in memory, met among them. Found one by one, a group of
// commits would be applied as often as it misses blocks.
func (s *Snapshot) absent(batches []ChangeSet, met int) (all []int) {
	for i, cs := range batches {
		if i == met || !s.present(cs) {
			all = append(all, i)
		}
	}
	return all
}

// present reports whether the blocks on the ways that cs needs are in memory.
func (s *Snapshot) present(cs ChangeSet) bool {
	for i := range cs {
		if class(cs[i].Op) != 1 {
			continue
		}
		if tr := s.roots.get(cs[i].Tree); tr != nil && !btree.Present(tr.root.H, cs[i].Key) {
			return false
		}
	}
	return true
}

// begin prepares the applier for version ver.
func (ap *applier) begin(st *Store, ver uint64, ld btree.Loader) {
	ap.ed.Page, ap.ed.Loader = st.page, ld
	created, retired := ap.ed.Created[:0], ap.ed.Retired[:0]
	ap.ed.Reset(ver)
	ap.ed.Created, ap.ed.Retired = created, retired
	ap.drops = ap.drops[:0]
}

// forget drops what the scratch space points to.
func (ap *applier) forget() {
	clear(ap.ed.Created)
	clear(ap.ed.Retired)
	clear(ap.drops)
	clear(ap.changes)
}

// ApplySorted applies one large set, at most one change per key, with several goroutines, one tree each. It loads what
// it needs. Recovery and the first load of a replica use it, under the same rule as Apply.
func (st *Store) ApplySorted(s *Snapshot, seq Seq, cs ChangeSet, workers int) (*Snapshot, error) {
	ver := st.ver.Add(1)
	next := &Snapshot{st: st, seq: seq, catalog: s.catalog, ver: ver, roots: s.roots}
	var runs []ChangeSet
	for i := 0; i < len(cs); {
		j := i + 1
		for j < len(cs) && cs[j].Tree == cs[i].Tree {
			j++
		}
		runs = append(runs, cs[i:j])
		i = j
	}
	type result struct {
		rt  roots
		ap  applier
		cat bool
		err error
	}
	results := make([]result, len(runs))
	var wg sync.WaitGroup
	var at atomic.Int64
	for range min(max(workers, 1), max(len(runs), 1)) {
		wg.Go(func() {
			for {
				i := int(at.Add(1)) - 1
				if i >= len(runs) {
					return
				}
				r := &results[i]
				t := runs[i][0].Tree
				if tr := s.roots.get(t); tr != nil {
					r.rt.set(ver, t, &tree{t, tr.root})
				}
				r.ap.begin(st, ver, st)
				r.ap.changes = runs[i] // nobody else's: there is no forget
				r.cat, r.err = r.ap.run(&r.rt)
			}
		})
	}
	wg.Wait()
	var created, retired []*btree.Handle
	var drops []*tree
	for i := range results {
		r := &results[i]
		if r.err != nil {
			return nil, r.err
		}
		if r.cat {
			next.catalog = seq
		}
		t := runs[i][0].Tree
		if tr := r.rt.get(t); tr != nil || s.roots.get(t) != nil {
			if tr != nil {
				tr = &tree{t, tr.root}
			}
			next.roots.set(ver, t, tr)
		}
		created, retired = append(created, r.ap.ed.Created...), append(retired, r.ap.ed.Retired...)
		drops = append(drops, r.ap.drops...)
	}
	st.install(ver, created, retired, drops)
	return next, nil
}
