package engine

import (
	"fmt"
	"runtime"

	"herd/storage"
	"herd/txlog"
)

// restorer builds the state of a backup's stream. It is a stateTaker.
type restorer struct {
	store *storage.Store
	snap  *storage.Snapshot
	slot  *storage.ReaderSlot
	last  txlog.Seq
	meta  []byte
	// applied is called after each step, to keep memory small.
	applied func() error

	set   storage.ChangeSet
	bytes []byte // of the rows in set
	ends  []treeSum
}

// treeSum is what a tree has to be once its rows are applied.
type treeSum struct {
	id        storage.TreeID
	rows, sum uint64
}

func (b *restorer) head(last txlog.Seq, meta []byte) error {
	b.last, b.meta = last, meta
	b.snap.Trees(func(id storage.TreeID, _ int64) bool {
		b.set = append(b.set, storage.Change{Tree: id, Op: storage.OpDropTree})
		return true
	})
	return b.apply()
}

func (b *restorer) tree(id storage.TreeID) error {
	b.set = append(b.set, storage.Change{Tree: id, Op: storage.OpCreateTree})
	return nil
}

func (b *restorer) row(id storage.TreeID, key, val []byte) error {
	need := len(key) + len(val)
	if cap(b.bytes)-len(b.bytes) < need { // earlier rows stay where they are
		if err := b.apply(); err != nil {
			return err
		}
		if cap(b.bytes) < need {
			b.bytes = make([]byte, 0, max(need, stateStep))
		}
	}
	at := len(b.bytes)
	b.bytes = append(append(b.bytes, key...), val...)
	mid, end := at+len(key), len(b.bytes)
	b.set = append(b.set, storage.Change{Tree: id, Op: storage.OpPut, Key: b.bytes[at:mid:mid], Val: b.bytes[mid:end:end]})
	return nil
}

func (b *restorer) treeEnd(id storage.TreeID, rows, sum uint64) error {
	b.ends = append(b.ends, treeSum{id, rows, sum})
	return nil
}

func (b *restorer) end() error { return b.apply() }

// apply applies the rows gathered and checks the trees that are whole.
func (b *restorer) apply() error {
	if len(b.set) > 0 {
		s, err := b.store.ApplySorted(b.snap, storage.Seq(b.last), b.set, runtime.GOMAXPROCS(0))
		if err != nil {
			return fmt.Errorf("restore a database's state: %w", err)
		}
		b.slot.Pin(s)
		clear(b.set)
		b.snap, b.set, b.bytes = s, b.set[:0], b.bytes[:0]
	}
	for _, e := range b.ends {
		if n, s := b.snap.Count(e.id), b.snap.Checksum(e.id); n != int64(e.rows) || s != e.sum {
			return fmt.Errorf("restore a database's state: tree %d has %d rows with checksum %x, it had %d with %x: %w", e.id, n, s, e.rows, e.sum, storage.ErrCorrupt)
		}
	}
	b.ends = b.ends[:0]
	return b.applied()
}
