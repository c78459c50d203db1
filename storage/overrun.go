package storage

import (
	"bytes"
	"fmt"
	"slices"

	"herd/storage/block"
	"herd/storage/btree"
)

// A run is a stretch of moved puts that need no private form: rows of one tree, made by one command, in ascending order,
// behind all that moved of that tree before. Its leaves are what the tree itself would have, in segment files from the
// start, so that a commit can hang them into the tree as they are (Fork.Graft) and no row is copied or written twice. That
// is what COPY, INSERT ... SELECT and CREATE INDEX of sorted input make.
type ownRun struct {
	tree   TreeID
	cmd    uint32
	root   btree.Root
	lo, hi []byte // first and last key
}

const (
	// runMin is the number of rows from which a stretch is worth a run.
	runMin = 256
	// runsMax bounds the runs of an overlay: a look-up searches them, and each move copies the list.
	runsMax = 1024
)

// runAt returns the run of tree t that may hold key, or nil.
func (b *ownBase) runAt(t TreeID, key []byte) *ownRun {
	i, _ := slices.BinarySearchFunc(b.runs, key, func(r *ownRun, key []byte) int {
		if r.tree != t {
			if r.tree < t {
				return -1
			}
			return 1
		}
		return bytes.Compare(r.hi, key) // the first run that ends at or behind key
	})
	if i == len(b.runs) || b.runs[i].tree != t || bytes.Compare(key, b.runs[i].lo) < 0 {
		return nil
	}
	return b.runs[i]
}

// lastRun returns the index behind the last run of tree t, and that run if there is one.
func (b *ownBase) lastRun(t TreeID) (int, *ownRun) {
	i, _ := slices.BinarySearchFunc(b.runs, t, func(r *ownRun, t TreeID) int {
		if r.tree <= t {
			return -1
		}
		return 1
	})
	if i > 0 && b.runs[i-1].tree == t {
		return i, b.runs[i-1]
	}
	return i, nil
}

// fitsRun reports whether rows of tree t that begin at key may become a run: nothing at or behind key has moved before.
// Entries that move later into the range of a run are then always newer than the run's.
func (b *ownBase) fitsRun(t TreeID, key []byte) (bool, error) {
	if _, r := b.lastRun(t); r != nil && bytes.Compare(key, r.hi) <= 0 {
		return false, nil
	}
	var it btree.Iter
	it.Init(b.st, 0, b.root.H, appendOwnKey(nil, t, false, key), endOfTree(t), false)
	more := it.NextLeaf()
	return !more && it.Err == nil, it.Err
}

// endOfTree returns the private tree's key behind all of tree t.
func endOfTree(t TreeID) []byte { return append(appendOwnKey(nil, t, true, nil)[:4], 2) }

// extend makes ents, rows of one tree and command behind all others, part of a run. b is being made and not shared.
func (o *Overlay) extend(b *ownBase, ents []*own) error {
	t, cmd := ents[0].tree, ents[0].cmd
	at, last := b.lastRun(t)
	next := &ownRun{tree: t, cmd: cmd, lo: bytes.Clone(ents[0].key)}
	grow := last != nil && last.cmd == cmd
	if grow {
		next.root, next.lo = last.root, last.lo
	}
	next.hi = bytes.Clone(ents[len(ents)-1].key)
	ed := o.mover
	for cs := make([]Change, 0, min(len(ents), moveStep)); len(ents) > 0; cs = cs[:0] {
		n := min(len(ents), moveStep)
		for _, e := range ents[:n] {
			cs = append(cs, Change{Tree: t, Op: OpPut, Key: e.key, Val: e.val})
		}
		var err error
		if next.root, err = ed.Apply(t, next.root, cs); err != nil {
			return err
		}
		ents = ents[n:]
	}
	if grow {
		b.runs[at-1] = next
	} else {
		b.runs = slices.Insert(b.runs, at, next)
	}
	return nil
}

// writeRuns writes the leaves and long values of the runs' new blocks to segment files, as a big commit does with its own.
func (o *Overlay) writeRuns(b *ownBase) error {
	if err := o.st.writable(); err != nil {
		return err
	}
	if o.writer == nil {
		o.writer = &segmentWriter{st: o.st, fork: true}
	}
	c := &checkpoint{st: o.st, w: o.writer}
	var err error
	for _, r := range b.runs {
		if r.root.H.Born == o.mover.Ver {
			if err = writeRun(c, r.tree, r.root.H, o.mover.Ver); err != nil {
				break
			}
		}
	}
	if err == nil {
		err = o.writer.flush()
	}
	if err != nil {
		o.writer.abandon()
	}
	return err
}

