package storage

import (
	"encoding/binary"
	"fmt"

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
	bytes int64 // of keys and values that were moved so far
}

// SpillTo lets the overlay move its changes to private blocks of st when they are many or the account refuses more.
// Without it an overlay lives in memory alone. Call it once, before the first change.
func (o *Overlay) SpillTo(st *Store) { o.st, o.moveAt = st, moveBytes }

// full reports whether the changes in memory should move.
func (o *Overlay) full() bool {
	if o.st == nil {
		return false
	}
	limit := o.moveAt
	if o.root.base != nil {
		limit = min(max(limit, o.root.base.bytes/8), moveBytesMax)
	}
	return o.bytes > limit
}

// move moves all changes to private blocks. On error nothing has changed.
func (o *Overlay) move() error {
	if o.root.top == nil && o.root.base == nil {
		o.toTree()
	}
	if o.root.top == nil { // what was there has been rolled back
		o.moved(o.root)
		return nil
	}
	if o.mover == nil {
		o.mover = &btree.Editor{Page: o.st.page, Loader: o.st}
	}
	next := &ownBase{st: o.st}
	if b := o.root.base; b != nil {
		*next = *b
	}
	ed := o.mover
	ed.Reset(o.st.ver.Add(1))
	var it ownIter
	it.init(Root{top: o.root.top, count: o.root.count}, 0, nil, nil, false)
	var err error
	for cs := o.gather(&it); len(cs) > 0 && err == nil; cs = o.gather(&it) {
		next.root, err = ed.Apply(0, next.root, cs)
	}
	if err == nil && next.root.H != nil {
		next.bytes += o.bytes
		err = o.st.adoptPrivate(ed.Created, next.root.H)
	}
	o.private = appendAlive(o.private, ed.Created)
	ed.Created, ed.Retired = nil, nil
	if err != nil {
		return fmt.Errorf("move a transaction's changes to the scratch segment: %w", err)
	}
	o.moved(Root{base: next, count: int(next.root.Stat.Rows), metas: o.root.metas})
	return nil
}

// moved makes r, which has nothing in memory, the contents.
func (o *Overlay) moved(r Root) {
	o.acct.Shrink(o.bytes)
	o.bytes = 0
	o.root = r
	o.slab, o.arena, o.chunk = nil, nil, nil // captured roots may point there
	o.stamp++
}

// gather encodes the next entries of it as changes of the private tree.
func (o *Overlay) gather(it *ownIter) []Change {
	const step = 2048
	cs := make([]Change, 0, step)
	var buf []byte
	for len(cs) < step {
		e := it.next()
		if e == nil {
			break
		}
		n := ownBaseKey + len(e.key) + ownBaseVal + len(e.val)
		if cap(buf)-len(buf) < n {
			buf = make([]byte, 0, max(n, 64<<10))
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
	return cs
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
	k := appendOwnKey(make([]byte, 0, 64), t, meta, key)
	v, ok, err := btree.Get(b.st, 0, b.root.H, k)
	if err != nil || !ok {
		return nil, err
	}
	e := new(own)
	e.decode(k, v)
	return e, nil
}

// mustFind is find for callers that cannot report an error. The scratch segment is a file that this process wrote; when
// it cannot be read back the transaction's changes are lost, and guessing would be worse than stopping.
func (r *Root) mustFind(t TreeID, meta bool, key []byte) *own {
	e, err := r.find(t, meta, key)
	invariant.Assert(err == nil, "a transaction's private blocks can be read")
	return e
}

// adoptPrivate books the blocks of a move and writes those below root to the scratch segment.
func (st *Store) adoptPrivate(created []*btree.Handle, root *btree.Handle) error {
	for _, h := range created {
		h.SetFlag(btree.FlagPrivate)
	}
	st.account(st.books.adopt(created))
	return st.spillTree(root)
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

// dropPrivate takes an overlay's blocks out of the books and the scratch segment.
func (st *Store) dropPrivate(hs []*btree.Handle) {
	st.account(-st.books.bury(hs))
	for _, h := range hs {
		if ref := h.Ref(); ref.Addr != 0 {
			st.spill.dead(ref)
		}
	}
}

// baseIter visits the moved entries of a range in order. It keeps the entries in three places in turn, so that one stays
// valid until the third after it is read: ownIter reads one ahead, and a Cursor keeps another.
type baseIter struct {
	it   btree.Iter
	i, n int // next row of the leaf, and how many are left
	rev  bool
	leaf block.Leaf
	st   *Store
	turn int
	ents [3]own
	keys [3][]byte
	err  error
}

// init makes the iterator ready for the rows lo <= key < hi of tree t, or for everything when t is 0.
func (b *baseIter) init(base *ownBase, t TreeID, lo, hi []byte, reverse bool) {
	b.st, b.rev, b.n, b.leaf, b.err = base.st, reverse, 0, nil, nil
	var from, to []byte
	if t != 0 {
		from = appendOwnKey(nil, t, false, lo)
		if hi != nil {
			to = appendOwnKey(nil, t, false, hi)
		} else {
			to = append(appendOwnKey(nil, t, true, nil)[:4], 2)
		}
	}
	b.it.Init(base.st, 0, base.root.H, from, to, reverse)
}

// next returns the next entry, or nil at the end or on an error.
func (b *baseIter) next() *own {
	if b.n == 0 {
		if b.st == nil || !b.it.NextLeaf() {
			b.err = b.it.Err
			return nil
		}
		b.leaf = b.it.Block.Leaf()
		b.i, b.n = b.it.From, b.it.To-b.it.From
		if b.rev {
			b.i = b.it.To - 1
		}
	}
	v, big := b.leaf.Value(b.i)
	if big {
		if v, b.err = btree.BigValue(b.st, 0, b.it.Block, v); b.err != nil {
			return nil
		}
	}
	b.turn = (b.turn + 1) % len(b.ents)
	b.keys[b.turn] = b.leaf.AppendKey(b.keys[b.turn][:0], b.i)
	e := &b.ents[b.turn]
	e.decode(b.keys[b.turn], v)
	b.n--
	if b.rev {
		b.i--
	} else {
		b.i++
	}
	return e
}

// close forgets what the iterator points to.
func (b *baseIter) close() {
	b.it.Close()
	b.leaf, b.st, b.n = nil, nil, 0
	clear(b.ents[:])
}
