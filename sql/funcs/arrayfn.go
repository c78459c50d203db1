package funcs

import (
	"math"
	"strconv"

	"herd/sql/sqlerr"
	"herd/sql/types"
)

func init() {
	initArrayShape()
	initArrayConcat()
	initArraySearch()
	initArrayBuild()
	initArrayContainment()
}

func initArrayShape() {
	// dim returns the dimension that argument 1 names, counted from 0.
	dim := func(r *row, a types.Array) (int, bool) {
		d := r.Int(1)
		return int(d - 1), d > 0 && d <= int64(a.NDim())
	}
	each(func(r *row) error {
		a := r.Array(0)
		d, ok := dim(r, a)
		if !ok {
			return r.RetNull()
		}
		return r.RetInt(int64(a.Dim(d)))
	}, "array_length")
	each(func(r *row) error {
		a := r.Array(0)
		d, ok := dim(r, a)
		if !ok {
			return r.RetNull()
		}
		return r.RetInt(int64(a.Lower(d)))
	}, "array_lower")
	each(func(r *row) error {
		a := r.Array(0)
		d, ok := dim(r, a)
		if !ok {
			return r.RetNull()
		}
		return r.RetInt(int64(a.Lower(d) + a.Dim(d) - 1))
	}, "array_upper")
	each(func(r *row) error {
		n := r.Array(0).NDim()
		if n == 0 {
			return r.RetNull()
		}
		return r.RetInt(int64(n))
	}, "array_ndims")
	each(func(r *row) error { return r.RetInt(int64(r.Array(0).Len())) }, "array_cardinality")
	each(func(r *row) error {
		a := r.Array(0)
		if a.NDim() == 0 {
			return r.RetNull()
		}
		dst := r.Start()
		for i := range a.NDim() {
			dst = append(dst, '[')
			dst = strconv.AppendInt(dst, int64(a.Lower(i)), 10)
			dst = append(dst, ':')
			dst = strconv.AppendInt(dst, int64(a.Lower(i)+a.Dim(i)-1), 10)
			dst = append(dst, ']')
		}
		return r.Finish(dst)
	}, "array_dims")
}

// elemType returns the element type of the call's array argument k or of its result.
func (r *row) elemType(k int) types.OID {
	if e := r.c.IO.ElemType(r.ci.ArgTypes[k]); e != 0 {
		return e
	}
	if e := r.c.IO.ElemType(r.ci.Result); e != 0 {
		return e
	}
	return r.Array(k).Elem()
}

// copyElems adds all elements of an array.
func copyElems(b *types.ArrayBuilder, a types.Array) {
	for it := a.Iter(); it.Next(); {
		if it.Null {
			b.Null()
		} else {
			b.Raw(it.Val)
		}
	}
}

// pushElem is array_append and array_prepend; arr and elem are the numbers of the arguments.
func pushElem(r *row, arr, elem int) error {
	et := r.elemType(arr)
	var a types.Array
	if !r.Null(arr) {
		a = r.Array(arr)
	}
	if a.NDim() > 1 {
		return sqlerr.New(sqlerr.DataException, "argument must be empty or one-dimensional array")
	}
	lower := 1
	if a.NDim() == 1 {
		lower = a.Lower(0)
	}
	n := a.Len() + 1
	if lower > math.MaxInt32-n {
		return sqlerr.New(sqlerr.ProgramLimitExceeded, "array lower bound is too large: %d", lower)
	}
	if err := types.CheckArraySize([]int{n}); err != nil {
		return err
	}
	b := types.BuildArray(r.Start(), et, []int{n}, []int{lower})
	add := func() {
		if r.Null(elem) {
			b.Null()
		} else {
			b.Add(r.Datum(elem))
		}
	}
	if arr == 1 {
		add()
	}
	copyElems(&b, a)
	if arr == 0 {
		add()
	}
	return r.Finish(b.Buf)
}

