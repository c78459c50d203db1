package block

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

const (
	leafFormat = 1
	leafHeader = 8
	rowFixed   = 4 // bytes a row costs beside its suffix and value
	bigFlag    = 1 << 15
)

// StubLen is the length of a big row's stub.
const StubLen = 14

// Leaf is the bytes of a leaf. Its methods trust them: bytes from disk pass CheckLeaf first.
type Leaf []byte

func (l Leaf) u16(o int) int { return int(binary.LittleEndian.Uint16(l[o:])) }

// Len returns the number of rows.
func (l Leaf) Len() int { return l.u16(2) }

// Bigs returns the number of big rows.
func (l Leaf) Bigs() int { return l.u16(6) }

// Prefix returns what all keys begin with.
func (l Leaf) Prefix() []byte {
	o := leafHeader + 4*(l.Len()+1)
	return l[o : o+l.u16(4)]
}

// Suffix returns key i without the prefix.
func (l Leaf) Suffix(i int) []byte {
	o := leafHeader + 2*i
	return l[l.u16(o):l.u16(o+2)]
}

// AppendKey appends key i to dst.
func (l Leaf) AppendKey(dst []byte, i int) []byte {
	return append(append(dst, l.Prefix()...), l.Suffix(i)...)
}

// Value returns value i; big tells that it is a stub.
func (l Leaf) Value(i int) (v []byte, big bool) {
	o := leafHeader + 2*(l.Len()+1+i)
	a, b := l.u16(o), l.u16(o+2)
	return l[a&^bigFlag : b&^bigFlag : b&^bigFlag], a&bigFlag != 0
}

// Values fills dst with the values of rows from, from+1 ... of a leaf without big rows.
func (l Leaf) Values(dst [][]byte, from int) {
	o := leafHeader + 2*(l.Len()+1+from)
	a := l.u16(o)
	for i := range dst {
		o += 2
		b := l.u16(o)
		dst[i] = l[a:b:b]
		a = b
	}
}

// Search returns the place of key: its index when found, else the index where it would be inserted.
func (l Leaf) Search(key []byte) (i int, found bool) {
	n, p := l.Len(), l.u16(4)
	if p > 0 {
		o := leafHeader + 4*(n+1)
		pre := l[o : o+p]
		if len(key) < p || !bytes.Equal(key[:p], pre) {
			if bytes.Compare(key, pre) < 0 {
				return 0, false
			}
			return n, false
		}
		key = key[p:]
	}
	lo, hi := 0, n
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		o := leafHeader + 2*m
		c := bytes.Compare(l[l.u16(o):l.u16(o+2)], key)
		if c == 0 {
			return m, true
		}
		if c < 0 {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo, false
}

// Stub takes a big row's stub apart.
func Stub(v []byte) (kid int, length int, hash uint64) {
	return int(binary.LittleEndian.Uint16(v)), int(binary.LittleEndian.Uint32(v[2:])), binary.LittleEndian.Uint64(v[6:])
}

// AppendStub appends a stub to dst; the builder fills in the ordinal.
func AppendStub(dst []byte, length int, hash uint64) []byte {
	dst = append(dst, 0, 0)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(length))
	return binary.LittleEndian.AppendUint64(dst, hash)
}

// CheckLeaf verifies that every offset of l stays inside l and that the keys ascend.
func CheckLeaf(l Leaf) error {
	bad := func(what string) error { return fmt.Errorf("leaf: %s: %w", what, ErrCorrupt) }
	if len(l) < leafHeader+8 {
		return bad("too short")
	}
	if l[0] != leafFormat {
		return bad(fmt.Sprintf("format %d", l[0]))
	}
	n, p := l.Len(), l.u16(4)
	o := leafHeader + 4*(n+1)
	if n < 1 || o+p > len(l) {
		return bad("row count")
	}
	at := o + p
	for i := 0; i <= n; i++ {
		k := l.u16(leafHeader + 2*i)
		if k < at || k > len(l) || i == 0 && k != at {
			return bad("key offset")
		}
		at = k
	}
	bigs := 0
	for i := 0; i <= n; i++ {
		v := l.u16(leafHeader + 2*(n+1+i))
		if v&^bigFlag < at || v&^bigFlag > len(l) {
			return bad("value offset")
		}
		at = v &^ bigFlag
		if v&bigFlag != 0 {
			bigs++
		}
	}
	if at != len(l) || bigs != l.Bigs() {
		return bad("length")
	}
	for i, kid := 0, 0; i < n; i++ {
		if i > 0 && bytes.Compare(l.Suffix(i-1), l.Suffix(i)) >= 0 {
			return bad("key order")
		}
		if v, big := l.Value(i); big {
			if len(v) != StubLen {
				return bad("stub")
			}
			if k, _, _ := Stub(v); k != kid {
				return bad("stub order")
			}
			kid++
		}
	}
	return nil
}
