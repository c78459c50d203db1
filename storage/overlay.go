package storage

import (
	"bytes"
	"cmp"
	"fmt"

	"herd/internal/invariant"
	"herd/internal/mem"
	"herd/storage/btree"
)

// listMax is the most changes an overlay keeps as a list: longer ones become a tree.
const listMax = 16

// own is one change of a transaction. It never changes after it was made.
type own struct {
	tree TreeID
	cmd  uint32 // command number that made the change
	meta bool   // the entry of the tree itself: created, dropped or both
	op   Op     // for a meta entry: OpDropTree when it is dropped now
	made bool   // for a meta entry: the transaction created the tree
	key  []byte
	val  []byte
}

// compare orders by tree, then the tree's own entry, then by key.
func (o *own) compare(t TreeID, meta bool, key []byte) int {
	switch {
	case o.tree != t:
		if o.tree < t {
			return -1
		}
		return 1
	case o.meta != meta:
		if o.meta {
			return -1
		}
		return 1
	case meta:
		return 0
	}
	return bytes.Compare(o.key, key)
}

// ownList is the storage of a short overlay, oldest first. Elements below a captured length never change.
type ownList [listMax]own

// Root is what an overlay contained at one moment. It is immutable, comparable with ==, and costs nothing to capture.
// The zero value is no changes.
type Root struct {
	list  *ownList
	top   *ownNode
	mid   *ownNode // entries on their way to private blocks; those of top are newer
	base  *ownBase // entries moved there; those of mid are newer
	count int      // entries of list, or keys in the trees: one in both counts twice
	metas int      // at least as many as there are entries of trees
	bytes int64    // booked when it was captured
}

// Empty reports whether the root has no changes.
func (r Root) Empty() bool { return r.count == 0 }

// Len returns the number of changes, an upper bound.
func (r Root) Len() int { return r.count }

// find returns the newest entry of a key, or nil. The error is one of reading private blocks.
func (r *Root) find(t TreeID, meta bool, key []byte) (*own, error) {
	if r.top != nil || r.mid != nil || r.base != nil {
		for _, n := range [...]*ownNode{r.top, r.mid} {
			if n != nil {
				if e := n.find(t, meta, key); e != nil {
					return e, nil
				}
			}
		}
		if r.base == nil {
			return nil, nil
		}
		return r.base.find(t, meta, key)
	}
	for i := r.count - 1; i >= 0; i-- {
		if o := &r.list[i]; o.tree == t && o.meta == meta && bytes.Equal(o.key, key) {
			return o, nil
		}
	}
	return nil, nil
}

// Touches reports whether the root may say something of key in tree t: it has the key, or made or dropped trees.
func (r Root) Touches(t TreeID, key []byte) bool {
	if r.count == 0 {
		return false
	}
	if r.metas > 0 {
		return true
	}
	e, err := r.find(t, false, key)
	return e != nil || err != nil
}

// Overlay is a transaction's own changes: up to 16 a list, beyond that a copy-on-write tree. One goroutine at a time
// writes to it; captured roots may be read by others meanwhile. Rows are copied in.
type Overlay struct {
	acct   *mem.Account
	root   Root
	stamp  uint64 // owner of tree nodes that no captured root can see
	shared bool   // elements of root.list at and beyond root.count may be visible to captured roots
	bytes  int64  // booked
	arena  []byte // the rest of the chunk that keys and values are copied into
	chunk  []byte // the first chunk, kept by Reset
	slab   []own
	sorted ChangeSet // Changes' result

	st      *Store          // where private blocks go; nil: nowhere
	moveAt  int64           // booked bytes at which the first move happens
	runMin  int             // rows from which a stretch becomes a run
	moving  *ownMove        // goes on; nil: none
	mover   *btree.Editor   // makes private blocks
	private []*btree.Handle // all private blocks since Reset
	pinned  []*btree.Handle // of these, leaves whose long values must be found again
	writer  *segmentWriter  // of the blocks of runs
	grafted map[TreeID]bool // trees that a fork has taken runs of
	onMove  func(ChangeSet) error
}

const (
	ownBytes   = 80
	firstBytes = 2 << 10  // of the first chunk
	ownFloor   = 16 << 10 // bytes: with less, a statement beside one that spills could not get on
	arenaBytes = 16 << 10
	arenaLarge = 128 << 10 // of an overlay with more than manyBytes: fewer objects for the collector to sweep
	manyBytes  = 1 << 20
)

// NewOverlay returns an empty overlay that books its memory on a.
func NewOverlay(a *mem.Account) *Overlay { return &Overlay{acct: a, stamp: 1} }

// Put sets key to val in tree t, as part of command cmd. The error is mem.ErrLimit or ErrTooLong; nothing has changed
// then.
func (o *Overlay) Put(t TreeID, key, val []byte, cmd uint32) error {
	if len(key) > MaxKey || len(val) > MaxValue {
		return fmt.Errorf("put into tree %d: key of %d and value of %d bytes: %w", t, len(key), len(val), ErrTooLong)
	}
	return o.add(own{tree: t, op: OpPut, cmd: cmd, key: key, val: val})
}

