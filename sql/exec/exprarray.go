package exec

import (
	"herd/planner/plan"
	"herd/sql/catalog/pgdata"
	"herd/sql/funcs"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/vec"
)

// arrayElem returns the element type of an array type; other is the answer when the type is not a built-in array.
func arrayElem(arr, other types.OID) types.OID {
	if e := types.ElemOf(arr); e != 0 {
		return e
	}
	return other
}

// arrayElems returns the elements of an array value; bytes alias it.
func arrayElems(_ types.OID, b []byte) ([]types.Datum, error) {
	return types.ReadArray(b).Datums(), nil
}

// collectDatums makes the array of ARRAY(subquery): one dimension, or one more than the elements have.
func collectDatums(elem types.OID, ds []types.Datum) (types.Datum, error) {
	if e := types.ElemOf(elem); e != 0 {
		return stackArrays(e, ds)
	}
	return types.Bytes(types.MakeArray(elem, ds)), nil
}

// stackArrays makes an array of arrays with equal dimensions.
func stackArrays(elem types.OID, ds []types.Datum) (types.Datum, error) {
	var lens, lowers []int
	empty := 0
	for i, d := range ds {
		if d.Null {
			return types.NullDatum, sqlerr.New(sqlerr.NullValueNotAllowed, "cannot accumulate null arrays")
		}
		a := types.ReadArray(d.B)
		if a.NDim() == 0 {
			empty++
			continue
		}
		l, lo := a.Dims()
		if lens == nil && empty == 0 {
			lens, lowers = append([]int{len(ds)}, l...), append([]int{1}, lo...)
			continue
		}
		same := lens != nil && len(l) == len(lens)-1
		for k := range l {
			same = same && l[k] == lens[k+1]
		}
		if !same || empty > 0 {
			return types.NullDatum, errArrayShape(i)
		}
	}
	if lens == nil {
		return types.Bytes(types.EmptyArray(elem)), nil
	}
	if empty > 0 {
		return types.NullDatum, errArrayShape(0)
	}
	if len(lens) > types.MaxDim {
		return types.NullDatum, sqlerr.New(sqlerr.ProgramLimitExceeded, "number of array dimensions (%d) exceeds the maximum allowed (%d)", len(lens), types.MaxDim)
	}
	b := types.BuildArray(nil, elem, lens, lowers)
	for _, d := range ds {
		for it := types.ReadArray(d.B).Iter(); it.Next(); {
			if it.Null {
				b.Null()
			} else {
				b.Raw(it.Val)
			}
		}
	}
	return types.Bytes(b.Buf), nil
}

func errArrayShape(int) error {
	return sqlerr.New(sqlerr.ArraySubscriptError, "multidimensional arrays must have array expressions with matching dimensions")
}

// arrayProg is ARRAY[...].
type arrayProg struct {
	args  []program
	elem  types.OID
	multi bool
	out   vec.Vector
	vs    []*vec.Vector
}

func (c *compiler) array(e *plan.ArrayExpr) (program, error) {
	args, err := c.compileAll(e.Args)
	return &arrayProg{args: args, elem: e.Elem, multi: e.Multi, vs: make([]*vec.Vector, len(args))}, err
}

func (p *arrayProg) eval(f *frame, sel []uint16) (*vec.Vector, error) {
	var err error
	for i, a := range p.args {
		if p.vs[i], err = a.eval(f, sel); err != nil {
			return nil, err
		}
	}
	p.out.Reset(types.KindBytes, f.n)
	ds := make([]types.Datum, len(p.vs))
	each(f.n, sel, func(i int) {
		if err != nil {
			return
		}
		for k, v := range p.vs {
			ds[k] = v.Datum(i)
		}
		if !p.multi {
			b := types.MakeArray(p.elem, ds)
			p.out.SetVar(i, b)
			return
		}
		kept := ds[:0]
		for _, d := range ds { // NULL sub-arrays count as empty ones and vanish
			if !d.Null {
				kept = append(kept, d)
			}
		}
		var d types.Datum
		if d, err = stackArrays(p.elem, kept); err == nil {
			p.out.SetVar(i, d.B)
		}
	})
	return &p.out, err
}

// hashedList is the shortest constant list that ANY looks up by hash.
const hashedList = 9

// scalarArrayProg is scalar op ANY/ALL (array).
type scalarArrayProg struct {
	scalar, array program
	kernel        funcs.Kernel
	useOr         bool
	elem          types.OID
	hashable      bool
	eq            eqCol

	constant bool // the array is a literal: elems and table are made once
	prepared bool
	elems    []types.Datum
	table    *keyTable
	hasNull  bool

	out, tmp, one, sv vec.Vector
	argv              [2]*vec.Vector
	s                 splitter
	key               []byte
}

