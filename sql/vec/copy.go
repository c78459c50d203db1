package vec

import "herd/sql/types"

// Copy sets row i of v to row j of src, which has the same kind; bytes are copied into v's arena.
func (v *Vector) Copy(i int, src *Vector, j int) {
	if src.IsNull(j) {
		v.SetNull(i)
		return
	}
	if v.HasNulls {
		v.ClearNull(i)
	}
	j = src.At(j)
	switch v.Kind {
	case types.KindInt:
		v.Int[i] = src.Int[j]
	case types.KindFloat:
		v.Float[i] = src.Float[j]
	case types.KindBool:
		v.Bool[i] = src.Bool[j]
	default:
		v.SetVar(i, src.Bytes(j))
	}
}

// CopyFrom sets the selected rows of v (sel nil = rows 0..n-1) to the same rows of src.
func (v *Vector) CopyFrom(src *Vector, n int, sel []uint16) {
	if sel == nil && !src.Const && !src.HasNulls && !v.HasNulls {
		switch v.Kind {
		case types.KindInt:
			copy(v.Int[:n], src.Int)
			return
		case types.KindFloat:
			copy(v.Float[:n], src.Float)
			return
		case types.KindBool:
			copy(v.Bool[:n], src.Bool)
			return
		}
	}
	if sel == nil {
		for i := range n {
			v.Copy(i, src, i)
		}
		return
	}
	for _, i := range sel {
		v.Copy(int(i), src, int(i))
	}
}

// Gather makes v a dense vector of the selected rows of src: row k of v is row sel[k] of src (sel nil = all n rows).
// Bytes are copied.
func (v *Vector) Gather(src *Vector, n int, sel []uint16) {
	if sel == nil {
		v.Reset(src.Kind, n)
		v.CopyFrom(src, n, nil)
		return
	}
	if src.Dec && !src.Const {
		v.gatherDecimal(src, sel)
		return
	}
	v.Reset(src.Kind, len(sel))
	if src.Const || src.HasNulls || src.Kind == types.KindBytes {
		for k, i := range sel {
			v.Copy(k, src, int(i))
		}
		return
	}
	switch src.Kind {
	case types.KindInt:
		for k, i := range sel {
			v.Int[k] = src.Int[i]
		}
	case types.KindFloat:
		for k, i := range sel {
			v.Float[k] = src.Float[i]
		}
	case types.KindBool:
		for k, i := range sel {
			v.Bool[k] = src.Bool[i]
		}
	}
}

// GatherShared is Gather of the rows sel, except that bytes are not copied: v is valid as long as src is. sel may repeat rows.
func (v *Vector) GatherShared(src *Vector, sel []uint16) {
	if src.Kind != types.KindBytes || src.Const || src.Dec {
		v.Gather(src, len(sel), sel)
		return
	}
	v.Reset(src.Kind, len(sel))
	v.SetBufs(src.Bufs)
	for k, i := range sel {
		v.Var[k] = src.Var[i]
	}
	if src.HasNulls {
		for k, i := range sel {
			if src.IsNull(int(i)) {
				v.SetNull(k)
			}
		}
	}
}

// Append adds a row to the end of a dense vector and sets it to row j of src.
func (v *Vector) Append(src *Vector, j int) {
	i := v.Len()
	v.Extend(i + 1)
	v.Copy(i, src, j)
}

// Extend makes v n rows long, keeping the rows it has. New rows are not NULL and undefined (variable ones empty).
func (v *Vector) Extend(n int) {
	switch v.Kind {
	case types.KindInt:
		v.Int = extend(v.Int, n)
	case types.KindFloat:
		v.Float = extend(v.Float, n)
	case types.KindBool:
		v.Bool = extend(v.Bool, n)
	default:
		v.Var = extend(v.Var, n)
	}
	if v.HasNulls {
		for len(v.Nulls) < (n+63)>>6 {
			v.Nulls = append(v.Nulls, 0)
		}
	}
}

func extend[T any](s []T, n int) []T {
	if n <= cap(s) {
		old := len(s)
		s = s[:n]
		if old < n {
			clear(s[old:])
		}
		return s
	}
	c := max(n, 2*cap(s), FirstRows)
	t := make([]T, n, c)
	copy(t, s)
	return t
}

// Share makes v a second header over src's values, without a copy: both are valid as long as src is, and v must not
// be written before its next Reset.
func (v *Vector) Share(src *Vector) {
	v.Drop()
	v.Kind, v.Const, v.HasNulls, v.Nulls = src.Kind, src.Const, src.HasNulls, src.Nulls
	v.Int, v.Float, v.Bool, v.Var, v.Bufs = src.Int, src.Float, src.Bool, src.Var, src.Bufs
	v.Dec, v.lazy, v.Scale = src.Dec, src.lazy, src.Scale
	if v.lazy { // each makes the bytes it needs
		v.Var, v.Bufs = nil, nil
	}
	v.shared, v.borrowed = true, true
}

// Drop forgets v's memory, its own or shared.
func (v *Vector) Drop() { *v = Vector{arena: -1} }
