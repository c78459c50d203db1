package storage

import (
	"unsafe"

	"herd/storage/btree"
)

// The roots of a snapshot are a radix array over tree numbers with 32-way nodes, copied along one path per changed tree:
// ten thousand tables cost a commit nothing. Nodes of the bottom level point to *tree, all others to *rootNode. The trees
// that change all the time lie in front of it as values: a commit that changes one of those copies the list and no node.
const (
	rootBits   = 5
	rootFan    = 1 << rootBits
	recentMost = 6
)

type rootNode struct {
	owner uint64 // version that made the node: it may be changed in place until that version is published; 0: never
	kids  [rootFan]unsafe.Pointer
}

// tree is one tree of one version.
type tree struct {
	id   TreeID
	root btree.Root
}

// roots is immutable once published. height 0 is an empty array.
type roots struct {
	height  int
	top     *rootNode
	count   int // trees
	recents int // used entries of recent
	// recent are trees that are in the array as well, where they may be older.
	recent [recentMost]tree
}

// get returns the tree, or nil. It may be part of r.
func (r *roots) get(t TreeID) *tree {
	for i := range r.recents {
		if r.recent[i].id == t {
			return &r.recent[i]
		}
	}
	return r.inArray(t)
}

// inArray returns what the array has for t.
func (r *roots) inArray(t TreeID) *tree {
	if r.height == 0 || uint64(t)>>(rootBits*r.height) != 0 {
		return nil
	}
	n := r.top
	for l := r.height - 1; l > 0; l-- {
		n = (*rootNode)(n.kids[t>>(rootBits*l)&(rootFan-1)])
		if n == nil {
			return nil
		}
	}
	return (*tree)(n.kids[t&(rootFan-1)])
}

// replace makes root the root of tree t, which r has.
func (r *roots) replace(owner uint64, t TreeID, root btree.Root) {
	for i := range r.recents {
		if r.recent[i].id == t {
			r.recent[i].root = root
			return
		}
	}
	if r.recents == recentMost {
		r.settle(owner)
	}
	r.recent[r.recents] = tree{t, root}
	r.recents++
}

// settle moves the recent trees into the array.
func (r *roots) settle(owner uint64) {
	for _, tr := range r.recent[:r.recents] {
		r.put(owner, tr.id, &tr)
	}
	clear(r.recent[:])
	r.recents = 0
}

// set makes or (tr is nil) removes tree t.
func (r *roots) set(owner uint64, t TreeID, tr *tree) {
	for i := range r.recents {
		if r.recent[i].id == t {
			r.recents--
			r.recent[i] = r.recent[r.recents]
			r.recent[r.recents] = tree{}
			break
		}
	}
	r.put(owner, t, tr)
}

// put puts tr (nil removes) in place of t's entry in the array, copying nodes that owner did not make.
func (r *roots) put(owner uint64, t TreeID, tr *tree) {
	for r.height == 0 || uint64(t)>>(rootBits*r.height) != 0 {
		n := &rootNode{owner: owner}
		if r.height > 0 {
			n.kids[0] = unsafe.Pointer(r.top)
		}
		r.top = n
		r.height++
	}
	own := func(n *rootNode) *rootNode {
		if n == nil {
			return &rootNode{owner: owner}
		}
		if n.owner == owner && owner != 0 {
			return n
		}
		c := *n
		c.owner = owner
		return &c
	}
	r.top = own(r.top)
	n := r.top
	for l := r.height - 1; l > 0; l-- {
		i := t >> (rootBits * l) & (rootFan - 1)
		k := own((*rootNode)(n.kids[i]))
		n.kids[i] = unsafe.Pointer(k)
		n = k
	}
	i := t & (rootFan - 1)
	if n.kids[i] == nil && tr != nil {
		r.count++
	} else if n.kids[i] != nil && tr == nil {
		r.count--
	}
	n.kids[i] = unsafe.Pointer(tr)
}

// walk calls f for each tree, ascending, until it returns false. Parts that old has too are passed over, except that a
// recent tree never is; old may be nil.
func (r *roots) walk(old *roots, f func(tr *tree) bool) bool {
	if r.height == 0 {
		return true
	}
	now := *r
	now.settle(0)
	var o *rootNode
	if old != nil && old.height == now.height {
		was := *old
		was.settle(0)
		o = was.top
	}
	return walkNode(now.top, o, now.height-1, f)
}

func walkNode(n, old *rootNode, level int, f func(tr *tree) bool) bool {
	if n == old {
		return true
	}
	for i, p := range n.kids {
		if p == nil || old != nil && old.kids[i] == p {
			continue
		}
		if level == 0 {
			if !f((*tree)(p)) {
				return false
			}
			continue
		}
		var o *rootNode
		if old != nil {
			o = (*rootNode)(old.kids[i])
		}
		if !walkNode((*rootNode)(p), o, level-1, f) {
			return false
		}
	}
	return true
}
