package exec

import (
	"herd/planner/plan"
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