func (c *compiler) scalarArray(e *plan.ScalarArrayOp) (program, error) {
	st := e.Args[0].T().Type
	elem := arrayElem(e.Args[1].T().Type, st)
	if a, ok := e.Args[1].(*plan.ArrayExpr); ok {
		elem = a.Elem
	}
	k, err := lookupKernel(funcs.CallInfo{Func: e.Func, ArgTypes: []types.OID{st, elem}, Result: types.BoolOID, Typmod: -1, Collation: e.InputColl})
	if err != nil {
		return nil, err
	}
	p := &scalarArrayProg{kernel: k, useOr: e.UseOr, elem: elem, eq: newEqCol(elem, e.InputColl)}
	if p.scalar, err = c.compile(e.Args[0]); err != nil {
		return nil, err
	}
	if p.array, err = c.compile(e.Args[1]); err != nil {
		return nil, err
	}
	_, p.constant = e.Args[1].(*plan.Const)
	if o := pgdata.OperatorByOID(e.Op); o != nil && e.UseOr && o.CanHash {
		p.hashable = newEqCol(st, e.InputColl).mode == p.eq.mode
	}
	return p, nil
}

func (p *scalarArrayProg) eval(f *frame, sel []uint16) (*vec.Vector, error) {
	s, err := p.scalar.eval(f, sel)
	if err != nil {
		return nil, err
	}
	a, err := p.array.eval(f, sel)
	if err != nil {
		return nil, err
	}
	if a.Const {
		if a.IsNull(0) {
			return nullConst(&p.out, types.KindBool), nil
		}
		if !p.constant || !p.prepared {
			p.prepare(a.Bytes(0))
		}
		if p.table != nil {
			return p.probe(f, sel, s), nil
		}
		return p.list(f, sel, s)
	}
	p.out.Reset(types.KindBool, f.n)
	each(f.n, sel, func(i int) {
		if err == nil {
			err = p.row(f, s, a, i)
		}
	})
	return &p.out, err
}

// prepare decodes a constant array, into a hash table when it is long.
func (p *scalarArrayProg) prepare(b []byte) {
	p.prepared = true
	p.elems = types.ReadArray(append([]byte(nil), b...)).Datums()
	p.hasNull, p.table = false, nil
	for _, d := range p.elems {
		p.hasNull = p.hasNull || d.Null
	}
	if !p.hashable || len(p.elems) < hashedList {
		return
	}
	p.table = &keyTable{}
	for _, d := range p.elems {
		if d.Null {
			continue
		}
		setConst(&p.one, types.KindOf(p.elem), d)
		p.key = p.eq.append(p.key[:0], &p.one, 0)
		p.table.insert(hashKey(p.key), p.key) // without an account this cannot fail
	}
}

func (p *scalarArrayProg) probe(f *frame, sel []uint16, s *vec.Vector) *vec.Vector {
	p.out.Reset(types.KindBool, f.n)
	each(f.n, sel, func(i int) {
		if s.IsNull(i) {
			p.out.SetNull(i)
			return
		}
		p.key = p.eq.append(p.key[:0], s, i)
		hit := p.table.find(hashKey(p.key), p.key) >= 0
		p.out.Bool[i] = hit
		if !hit && p.hasNull {
			p.out.SetNull(i)
		}
	})
	return &p.out
}

// list compares all rows with one element after the other; rows that are decided drop out.
func (p *scalarArrayProg) list(f *frame, sel []uint16, s *vec.Vector) (*vec.Vector, error) {
	p.out.Reset(types.KindBool, f.n)
	rest := reuse(p.s.rest, f.n)
	each(f.n, sel, func(i int) {
		p.out.Bool[i] = !p.useOr
		if len(p.elems) > 0 && s.IsNull(i) {
			p.out.SetNull(i)
			return
		}
		rest = append(rest, uint16(i))
	})
	for _, d := range p.elems {
		if len(rest) == 0 {
			break
		}
		if d.Null {
			for _, i := range rest {
				p.out.SetNull(int(i))
			}
			continue
		}
		setConst(&p.one, types.KindOf(p.elem), d)
		p.argv[0], p.argv[1] = s, &p.one
		n, ksel := f.n, rest
		if s.Const {
			n, ksel = 1, nil
		}
		p.tmp.Reset(types.KindBool, n)
		if err := p.kernel(&f.st.env.Funcs, n, ksel, p.argv[:], &p.tmp); err != nil {
			return nil, err
		}
		p.tmp.Const = s.Const
		keep := reuse(p.s.spare, f.n)
		for _, i := range rest {
			if p.tmp.IsNull(int(i)) {
				p.out.SetNull(int(i))
			} else if p.tmp.Bool[p.tmp.At(int(i))] == p.useOr {
				p.out.Bool[i] = p.useOr
				p.out.ClearNull(int(i))
				continue
			}
			keep = append(keep, i)
		}
		p.s.spare, rest = rest, keep
	}
	p.s.rest = rest
	return &p.out, nil
}

