package storage

import (
	"unsafe"

	"herd/storage/btree"
)

// The roots of a snapshot are a radix array over tree numbers with 32-way nodes, copied along one path per changed tree:
// ten thousand tables cost a commit nothing. Nodes of the bottom level point to *tree, all others to *rootNode.
const (
	rootBits = 5
	rootFan  = 1 << rootBits
)

type rootNode struct {
	owner uint64 // version that made the node: it may be changed in place until that version is published
	kids  [rootFan]unsafe.Pointer
}

// tree is one tree of one version.
type tree struct {
	id   TreeID
	root btree.Root
}

// roots is immutable once published. height 0 is empty.
type roots struct {
	height int
	top    *rootNode
	count  int // trees
}

// get returns the tree, or nil.
func (r *roots) get(t TreeID) *tree {
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

// set puts tr (nil removes) in place of t's entry, copying nodes that owner did not make.
func (r *roots) set(owner uint64, t TreeID, tr *tree) {
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
		if n.owner == owner {
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

// walk calls f for each tree, ascending, until it returns false. Parts that old has too are passed over; old may be nil.
func (r *roots) walk(old *roots, f func(tr *tree) bool) bool {
	if r.height == 0 {
		return true
	}
	var o *rootNode
	if old != nil && old.height == r.height {
		o = old.top
	}
	return walkNode(r.top, o, r.height-1, f)
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
