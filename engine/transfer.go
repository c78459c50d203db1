package engine

import (
	"errors"
	"fmt"
	"io"
	"runtime"

	"herd/storage"
	"herd/txlog"
)

// ErrOpenParts: the state cannot be written while transactions have parts in the log that it would not contain.
var ErrOpenParts = errors.New("large transactions are open")

// Snapshot implements txlog.Applier. ErrOpenParts: try again later.
func (a *applier) Snapshot(w io.Writer) error {
	db := a.db
	slot := db.store.NewSlot()
	defer slot.Close()
	var snap *storage.Snapshot
	var last txlog.Seq
	var epoch txlog.Epoch
	err := db.exclusive(func() error { // so that no entry comes in between
		if db.parts.waiting() {
			return ErrOpenParts
		}
		for snap = db.durable.Load(); !slot.Pin(snap); {
			snap = db.durable.Load()
		}
		last, epoch = a.Applied(), a.epoch
		return nil
	})
	if err != nil {
		return err
	}
	// Not as the leader: who draws a sequence's next value holds the sequence while its entry queues. What is recorded is at
	// least as far as the entry last.
	meta := db.encodeMeta(last, epoch, nil)
	out := stateWriter{emit: func(piece []byte) error {
		_, err := w.Write(piece)
		return err
	}}
	return out.write(snap, last, meta)
}

// Restore implements txlog.Applier. On error the state is the one before.
func (a *applier) Restore(r io.Reader) error {
	db := a.db
	return db.exclusive(func() error {
		if a.role != following {
			return errors.New("restore a database's state: the node does not follow")
		}
		old := db.tip.Load()
		b := &restorer{store: db.store, snap: old, slot: db.store.NewSlot()}
		defer b.slot.Close()
		if err := b.run(r); err != nil {
			back, e := db.store.Rewind(old)
			if e == nil {
				a.published(back)
			}
			return errors.Join(err, e)
		}
		db.sequences.reset()
		last, _, err := db.decodeMeta(b.meta)
		if err != nil {
			return err
		}
		clear(a.parts)
		db.parts.clear()
		a.last, a.done, a.snap, db.last, a.epoch = last, last, b.snap, last, db.epoch
		a.published(b.snap)
		db.ckpt.seq.Store(0) // the manifest is of another state
		return nil
	})
}

// restorer builds the state of a stream beside the present one. It is a stateTaker.
type restorer struct {
	store *storage.Store
	snap  *storage.Snapshot
	slot  *storage.ReaderSlot
	last  txlog.Seq
	meta  []byte
	// applied is called after each step, to keep memory small. May be nil.
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

// run reads a whole stream.
func (b *restorer) run(r io.Reader) error {
	p := stateParser{to: b}
	buf := make([]byte, statePiece)
	for !p.Ended {
		n, err := r.Read(buf)
		if e := p.feed(buf[:n]); e != nil {
			return e
		}
		switch {
		case p.Ended:
		case err == io.EOF:
			return p.whole()
		case err != nil:
			return fmt.Errorf("read a database's state: %w", err)
		}
	}
	return nil
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
	if b.applied != nil {
		return b.applied()
	}
	return nil
}
