package lock

import (
	"slices"
)

// wholeAt is how many row locks of one tree an owner takes before it locks the whole tree.
const wholeAt = 1 << 20

// treeCount counts the row locks an owner has taken in a tree.
type treeCount struct {
	tree uint32
	n    int
}

// An owner that has locked very many rows of a tree locks the tree as a whole: from then on it takes free rows without
// an entry, while others that would take a free row wait for it. Rows that have an entry are locked as before, so what
// others held before stays theirs. The owner announces itself in Manager.wholeTrees and then looks at a row's shard;
// others make their entry in the shard and then look at wholeTrees: one of the two sees the other.

func wholeName(tree uint32) name { return name{classTree, uint64(tree)} }

func (o *Owner) hasWhole(tree uint32) bool { return slices.Contains(o.whole, tree) }

// recordFresh notes a row lock that has just got its entry.
func (o *Owner) recordFresh(h uint64, tree uint32) error {
	c := o.count(tree)
	c.n++
	if c.n >= o.m.WholeAt && o.takeWhole(tree) {
		c.n = 0
	}
	if err := o.account(); err != nil {
		if !o.hasWhole(tree) && !o.takeWhole(tree) {
			o.m.setRow(o, h, None)
			return err
		}
		o.m.setRow(o, h, None) // the tree's lock covers it
		return nil
	}
	o.rows = append(o.rows, rowRecord{h, None})
	return nil
}

// count returns the counter of a tree, the most recent first.
func (o *Owner) count(tree uint32) *treeCount {
	for i := range o.counts {
		if o.counts[i].tree == tree {
			return &o.counts[i]
		}
	}
	if len(o.counts) >= 16 {
		o.counts = o.counts[:0]
	}
	o.counts = append(o.counts, treeCount{tree: tree})
	return &o.counts[len(o.counts)-1]
}

// takeWhole locks a tree as a whole unless another owner has it.
func (o *Owner) takeWhole(tree uint32) bool {
	o.m.wholeTrees.Add(1)
	o.m.heavyMu.Lock()
	granted, _, _ := o.acquire(o.m.heavyLock(wholeName(tree)), Update, SkipLocked, "table") // unlocks
	if !granted {
		o.m.wholeTrees.Add(-1)
		return false
	}
	o.whole = append(o.whole, tree)
	o.tables = append(o.tables, tableRecord{tree, wholeMode, -1})
	return true
}

// wholeMode marks the table record of a whole tree.
const wholeMode = modeCount

// releaseWhole gives a whole tree back.
func (o *Owner) releaseWhole(tree uint32) {
	o.m.heavyMu.Lock()
	if w := o.m.heavy[wholeName(tree)]; w != nil {
		w.drop(o)
		w.grant()
		o.m.forget(w)
	}
	o.m.heavyMu.Unlock()
	o.m.wholeTrees.Add(-1)
	o.whole = slices.DeleteFunc(o.whole, func(t uint32) bool { return t == tree })
}

// yield takes o's new entry back when another owner has the whole tree, and waits for it. busy says that it did, and
// that the row has to be locked anew.
func (o *Owner) yield(h uint64, tree uint32, m Mode, p Policy) (busy bool, err error) {
	o.m.heavyMu.Lock()
	w := o.m.heavy[wholeName(tree)]
	if w == nil || w.free(o, m) && len(w.queue) == 0 {
		o.m.heavyMu.Unlock()
		return false, nil
	}
	o.m.heavyMu.Unlock()
	o.m.setRow(o, h, None)
	o.m.heavyMu.Lock()
	w = o.m.heavyLock(wholeName(tree))
	w.tree = tree
	granted, _, err := o.acquire(w, m, p, "row") // unlocks
	if err != nil || !granted {
		return true, err
	}
	o.m.heavyMu.Lock()
	w.drop(o)
	w.grant()
	o.m.forget(w)
	o.m.heavyMu.Unlock()
	return true, nil
}
