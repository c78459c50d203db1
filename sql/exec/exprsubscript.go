package exec

import (
	"herd/planner/plan"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/vec"
)

// subscriptProg is array[i], array[lo:hi], json[key] and the assigning forms.
type subscriptProg struct {
	container    program
	upper, lower []program // nil elements: omitted bounds
	slice        bool
	typ, elem    types.OID
	assign       program
	assignType   types.OID
	json, name   bool // the container is no array
	textKey      []bool
	out          vec.Vector
	uv, lv       []*vec.Vector
}

func (c *compiler) subscript(e *plan.Subscript) (program, error) {
	p := &subscriptProg{slice: e.Slice, typ: e.Type, elem: e.Elem}
	var err error
	if p.container, err = c.compile(e.Container); err != nil {
		return nil, err
	}
	ct := e.Container.T().Type
	p.json, p.name = ct == types.JSONBOID, ct == types.NameOID
	for _, x := range e.Upper {
		u, err := c.optional(x)
		if err != nil {
			return nil, err
		}
		p.upper = append(p.upper, u)
		p.textKey = append(p.textKey, x != nil && types.KindOf(x.T().Type) == types.KindBytes)
	}
	for _, x := range e.Lower {
		l, err := c.optional(x)
		if err != nil {
			return nil, err
		}
		p.lower = append(p.lower, l)
	}
	if e.Assign != nil {
		p.assignType = e.Assign.T().Type
		if p.assign, err = c.compile(e.Assign); err != nil {
			return nil, err
		}
	}
	p.uv, p.lv = make([]*vec.Vector, len(p.upper)), make([]*vec.Vector, len(p.lower))
	return p, nil
}

func (p *subscriptProg) eval(f *frame, sel []uint16) (*vec.Vector, error) {
	v, err := p.container.eval(f, sel)
	if err != nil {
		return nil, err
	}
	for i, x := range p.upper {
		p.uv[i] = nil
		if x != nil {
			if p.uv[i], err = x.eval(f, sel); err != nil {
				return nil, err
			}
		}
	}
	for i, x := range p.lower {
		p.lv[i] = nil
		if x != nil {
			if p.lv[i], err = x.eval(f, sel); err != nil {
				return nil, err
			}
		}
	}
	var av *vec.Vector
	if p.assign != nil {
		if av, err = p.assign.eval(f, sel); err != nil {
			return nil, err
		}
	}
	p.out.Reset(types.KindOf(p.typ), f.n)
	each(f.n, sel, func(i int) {
		if err != nil {
			return
		}
		var d types.Datum
		switch {
		case p.assign != nil && p.json:
			d, err = p.storeJSON(v.Datum(i), av.Datum(i), i)
		case p.assign != nil:
			d, err = p.store(v.Datum(i), av.Datum(i), i)
		case p.json:
			d = p.fetchJSON(v.Datum(i), i)
		case p.name:
			d, err = p.fetchName(v.Datum(i), i)
		case p.slice:
			d, err = p.fetchSlice(v.Datum(i), i)
		default:
			d = p.fetch(v.Datum(i), i)
		}
		if err == nil {
			p.out.SetDatum(i, d)
		}
	})
	return &p.out, err
}

// subscripts returns the values of a list of subscripts; ok is false when one is NULL.
func subscripts(vs []*vec.Vector, i int) (ix []int, given []bool, ok bool) {
	for _, v := range vs {
		if v == nil {
			ix, given = append(ix, 0), append(given, false)
			continue
		}
		if v.IsNull(i) {
			return nil, nil, false
		}
		ix, given = append(ix, int(v.Int[v.At(i)])), append(given, true)
	}
	return ix, given, true
}

// fetch is array[i][j]: NULL outside of the bounds or with another number of subscripts.
func (p *subscriptProg) fetch(d types.Datum, i int) types.Datum {
	if d.Null {
		return d
	}
	a := types.ReadArray(d.B)
	ix, _, ok := subscripts(p.uv, i)
	if !ok || len(ix) != a.NDim() {
		return types.NullDatum
	}
	pos := 0
	for k, x := range ix {
		x -= a.Lower(k)
		if x < 0 || x >= a.Dim(k) {
			return types.NullDatum
		}
		pos = pos*a.Dim(k) + x
	}
	return a.Datum(pos)
}

// nameLength is how many characters a name has; those behind its text are zero.
const nameLength = 64

// fetchName is name[i]: one "char".
func (p *subscriptProg) fetchName(d types.Datum, i int) (types.Datum, error) {
	ix, _, ok := subscripts(p.uv, i)
	switch {
	case d.Null:
		return d, nil
	case p.slice:
		return d, sqlerr.New(sqlerr.FeatureNotSupported, "slices of fixed-length arrays not implemented")
	case !ok:
		return types.NullDatum, nil
	case len(ix) != 1 || ix[0] < 0 || ix[0] >= nameLength:
		return types.NullDatum, nil
	case ix[0] >= len(d.B):
		return types.Bytes([]byte{}), nil
	}
	return types.Bytes(d.B[ix[0] : ix[0]+1]), nil
}

