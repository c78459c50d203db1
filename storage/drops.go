package storage

import (
	"herd/storage/block"
	"herd/storage/btree"
)

// Maintain releases what no pin needs, lists the blocks of dropped trees and removes dead segments. The engine calls it
// every few seconds. It may read. While a checkpoint runs the segments are left to it.
func (st *Store) Maintain() error {
	if err := st.writable(); err != nil {
		return err
	}
	st.expandDrops(noVersion)
	st.release()
	st.spill.sweep()
	if !st.ckptMu.TryLock() {
		return nil
	}
	defer st.ckptMu.Unlock()
	_, err := st.segments.removeDead()
	return err
}

// expandDrops turns the trees dropped up to version ver into lists of their blocks, which then go the way of all retired
// blocks. Dropping itself only unhooks the root: listing needs the inner nodes, which may be on disk. Until a drop is
// expanded its tree's roots keep its blocks from being buried, so the walk needs no pin.
func (st *Store) expandDrops(ver uint64) {
	r := &st.retired
	for {
		r.mu.Lock()
		var d drop
		for _, x := range r.drops {
			if x.ver <= ver {
				d = x
				break
			}
		}
		r.mu.Unlock()
		if d.tr == nil {
			return
		}
		hs := st.blocksBelow(d.tr.id, d.tr.root.H, nil)
		r.mu.Lock()
		for i, x := range r.drops {
			if x == d { // still dropped: Rewind may have brought it back meanwhile
				r.drops = append(r.drops[:i], r.drops[i+1:]...)
				r.groups = append(r.groups, group{ver: d.ver, handles: hs})
				break
			}
		}
		r.mu.Unlock()
	}
}

// blocksBelow appends h and all handles below it to hs. It loads inner nodes, and leaves only when they have long
// values. What one that cannot be read leads to is left out: those blocks are on disk and stay in the books of their
// segments until the cleaner looks (I5), and the drop, and the checkpoint that waits for it, go on.
func (st *Store) blocksBelow(t TreeID, h *btree.Handle, hs []*btree.Handle) []*btree.Handle {
	hs = append(hs, h)
	b := h.Block()
	if b == nil {
		var err error
		if b, err = st.LoadBlock(t, h); err != nil {
			return hs
		}
	}
	for _, k := range b.Children() {
		if b.Kind == block.KindInner && (b.Level > 1 || k.Flag(btree.FlagBig)) {
			hs = st.blocksBelow(t, k, hs)
			continue
		}
		hs = append(hs, k)
	}
	return hs
}