// writeRun writes the leaves below h that version ver made. Inner nodes stay in memory: Graft makes others.
func writeRun(c *checkpoint, t TreeID, h *btree.Handle, ver uint64) error {
	if h.Born != ver || h.Addr() != 0 {
		return nil
	}
	b := h.Block()
	if b.Kind != block.KindInner {
		return c.block(t, h, nil)
	}
	for _, k := range b.Children() {
		if err := writeRun(c, t, k, ver); err != nil {
			return err
		}
	}
	return nil
}

// rows returns the number of moved entries.
func (b *ownBase) rows() int {
	if b == nil {
		return 0
	}
	n := b.root.Stat.Rows
	for _, r := range b.runs {
		n += r.root.Stat.Rows
	}
	return int(n)
}

// runIter visits the rows of runs in order. Entries stay valid as those of privIter do.
type runIter struct {
	leafRows
	runs    []*ownRun // left to visit; the current one is runs[0], in reverse the last
	started bool
	lo, hi  []byte
}

// init makes the iterator ready for the rows lo <= key < hi of tree t, or for everything when t is 0.
func (r *runIter) init(base *ownBase, t TreeID, lo, hi []byte, reverse bool) {
	r.leafRows.reset(base.st, reverse)
	r.runs, r.started, r.lo, r.hi = base.runs, false, lo, hi
	if t != 0 {
		to, _ := base.lastRun(t)
		from := to
		for from > 0 && base.runs[from-1].tree == t {
			from--
		}
		r.runs = base.runs[from:to]
	}
}

func (r *runIter) current() *ownRun {
	if r.rev {
		return r.runs[len(r.runs)-1]
	}
	return r.runs[0]
}

// next returns the next entry, or nil at the end or on an error.
func (r *runIter) next() *own {
	for len(r.runs) > 0 && r.err == nil {
		c := r.current()
		if !r.started {
			r.it.Init(r.st, c.tree, c.root.H, r.lo, r.hi, r.rev)
			r.started = true
		}
		if r.row(c.tree) {
			r.turn = (r.turn + 1) % len(r.ents)
			r.keys[r.turn] = r.leaf.AppendKey(r.keys[r.turn][:0], r.at)
			r.ents[r.turn] = own{tree: c.tree, op: OpPut, cmd: c.cmd, key: r.keys[r.turn], val: r.val}
			return &r.ents[r.turn]
		}
		if r.rev {
			r.runs = r.runs[:len(r.runs)-1]
		} else {
			r.runs = r.runs[1:]
		}
		r.started = false
	}
	return nil
}

func (r *runIter) close() {
	r.leafRows.close()
	r.runs, r.lo, r.hi = nil, nil, nil
}

// Graft hangs the leaves of o's runs into the fork's trees where that is possible: a tree that has no key at or behind the
// run's first. What is grafted is not part of later walks over o; a tree that o made is made by Graft then. Call it once,
// before the first Merge: everything else in o is newer. On error the fork is to be abandoned.
func (f *Fork) Graft(o *Overlay) error {
	if err := o.settle(); err != nil {
		return err
	}
	b := o.root.base
	if b == nil || len(b.runs) == 0 {
		return nil
	}
	rest := *b
	rest.runs = nil
	for _, r := range b.runs {
		meta, err := o.root.find(r.tree, true, nil)
		if err != nil {
			return err
		}
		if meta != nil && meta.op == OpDropTree {
			continue // its rows are nobody's; Reset drops the blocks
		}
		made := meta != nil && !o.grafted[r.tree]
		done, err := f.graft(r, made)
		if err != nil {
			return fmt.Errorf("take the rows of a transaction over: %w", err)
		}
		if !done {
			rest.runs = append(rest.runs, r)
			continue
		}
		if o.grafted == nil {
			o.grafted = map[TreeID]bool{}
		}
		o.grafted[r.tree] = true
	}
	if o.writer != nil && o.grafted != nil {
		f.took = append(f.took, o.writer)
		o.writer = nil
	}
	o.root.base = &rest
	return nil
}

// graft hangs one run in; false when the tree has keys where the run is.
func (f *Fork) graft(r *ownRun, make bool) (bool, error) {
	if make {
		if _, err := f.apply([]ChangeSet{{{Tree: r.tree, Op: OpCreateTree}}}); err != nil {
			return false, err
		}
	}
	tr := f.rt.get(r.tree)
	if tr == nil {
		return false, noTree(r.tree)
	}
	f.ap.begin(f.st, f.ver, f.st)
	root, leaves, ok, err := f.ap.ed.Graft(r.tree, tr.root, r.root, r.lo)
	if err != nil || !ok {
		f.ap.forget()
		return false, err
	}
	for _, h := range leaves {
		h.ClearFlag(btree.FlagPrivate)
		h.Born = f.ver
	}
	f.created = append(f.created, leaves...)
	f.limit = max(f.limit, 2*len(f.created)+4096)
	f.rt.set(f.ver, r.tree, &tree{r.tree, root})
	f.settle()
	return true, nil
}