// fetchSlice is array[lo:hi]: the part inside the bounds, with lower bounds 1.
func (p *subscriptProg) fetchSlice(d types.Datum, i int) (types.Datum, error) {
	if d.Null {
		return d, nil
	}
	a := types.ReadArray(d.B)
	hi, hiGiven, ok1 := subscripts(p.uv, i)
	lo, loGiven, ok2 := subscripts(p.lv, i)
	if !ok1 || !ok2 {
		return types.NullDatum, nil
	}
	if len(hi) > a.NDim() {
		return types.Bytes(types.EmptyArray(p.elem)), nil
	}
	lens := make([]int, a.NDim())
	from := make([]int, a.NDim())
	for k := range lens {
		l, h := a.Lower(k), a.Lower(k)+a.Dim(k)-1
		if k < len(hi) {
			if hiGiven[k] {
				h = min(h, hi[k])
			}
			if k < len(lo) && loGiven[k] {
				l = max(l, lo[k])
			}
			if k >= len(lo) { // a plain index among slices means 1:i
				l = max(l, 1)
			}
		}
		if h < l {
			return types.Bytes(types.EmptyArray(p.elem)), nil
		}
		from[k], lens[k] = l-a.Lower(k), h-l+1
	}
	b := types.BuildArray(nil, a.Elem(), lens, nil)
	pos := make([]int, len(lens))
	for {
		at := 0
		for k := range pos {
			at = at*a.Dim(k) + from[k] + pos[k]
		}
		b.Add(a.Datum(at))
		if !nextPosition(pos, lens) {
			return types.Bytes(b.Buf), nil
		}
	}
}

// nextPosition moves on to the next element of a box with these lengths, the last subscript first; false behind the last.
func nextPosition(pos, lens []int) bool {
	for k := len(pos) - 1; k >= 0; k-- {
		if pos[k]++; pos[k] < lens[k] {
			return true
		}
		pos[k] = 0
	}
	return false
}

// store is UPDATE SET a[i] = x: a one-dimensional array grows as needed; elements between are NULL.
func (p *subscriptProg) store(d, x types.Datum, i int) (types.Datum, error) {
	hi, _, ok := subscripts(p.uv, i)
	lo, _, ok2 := subscripts(p.lv, i)
	if !ok || !ok2 {
		return types.NullDatum, sqlerr.New(sqlerr.NullValueNotAllowed, "array subscript in assignment must not be null")
	}
	var a types.Array
	if !d.Null {
		a = types.ReadArray(d.B)
	}
	if p.slice {
		if x.Null {
			return d, nil
		}
		return p.storeSlice(a, types.ReadArray(x.B), lo, hi)
	}
	if a.NDim() > 1 || len(hi) > 1 {
		return p.storeDeep(a, hi, x)
	}
	first, n := hi[0], 0
	if a.NDim() == 1 {
		first, n = a.Lower(0), a.Dim(0)
	}
	return p.splice(a, first, n, hi[0], []types.Datum{x})
}

// splice puts vals at subscript at of a one-dimensional array that has n elements from subscript first on.
func (p *subscriptProg) splice(a types.Array, first, n, at int, vals []types.Datum) (types.Datum, error) {
	low, high := min(first, at), max(first+n, at+len(vals))
	if n == 0 {
		low, high = at, at+len(vals)
	}
	if err := types.CheckArraySize([]int{high - low}); err != nil {
		return types.NullDatum, err
	}
	b := types.BuildArray(nil, p.elem, []int{high - low}, []int{low})
	for k := low; k < high; k++ {
		switch {
		case k >= at && k < at+len(vals):
			b.Add(vals[k-at])
		case k >= first && k < first+n:
			b.Add(a.Datum(k - first))
		default:
			b.Null()
		}
	}
	return types.Bytes(b.Buf), nil
}

// storeDeep assigns an element of a multidimensional array, which does not grow.
func (p *subscriptProg) storeDeep(a types.Array, ix []int, x types.Datum) (types.Datum, error) {
	lens, lowers := a.Dims()
	if a.NDim() == 0 {
		for _, i := range ix {
			lens, lowers = append(lens, 1), append(lowers, i)
		}
	}
	if len(ix) != len(lens) {
		return types.NullDatum, sqlerr.New(sqlerr.ArraySubscriptError, "wrong number of array subscripts")
	}
	at := 0
	for k := range ix {
		off := ix[k] - lowers[k]
		if off < 0 || off >= lens[k] {
			return types.NullDatum, errSubscriptRange()
		}
		at = at*lens[k] + off
	}
	b := types.BuildArray(nil, p.elem, lens, lowers)
	n := 1
	for _, l := range lens {
		n *= l
	}
	for k := range n {
		switch {
		case k == at:
			b.Add(x)
		case a.NDim() > 0:
			b.Add(a.Datum(k))
		default:
			b.Null()
		}
	}
	return types.Bytes(b.Buf), nil
}
