package funcs

import (
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/vec"
)

func outOfRangeValue(msg string) error { return sqlerr.New(sqlerr.NumericValueOutOfRange, "%s", msg) }

func init() {
	pick := func(max bool) aggMaker {
		return func(ci *CallInfo) func() Agg {
			t, coll := ci.ArgTypes[0], ci.Collation
			if f := newPickNum(t, max); f != nil {
				return f
			}
			return func() Agg { return &pickAgg{max: max, typ: t, coll: coll, kind: types.KindOf(t)} }
		}
	}
	regAgg(pick(false), "min")
	regAgg(pick(true), "max")
	regAgg(func(*CallInfo) func() Agg { return func() Agg { return &boolAgg{stop: false} } }, "bool_and", "every")
	regAgg(func(*CallInfo) func() Agg { return func() Agg { return &boolAgg{stop: true} } }, "bool_or")
	for i, name := range []string{"bit_and", "bit_or", "bit_xor"} {
		op := byte(i)
		regAgg(func(ci *CallInfo) func() Agg {
			bits := types.KindOf(ci.ArgTypes[0]) == types.KindBytes
			return func() Agg { return &bitAgg{op: op, bits: bits} }
		}, name)
	}
	regAgg(func(ci *CallInfo) func() Agg {
		t := ci.ArgTypes[0]
		return func() Agg { return &anyAgg{pickAgg{typ: t, kind: types.KindOf(t)}} }
	}, "any_value")
}

// pickAgg is min and max: the smallest or largest value in the type's order; of equal ones the first.
type pickAgg struct {
	max       bool
	typ, coll types.OID
	kind      types.Kind
	val       []types.Datum
	seen      []bool
	bytes     int64
}

func (a *pickAgg) Grow(g int) error {
	a.val, a.seen = extendTo(a.val, g), extendTo(a.seen, g)
	return nil
}
func (a *pickAgg) Size() int64 { return int64(41*cap(a.val)) + a.bytes }
func (a *pickAgg) Reset() {
	clear(a.val)
	a.val, a.seen, a.bytes = a.val[:0], a.seen[:0], 0
}

// better says whether d replaces the value of group g.
func (a *pickAgg) better(g uint32, d types.Datum) bool {
	if !a.seen[g] {
		return true
	}
	var c int
	if a.kind == types.KindInt && a.typ != types.XID8OID {
		switch old := a.val[g].I; {
		case d.I < old:
			c = -1
		case d.I > old:
			c = 1
		}
	} else {
		c = types.Compare(a.typ, a.coll, d, a.val[g])
	}
	return c != 0 && (c > 0) == a.max
}

func (a *pickAgg) put(g uint32, d types.Datum) {
	if a.kind == types.KindBytes {
		b := append(a.val[g].B[:0], d.B...)
		a.bytes += int64(cap(b) - cap(a.val[g].B))
		d.B = b
	}
	a.val[g], a.seen[g] = d, true
}

func (a *pickAgg) Update(_ *Ctx, groups []uint32, n int, sel []uint16, args []*vec.Vector) error {
	v := args[0]
	loop(n, sel, func(i int) {
		if v.HasNulls && v.IsNull(i) {
			return
		}
		if d, g := v.Datum(i), groups[i]; a.better(g, d) {
			a.put(g, d)
		}
	})
	return nil
}

func (a *pickAgg) Combine(other Agg, m []uint32) error {
	o := other.(*pickAgg)
	for g := range o.val {
		if m[g] != ^uint32(0) && o.seen[g] && a.better(m[g], o.val[g]) {
			a.put(m[g], o.val[g])
		}
	}
	return nil
}

func (a *pickAgg) Final(_ *Ctx, from, to int, out *vec.Vector) error {
	for g := from; g < to; g++ {
		if a.seen[g] {
			out.SetDatum(g-from, a.val[g])
		} else {
			out.SetNull(g - from)
		}
	}
	return nil
}

// anyAgg keeps the first value that is not NULL.
type anyAgg struct{ pickAgg }

func (a *anyAgg) Update(_ *Ctx, groups []uint32, n int, sel []uint16, args []*vec.Vector) error {
	loop(n, sel, func(i int) {
		if g := groups[i]; !a.seen[g] && !args[0].IsNull(i) {
			a.put(g, args[0].Datum(i))
		}
	})
	return nil
}

func (a *anyAgg) Combine(other Agg, m []uint32) error {
	o := other.(*anyAgg)
	for g := range o.val {
		if m[g] != ^uint32(0) && o.seen[g] && !a.seen[m[g]] {
			a.put(m[g], o.val[g])
		}
	}
	return nil
}