func initArrayConcat() {
	each(func(r *row) error { return pushElem(r, 0, 1) }, "array_append")
	each(func(r *row) error { return pushElem(r, 1, 0) }, "array_prepend")
	each(arrayCat, "array_cat")
	each(func(r *row) error {
		a, n := r.Array(0), r.Int(1)
		length := 0
		if a.NDim() > 0 {
			length = a.Dim(0)
		}
		if n < 0 || n > int64(length) {
			return sqlerr.New(sqlerr.ArrayElementError, "number of elements to trim must be between 0 and %d", length)
		}
		if n == 0 {
			return r.RetArg(0)
		}
		lens, lowers := a.Dims()
		lens[0] -= int(n)
		if lens[0] == 0 {
			return r.RetBytes(types.EmptyArray(a.Elem()))
		}
		for i := range lowers {
			lowers[i] = 1
		}
		keep := 1
		for _, l := range lens {
			keep *= l
		}
		b := types.BuildArray(r.Start(), a.Elem(), lens, lowers)
		for it := a.Iter(); keep > 0 && it.Next(); keep-- {
			if it.Null {
				b.Null()
			} else {
				b.Raw(it.Val)
			}
		}
		return r.Finish(b.Buf)
	}, "trim_array")
}

func arrayCat(r *row) error {
	switch {
	case r.Null(0) && r.Null(1):
		return r.RetNull()
	case r.Null(0):
		return r.RetArg(1)
	case r.Null(1):
		return r.RetArg(0)
	}
	a, b := r.Array(0), r.Array(1)
	if a.NDim() == 0 {
		return r.RetArg(1)
	}
	if b.NDim() == 0 {
		return r.RetArg(0)
	}
	bad := func(detail string, args ...any) error {
		return sqlerr.New(sqlerr.ArraySubscriptError, "cannot concatenate incompatible arrays").WithDetail(detail, args...)
	}
	lens, lowers := a.Dims()
	lens2, lowers2 := b.Dims()
	switch {
	case len(lens) == len(lens2):
		for i := 1; i < len(lens); i++ {
			if lens[i] != lens2[i] || lowers[i] != lowers2[i] {
				return bad("Arrays with differing element dimensions are not compatible for concatenation.")
			}
		}
		lens[0] += lens2[0]
	case len(lens) == len(lens2)-1:
		for i := range lens {
			if lens[i] != lens2[i+1] || lowers[i] != lowers2[i+1] {
				return bad("Arrays with differing dimensions are not compatible for concatenation.")
			}
		}
		lens, lowers = lens2, lowers2
		lens[0]++
	case len(lens) == len(lens2)+1:
		for i := range lens2 {
			if lens2[i] != lens[i+1] || lowers2[i] != lowers[i+1] {
				return bad("Arrays with differing dimensions are not compatible for concatenation.")
			}
		}
		lens[0]++
	default:
		return bad("Arrays of %d and %d dimensions are not compatible for concatenation.", len(lens), len(lens2))
	}
	if err := types.CheckArraySize(lens); err != nil {
		return err
	}
	out := types.BuildArray(r.Start(), a.Elem(), lens, lowers)
	copyElems(&out, a)
	copyElems(&out, b)
	return r.Finish(out.Buf)
}

// sameElem says whether an element equals the datum d; NULL equals NULL.
func sameElem(et, coll types.OID, it *types.ArrayIter, d types.Datum) bool {
	if it.Null || d.Null {
		return it.Null && d.Null
	}
	return types.Compare(et, coll, types.DecodeValue(et, it.Val), d) == 0
}

// argDatum is argument k, NULL included.
func (r *row) argDatum(k int) types.Datum {
	if r.Null(k) {
		return types.NullDatum
	}
	return r.Datum(k)
}

