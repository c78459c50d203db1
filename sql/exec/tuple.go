package exec

import (
	"encoding/binary"
	"math"

	"herd/sql/types"
	"herd/sql/vec"
)

// tupleCodec packs rows of fixed kinds into bytes for what outlives a batch: row stores, sort runs, spill files.
// Layout: NULL bitmap, one 8-byte slot a column (the value, or offset and length of variable bytes), variable bytes.
type tupleCodec struct {
	kinds []types.Kind
	slots int // offset of the first slot
	fixed int // offset of the variable part
}

func newTupleCodec(kinds []types.Kind) *tupleCodec {
	nulls := (len(kinds) + 7) / 8
	return &tupleCodec{kinds: kinds, slots: nulls, fixed: nulls + 8*len(kinds)}
}

// encode appends row i of cols to dst as a tuple.
func (c *tupleCodec) encode(dst []byte, cols []*vec.Vector, i int) []byte {
	base := len(dst)
	dst = extendZero(dst, c.fixed)
	for k, kind := range c.kinds {
		v := cols[k]
		if v.IsNull(i) {
			dst[base+k>>3] |= 1 << (k & 7)
			continue
		}
		slot := base + c.slots + 8*k
		j := v.At(i)
		switch kind {
		case types.KindInt:
			binary.LittleEndian.PutUint64(dst[slot:], uint64(v.Int[j]))
		case types.KindFloat:
			binary.LittleEndian.PutUint64(dst[slot:], uint64(types.Float(v.Float[j]).I))
		case types.KindBool:
			if v.Bool[j] {
				dst[slot] = 1
			}
		default:
			b := v.Bytes(j)
			binary.LittleEndian.PutUint32(dst[slot:], uint32(len(dst)-base))
			binary.LittleEndian.PutUint32(dst[slot+4:], uint32(len(b)))
			dst = append(dst, b...)
		}
	}
	return dst
}

// encodeDatums is encode for a row of datums.
func (c *tupleCodec) encodeDatums(dst []byte, row []types.Datum) []byte {
	base := len(dst)
	dst = extendZero(dst, c.fixed)
	for k, kind := range c.kinds {
		d := row[k]
		slot := base + c.slots + 8*k
		switch {
		case d.Null:
			dst[base+k>>3] |= 1 << (k & 7)
		case kind == types.KindBytes:
			binary.LittleEndian.PutUint32(dst[slot:], uint32(len(dst)-base))
			binary.LittleEndian.PutUint32(dst[slot+4:], uint32(len(d.B)))
			dst = append(dst, d.B...)
		default:
			binary.LittleEndian.PutUint64(dst[slot:], uint64(d.I))
		}
	}
	return dst
}

func extendZero(dst []byte, n int) []byte {
	l := len(dst)
	if cap(dst)-l < n {
		dst = append(dst, make([]byte, n)...)
		return dst
	}
	dst = dst[:l+n]
	clear(dst[l:])
	return dst
}

// datum returns column k of tuple t; bytes alias t.
func (c *tupleCodec) datum(t []byte, k int) types.Datum {
	if t[k>>3]&(1<<(k&7)) != 0 {
		return types.NullDatum
	}
	s := t[c.slots+8*k:]
	if c.kinds[k] == types.KindBytes {
		off, n := binary.LittleEndian.Uint32(s), binary.LittleEndian.Uint32(s[4:])
		return types.Datum{B: t[off : off+n : off+n]}
	}
	return types.Datum{I: int64(binary.LittleEndian.Uint64(s))}
}

// fill sets row i of out to column k of tuple t; bytes are copied.
func (c *tupleCodec) fill(out *vec.Vector, i int, t []byte, k int) {
	if t[k>>3]&(1<<(k&7)) != 0 {
		out.SetNull(i)
		return
	}
	s := t[c.slots+8*k:]
	switch c.kinds[k] {
	case types.KindInt:
		out.Int[i] = int64(binary.LittleEndian.Uint64(s))
	case types.KindFloat:
		out.Float[i] = types.Datum{I: int64(binary.LittleEndian.Uint64(s))}.Float()
	case types.KindBool:
		out.Bool[i] = s[0] != 0
	default:
		off, n := binary.LittleEndian.Uint32(s), binary.LittleEndian.Uint32(s[4:])
		out.SetVar(i, t[off:off+n])
	}
}

// column sets v, which has been reset, to column k of the tuples.
func (c *tupleCodec) column(v *vec.Vector, rows [][]byte, k int) {
	bit, mask, slot := k>>3, byte(1)<<(k&7), c.slots+8*k
	switch c.kinds[k] {
	case types.KindInt:
		for i, t := range rows {
			if t[bit]&mask != 0 {
				v.SetNull(i)
				continue
			}
			v.Int[i] = int64(binary.LittleEndian.Uint64(t[slot:]))
		}
	case types.KindFloat:
		for i, t := range rows {
			if t[bit]&mask != 0 {
				v.SetNull(i)
				continue
			}
			v.Float[i] = math.Float64frombits(binary.LittleEndian.Uint64(t[slot:]))
		}
	default:
		for i, t := range rows {
			c.fill(v, i, t, k)
		}
	}
}

// allCols materializes and returns the columns of b.
func allCols(b *vec.Batch) ([]*vec.Vector, error) {
	for i := range b.Cols {
		if b.Cols[i] == nil {
			if _, err := b.Col(i); err != nil {
				return nil, err
			}
		}
	}
	return b.Cols, nil
}

// tupleBatch is a reusable output batch over tuples; columns are unpacked when first used.
type tupleBatch struct {
	vec.Batch
	codec *tupleCodec
	rows  [][]byte
	out   []vec.Vector
}

func newTupleBatch(codec *tupleCodec) *tupleBatch {
	t := &tupleBatch{codec: codec, out: make([]vec.Vector, len(codec.kinds))}
	t.Cols = make([]*vec.Vector, len(codec.kinds))
	t.Src = t
	return t
}

// set makes the batch the given tuples, which must stay valid as long as the batch.
func (t *tupleBatch) set(rows [][]byte) *vec.Batch {
	t.rows, t.N, t.Sel = rows, len(rows), nil
	clear(t.Cols)
	return &t.Batch
}

// DecodeColumn implements vec.Source.
func (t *tupleBatch) DecodeColumn(b *vec.Batch, col int) (*vec.Vector, error) {
	v := &t.out[col]
	v.Reset(t.codec.kinds[col], t.N)
	t.codec.column(v, t.rows, col)
	return v, nil
}