// boolAgg is bool_and (stop false) and bool_or (stop true).
type boolAgg struct {
	stop bool
	val  []byte // 0 empty, 1 false, 2 true
}

func (a *boolAgg) Grow(g int) error { a.val = extendTo(a.val, g); return nil }
func (a *boolAgg) Size() int64      { return int64(cap(a.val)) }
func (a *boolAgg) Reset()           { a.val = a.val[:0] }

func (a *boolAgg) add(g uint32, b bool) {
	x := byte(1)
	if b {
		x = 2
	}
	if a.val[g] == 0 || b == a.stop {
		a.val[g] = x
	}
}

func (a *boolAgg) Update(_ *Ctx, groups []uint32, n int, sel []uint16, args []*vec.Vector) error {
	v := args[0]
	loop(n, sel, func(i int) {
		if !v.IsNull(i) {
			a.add(groups[i], v.Bool[v.At(i)])
		}
	})
	return nil
}

func (a *boolAgg) Combine(other Agg, m []uint32) error {
	for g, x := range other.(*boolAgg).val {
		if m[g] != ^uint32(0) && x != 0 {
			a.add(m[g], x == 2)
		}
	}
	return nil
}

func (a *boolAgg) Final(_ *Ctx, from, to int, out *vec.Vector) error {
	for g := from; g < to; g++ {
		if a.val[g] == 0 {
			out.SetNull(g - from)
		} else {
			out.Bool[g-from] = a.val[g] == 2
		}
	}
	return nil
}

// bitAgg is bit_and, bit_or and bit_xor over integers and bit strings.
type bitAgg struct {
	op   byte
	bits bool
	ints []int64
	strs [][]byte
	seen []bool
}

func (a *bitAgg) Grow(g int) error {
	a.seen = extendTo(a.seen, g)
	if a.bits {
		a.strs = extendTo(a.strs, g)
	} else {
		a.ints = extendTo(a.ints, g)
	}
	return nil
}
func (a *bitAgg) Size() int64 { return int64(9*cap(a.ints) + 64*cap(a.strs)) }
func (a *bitAgg) Reset() {
	clear(a.strs)
	a.ints, a.strs, a.seen = a.ints[:0], a.strs[:0], a.seen[:0]
}

func (a *bitAgg) addInt(g uint32, v int64) {
	switch {
	case !a.seen[g]:
		a.ints[g], a.seen[g] = v, true
	case a.op == 0:
		a.ints[g] &= v
	case a.op == 1:
		a.ints[g] |= v
	default:
		a.ints[g] ^= v
	}
}

func (a *bitAgg) addBits(g uint32, b []byte) error {
	if !a.seen[g] {
		a.strs[g], a.seen[g] = append([]byte(nil), b...), true
		return nil
	}
	s := a.strs[g]
	if types.BitLen(s) != types.BitLen(b) {
		return sqlerr.New(sqlerr.StringDataLengthMismatch, "cannot %s bit strings of different sizes", [...]string{"AND", "OR", "XOR"}[a.op])
	}
	for i := 4; i < len(s); i++ {
		switch a.op {
		case 0:
			s[i] &= b[i]
		case 1:
			s[i] |= b[i]
		default:
			s[i] ^= b[i]
		}
	}
	return nil
}

func (a *bitAgg) Update(_ *Ctx, groups []uint32, n int, sel []uint16, args []*vec.Vector) error {
	v := args[0]
	return loopErr(n, sel, func(i int) error {
		if v.IsNull(i) {
			return nil
		}
		if a.bits {
			return a.addBits(groups[i], v.Bytes(i))
		}
		a.addInt(groups[i], v.Int[v.At(i)])
		return nil
	})
}

func (a *bitAgg) Combine(other Agg, m []uint32) error {
	o := other.(*bitAgg)
	for g := range o.seen {
		if m[g] == ^uint32(0) || !o.seen[g] {
			continue
		}
		if a.bits {
			if err := a.addBits(m[g], o.strs[g]); err != nil {
				return err
			}
		} else {
			a.addInt(m[g], o.ints[g])
		}
	}
	return nil
}

func (a *bitAgg) Final(_ *Ctx, from, to int, out *vec.Vector) error {
	for g := from; g < to; g++ {
		switch {
		case !a.seen[g]:
			out.SetNull(g - from)
		case a.bits:
			out.SetVar(g-from, a.strs[g])
		default:
			out.Int[g-from] = a.ints[g]
		}
	}
	return nil
}