func initArraySearch() {
	each(arrayPosition, "array_position", "array_position_start")
	each(func(r *row) error {
		if r.Null(0) {
			return r.RetNull()
		}
		a := r.Array(0)
		if a.NDim() > 1 {
			return sqlerr.New(sqlerr.FeatureNotSupported, "searching for elements in multidimensional arrays is not supported")
		}
		d, n := r.argDatum(1), 0
		b := types.BuildList(r.Start(), types.Int4OID)
		if a.NDim() == 1 {
			pos := a.Lower(0)
			for it := a.Iter(); it.Next(); pos++ {
				if sameElem(a.Elem(), r.ci.Collation, &it, d) {
					b.Add(types.Int(int64(pos)))
					n++
				}
			}
		}
		return r.Finish(b.FinishList(n))
	}, "array_positions")
	each(func(r *row) error {
		if r.Null(0) {
			return r.RetNull()
		}
		a := r.Array(0)
		if a.NDim() > 1 {
			return sqlerr.New(sqlerr.FeatureNotSupported, "removing elements from multidimensional arrays is not supported")
		}
		d, n := r.argDatum(1), 0
		b := types.BuildList(nil, a.Elem())
		for it := a.Iter(); it.Next(); {
			if sameElem(a.Elem(), r.ci.Collation, &it, d) {
				continue
			}
			n++
			if it.Null {
				b.Null()
			} else {
				b.Raw(it.Val)
			}
		}
		if n == a.Len() {
			return r.RetArg(0)
		}
		out := b.FinishList(n)
		if n > 0 {
			out = relower(out, a)
		}
		return r.RetBytes(out)
	}, "array_remove")
	each(func(r *row) error {
		if r.Null(0) {
			return r.RetNull()
		}
		a, old, now := r.Array(0), r.argDatum(1), r.argDatum(2)
		lens, lowers := a.Dims()
		b := types.BuildArray(r.Start(), a.Elem(), lens, lowers)
		for it := a.Iter(); it.Next(); {
			switch {
			case sameElem(a.Elem(), r.ci.Collation, &it, old):
				b.Add(now)
			case it.Null:
				b.Null()
			default:
				b.Raw(it.Val)
			}
		}
		return r.Finish(b.Buf)
	}, "array_replace")
}

// relower gives the one-dimensional array out the lower bound of a.
func relower(out []byte, a types.Array) []byte {
	x := types.ReadArray(out)
	b := types.BuildArray(nil, a.Elem(), []int{x.Len()}, []int{a.Lower(0)})
	copyElems(&b, x)
	return b.Buf
}

func arrayPosition(r *row) error {
	if r.Null(0) {
		return r.RetNull()
	}
	a := r.Array(0)
	if a.NDim() > 1 {
		return sqlerr.New(sqlerr.FeatureNotSupported, "searching for elements in multidimensional arrays is not supported")
	}
	d, from := r.argDatum(1), int64(-1<<31)
	if r.N() > 2 {
		if r.Null(2) {
			return sqlerr.New(sqlerr.NullValueNotAllowed, "initial position must not be null")
		}
		from = r.Int(2)
	}
	if a.NDim() == 0 {
		return r.RetNull()
	}
	pos := int64(a.Lower(0))
	for it := a.Iter(); it.Next(); pos++ {
		if pos >= from && sameElem(a.Elem(), r.ci.Collation, &it, d) {
			return r.RetInt(pos)
		}
	}
	return r.RetNull()
}

func initArrayBuild() {
	each(func(r *row) error { return arrayFill(r, false) }, "array_fill")
	each(func(r *row) error { return arrayFill(r, true) }, "array_fill_with_lower_bounds")
}

// dimsArg reads argument k of array_fill: a list of integers without NULLs.
func dimsArg(r *row, k int) ([]int, error) {
	if r.Null(k) {
		return nil, sqlerr.New(sqlerr.NullValueNotAllowed, "dimension array or low bound array cannot be null")
	}
	a := r.Array(k)
	if a.NDim() > 1 {
		return nil, sqlerr.New(sqlerr.ArraySubscriptError, "wrong number of array subscripts").WithDetail("Dimension array must be one dimensional.")
	}
	var out []int
	for it := a.Iter(); it.Next(); {
		if it.Null {
			return nil, sqlerr.New(sqlerr.NullValueNotAllowed, "dimension values cannot be null")
		}
		out = append(out, int(types.DecodeValue(types.Int4OID, it.Val).I))
	}
	return out, nil
}

