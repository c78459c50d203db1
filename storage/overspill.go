package storage

import (
	"cmp"
	"encoding/binary"

	"herd/internal/invariant"
	"herd/storage/block"
	"herd/storage/btree"
)

// A long overlay moves to private blocks: a tree of its own with the nodes of package btree, keyed by tree number, kind
// and key. Its blocks are in the store's ring and books and are written to the scratch segment at once, so that they can
// be evicted like any others: a transaction may change more than fits into memory. They belong to the overlay until
// Reset, also those that a later move replaced, since captured roots may need them.
const (
	ownBaseKey   = 5        // bytes before the key: tree number (big-endian), 0 for the tree's own entry or 1
	ownBaseVal   = 6        // bytes before the value: op, made, command (little-endian)
	moveBytes    = 8 << 20  // booked bytes at which the first move happens
	moveBytesMax = 64 << 20 // and at most: each move may rewrite all private blocks
)

// ownBase is the moved part of an overlay at one moment. Immutable.
type ownBase struct {
	st    *Store
	root  btree.Root
	runs  []*ownRun // older than what root has; by tree and key
	bytes int64     // of keys and values that were moved to root so far
	run   int64     // and to runs
}

// SpillTo lets the overlay move its changes to private blocks of st when they are many or the account refuses more.
// Without it an overlay lives in memory alone. Call it once, before the first change.
func (o *Overlay) SpillTo(st *Store) { o.st, o.moveAt, o.runMin = st, moveBytes, runMin }

// OnMove has f called with the changes that are about to move, in the order of their moves; f must not keep them. The
// changes of a later move are newer. A dropped tree that o made is among them only when its making was. An error of f
// ends the move. Call it before the first change.
func (o *Overlay) OnMove(f func(cs ChangeSet) error) { o.onMove = f }

// Moved reports whether anything lies in private blocks, or is on its way there.
func (o *Overlay) Moved() bool { return o.root.base != nil || o.root.mid != nil }

// full reports whether the changes in memory should move.
func (o *Overlay) full() bool {
	if o.st == nil {
		return false
	}
	limit := o.moveAt
	if o.root.base != nil {
		limit = min(max(limit, o.root.base.bytes/8), moveBytesMax)
	}
	if o.moving != nil {
		limit += o.moving.bytes
	}
	return o.bytes > limit
}

// moveStep is how many changes move at a time.
const moveStep = 2048

// moveAll makes m.next contain what m moves: stretches of new rows as runs, the rest in private form.
func (o *Overlay) moveAll(m *ownMove) error {
	next := m.next
	ents := make([]*own, 0, max(m.count-m.base.rows(), 0))
	var it ownIter
	it.init(Root{top: m.top, count: 1}, 0, nil, nil, false) // its count is not known, but it is not empty
	for e := it.next(); e != nil; e = it.next() {
		ents = append(ents, e)
	}
	old := next.root
	for len(ents) > 0 {
		n, fits := stretch(ents, o.runMin)
		fits = fits && len(next.runs) < runsMax && ents[0].tree >= SystemTrees
		if fits {
			var err error
			before := ownBase{st: next.st, root: old, runs: next.runs}
			if fits, err = before.fitsRun(ents[0].tree, ents[0].key); err != nil {
				return err
			}
		}
		size := int64(0)
		for _, e := range ents[:n] {
			size += int64(len(e.key)+len(e.val)) + ownBytes
		}
		if fits {
			next.run += size
			if err := o.extend(next, ents[:n]); err != nil {
				return err
			}
		} else {
			next.bytes += size
			if err := o.encode(next, ents[:n]); err != nil {
				return err
			}
		}
		ents = ents[n:]
	}
	return nil
}

// stretch returns how many entries at the beginning of ents are puts of one tree and command, or, when these are too few
// for a run, how many come before the next such stretch.
func stretch(ents []*own, least int) (n int, run bool) {
	for {
		e, m := ents[n], n
		for m < len(ents) && ents[m].op == OpPut && !ents[m].meta && ents[m].tree == e.tree && ents[m].cmd == e.cmd {
			m++
		}
		if m-n >= least {
			if n == 0 {
				return m, true
			}
			return n, false
		}
		if n = max(m, n+1); n == len(ents) {
			return n, false
		}
	}
}

// adopt books the blocks of a move and puts what can be evicted onto the disk.
func (o *Overlay) adopt(next *ownBase) error {
	created := o.mover.Created
	for _, h := range created {
		h.SetFlag(btree.FlagPrivate)
		if h.Flag(btree.FlagBig) { // Graft needs the handles of its values
			h.Pin()
			o.pinned = append(o.pinned, h)
		}
	}
	o.st.account(o.st.books.adopt(created))
	if next.root.H != nil {
		if err := o.st.spillTree(next.root.H); err != nil {
			return err
		}
	}
	return o.writeRuns(next)
}

