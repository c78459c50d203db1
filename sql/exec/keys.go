package exec

import (
	"bytes"
	"encoding/binary"
	"math"

	"herd/planner/plan"
	"herd/sql/types"
	"herd/sql/types/key"
	"herd/sql/vec"
)

// eqMode is how a column enters an equality key.
type eqMode uint8

const (
	eqInt    eqMode = iota // 8 bytes
	eqFloat                // 8 bytes, -0 and NaN normalized
	eqBool                 // 1 byte
	eqRaw                  // length and bytes: equal values have equal bytes
	eqBPChar               // raw without trailing blanks
	eqOrder                // the order-preserving key: 1.0 = 1.00
)

// eqCol is one column of an equality key.
type eqCol struct {
	typ  types.OID
	coll types.OID
	mode eqMode
}

func newEqCol(typ, coll types.OID) eqCol {
	c := eqCol{typ: typ, coll: coll}
	switch types.KindOf(typ) {
	case types.KindInt:
		c.mode = eqInt
	case types.KindFloat:
		c.mode = eqFloat
	case types.KindBool:
		c.mode = eqBool
	default:
		switch typ {
		case types.TextOID, types.VarcharOID, types.ByteaOID, types.NameOID, types.UUIDOID, types.QCharOID, types.UnknownOID:
			c.mode = eqRaw
		case types.BPCharOID:
			c.mode = eqBPChar
		default:
			c.mode = eqOrder
		}
	}
	return c
}

// append adds row i of v to key; keys are equal exactly when the values are. NULL equals NULL here.
func (c *eqCol) append(dst []byte, v *vec.Vector, i int) []byte {
	if v.IsNull(i) {
		return append(dst, 0)
	}
	dst = append(dst, 1)
	i = v.At(i)
	switch c.mode {
	case eqInt:
		return binary.LittleEndian.AppendUint64(dst, uint64(v.Int[i]))
	case eqFloat:
		return binary.LittleEndian.AppendUint64(dst, floatEqBits(v.Float[i]))
	case eqBool:
		if v.Bool[i] {
			return append(dst, 1)
		}
		return append(dst, 0)
	case eqRaw, eqBPChar:
		b := v.Bytes(i)
		if c.mode == eqBPChar {
			b = bytes.TrimRight(b, " ")
		}
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(b)))
		return append(dst, b...)
	}
	return key.AppendKey(dst, c.typ, c.coll, false, false, v.Datum(i))
}

func floatEqBits(f float64) uint64 {
	switch {
	case f == 0:
		return 0
	case f != f:
		return 0x7ff8000000000001
	}
	return math.Float64bits(f)
}

// eqKey encodes the columns of a grouping, join or distinct key.
type eqKey struct {
	cols []eqCol
	buf  []byte
}

func eqCols(keys []plan.HashKey) []eqCol {
	cols := make([]eqCol, len(keys))
	for i, k := range keys {
		cols[i] = newEqCol(k.Type, k.Collation)
	}
	return cols
}

// row returns the key of row i of vs (valid until the next call) and whether a column is NULL.
func (e *eqKey) row(vs []*vec.Vector, i int) (key []byte, null bool) {
	b := e.buf[:0]
	for k := range e.cols {
		if vs[k].IsNull(i) {
			null = true
		}
		b = e.cols[k].append(b, vs[k], i)
	}
	e.buf = b
	return b, null
}

// keySide evaluates one side's hash keys.
type keySide struct {
	progs []program
	vs    []*vec.Vector
	key   eqKey
	nulls []bool // NULL equals NULL in this column
}

func (c *compiler) keySide(keys []plan.HashKey, right bool) (keySide, error) {
	k := keySide{key: eqKey{cols: eqCols(keys)}}
	for _, h := range keys {
		e := h.Left
		if right {
			e = h.Right
		}
		p, err := c.compile(e)
		if err != nil {
			return k, err
		}
		k.progs, k.nulls = append(k.progs, p), append(k.nulls, h.NullsEqual)
	}
	k.vs = make([]*vec.Vector, len(k.progs))
	return k, nil
}

// eval computes the key columns of b.
func (k *keySide) eval(st *State, b *vec.Batch) error {
	f := frame{st: st, b: b, n: b.N}
	var err error
	for i, p := range k.progs {
		if k.vs[i], err = p.eval(&f, b.Sel); err != nil {
			return err
		}
	}
	return nil
}

// row returns the key of row i; ok is false when a NULL keeps it from ever matching.
func (k *keySide) row(i int) (key []byte, ok bool) {
	ok = true
	b := k.key.buf[:0]
	for c := range k.key.cols {
		if !k.nulls[c] && k.vs[c].IsNull(i) {
			ok = false
		}
		b = k.key.cols[c].append(b, k.vs[c], i)
	}
	k.key.buf = b
	return b, ok
}

// sortCol is one column of a sort key.
type sortCol struct {
	typ, coll        types.OID
	desc, nullsFirst bool
}

func sortCols(keys []plan.SortKey) []sortCol {
	cols := make([]sortCol, len(keys))
	for i, k := range keys {
		t := k.Expr.T()
		coll := k.Collation
		if coll == 0 {
			coll = t.Collation
		}
		cols[i] = sortCol{typ: t.Type, coll: coll, desc: k.Desc, nullsFirst: k.NullsFirst}
	}
	return cols
}

// appendSortKey adds row i of vs to dst so that bytes compare as rows do.
func appendSortKey(dst []byte, cols []sortCol, vs []*vec.Vector, i int) []byte {
	for k := range cols {
		c := &cols[k]
		dst = key.AppendKey(dst, c.typ, c.coll, c.desc, c.nullsFirst, vs[k].Datum(i))
	}
	return dst
}
