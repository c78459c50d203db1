package exec

import (
	"strconv"

	"herd/sql/funcs"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// storeJSON is UPDATE SET j['a'][0] = x: what the path needs is made; a NULL becomes JSON's null.
func (p *subscriptProg) storeJSON(d, x types.Datum, i int) (types.Datum, error) {
	path := make([][]byte, len(p.uv))
	for k, v := range p.uv {
		if v == nil || v.IsNull(i) {
			return types.NullDatum, sqlerr.New(sqlerr.NullValueNotAllowed, "jsonb subscript in assignment must not be null")
		}
		if s := v.Datum(i); p.textKey[k] {
			path[k] = s.B
		} else {
			path[k] = strconv.AppendInt(nil, s.I, 10)
		}
	}
	value := []byte("null")
	if !x.Null {
		value = x.B
	}
	var target []byte
	if !d.Null {
		target = d.B
	}
	out, err := funcs.SetJSONPath(target, path, !p.textKey[0], value)
	return types.Bytes(out), err
}

// storeSlice assigns a[lo:hi], of any number of dimensions: array_set_slice. Only a one-dimensional array grows.
func (p *subscriptProg) storeSlice(a, x types.Array, lo, hi []int) (types.Datum, error) {
	if a.NDim() == 0 {
		return p.sliceOfEmpty(x, lo, hi)
	}
	if len(hi) > a.NDim() {
		return types.NullDatum, sqlerr.New(sqlerr.ArraySubscriptError, "wrong number of array subscripts")
	}
	lens, lowers := a.Dims()
	from, span := make([]int, len(lens)), make([]int, len(lens))
	count := 1
	for k := range lens {
		l, h := lowers[k], lowers[k]+lens[k]-1
		if k < len(hi) {
			if k < len(p.lv) && p.lv[k] != nil {
				l = lo[k]
			}
			if p.uv[k] != nil {
				h = hi[k]
			}
			if l > h {
				return types.NullDatum, sqlerr.New(sqlerr.ArraySubscriptError, "upper bound cannot be less than lower bound")
			}
			if a.NDim() > 1 && (l < lowers[k] || h > lowers[k]+lens[k]-1) {
				return types.NullDatum, errSubscriptRange()
			}
		}
		from[k], span[k] = l, h-l+1
		count *= span[k]
	}
	vals := x.Datums()
	if len(vals) < count {
		return types.NullDatum, sqlerr.New(sqlerr.ArraySubscriptError, "source array too small")
	}
	if a.NDim() == 1 {
		return p.splice(a, lowers[0], lens[0], from[0], vals[:count])
	}
	return p.overlay(a, from, span, vals)
}

func errSubscriptRange() error {
	return sqlerr.New(sqlerr.ArraySubscriptError, "array subscript out of range")
}

// sliceOfEmpty makes an array of the assigned values, with the bounds of the subscripts.
func (p *subscriptProg) sliceOfEmpty(x types.Array, lo, hi []int) (types.Datum, error) {
	lens := make([]int, len(hi))
	count := 1
	for k := range hi {
		if p.uv[k] == nil || p.lv[k] == nil {
			return types.NullDatum, sqlerr.New(sqlerr.ArraySubscriptError, "array slice subscript must provide both boundaries").
				WithDetail("When assigning to a slice of an empty array value, slice boundaries must be fully specified.")
		}
		if lens[k] = hi[k] - lo[k] + 1; lens[k] < 1 {
			return types.NullDatum, sqlerr.New(sqlerr.ArraySubscriptError, "upper bound cannot be less than lower bound")
		}
		count *= lens[k]
	}
	if err := types.CheckArraySize(lens); err != nil {
		return types.NullDatum, err
	}
	vals := x.Datums()
	if len(vals) < count {
		return types.NullDatum, sqlerr.New(sqlerr.ArraySubscriptError, "source array too small")
	}
	b := types.BuildArray(nil, p.elem, lens, lo)
	for _, v := range vals[:count] {
		b.Add(v)
	}
	return types.Bytes(b.Buf), nil
}

// overlay replaces a box of a multidimensional array: its first subscripts are from, its lengths span.
func (p *subscriptProg) overlay(a types.Array, from, span []int, vals []types.Datum) (types.Datum, error) {
	lens, lowers := a.Dims()
	b := types.BuildArray(nil, p.elem, lens, lowers)
	pos := make([]int, len(lens))
	for n, used := 0, 0; ; n++ {
		inside := true
		for k := range pos {
			at := lowers[k] + pos[k] - from[k]
			inside = inside && at >= 0 && at < span[k]
		}
		if inside {
			b.Add(vals[used])
			used++
		} else {
			b.Add(a.Datum(n))
		}
		if !nextPosition(pos, lens) {
			return types.Bytes(b.Buf), nil
		}
	}
}
