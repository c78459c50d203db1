package block

import (
	"bytes"
	"encoding/binary"
)

// Row is one row on its way into a leaf. The key is Pre followed by Suf: rows taken from a leaf keep pointing into it.
type Row struct {
	Pre []byte
	Suf []byte
	Val []byte // the value, or the stub when Kid >= 0
	Kid int32  // the caller's index of the value block, -1 for an inline value
}

// KeyLen returns the length of the row's key.
func (r *Row) KeyLen() int { return len(r.Pre) + len(r.Suf) }

// AppendKey appends the row's key to dst.
func (r *Row) AppendKey(dst []byte) []byte { return append(append(dst, r.Pre...), r.Suf...) }

// cut returns the row's key without its first p bytes, as two pieces.
func (r *Row) cut(p int) (a, b []byte) {
	if p <= len(r.Pre) {
		return r.Pre[p:], r.Suf
	}
	return nil, r.Suf[p-len(r.Pre):]
}

func (r *Row) at(i int) byte {
	if i < len(r.Pre) {
		return r.Pre[i]
	}
	return r.Suf[i-len(r.Pre)]
}

// CommonPrefix returns the number of leading bytes that the keys of a and b share.
func CommonPrefix(a, b *Row) int {
	n := min(a.KeyLen(), b.KeyLen())
	i := 0
	if len(a.Pre) == len(b.Pre) && (len(a.Pre) == 0 || &a.Pre[0] == &b.Pre[0]) {
		i = len(a.Pre)
	}
	for i < n && a.at(i) == b.at(i) {
		i++
	}
	return i
}

// RowSize returns the bytes the row takes in a leaf whose prefix has p bytes.
func RowSize(r *Row, p int) int { return rowFixed + r.KeyLen() - p + len(r.Val) }

// LeafOverhead returns the bytes of a leaf beside its rows.
func LeafOverhead(p int) int { return leafHeader + rowFixed + p }

// BuildLeaf makes the leaf of rows, which are sorted and fit (see RowSize, LeafOverhead). Big rows get their ordinals
// in the order of rows.
func BuildLeaf(rows []Row) Leaf {
	n := len(rows)
	p := CommonPrefix(&rows[0], &rows[n-1])
	size := LeafOverhead(p)
	keyBytes := 0
	for i := range rows {
		k := rows[i].KeyLen() - p
		keyBytes += k
		size += rowFixed + k + len(rows[i].Val)
	}
	l := make([]byte, size)
	l[0] = leafFormat
	le := binary.LittleEndian
	le.PutUint16(l[2:], uint16(n))
	le.PutUint16(l[4:], uint16(p))
	ko, vo := leafHeader, leafHeader+2*(n+1)
	at := leafHeader + 4*(n+1)
	first := rows[0].Pre
	c := copy(l[at:at+p], first)
	if c < p {
		copy(l[at+c:at+p], rows[0].Suf)
	}
	k := at + p
	v := k + keyBytes
	bigs := 0
	for i := range rows {
		r := &rows[i]
		le.PutUint16(l[ko:], uint16(k))
		a, b := r.cut(p)
		k += copy(l[k:], a)
		k += copy(l[k:], b)
		off := v
		if r.Kid >= 0 {
			off |= bigFlag
		}
		le.PutUint16(l[vo:], uint16(off))
		copy(l[v:], r.Val)
		if r.Kid >= 0 {
			le.PutUint16(l[v:], uint16(bigs))
			bigs++
		}
		v += len(r.Val)
		ko, vo = ko+2, vo+2
	}
	le.PutUint16(l[ko:], uint16(k))
	le.PutUint16(l[vo:], uint16(v))
	le.PutUint16(l[6:], uint16(bigs))
	return l
}

// ReplaceValue returns l with value i set to val, or nil when the result would exceed limit. Neither the old nor the
// new value is big.
func (l Leaf) ReplaceValue(i int, val []byte, limit int) Leaf {
	n := l.Len()
	old, _ := l.Value(i)
	delta := len(val) - len(old)
	if len(l)+delta > limit {
		return nil
	}
	vo := leafHeader + 2*(n+1)
	at := l.u16(vo+2*i) &^ bigFlag
	if delta == 0 { // the usual update; a clone is not zeroed first
		out := bytes.Clone(l)
		copy(out[at:], val)
		return out[:len(l):len(l)]
	}
	out := make([]byte, len(l)+delta)
	copy(out, l[:at])
	copy(out[at:], val)
	copy(out[at+len(val):], l[at+len(old):])
	if delta != 0 {
		for j := i + 1; j <= n; j++ {
			shift(out, vo+2*j, delta)
		}
	}
	return out
}

// Insert returns l with the row (key, val) inserted before row i, or nil when the key does not begin with l's prefix
// or the result would exceed limit.
func (l Leaf) Insert(i int, key, val []byte, limit int) Leaf {
	pre := l.Prefix()
	n := l.Len()
	if len(l)+rowFixed+len(key)-len(pre)+len(val) > limit || !bytes.HasPrefix(key, pre) {
		return nil
	}
	suf := key[len(pre):]
	out := make([]byte, len(l)+rowFixed+len(suf)+len(val))
	le := binary.LittleEndian
	copy(out, l[:leafHeader])
	le.PutUint16(out[2:], uint16(n+1))
	ko, vo := leafHeader, leafHeader+2*(n+1)
	nko, nvo := leafHeader, leafHeader+2*(n+2)
	kat, vat := l.u16(ko+2*i), l.u16(vo+2*i)&^bigFlag
	for j := 0; j <= n; j++ { // offsets: every row moves by the two new array cells, later ones by the new bytes too
		k, v := l.u16(ko+2*j)+rowFixed, l.u16(vo+2*j)+rowFixed+len(suf)
		d := 0
		if j >= i {
			k += len(suf)
			v += len(val)
			d = 2
		}
		le.PutUint16(out[nko+2*j+d:], uint16(k))
		le.PutUint16(out[nvo+2*j+d:], uint16(v))
	}
	le.PutUint16(out[nko+2*i:], uint16(kat+rowFixed))
	le.PutUint16(out[nvo+2*i:], uint16(vat+rowFixed+len(suf)))
	at := leafHeader + 4*(n+2)
	at += copy(out[at:], l[leafHeader+4*(n+1):kat])
	at += copy(out[at:], suf)
	at += copy(out[at:], l[kat:vat])
	at += copy(out[at:], val)
	copy(out[at:], l[vat:])
	return out
}

// shift adds delta to the offset at o, keeping its flag.
func shift(l []byte, o, delta int) {
	v := int(binary.LittleEndian.Uint16(l[o:]))
	binary.LittleEndian.PutUint16(l[o:], uint16(v&bigFlag|(v&^bigFlag+delta)))
}
