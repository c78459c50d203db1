package engine

import (
	"encoding/binary"
	"fmt"

	"herd/storage"
	"herd/txlog"
)

// Payload of Commit, Part and Abort entries:
//
//	flags u8, transaction u64, parts u32 (Commit: how many came before; Part: its number from 0)
//	flagTime:    u64 time of the commit, microseconds since 1970; it never goes back within an epoch
//	flagRowID:   u64 next row id
//	flagNumbers: u32 next object number, u32 next tree number
//	changes, each: op u8 | treeFollows, [tree uvarint], [key length uvarint, key], [value length uvarint, value]
//
// SeqReserve: see sequence.go. Open: empty. Integers of fixed size are little-endian.
const (
	flagRowID   = 1
	flagNumbers = 2
	flagTime    = 4
	flagsKnown  = flagRowID | flagNumbers | flagTime

	treeFollows = 0x80

	payloadHeader = 13
	// payloadMax leaves room for the header and its optional fields.
	payloadMax = txlog.MaxEntry - 64
)

// header is the decoded head of a payload.
type header struct {
	tx      uint64
	parts   uint32
	rowID   uint64 // 0 = not recorded
	oid     uint32
	tree    uint32
	numbers bool
	stamped bool   // a Commit: it has a time
	time    uint64 // microseconds since 1970, 0 = not recorded
}

func appendHeader(b []byte, h header) []byte {
	flags := byte(0)
	if h.rowID != 0 {
		flags |= flagRowID
	}
	if h.numbers {
		flags |= flagNumbers
	}
	if h.stamped {
		flags |= flagTime
	}
	b = append(b, flags)
	b = binary.LittleEndian.AppendUint64(b, h.tx)
	b = binary.LittleEndian.AppendUint32(b, h.parts)
	if h.stamped {
		b = binary.LittleEndian.AppendUint64(b, h.time)
	}
	if h.rowID != 0 {
		b = binary.LittleEndian.AppendUint64(b, h.rowID)
	}
	if h.numbers {
		b = binary.LittleEndian.AppendUint32(b, h.oid)
		b = binary.LittleEndian.AppendUint32(b, h.tree)
	}
	return b
}

// stamp sets the time in the payload of a Commit that has room for it: only the leader of the queue knows it.
func stamp(p []byte, micros uint64) {
	if len(p) >= payloadHeader+8 && p[0]&flagTime != 0 {
		binary.LittleEndian.PutUint64(p[payloadHeader:], micros)
	}
}

var errPayload = fmt.Errorf("log entry's payload does not decode: %w", storage.ErrCorrupt)

// decodeHeader returns the head and the changes' bytes.
func decodeHeader(p []byte) (h header, rest []byte, err error) {
	if len(p) < payloadHeader {
		return h, nil, errPayload
	}
	flags := p[0]
	h.tx = binary.LittleEndian.Uint64(p[1:])
	h.parts = binary.LittleEndian.Uint32(p[9:])
	p = p[payloadHeader:]
	if flags&^flagsKnown != 0 {
		return h, nil, fmt.Errorf("log entry's payload has flags %#x: %w", flags, ErrNewerFormat)
	}
	if flags&flagTime != 0 {
		if len(p) < 8 {
			return h, nil, errPayload
		}
		h.stamped, h.time = true, binary.LittleEndian.Uint64(p)
		p = p[8:]
	}
	if flags&flagRowID != 0 {
		if len(p) < 8 {
			return h, nil, errPayload
		}
		h.rowID = binary.LittleEndian.Uint64(p)
		p = p[8:]
	}
	if flags&flagNumbers != 0 {
		if len(p) < 8 {
			return h, nil, errPayload
		}
		h.numbers = true
		h.oid, h.tree = binary.LittleEndian.Uint32(p), binary.LittleEndian.Uint32(p[4:])
		p = p[8:]
	}
	return h, p, nil
}

// changeBytes is an upper bound of a change's encoded size.
func changeBytes(c *storage.Change) int { return 16 + len(c.Key) + len(c.Val) }

// appendChange encodes c; prev is the tree of the change before in this payload, 0 for the first.
func appendChange(b []byte, c *storage.Change, prev storage.TreeID) []byte {
	op := byte(c.Op)
	if c.Tree != prev {
		b = append(b, op|treeFollows)
		b = binary.AppendUvarint(b, uint64(c.Tree))
	} else {
		b = append(b, op)
	}
	switch c.Op {
	case storage.OpPut:
		b = binary.AppendUvarint(b, uint64(len(c.Key)))
		b = append(b, c.Key...)
		b = binary.AppendUvarint(b, uint64(len(c.Val)))
		b = append(b, c.Val...)
	case storage.OpDelete:
		b = binary.AppendUvarint(b, uint64(len(c.Key)))
		b = append(b, c.Key...)
	}
	return b
}

// decodeChanges appends the changes in p to cs. They alias p.
func decodeChanges(cs storage.ChangeSet, p []byte) (storage.ChangeSet, error) {
	tree := storage.TreeID(0)
	field := func() ([]byte, bool) {
		n, w := binary.Uvarint(p)
		if w <= 0 || n > uint64(len(p)-w) {
			return nil, false
		}
		f := p[w : w+int(n) : w+int(n)]
		p = p[w+int(n):]
		return f, true
	}
	for len(p) > 0 {
		op := p[0]
		p = p[1:]
		if op&treeFollows != 0 {
			n, w := binary.Uvarint(p)
			if w <= 0 || n > 1<<32-1 {
				return cs, errPayload
			}
			tree = storage.TreeID(n)
			p = p[w:]
		}
		c := storage.Change{Tree: tree, Op: storage.Op(op &^ treeFollows)}
		ok := true
		switch c.Op {
		case storage.OpPut:
			if c.Key, ok = field(); ok {
				c.Val, ok = field()
			}
		case storage.OpDelete:
			c.Key, ok = field()
		case storage.OpCreateTree, storage.OpDropTree:
		default:
			ok = false
		}
		if !ok {
			return cs, errPayload
		}
		cs = append(cs, c)
	}
	return cs, nil
}
