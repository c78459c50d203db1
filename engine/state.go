package engine

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"herd/storage"
	"herd/txlog"
)

// A database's state as a stream, for a node that is too far behind and for backups:
//
//	"herdstat", version u8, last entry u64, length u32 and meta (see encodeMeta)
//	records: 't' tree u32 | 'r' length u32, row (key length uvarint, key, value) | 's' rows u64, checksum u64 of the tree |
//	         'e' rows u64 in all, CRC32C u32 of all before
//
// Trees come in the order of their numbers, rows in that of their keys. Integers are little-endian. Version 1 has no 's'.
const (
	stateMagic   = "herdstat"
	stateVersion = 2
	stateHead    = len(stateMagic) + 1 + 8 + 4
	// stateStep is how many bytes of rows are applied at a time.
	stateStep = 1 << 20
	// stateRowMax bounds a row's length, so that damage is not taken for one.
	stateRowMax = 64 << 20
	// statePiece is about how many bytes are handed out at a time.
	statePiece = 128 << 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// stateWriter writes a stream in pieces of whole records.
type stateWriter struct {
	emit func(piece []byte) error
	buf  []byte
	at   int // where the record in hand begins
	sum  uint32
	rows uint64
}

func (w *stateWriter) begin(kind byte) { w.at, w.buf = len(w.buf), append(w.buf, kind) }

// end closes a record.
func (w *stateWriter) end() error {
	w.sum = crc32.Update(w.sum, castagnoli, w.buf[w.at:])
	if len(w.buf) < statePiece {
		return nil
	}
	return w.flush()
}

func (w *stateWriter) flush() error {
	err := w.emit(w.buf)
	w.buf = w.buf[:0]
	return err
}

// write writes snap, which its caller pins, as the state behind entry last.
func (w *stateWriter) write(snap *storage.Snapshot, last txlog.Seq, meta []byte) error {
	le := binary.LittleEndian
	w.buf = append(append(w.buf[:0], stateMagic...), stateVersion)
	w.buf = le.AppendUint64(w.buf, uint64(last))
	w.buf = append(le.AppendUint32(w.buf, uint32(len(meta))), meta...)
	w.at = 0
	failed := w.end()
	if failed != nil {
		return failed
	}
	snap.Trees(func(id storage.TreeID, _ int64) bool {
		failed = w.tree(snap, id)
		return failed == nil
	})
	if failed != nil {
		return failed
	}
	w.begin('e')
	w.buf = le.AppendUint64(w.buf, w.rows)
	w.sum = crc32.Update(w.sum, castagnoli, w.buf[w.at:])
	w.buf = le.AppendUint32(w.buf, w.sum)
	return w.flush()
}

func (w *stateWriter) tree(snap *storage.Snapshot, id storage.TreeID) error {
	le := binary.LittleEndian
	w.begin('t')
	w.buf = le.AppendUint32(w.buf, uint32(id))
	if err := w.end(); err != nil {
		return err
	}
	var c storage.Cursor
	c.Init(storage.View{Snap: snap}, id, nil, nil, false)
	defer c.Close()
	rows := uint64(0)
	for c.Next() {
		w.begin('r')
		w.buf = append(w.buf, 0, 0, 0, 0)
		w.buf = binary.AppendUvarint(w.buf, uint64(len(c.Key())))
		w.buf = append(append(w.buf, c.Key()...), c.Value()...)
		le.PutUint32(w.buf[w.at+1:], uint32(len(w.buf)-w.at-5))
		if err := w.end(); err != nil {
			return err
		}
		rows++
	}
	if err := c.Err(); err != nil {
		return fmt.Errorf("read tree %d: %w", id, err)
	}
	if n := snap.Count(id); n != int64(rows) {
		return fmt.Errorf("read tree %d: it has %d rows and its root says %d: %w", id, rows, n, storage.ErrCorrupt)
	}
	w.rows += rows
	w.begin('s')
	w.buf = le.AppendUint64(le.AppendUint64(w.buf, rows), snap.Checksum(id))
	return w.end()
}

// stateTaker is told what a stream contains.
type stateTaker interface {
	// head comes first. meta may be kept.
	head(last txlog.Seq, meta []byte) error
	tree(id storage.TreeID) error
	// row's key and val are valid during the call.
	row(id storage.TreeID, key, val []byte) error
	// treeEnd says what the tree's rows have to be.
	treeEnd(id storage.TreeID, rows, sum uint64) error
	// end comes when the whole stream was read and verified.
	end() error
}

// stateParser takes a stream apart. Between whole records its place is what is exported, and nothing else.
type stateParser struct {
	to   stateTaker
	rest []byte // of a record that is not whole

	Begun, Ended bool
	Version      uint8
	Sum          uint32
	Tree         storage.TreeID
	Rows         uint64
}

// feed takes the next bytes, which are not kept.
func (p *stateParser) feed(b []byte) error {
	if len(p.rest) > 0 {
		p.rest = append(p.rest, b...)
		b = p.rest
	}
	for len(b) > 0 {
		if p.Ended {
			return p.damaged("something follows its end")
		}
		n, err := p.record(b)
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		b = b[n:]
	}
	p.rest = append(p.rest[:0], b...)
	return nil
}

// whole returns an error when the stream is not at its end.
func (p *stateParser) whole() error {
	if !p.Ended {
		return p.damaged("it ends too early")
	}
	return nil
}

func (p *stateParser) damaged(format string, args ...any) error {
	return fmt.Errorf("read a database's state: %s: %w", fmt.Sprintf(format, args...), storage.ErrCorrupt)
}

// record takes the record at the beginning of b and returns its length, 0 when it is not whole.
func (p *stateParser) record(b []byte) (n int, err error) {
	le := binary.LittleEndian
	if !p.Begun {
		return p.begin(b)
	}
	size := 5 // of 't' and 'r' before what follows
	switch b[0] {
	case 't', 'r':
	case 's':
		size = 17
	case 'e':
		size = 13
	default:
		return 0, p.damaged("unknown record %d", b[0])
	}
	if len(b) < size {
		return 0, nil
	}
	if b[0] == 'r' {
		n := le.Uint32(b[1:])
		if n > stateRowMax || p.Tree == 0 {
			return 0, p.damaged("a row of %d bytes in tree %d", n, p.Tree)
		}
		if size += int(n); len(b) < size {
			return 0, nil
		}
	}
	b = b[:size]
	switch b[0] {
	case 't':
		p.Tree = storage.TreeID(le.Uint32(b[1:]))
		err = p.to.tree(p.Tree)
	case 'r':
		p.Rows++
		k, w := binary.Uvarint(b[5:])
		if w <= 0 || k > uint64(size-5-w) {
			return 0, p.damaged("a row's key of %d bytes", k)
		}
		end := 5 + w + int(k)
		err = p.to.row(p.Tree, b[5+w:end:end], b[end:])
	case 's':
		err = p.to.treeEnd(p.Tree, le.Uint64(b[1:]), le.Uint64(b[9:]))
	case 'e':
		p.Sum = crc32.Update(p.Sum, castagnoli, b[:9])
		if le.Uint64(b[1:]) != p.Rows || le.Uint32(b[9:]) != p.Sum {
			return 0, p.damaged("its checksum does not match")
		}
		p.Ended = true
		return size, p.to.end()
	}
	p.Sum = crc32.Update(p.Sum, castagnoli, b)
	return size, err
}

// begin takes the head.
func (p *stateParser) begin(b []byte) (n int, err error) {
	le := binary.LittleEndian
	if len(b) < stateHead {
		return 0, nil
	}
	if string(b[:len(stateMagic)]) != stateMagic {
		return 0, p.damaged("it does not begin like one")
	}
	if p.Version = b[len(stateMagic)]; p.Version > stateVersion {
		return 0, fmt.Errorf("read a database's state of version %d: %w", p.Version, ErrNewerFormat)
	}
	size := le.Uint32(b[len(stateMagic)+9:])
	if size > stateRowMax {
		return 0, p.damaged("meta of %d bytes", size)
	}
	n = stateHead + int(size)
	if len(b) < n {
		return 0, nil
	}
	p.Begun = true
	p.Sum = crc32.Update(0, castagnoli, b[:n])
	meta := append([]byte(nil), b[stateHead:n]...)
	return n, p.to.head(txlog.Seq(le.Uint64(b[len(stateMagic)+1:])), meta)
}