func arrayFill(r *row, bounds bool) error {
	et := r.ci.ArgTypes[0]
	if r.Null(1) {
		return sqlerr.New(sqlerr.NullValueNotAllowed, "dimension array or low bound array cannot be null")
	}
	lens, err := dimsArg(r, 1)
	if err != nil {
		return err
	}
	var lowers []int
	if bounds {
		if lowers, err = dimsArg(r, 2); err != nil {
			return err
		}
		if len(lowers) != len(lens) {
			return sqlerr.New(sqlerr.ArraySubscriptError, "wrong number of array subscripts").WithDetail("Low bound array has different size than dimensions array.")
		}
	}
	if len(lens) > types.MaxDim {
		return sqlerr.New(sqlerr.ProgramLimitExceeded, "number of array dimensions (%d) exceeds the maximum allowed (%d)", len(lens), types.MaxDim)
	}
	if err := types.CheckArraySize(lens); err != nil {
		return err
	}
	n := 1
	for _, l := range lens {
		n *= l
	}
	if len(lens) == 0 || n == 0 {
		return r.RetBytes(types.EmptyArray(et))
	}
	d := r.argDatum(0)
	if err := r.c.probe(int64(n) * int64(12+len(d.B))); err != nil {
		return err
	}
	b := types.BuildArray(r.Start(), et, lens, lowers)
	for range n {
		b.Add(d)
	}
	return r.Finish(b.Buf)
}

// contains says whether every element of b is in a; NULL elements never are.
func containsAll(a, b types.Array, coll types.OID) bool {
	et := a.Elem()
	for it := b.Iter(); it.Next(); {
		if it.Null || !hasElem(a, et, coll, it.Val) {
			return false
		}
	}
	return true
}

func hasElem(a types.Array, et, coll types.OID, val []byte) bool {
	d := types.DecodeValue(et, val)
	for it := a.Iter(); it.Next(); {
		if !it.Null && types.Compare(et, coll, types.DecodeValue(et, it.Val), d) == 0 {
			return true
		}
	}
	return false
}

func initArrayContainment() {
	each(func(r *row) error { return r.RetBool(containsAll(r.Array(0), r.Array(1), r.ci.Collation)) }, "arraycontains")
	each(func(r *row) error { return r.RetBool(containsAll(r.Array(1), r.Array(0), r.ci.Collation)) }, "arraycontained")
	each(func(r *row) error {
		a, b := r.Array(0), r.Array(1)
		for it := b.Iter(); it.Next(); {
			if !it.Null && hasElem(a, a.Elem(), r.ci.Collation, it.Val) {
				return r.RetBool(true)
			}
		}
		return r.RetBool(false)
	}, "arrayoverlap")
	each(widthBucketArray, "width_bucket_array")
}

// widthBucketArray is width_bucket(operand, thresholds): the number of thresholds at or below the operand.
func widthBucketArray(r *row) error {
	a := r.Array(1)
	if a.NDim() > 1 {
		return sqlerr.New(sqlerr.ArraySubscriptError, "thresholds must be one-dimensional array")
	}
	if a.HasNulls() {
		for it := a.Iter(); it.Next(); {
			if it.Null {
				return sqlerr.New(sqlerr.NullValueNotAllowed, "thresholds array must not contain NULLs")
			}
		}
	}
	lo, hi, d := 0, a.Len(), r.Datum(0)
	for lo < hi {
		mid := (lo + hi) / 2
		if types.Compare(a.Elem(), r.ci.Collation, d, a.Datum(mid)) < 0 {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return r.RetInt(int64(lo))
}

// maxValue is the most bytes that PostgreSQL lets a value have.
const maxValue = 1<<30 - 1

// probe refuses a value of about n bytes that the session's memory or the largest size of values does not allow, before
// it is built.
func (c *Ctx) probe(n int64) error {
	if n > maxValue {
		return sqlerr.New(sqlerr.ProgramLimitExceeded, "array size exceeds the maximum allowed (%d)", maxValue)
	}
	if c.Acct == nil {
		return nil
	}
	if err := c.Acct.Grow(n); err != nil {
		return err
	}
	c.Acct.Shrink(n)
	return nil
}