// encode puts ents into the private tree. next is being made and not shared.
func (o *Overlay) encode(next *ownBase, ents []*own) (err error) {
	cs := make([]Change, 0, min(len(ents), moveStep))
	for len(ents) > 0 && err == nil {
		n := min(len(ents), moveStep)
		var buf []byte
		for _, e := range ents[:n] {
			size := ownBaseKey + len(e.key) + ownBaseVal + len(e.val)
			if cap(buf)-len(buf) < size {
				buf = make([]byte, 0, max(size, 64<<10))
			}
			from := len(buf)
			buf = appendOwnKey(buf, e.tree, e.meta, e.key)
			mid := len(buf)
			made := byte(0)
			if e.made {
				made = 1
			}
			buf = append(buf, byte(e.op), made)
			buf = binary.LittleEndian.AppendUint32(buf, e.cmd)
			buf = append(buf, e.val...)
			cs = append(cs, Change{Op: OpPut, Key: buf[from:mid:mid], Val: buf[mid:len(buf):len(buf)]})
		}
		next.root, err = o.mover.Apply(0, next.root, cs)
		cs, ents = cs[:0], ents[n:]
	}
	return err
}

// report hands what is about to move to the function that wants to know.
func (o *Overlay) report() error {
	if o.onMove == nil {
		return nil
	}
	w, step := o.WalkMemory(), make(ChangeSet, 0, moveStep)
	for cs := w.Next(step, moveStep); len(cs) > 0; cs = w.Next(step, moveStep) {
		if err := o.onMove(cs); err != nil {
			return err
		}
	}
	return w.Err()
}

// appendOwnKey appends the private tree's key for an entry.
func appendOwnKey(dst []byte, t TreeID, meta bool, key []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(t))
	if meta {
		return append(dst, 0)
	}
	return append(append(dst, 1), key...)
}

// decode sets e to the entry with the private tree's key k and value v, which it aliases.
func (e *own) decode(k, v []byte) {
	*e = own{tree: TreeID(binary.BigEndian.Uint32(k)), meta: k[4] == 0, op: Op(v[0]), made: v[1] == 1,
		cmd: binary.LittleEndian.Uint32(v[2:]), val: v[ownBaseVal:]}
	if !e.meta {
		e.key = k[ownBaseKey:]
	}
}

// find returns the entry of a key, or nil.
func (b *ownBase) find(t TreeID, meta bool, key []byte) (*own, error) {
	if b.root.H != nil {
		k := appendOwnKey(make([]byte, 0, 64), t, meta, key)
		v, ok, err := btree.Get(b.st, 0, b.root.H, k)
		if err != nil {
			return nil, err
		}
		if ok {
			e := new(own)
			e.decode(k, v)
			return e, nil
		}
	}
	if meta {
		return nil, nil
	}
	r := b.runAt(t, key)
	if r == nil {
		return nil, nil
	}
	v, ok, err := btree.Get(b.st, t, r.root.H, key)
	if err != nil || !ok {
		return nil, err
	}
	return &own{tree: t, op: OpPut, cmd: r.cmd, key: key, val: v}, nil
}

// mustFind is find for callers that cannot report an error. The scratch segment is a file that this process wrote; when
// it cannot be read back the transaction's changes are lost, and guessing would be worse than stopping.
func (r *Root) mustFind(t TreeID, meta bool, key []byte) *own {
	e, err := r.find(t, meta, key)
	invariant.Assert(err == nil, "a transaction's private blocks can be read")
	return e
}

// spillTree writes h and what is below it and not on disk to the scratch segment, children first.
func (st *Store) spillTree(h *btree.Handle) error {
	if h.Addr() != 0 {
		return nil
	}
	b := h.Block()
	for _, k := range b.Children() {
		if err := st.spillTree(k); err != nil {
			return err
		}
	}
	if err := st.spill.write(0, h, b); err != nil {
		return err
	}
	st.books.dirty.Add(-b.Cost())
	return nil
}

// dropPrivate takes an overlay's blocks out of the books and off their files, except those that a commit took over.
func (st *Store) dropPrivate(hs []*btree.Handle) {
	mine := hs[:0]
	for _, h := range hs {
		if h.Flag(btree.FlagPrivate) {
			mine = append(mine, h)
		}
	}
	st.account(-st.books.bury(mine))
	for _, h := range mine {
		switch ref := h.Ref(); {
		case ref.Addr == 0:
		case ref.Addr.Scratch():
			st.spill.dead(ref)
		default: // no manifest has it: the segment is unsynced
			st.segments.addLive(ref.Addr.Segment(), -int64(ref.Size))
		}
	}
}

