package block

import (
	"encoding/binary"
	"fmt"
)

const (
	innerFormat = 1
	innerHeader = 8
	innerEntry  = 32
	refLen      = 12
)

// Ref is where a child is on disk.
type Ref struct {
	Addr Address
	Size uint32 // bytes of the frame
}

// Stat is what an inner entry knows of its subtree.
type Stat struct {
	Rows int64
	Sum  uint64 // additive sum of row hashes
}

// Add returns s with d added.
func (s Stat) Add(d Stat) Stat { return Stat{s.Rows + d.Rows, s.Sum + d.Sum} }

// Sub returns s with d taken away.
func (s Stat) Sub(d Stat) Stat { return Stat{s.Rows - d.Rows, s.Sum - d.Sum} }

// Keys are the separators of an inner node: Offs[i] is where the suffix of separator i ends in Bytes. Separator 0 is
// empty. Immutable; versions of a node whose separators did not change share it.
type Keys struct {
	Prefix []byte
	Offs   []uint32
	Bytes  []byte
}

// Suffix returns separator i without the prefix, i >= 1.
func (k *Keys) Suffix(i int) []byte { return k.Bytes[k.Offs[i-1]:k.Offs[i]] }

// AppendInner appends the disk form of an inner node to dst.
func AppendInner(dst []byte, k *Keys, refs []Ref, stats []Stat) []byte {
	le := binary.LittleEndian
	dst = append(dst, innerFormat, 0)
	dst = le.AppendUint16(dst, uint16(len(refs)))
	dst = le.AppendUint16(dst, uint16(len(k.Prefix)))
	dst = append(dst, 0, 0)
	for i := range refs {
		dst = le.AppendUint64(dst, uint64(refs[i].Addr))
		dst = le.AppendUint32(dst, refs[i].Size)
		dst = le.AppendUint64(dst, uint64(stats[i].Rows))
		dst = le.AppendUint64(dst, stats[i].Sum)
		dst = le.AppendUint32(dst, k.Offs[i])
	}
	return append(append(dst, k.Prefix...), k.Bytes...)
}

// DecodeInner takes the disk form apart. The results do not alias p.
func DecodeInner(p []byte) (k *Keys, refs []Ref, stats []Stat, err error) {
	bad := func(what string) error { return fmt.Errorf("inner node: %s: %w", what, ErrCorrupt) }
	le := binary.LittleEndian
	if len(p) < innerHeader {
		return nil, nil, nil, bad("too short")
	}
	if p[0] != innerFormat {
		return nil, nil, nil, bad(fmt.Sprintf("format %d", p[0]))
	}
	n, pl := int(le.Uint16(p[2:])), int(le.Uint16(p[4:]))
	body := innerHeader + n*innerEntry
	if n < 1 || body+pl > len(p) {
		return nil, nil, nil, bad("child count")
	}
	k = &Keys{Offs: make([]uint32, n)}
	refs, stats = make([]Ref, n), make([]Stat, n)
	end := uint32(0)
	limit := uint32(len(p) - body - pl)
	for i := range refs {
		e := p[innerHeader+i*innerEntry:]
		refs[i] = Ref{Address(le.Uint64(e)), le.Uint32(e[8:])}
		stats[i] = Stat{int64(le.Uint64(e[12:])), le.Uint64(e[20:])}
		off := le.Uint32(e[28:])
		if off < end || off > limit || i == 0 && off != 0 || refs[i].Addr == 0 {
			return nil, nil, nil, bad("entry")
		}
		k.Offs[i], end = off, off
	}
	if end != limit {
		return nil, nil, nil, bad("length")
	}
	buf := append([]byte(nil), p[body:]...)
	k.Prefix, k.Bytes = buf[:pl:pl], buf[pl:]
	return k, refs, stats, nil
}

// AppendRefs appends the references of a leaf's value blocks.
func AppendRefs(dst []byte, refs []Ref) []byte {
	for _, r := range refs {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(r.Addr))
		dst = binary.LittleEndian.AppendUint32(dst, r.Size)
	}
	return dst
}

// DecodeLeaf splits the disk form of a leaf into its bytes, which alias p, and its value references. It checks both.
func DecodeLeaf(p []byte) (l Leaf, refs []Ref, err error) {
	if len(p) < leafHeader {
		return nil, nil, fmt.Errorf("leaf: too short: %w", ErrCorrupt)
	}
	bigs := Leaf(p).Bigs()
	n := len(p) - bigs*refLen
	if n < leafHeader {
		return nil, nil, fmt.Errorf("leaf: long values: %w", ErrCorrupt)
	}
	l = Leaf(p[:n:n])
	if err := CheckLeaf(l); err != nil {
		return nil, nil, err
	}
	for i := range bigs {
		e := p[n+i*refLen:]
		r := Ref{Address(binary.LittleEndian.Uint64(e)), binary.LittleEndian.Uint32(e[8:])}
		if r.Addr == 0 {
			return nil, nil, fmt.Errorf("leaf: reference of a long value: %w", ErrCorrupt)
		}
		refs = append(refs, r)
	}
	return l, refs, nil
}