// Delete removes key from tree t.
func (o *Overlay) Delete(t TreeID, key []byte, cmd uint32) error {
	return o.add(own{tree: t, op: OpDelete, cmd: cmd, key: key})
}

// CreateTree makes tree t, whose number is new.
func (o *Overlay) CreateTree(t TreeID) error {
	return o.add(own{tree: t, op: OpCreateTree, meta: true, made: true})
}

// DropTree removes tree t with all its rows.
func (o *Overlay) DropTree(t TreeID) error {
	made := false
	e, err := o.root.find(t, true, nil)
	if err != nil {
		return fmt.Errorf("drop tree %d: %w", t, err)
	}
	if e != nil {
		made = e.made
	}
	return o.add(own{tree: t, op: OpDropTree, meta: true, made: made})
}

// add copies e's bytes and makes it the newest entry of its key.
func (o *Overlay) add(e own) error {
	need := int64(len(e.key) + len(e.val) + ownBytes)
	if err := o.book(need); err != nil {
		return err
	}
	o.bytes += need
	e.key, e.val = o.copy(e.key), o.copy(e.val)
	if o.root.top == nil && o.root.mid == nil && o.root.base == nil {
		if o.root.count < listMax {
			o.append(e)
			return nil
		}
		o.toTree()
	}
	o.insert(e)
	if o.full() {
		return o.moveAhead()
	}
	return nil
}

// book asks for memory. When there is none left, changes in memory move to private blocks; below ownFloor they have it whatever
// the limit says.
func (o *Overlay) book(need int64) error {
	err := o.acct.Grow(need)
	if err != nil && o.st != nil && (o.bytes+need > ownFloor || o.moving != nil) {
		if err := o.move(); err != nil {
			return err
		}
		err = o.acct.Grow(need)
	}
	if err != nil && o.st != nil && o.bytes+need <= ownFloor {
		o.acct.Force(need)
		return nil
	}
	return err
}

// copy copies p into the arena.
func (o *Overlay) copy(p []byte) []byte {
	if len(p) == 0 {
		return []byte{}
	}
	if len(p) > len(o.arena) {
		switch {
		case len(p) >= arenaBytes/4:
			return bytes.Clone(p)
		case o.chunk == nil && len(p) <= firstBytes:
			o.chunk = make([]byte, firstBytes)
			o.arena = o.chunk
		case o.bytes > manyBytes || o.Moved():
			o.arena = make([]byte, arenaLarge)
		default:
			o.arena = make([]byte, arenaBytes)
		}
	}
	n := copy(o.arena, p)
	out := o.arena[:n:n]
	o.arena = o.arena[n:]
	return out
}

// append adds e to the list.
func (o *Overlay) append(e own) {
	if o.root.list == nil {
		o.root.list = new(ownList)
	} else if o.shared {
		l := new(ownList)
		copy(l[:o.root.count], o.root.list[:o.root.count])
		o.root.list, o.shared = l, false
	}
	o.root.list[o.root.count] = e
	o.root.count++
	if e.meta {
		o.root.metas++
	}
}

// toTree turns the list into a tree.
func (o *Overlay) toTree() {
	l := o.root.list
	n := o.root.count
	o.root = Root{}
	for i := range n {
		o.insert(l[i])
	}
}

// insert adds e to the tree.
func (o *Overlay) insert(e own) {
	if len(o.slab) == 0 {
		o.slab = make([]own, 64)
	}
	p := &o.slab[0]
	o.slab = o.slab[1:]
	*p = e
	if o.root.top == nil {
		o.root.top = &ownNode{owner: o.stamp}
	}
	top, grown := o.root.top.put(o.stamp, p)
	if up, right := top.split(o.stamp); right != nil {
		n := &ownNode{owner: o.stamp, n: 1, kids: new([ownFan + 1]*ownNode)}
		n.items[0], n.kids[0], n.kids[1] = up, top, right
		top = n
	}
	o.root.top = top
	if grown {
		o.root.count++
		if e.meta {
			o.root.metas++
		}
	}
}

// Root captures the present contents.
func (o *Overlay) Root() Root {
	if o.root.top != nil {
		o.stamp++
	}
	r := o.root
	r.bytes = o.bytes
	return r
}

// Peek returns the present contents for reading at once: unlike Root's result it is valid only until the next change,
// and the next change need not copy nodes for it.
func (o *Overlay) Peek() Root { return o.root }

// Rollback goes back to a root captured before. The memory of what is dropped stays booked until Reset or Close.
func (o *Overlay) Rollback(to Root) {
	if more := to.bytes - o.bytes; more > 0 { // it has moved meanwhile and is in memory again
		o.acct.Force(more)
		o.bytes += more
	}
	o.root = to
	o.stamp++
	o.shared = true
}

