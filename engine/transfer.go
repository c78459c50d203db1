package engine

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"runtime"

	"herd/storage"
	"herd/txlog"
)

// The applied state as a stream, for a node that is too far behind:
//
//	"herdstat", version u8, last entry u64, length u32 and meta (see encodeMeta)
//	frames: 't' tree u32 | 'r' length u32, row (key length uvarint, key, value) | 'e' rows u64
//	CRC32C u32 of all before
//
// Trees come in the order of their numbers, rows in that of their keys. Integers are little-endian.
const (
	stateMagic   = "herdstat"
	stateVersion = 1
	// stateStep is how many bytes of rows are applied at a time.
	stateStep = 1 << 20
	// stateRowMax bounds a row's length, so that damage is not taken for one.
	stateRowMax = 64 << 20
)

// ErrOpenParts: the state cannot be written while transactions have parts in the log that it would not contain.
var ErrOpenParts = errors.New("large transactions are open")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

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
	sum := crc32.New(castagnoli)
	out := bufio.NewWriterSize(io.MultiWriter(w, sum), 64<<10)
	le := binary.LittleEndian
	head := le.AppendUint64(append([]byte(stateMagic), stateVersion), uint64(last))
	head = append(le.AppendUint32(head, uint32(len(meta))), meta...)
	if _, err := out.Write(head); err != nil {
		return err
	}
	rows := uint64(0)
	var failed error
	snap.Trees(func(id storage.TreeID, _ int64) bool {
		n, err := writeTree(out, storage.View{Snap: snap}, id)
		rows, failed = rows+n, err
		return err == nil
	})
	if failed != nil {
		return failed
	}
	if _, err := out.Write(le.AppendUint64([]byte{'e'}, rows)); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	_, err = w.Write(le.AppendUint32(nil, sum.Sum32()))
	return err
}

func writeTree(w io.Writer, v storage.View, id storage.TreeID) (rows uint64, err error) {
	le := binary.LittleEndian
	if _, err := w.Write(le.AppendUint32([]byte{'t'}, uint32(id))); err != nil {
		return 0, err
	}
	var c storage.Cursor
	c.Init(v, id, nil, nil, false)
	defer c.Close()
	var buf []byte
	for c.Next() {
		buf = append(buf[:0], 'r', 0, 0, 0, 0)
		buf = binary.AppendUvarint(buf, uint64(len(c.Key())))
		buf = append(append(buf, c.Key()...), c.Value()...)
		le.PutUint32(buf[1:], uint32(len(buf)-5))
		if _, err := w.Write(buf); err != nil {
			return rows, err
		}
		rows++
	}
	return rows, c.Err()
}

// stateReader reads a stream and sums it.
type stateReader struct {
	r   *bufio.Reader
	sum hash.Hash32
}

func (r *stateReader) bytes(n int) ([]byte, error) {
	p := make([]byte, n)
	if _, err := io.ReadFull(r.r, p); err != nil {
		return nil, fmt.Errorf("read a database's state: %w", err)
	}
	r.sum.Write(p)
	return p, nil
}

// Restore implements txlog.Applier. On error the state is the one before.
func (a *applier) Restore(r io.Reader) error {
	db := a.db
	return db.exclusive(func() error {
		if a.role != following {
			return errors.New("restore a database's state: the node does not follow")
		}
		old := db.tip.Load()
		b := &restorer{db: db, in: &stateReader{bufio.NewReaderSize(r, 64<<10), crc32.New(castagnoli)}, snap: old, slot: db.store.NewSlot()}
		defer b.slot.Close()
		if err := b.run(); err != nil {
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

// restorer builds the state of a stream beside the present one.
type restorer struct {
	db   *Database
	in   *stateReader
	snap *storage.Snapshot
	slot *storage.ReaderSlot
	last txlog.Seq
	meta []byte

	set  storage.ChangeSet
	size int
}

func (b *restorer) run() error {
	le := binary.LittleEndian
	head, err := b.in.bytes(len(stateMagic) + 1 + 8 + 4)
	if err != nil {
		return err
	}
	if string(head[:len(stateMagic)]) != stateMagic {
		return fmt.Errorf("read a database's state: it does not begin like one: %w", storage.ErrCorrupt)
	}
	if v := head[len(stateMagic)]; v > stateVersion {
		return fmt.Errorf("read a database's state of version %d: %w", v, ErrNewerFormat)
	}
	b.last = txlog.Seq(le.Uint64(head[len(stateMagic)+1:]))
	n := le.Uint32(head[len(stateMagic)+9:])
	if n > stateRowMax {
		return fmt.Errorf("read a database's state: meta of %d bytes: %w", n, storage.ErrCorrupt)
	}
	if b.meta, err = b.in.bytes(int(n)); err != nil {
		return err
	}
	b.snap.Trees(func(id storage.TreeID, _ int64) bool {
		b.set = append(b.set, storage.Change{Tree: id, Op: storage.OpDropTree})
		return true
	})
	if err := b.apply(); err != nil {
		return err
	}
	return b.frames()
}

// frames reads trees and rows up to the end and checks the sum.
func (b *restorer) frames() error {
	le := binary.LittleEndian
	tree, rows := storage.TreeID(0), uint64(0)
	for {
		kind, err := b.in.bytes(1)
		if err != nil {
			return err
		}
		switch kind[0] {
		case 't':
			p, err := b.in.bytes(4)
			if err != nil {
				return err
			}
			tree = storage.TreeID(le.Uint32(p))
			b.set = append(b.set, storage.Change{Tree: tree, Op: storage.OpCreateTree})
		case 'r':
			if err := b.row(tree); err != nil {
				return err
			}
			rows++
		case 'e':
			p, err := b.in.bytes(8)
			if err != nil {
				return err
			}
			want := b.in.sum.Sum32()
			sum, err := b.in.bytes(4)
			if err != nil {
				return err
			}
			if le.Uint64(p) != rows || le.Uint32(sum) != want {
				return fmt.Errorf("read a database's state: its checksum does not match: %w", storage.ErrCorrupt)
			}
			return b.apply()
		default:
			return fmt.Errorf("read a database's state: unknown frame %d: %w", kind[0], storage.ErrCorrupt)
		}
	}
}

func (b *restorer) row(tree storage.TreeID) error {
	p, err := b.in.bytes(4)
	if err != nil {
		return err
	}
	n := binary.LittleEndian.Uint32(p)
	if n > stateRowMax || tree == 0 {
		return fmt.Errorf("read a database's state: a row of %d bytes in tree %d: %w", n, tree, storage.ErrCorrupt)
	}
	if p, err = b.in.bytes(int(n)); err != nil {
		return err
	}
	k, w := binary.Uvarint(p)
	if w <= 0 || k > uint64(len(p)-w) {
		return fmt.Errorf("read a database's state: a row's key of %d bytes: %w", k, storage.ErrCorrupt)
	}
	end := w + int(k)
	b.set = append(b.set, storage.Change{Tree: tree, Op: storage.OpPut, Key: p[w:end:end], Val: p[end:]})
	if b.size += int(n); b.size < stateStep {
		return nil
	}
	return b.apply()
}

func (b *restorer) apply() error {
	if len(b.set) == 0 {
		return nil
	}
	s, err := b.db.store.ApplySorted(b.snap, storage.Seq(b.last), b.set, runtime.GOMAXPROCS(0))
	if err != nil {
		return fmt.Errorf("restore a database's state: %w", err)
	}
	b.slot.Pin(s)
	b.snap, b.set, b.size = s, nil, 0
	return nil
}