// row evaluates one row whose array is its own.
func (p *scalarArrayProg) row(f *frame, s, a *vec.Vector, i int) error {
	if a.IsNull(i) {
		p.out.SetNull(i)
		return nil
	}
	ds := types.ReadArray(a.Bytes(i)).Datums()
	p.out.Bool[i] = !p.useOr
	if len(ds) == 0 {
		return nil
	}
	if s.IsNull(i) {
		p.out.SetNull(i)
		return nil
	}
	setConst(&p.sv, s.Kind, s.Datum(i))
	for _, d := range ds {
		if d.Null {
			p.out.SetNull(i)
			continue
		}
		setConst(&p.one, types.KindOf(p.elem), d)
		p.argv[0], p.argv[1] = &p.sv, &p.one
		p.tmp.Reset(types.KindBool, 1)
		if err := p.kernel(&f.st.env.Funcs, 1, nil, p.argv[:], &p.tmp); err != nil {
			return err
		}
		if p.tmp.IsNull(0) {
			p.out.SetNull(i)
		} else if p.tmp.Bool[0] == p.useOr {
			p.out.Bool[i] = p.useOr
			p.out.ClearNull(i)
			return nil
		}
	}
	return nil
}

// subscriptProg is array[i], array[lo:hi], json[key] and the assigning forms.
type subscriptProg struct {
	container    program
	upper, lower []program // nil elements: omitted bounds
	slice        bool
	typ, elem    types.OID
	assign       program
	assignType   types.OID
	json         bool
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
	p.json = ct == types.JSONBOID
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
	if p.json && p.assign != nil {
		return nil, sqlerr.Unsupported("assignment to a jsonb subscript")
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
		case p.assign != nil:
			d, err = p.store(v.Datum(i), av.Datum(i), i)
		case p.json:
			d = p.fetchJSON(v.Datum(i), i)
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
		k := len(pos) - 1
		for ; k >= 0; k-- {
			if pos[k]++; pos[k] < lens[k] {
				break
			}
			pos[k] = 0
		}
		if k < 0 {
			return types.Bytes(b.Buf), nil
		}
	}
}

// store is UPDATE SET a[i] = x: a one-dimensional array grows as needed; elements between are NULL.
func (p *subscriptProg) store(d, x types.Datum, i int) (types.Datum, error) {
	hi, hiGiven, ok := subscripts(p.uv, i)
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
		return p.storeSlice(a, types.ReadArray(x.B), lo, hi, hiGiven)
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
			return types.NullDatum, sqlerr.New(sqlerr.ArraySubscriptError, "array subscript out of range")
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

// storeSlice assigns a[lo:hi] of a one-dimensional array.
func (p *subscriptProg) storeSlice(a, x types.Array, lo, hi []int, hiGiven []bool) (types.Datum, error) {
	if a.NDim() > 1 || len(hi) > 1 {
		return types.NullDatum, sqlerr.Unsupported("assignment to a slice of a multidimensional array")
	}
	first, n := 1, 0
	if a.NDim() == 1 {
		first, n = a.Lower(0), a.Dim(0)
	}
	l := first
	if len(lo) > 0 && len(p.lv) > 0 && p.lv[0] != nil {
		l = lo[0]
	}
	h := first + n - 1
	if hiGiven[0] {
		h = hi[0]
	} else if n == 0 {
		return types.NullDatum, sqlerr.New(sqlerr.ArraySubscriptError, "array slice subscript must provide both boundaries").
			WithDetail("When assigning to a slice of an empty array value, slice boundaries must be fully specified.")
	}
	want := h - l + 1
	if want < 0 {
		return types.NullDatum, sqlerr.New(sqlerr.ArraySubscriptError, "upper bound cannot be less than lower bound")
	}
	vals := x.Datums()
	if len(vals) < want {
		return types.NullDatum, sqlerr.New(sqlerr.ArraySubscriptError, "source array too small")
	}
	return p.splice(a, first, n, l, vals[:want])
}
