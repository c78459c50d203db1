package storage

import "herd/internal/invariant"

// ownFan is the most entries of a node of an overlay's tree.
const ownFan = 31

// ownNode is a node of the copy-on-write B-tree of an overlay. A node whose owner is the overlay's stamp was made since
// the last captured root and is changed in place.
type ownNode struct {
	owner uint64
	n     int
	items [ownFan]*own
	kids  *[ownFan + 1]*ownNode // nil in a leaf
}

// search returns the index of the first item >= the key.
func (n *ownNode) search(t TreeID, meta bool, key []byte) (i int, found bool) {
	lo, hi := 0, n.n
	for lo < hi {
		m := (lo + hi) / 2
		c := n.items[m].compare(t, meta, key)
		if c == 0 {
			return m, true
		}
		if c < 0 {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo, false
}

// find returns the entry of a key, or nil.
func (n *ownNode) find(t TreeID, meta bool, key []byte) *own {
	for {
		i, found := n.search(t, meta, key)
		if found {
			return n.items[i]
		}
		if n.kids == nil {
			return nil
		}
		n = n.kids[i]
	}
}

// writable returns n, or a copy of it when somebody may see n.
func (n *ownNode) writable(stamp uint64) *ownNode {
	if n.owner == stamp {
		return n
	}
	c := *n
	c.owner = stamp
	if n.kids != nil {
		k := *n.kids
		c.kids = &k
	}
	return &c
}

// put adds e below n, which has room for one more item than it may keep: the caller splits it. It returns n's
// successor, and whether the key is new.
func (n *ownNode) put(stamp uint64, e *own) (*ownNode, bool) {
	n = n.writable(stamp)
	i, found := n.search(e.tree, e.meta, e.key)
	if found {
		n.items[i] = e
		return n, false
	}
	if n.kids == nil {
		n.insert(i, e, nil)
		return n, true
	}
	kid, grown := n.kids[i].put(stamp, e)
	n.kids[i] = kid
	if up, right := kid.split(stamp); right != nil {
		n.insert(i, up, right)
	}
	return n, grown
}

// insert makes e item i with right as the child after it.
func (n *ownNode) insert(i int, e *own, right *ownNode) {
	invariant.Assert(n.n < ownFan, "a node of an overlay has room")
	copy(n.items[i+1:n.n+1], n.items[i:n.n])
	n.items[i] = e
	if right != nil {
		copy(n.kids[i+2:n.n+2], n.kids[i+1:n.n+1])
		n.kids[i+1] = right
	}
	n.n++
}

// split cuts a full node in two: n keeps the lower half. right is nil when n is not full.
func (n *ownNode) split(stamp uint64) (up *own, right *ownNode) {
	if n.n < ownFan {
		return nil, nil
	}
	m := ownFan / 2
	right = &ownNode{owner: stamp, n: ownFan - m - 1}
	copy(right.items[:], n.items[m+1:])
	if n.kids != nil {
		right.kids = new([ownFan + 1]*ownNode)
		copy(right.kids[:], n.kids[m+1:])
		clear(n.kids[m+1:])
	}
	up = n.items[m]
	clear(n.items[m:])
	n.n = m
	return up, right
}

// ownDepth bounds the levels of an overlay's tree: nodes are at least half full, 16^8 entries fit no memory.
const ownDepth = 8

// ownIter visits the entries of a root in order, newest of each key only, without those of trees when a tree is given.
type ownIter struct {
	root    Root
	tree    TreeID // 0 = all trees
	lo, hi  []byte
	reverse bool
	pos     int
	n       int
	order   [listMax]uint8
	depth   int
	path    [ownDepth]struct {
		n *ownNode
		i int
	}
	base     *baseIter // of the moved entries; kept for the next init
	mid      *ownIter  // of these and of those on their way there; kept as well
	moved    bool      // mid or base is in use
	midway   bool      // mid is
	mem, dsk *own      // next entry of the part that changes and of the others, when moved
}

// initAll makes the iterator ready for everything.
func (it *ownIter) initAll(r Root) { it.init(r, 0, nil, nil, false) }

// init makes the iterator ready for the rows lo <= key < hi of tree t (0 = everything).
func (it *ownIter) init(r Root, t TreeID, lo, hi []byte, reverse bool) {
	it.root, it.tree, it.lo, it.hi, it.reverse = r, t, lo, hi, reverse
	it.pos, it.n, it.depth, it.moved, it.midway = 0, 0, 0, false, false
	if r.count == 0 {
		return
	}
	switch {
	case r.top != nil:
		it.seek(r.top)
	case r.list != nil:
		it.sortList()
	}
	it.moved, it.midway = r.base != nil || r.mid != nil, r.mid != nil
	switch {
	case it.midway:
		if it.mid == nil {
			it.mid = new(ownIter)
		}
		it.mid.init(Root{top: r.mid, base: r.base, count: r.count}, t, lo, hi, reverse)
	case it.moved:
		if it.base == nil {
			it.base = new(baseIter)
		}
		it.base.init(r.base, t, lo, hi, reverse)
	default:
		return
	}
	it.mem, it.dsk = it.nextMem(), it.nextMoved()
}

// err returns what ended the moved part early.
func (it *ownIter) err() error {
	switch {
	case !it.moved:
		return nil
	case it.midway:
		return it.mid.err()
	}
	return it.base.err
}

// nextMoved returns the next entry of what has moved or is on its way.
func (it *ownIter) nextMoved() *own {
	if it.midway {
		return it.mid.next()
	}
	return it.base.next()
}

// wanted reports whether e is in the iterator's range.
func (it *ownIter) wanted(e *own) bool {
	if it.tree == 0 {
		return true
	}
	if e.tree != it.tree || e.meta {
		return false
	}
	return (it.lo == nil || e.compare(it.tree, false, it.lo) >= 0) && (it.hi == nil || e.compare(it.tree, false, it.hi) < 0)
}

// sortList sorts the wanted entries by insertion; a later entry takes the place of an earlier one with its key.
func (it *ownIter) sortList() {
	for i := range it.root.count {
		e := &it.root.list[i]
		if !it.wanted(e) {
			continue
		}
		j, same := 0, false
		for j < it.n {
			c := it.root.list[it.order[j]].compare(e.tree, e.meta, e.key)
			if c >= 0 {
				same = c == 0
				break
			}
			j++
		}
		if !same {
			copy(it.order[j+1:it.n+1], it.order[j:it.n])
			it.n++
		}
		it.order[j] = uint8(i)
	}
	if it.reverse {
		it.pos = it.n - 1
	}
}

// seek puts the path before the first wanted entry.
func (it *ownIter) seek(n *ownNode) {
	for {
		i := 0
		if it.reverse {
			i = n.n
			if it.hi != nil {
				i, _ = n.search(it.tree, false, it.hi)
			} else {
				i, _ = n.search(it.tree+1, true, nil)
			}
		} else if it.tree != 0 {
			i, _ = n.search(it.tree, false, it.lo)
		}
		it.push(n, i)
		if n.kids == nil {
			return
		}
		n = n.kids[i]
	}
}

func (it *ownIter) push(n *ownNode, i int) {
	invariant.Assert(it.depth < ownDepth, "an overlay's tree has at most ownDepth levels")
	it.path[it.depth].n, it.path[it.depth].i = n, i
	it.depth++
}

// next returns the next entry, or nil at the end or on an error. An entry is valid until the next but one is taken.
func (it *ownIter) next() *own {
	if !it.moved {
		return it.nextMem()
	}
	if it.err() != nil {
		return nil
	}
	if it.mem == nil && it.dsk == nil {
		return nil
	}
	c := 0
	switch {
	case it.mem == nil:
		c = 1
	case it.dsk == nil:
		c = -1
	default:
		if c = it.mem.compare(it.dsk.tree, it.dsk.meta, it.dsk.key); it.reverse {
			c = -c
		}
	}
	e := it.mem
	if c > 0 {
		e = it.dsk
	}
	if c >= 0 {
		it.dsk = it.nextMoved()
	}
	if c <= 0 {
		it.mem = it.nextMem()
	}
	return e
}

// nextMem returns the next entry of the part in memory.
func (it *ownIter) nextMem() *own {
	if it.root.top == nil {
		if it.pos < 0 || it.pos >= it.n {
			return nil
		}
		e := &it.root.list[it.order[it.pos]]
		if it.reverse {
			it.pos--
		} else {
			it.pos++
		}
		return e
	}
	var e *own
	if it.reverse {
		e = it.backward()
	} else {
		e = it.forward()
	}
	if e == nil || !it.wanted(e) {
		it.depth = 0
		return nil
	}
	return e
}

// forward steps to the next item of the tree.
func (it *ownIter) forward() *own {
	for it.depth > 0 {
		p := &it.path[it.depth-1]
		if p.i >= p.n.n {
			it.depth--
			continue
		}
		e := p.n.items[p.i]
		p.i++
		if p.n.kids != nil { // the child after the item comes next
			for n := p.n.kids[p.i]; ; n = n.kids[0] {
				it.push(n, 0)
				if n.kids == nil {
					break
				}
			}
		}
		return e
	}
	return nil
}

// backward steps to the previous item of the tree.
func (it *ownIter) backward() *own {
	for it.depth > 0 {
		p := &it.path[it.depth-1]
		if p.i == 0 {
			it.depth--
			continue
		}
		p.i--
		e := p.n.items[p.i]
		if p.n.kids != nil {
			for n := p.n.kids[p.i]; ; n = n.kids[n.n] {
				it.push(n, n.n)
				if n.kids == nil {
					break
				}
			}
		}
		return e
	}
	return nil
}

// close forgets what the iterator points to.
func (it *ownIter) close() {
	it.root = Root{}
	it.n, it.depth, it.pos = 0, 0, 0
	clear(it.path[:])
	it.mem, it.dsk, it.moved, it.midway = nil, nil, false, false
	if it.base != nil {
		it.base.close()
	}
	if it.mid != nil {
		it.mid.close()
	}
}