// Len returns the number of changes, an upper bound.
func (o *Overlay) Len() int { return o.root.count }

// Bytes returns the bytes of the changes, those moved to private blocks included.
func (o *Overlay) Bytes() int64 {
	if b := o.root.base; b != nil {
		return o.bytes + b.bytes + b.run
	}
	return o.bytes
}

// Reset empties the overlay for the next transaction and gives its memory back. Roots captured from it, and what
// Changes returned, must not be used any more.
func (o *Overlay) Reset() {
	if o.bytes == 0 && o.root.count == 0 && o.private == nil && o.moving == nil {
		return
	}
	if o.moving != nil { // what it moved is not wanted, nor why it did not
		o.takeOver()
	}
	if o.private != nil {
		o.dropPrivate()
	}
	o.acct.Shrink(o.bytes)
	o.bytes = 0
	l := o.root.list
	o.root = Root{}
	if l != nil {
		clear(l[:])
		o.root.list = l
	}
	o.shared = false
	o.slab = nil
	clear(o.sorted)
	if cap(o.sorted) > 64 {
		o.sorted = nil
	}
	o.stamp++
	o.arena = o.chunk
}

// dropPrivate gives the private blocks back, except those that a fork has taken.
func (o *Overlay) dropPrivate() {
	for _, h := range o.pinned {
		h.Unpin()
	}
	o.st.dropPrivate(o.private)
	if o.writer != nil {
		o.writer.leave()
	}
	o.private, o.pinned, o.mover, o.writer, o.grafted = nil, nil, nil, nil, nil
}

// Walk passes over the net effect of an overlay in pieces: what Changes returns at once. See Overlay.Walk.
type Walk struct {
	it      ownIter
	gone    TreeID          // dropped tree whose rows are passed over
	grafted map[TreeID]bool // trees that are made already
	moved   Root            // WalkMemory: what is not walked
	failed  error           // of looking something up there
}

// Walk begins a pass over what the overlay contains now. The overlay must not change meanwhile.
func (o *Overlay) Walk() *Walk {
	w := &Walk{grafted: o.grafted}
	w.it.initAll(o.root)
	return w
}

// WalkMemory begins a pass over what has not moved to private blocks: what OnMove's function was not told yet. It waits for
// a move that goes on, and its Err tells that one's error too.
func (o *Overlay) WalkMemory() *Walk {
	w := &Walk{failed: o.settle()}
	w.moved = Root{mid: o.root.mid, base: o.root.base}
	r := o.root
	r.mid, r.base = nil, nil
	if r.list == nil && r.top == nil {
		r.count = 0
	}
	w.it.initAll(r)
	return w
}

// Err returns the error that ended the walk early: private blocks could not be read. Whoever commits what a walk gives
// must look at it.
func (w *Walk) Err() error { return cmp.Or(w.failed, w.it.err()) }

// Next appends up to n changes, in order, to dst; nothing when all were passed or on an error, see Err. The changes
// alias the overlay.
func (w *Walk) Next(dst ChangeSet, n int) ChangeSet {
	for range n {
		c, ok := w.next()
		if !ok {
			break
		}
		dst = append(dst, c)
	}
	return dst
}

func (w *Walk) next() (Change, bool) {
	for e := w.it.next(); e != nil; e = w.it.next() {
		if e.meta {
			w.gone = 0
			if e.op == OpDropTree {
				w.gone = e.tree
				if e.made && !w.madeBefore(e.tree) {
					continue
				}
			} else if w.grafted[e.tree] {
				continue
			}
			return Change{Tree: e.tree, Op: e.op}, true
		}
		if e.tree == w.gone {
			continue
		}
		c := Change{Tree: e.tree, Op: e.op, Key: e.key}
		if w.it.root.base != nil {
			c.Key = bytes.Clone(e.key) // the iterator uses its buffers again
		}
		if e.op == OpPut {
			c.Val = e.val
		}
		return c, true
	}
	return Change{}, false
}

// madeBefore reports whether the making of tree t has moved, for a walk over the rest.
func (w *Walk) madeBefore(t TreeID) bool {
	e, err := w.moved.find(t, true, nil)
	if err != nil && w.failed == nil {
		w.failed = err
	}
	return e != nil
}

// Changes returns the net effect as a change set, sorted: the newest change of each key; nothing of trees that were
// both made and dropped; of a dropped tree only the drop. It aliases the overlay and is valid until the next call of
// any method. A large overlay is better walked.
func (o *Overlay) Changes() ChangeSet {
	o.sorted = o.sorted[:0]
	var w Walk
	w.it.initAll(o.root)
	for c, ok := w.next(); ok; c, ok = w.next() {
		o.sorted = append(o.sorted, c)
	}
	invariant.Assert(w.Err() == nil, "a transaction's private blocks can be read")
	return o.sorted
}
