package planner

import (
	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/catalog/pgdata"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// winDef is a WINDOW entry or an OVER clause of a level.
type winDef struct {
	def   *ast.WindowDef
	named bool
	win   *plan.Window
}

// windowCall is transformWindowFuncCall.
func (s *scope) windowCall(f *plan.FuncCall, p *pgdata.Proc, name ast.Name, filter plan.Expr, x *ast.FuncCall, loc int) (plan.Expr, error) {
	b := s.b
	isAgg := p.Kind == 'a'
	switch {
	case x.Distinct:
		return nil, b.errorAt(loc, sqlerr.FeatureNotSupported, "DISTINCT is not implemented for window functions")
	case isAgg && pgdata.AggregateByOID(p.OID) != nil && pgdata.AggregateByOID(p.OID).Kind != 'n':
		return nil, b.errorAt(loc, sqlerr.FeatureNotSupported, "OVER is not supported for ordered-set aggregate %s", name.String())
	case isAgg && len(x.Args) == 0 && !x.Star:
		return nil, b.errorAt(loc, sqlerr.WrongObjectType, "%s(*) must be used to call a parameterless aggregate function", name.String())
	case len(x.OrderBy) > 0:
		return nil, b.errorAt(loc, sqlerr.FeatureNotSupported, "aggregate ORDER BY is not implemented for window functions")
	case !isAgg && filter != nil:
		return nil, b.errorAt(loc, sqlerr.FeatureNotSupported, "FILTER is not implemented for non-aggregate window functions")
	}
	for _, a := range f.Args {
		if find(a, func(e plan.Expr) bool { _, ok := e.(*plan.WindowFunc); return ok }) {
			return nil, b.errorAt(loc, sqlerr.WindowingError, "window function calls cannot be nested")
		}
		if returnsSet(a) {
			return nil, b.errorAt(exprLoc(a), sqlerr.FeatureNotSupported, "window function calls cannot contain set-returning function calls").
				WithHint("You might be able to move the set-returning function into a LATERAL FROM item.")
		}
	}
	where := placePhrase(s.kind)
	switch s.kind {
	case kindHaving:
		where = "HAVING"
	case kindWindowPartition, kindWindowOrder, kindFrame:
		where = "window definitions"
	}
	if where != "" {
		return nil, b.errorAt(loc, sqlerr.WindowingError, "window functions are not allowed in %s", where)
	}
	w := &plan.WindowFunc{Typed: f.Typed, Func: p.OID, Args: f.Args, Filter: filter, IsAgg: isAgg, Star: x.Star, InputColl: f.InputColl}
	if n := x.Over.Name; n != "" {
		for i, d := range s.windows {
			if d.named && d.def.Name == n {
				w.Window = i
				s.q.HasWindow = true
				return w, nil
			}
		}
		return nil, b.errorAt(int(x.Over.Off), sqlerr.UndefinedObject, "window \"%s\" does not exist", n)
	}
	s.windows = append(s.windows, &winDef{def: x.Over})
	w.Window = len(s.windows) - 1
	s.q.HasWindow = true
	return w, nil
}

// bindWindows is transformWindowDefinitions.
func (s *scope) bindWindows() error {
	for i := 0; i < len(s.windows); i++ {
		d := s.windows[i]
		if d.named {
			for _, o := range s.windows[:i] {
				if o.named && o.def.Name == d.def.Name {
					return s.b.errorAt(int(d.def.Off), sqlerr.WindowingError, "window \"%s\" is already defined", d.def.Name)
				}
			}
		}
		w, err := s.windowDef(d, i)
		if err != nil {
			return err
		}
		d.win = w
		s.q.Windows = append(s.q.Windows, w)
	}
	return nil
}

func (s *scope) windowDef(d *winDef, i int) (*plan.Window, error) {
	b, def := s.b, d.def
	w := &plan.Window{}
	if d.named {
		w.Name = def.Name
	}
	var ref *winDef
	if def.Ref != "" {
		for _, o := range s.windows[:i] {
			if o.named && o.def.Name == def.Ref {
				ref = o
			}
		}
		if ref == nil {
			return nil, b.errorAt(int(def.Off), sqlerr.UndefinedObject, "window \"%s\" does not exist", def.Ref)
		}
		switch {
		case len(def.PartitionBy) > 0:
			return nil, b.errorAt(int(def.Off), sqlerr.WindowingError, "cannot override PARTITION BY clause of window \"%s\"", def.Ref)
		case len(def.OrderBy) > 0 && len(ref.win.OrderBy) > 0:
			return nil, b.errorAt(int(def.Off), sqlerr.WindowingError, "cannot override ORDER BY clause of window \"%s\"", def.Ref)
		case ref.def.Frame != nil:
			e := b.errorAt(int(def.Off), sqlerr.WindowingError, "cannot copy window \"%s\" because it has a frame clause", def.Ref)
			if !d.named && len(def.OrderBy) == 0 && def.Frame == nil {
				e.WithHint("Omit the parentheses in this OVER clause.")
			}
			return nil, e
		}
		w.PartitionBy, w.OrderBy = ref.win.PartitionBy, ref.win.OrderBy
	}
	for _, e := range def.PartitionBy {
		x, err := s.windowKey(e, kindWindowPartition)
		if err != nil {
			return nil, err
		}
		k, err := s.sortKey(x, &ast.SortItem{Loc: ast.At(int32(e.Pos())), Expr: e})
		if err != nil {
			return nil, err
		}
		if err := s.b.checkEquality(def.Equality, x, "PARTITION BY"); err != nil {
			return nil, err
		}
		w.PartitionBy = append(w.PartitionBy, k)
	}
	for k := range def.OrderBy {
		x, err := s.windowKey(def.OrderBy[k].Expr, kindWindowOrder)
		if err != nil {
			return nil, err
		}
		key, err := s.sortKey(x, &def.OrderBy[k])
		if err != nil {
			return nil, err
		}
		w.OrderBy = append(w.OrderBy, key)
	}
	return w, s.frame(w, def)
}

// windowKey binds a PARTITION BY or ORDER BY item of a window; names and ordinals of output columns do not count (SQL99 rules).
func (s *scope) windowKey(e ast.Expr, kind exprKind) (plan.Expr, error) {
	x, err := s.expr(e, kind)
	if err != nil {
		return nil, err
	}
	if x.T().Type == types.UnknownOID {
		return s.b.coerce(x, types.TextOID, -1, coerceImplicit, plan.FormImplicitCast, -1)
	}
	return x, nil
}

// frame binds a frame clause with its offsets.
func (s *scope) frame(w *plan.Window, def *ast.WindowDef) error {
	f := &w.Frame
	f.Mode, f.Start, f.End, f.Default = 'r', 'u', 'c', true
	if def.Frame == nil {
		return nil
	}
	f.Default = false
	f.Mode = [...]byte{'r', 'o', 'g'}[def.Frame.Mode]
	kinds := [...]byte{'u', 'p', 'c', 'f', 'U'}
	f.Start, f.End = kinds[def.Frame.Start.Kind], kinds[def.Frame.End.Kind]
	if !def.Frame.Between {
		f.End, f.Short = 'c', true
	}
	f.Exclude = [...]byte{0, 'c', 'g', 't'}[def.Frame.Exclude]
	loc := int(def.Off)
	if f.Mode == 'g' && len(w.OrderBy) == 0 {
		return s.b.errorAt(loc, sqlerr.WindowingError, "GROUPS mode requires an ORDER BY clause")
	}
	offset := f.Start == 'p' || f.Start == 'f' || f.End == 'p' || f.End == 'f'
	if f.Mode == 'r' && offset && len(w.OrderBy) != 1 {
		return s.b.errorAt(loc, sqlerr.WindowingError, "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column")
	}
	var err error
	if f.StartOffset, f.InRangeStart, err = s.frameOffset(w, def.Frame.Start); err != nil {
		return err
	}
	if def.Frame.Between {
		f.EndOffset, f.InRangeEnd, err = s.frameOffset(w, def.Frame.End)
	}
	return err
}

// frameOffset is transformFrameOffset.
func (s *scope) frameOffset(w *plan.Window, bound ast.FrameBound) (plan.Expr, types.OID, error) {
	if bound.Offset == nil {
		return nil, 0, nil
	}
	b := s.b
	e, err := s.expr(bound.Offset, kindFrame)
	if err != nil {
		return nil, 0, err
	}
	if v := varAtLevel(e, 0); v != nil {
		what := map[byte]string{'o': "ROWS", 'r': "RANGE", 'g': "GROUPS"}[w.Frame.Mode]
		return nil, 0, b.errorAt(v.Loc, sqlerr.InvalidColumnReference, "argument of %s must not contain variables", what)
	}
	if w.Frame.Mode != 'r' {
		what := "ROWS"
		if w.Frame.Mode == 'g' {
			what = "GROUPS"
		}
		e, err = b.toType(e, types.Int8OID, what)
		return e, 0, err
	}
	key := w.OrderBy[0].Expr.T().Type
	fn, offType := b.inRange(key, e.T().Type)
	if fn == 0 {
		const what = "RANGE with offset PRECEDING/FOLLOWING is not supported for column type %s"
		if offType == 0 {
			return nil, 0, b.errorAt(exprLoc(e), sqlerr.FeatureNotSupported, what, b.typeName(key))
		}
		return nil, 0, b.errorAt(exprLoc(e), sqlerr.FeatureNotSupported, what+" and offset type %s", b.typeName(key), b.typeName(e.T().Type)).
			WithHint("Cast the offset value to an appropriate type.")
	}
	r, err := b.coerceTo(e, offType, -1, coerceImplicit, plan.FormImplicitCast, -1)
	if err != nil {
		return nil, 0, err
	}
	if r == nil {
		return nil, 0, b.errorAt(exprLoc(e), sqlerr.DatatypeMismatch, "argument of RANGE must be type %s, not type %s", b.typeName(offType), b.typeName(e.T().Type))
	}
	return r, fn, nil
}

// inRange finds the in_range support function of a sort column's type for an offset type.
func (b *binder) inRange(key, off types.OID) (fn, offType types.OID) {
	c := pgdata.DefaultOpclass(b.baseType(key), pgdata.BTree, b.lookupType)
	if c == nil {
		return 0, 0
	}
	const inRangeProc = 3
	if off != types.UnknownOID {
		if f := pgdata.AmprocMember(c.Family, c.InType, off, inRangeProc); f != 0 {
			return f, off
		}
	}
	for _, t := range [...]types.OID{c.InType, types.Int8OID, types.Int4OID, types.Int2OID, types.IntervalOID, types.Float8OID, types.NumericOID} {
		f := pgdata.AmprocMember(c.Family, c.InType, t, inRangeProc)
		if f == 0 {
			continue
		}
		if off == types.UnknownOID || b.canCoerce1(off, t, coerceImplicit) {
			return f, t
		}
		offType = t
	}
	return 0, offType
}