// leafRows steps through the leaves of a tree, row by row. It keeps the entries that are made of the rows in five places
// in turn, so that one stays valid until the fifth after it is made: baseIter and one or two of ownIter read one ahead each,
// and a Cursor keeps another.
type leafRows struct {
	it   btree.Iter
	i, n int // next row of the leaf, and how many are left
	at   int // the current row
	val  []byte
	rev  bool
	leaf block.Leaf
	st   *Store
	turn int
	ents [5]own
	keys [5][]byte
	err  error
}

func (b *leafRows) reset(st *Store, reverse bool) {
	b.st, b.rev, b.n, b.leaf, b.val, b.err = st, reverse, 0, nil, nil, nil
}

// row goes to the next row of tree t; false at the end or on an error.
func (b *leafRows) row(t TreeID) bool {
	if b.n == 0 {
		if b.st == nil || !b.it.NextLeaf() {
			b.err = b.it.Err
			return false
		}
		b.leaf = b.it.Block.Leaf()
		b.i, b.n = b.it.From, b.it.To-b.it.From
		if b.rev {
			b.i = b.it.To - 1
		}
	}
	v, big := b.it.Block.Value(b.i)
	if big {
		if v, b.err = btree.BigValue(b.st, t, b.it.Block, v); b.err != nil {
			return false
		}
	}
	b.at, b.val = b.i, v
	b.n--
	if b.rev {
		b.i--
	} else {
		b.i++
	}
	return true
}

// close forgets what the iterator points to.
func (b *leafRows) close() {
	b.it.Close()
	b.leaf, b.val, b.st, b.n = nil, nil, nil, 0
	clear(b.ents[:])
}

// privIter visits the entries of the private tree in order.
type privIter struct{ leafRows }

func (p *privIter) init(base *ownBase, t TreeID, lo, hi []byte, reverse bool) {
	p.reset(base.st, reverse)
	var from, to []byte
	if t != 0 {
		from = appendOwnKey(nil, t, false, lo)
		if hi != nil {
			to = appendOwnKey(nil, t, false, hi)
		} else {
			to = endOfTree(t)
		}
	}
	p.it.Init(base.st, 0, base.root.H, from, to, reverse)
}

// next returns the next entry, or nil at the end or on an error.
func (p *privIter) next() *own {
	if !p.row(0) {
		return nil
	}
	p.turn = (p.turn + 1) % len(p.ents)
	p.keys[p.turn] = p.leaf.AppendKey(p.keys[p.turn][:0], p.at)
	e := &p.ents[p.turn]
	e.decode(p.keys[p.turn], p.val)
	return e
}

// baseIter visits the moved entries of a range in order: those of the private tree, and of runs what it does not have.
type baseIter struct {
	priv privIter
	run  runIter
	both bool // there are runs in the range
	p, r *own // next of each, when both
	err  error
}

// init makes the iterator ready for the rows lo <= key < hi of tree t, or for everything when t is 0.
func (b *baseIter) init(base *ownBase, t TreeID, lo, hi []byte, reverse bool) {
	b.err, b.p, b.r = nil, nil, nil
	b.priv.init(base, t, lo, hi, reverse)
	b.run.init(base, t, lo, hi, reverse)
	if b.both = len(b.run.runs) > 0; b.both {
		b.p, b.r = b.priv.next(), b.run.next()
	}
}

// next returns the next entry, or nil at the end or on an error.
func (b *baseIter) next() *own {
	if !b.both {
		e := b.priv.next()
		b.err = b.priv.err
		return e
	}
	if b.priv.err != nil || b.run.err != nil {
		b.err = cmp.Or(b.priv.err, b.run.err)
		return nil
	}
	c := 0
	switch {
	case b.p == nil && b.r == nil:
		return nil
	case b.p == nil:
		c = 1
	case b.r == nil:
		c = -1
	default:
		if c = b.p.compare(b.r.tree, false, b.r.key); b.priv.rev {
			c = -c
		}
	}
	e := b.p
	if c > 0 {
		e = b.r
	}
	if c >= 0 {
		b.r = b.run.next()
	}
	if c <= 0 {
		b.p = b.priv.next()
	}
	return e
}

// close forgets what the iterator points to.
func (b *baseIter) close() {
	b.priv.close()
	b.run.close()
	b.p, b.r = nil, nil
}
