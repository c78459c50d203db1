package planner

import (
	"herd/planner/plan"
	"herd/sql/catalog/pgdata"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// coercion says in which context a cast is asked for; the order is PostgreSQL's.
type coercion uint8

const (
	coerceImplicit coercion = iota
	coerceAssignment
	coerceExplicit
)

// pathKind is how a cast is done.
type pathKind uint8

const (
	pathNone pathKind = iota
	pathFunc
	pathRelabel
	pathArray
	pathViaIO
)

// castPath is PostgreSQL's find_coercion_pathway.
func (b *binder) castPath(target, source types.OID, ctx coercion) (pathKind, types.OID) {
	source, target = b.baseType(source), b.baseType(target)
	if source == target {
		return pathRelabel, 0
	}
	if c := pgdata.CastByTypes(source, target); c != nil {
		need := coerceExplicit
		switch c.Context {
		case 'i':
			need = coerceImplicit
		case 'a':
			need = coerceAssignment
		}
		if ctx < need {
			return pathNone, 0
		}
		switch c.Method {
		case 'f':
			return pathFunc, c.Func
		case 'i':
			return pathViaIO, 0
		}
		return pathRelabel, 0
	}
	if target != types.OIDVectorOID && target != types.Int2VectorOID {
		if te := b.elemType(target); te != 0 {
			if se := b.elemType(source); se != 0 {
				if k, fn := b.castPath(te, se, ctx); k != pathNone {
					return pathArray, fn
				}
			}
		}
	}
	if ctx >= coerceAssignment {
		if cat, _ := b.category(target); cat == catString {
			return pathViaIO, 0
		}
		if ctx >= coerceExplicit {
			if cat, _ := b.category(source); cat == catString {
				return pathViaIO, 0
			}
		}
	}
	return pathNone, 0
}

// canCoerce1 is canCoerce of one type.
func (b *binder) canCoerce1(from, to types.OID, ctx coercion) bool {
	if from == to || to == types.AnyOID {
		return true
	}
	if isPolymorphic(to) {
		return b.checkGeneric([]types.OID{from}, []types.OID{to})
	}
	return b.canCoerceBasic(from, to, ctx)
}

// canCoerce says whether all of from can become to: PostgreSQL's can_coerce_type.
func (b *binder) canCoerce(from, to []types.OID, ctx coercion) bool {
	generic := false
	for i, t := range to {
		if from[i] == t || t == types.AnyOID {
			continue
		}
		if isPolymorphic(t) {
			generic = true
			continue
		}
		if !b.canCoerceBasic(from[i], t, ctx) {
			return false
		}
	}
	if !generic {
		for _, t := range to {
			if isPolymorphic(t) {
				generic = true
			}
		}
	}
	return !generic || b.checkGeneric(from, to)
}

func (b *binder) canCoerceBasic(from, to types.OID, ctx coercion) bool {
	if from == types.UnknownOID {
		return true
	}
	if k, _ := b.castPath(to, from, ctx); k != pathNone {
		return true
	}
	if from == types.RecordOID && b.isComplex(to) || to == types.RecordOID && b.isComplex(from) {
		return true
	}
	if to == types.RecordArrayOID && b.isComplex(b.elemType(from)) {
		return true
	}
	return from == types.RecordArrayOID && b.isComplex(b.elemType(to))
}

// coerceTo is coerce_to_target_type: nil when there is no cast.
func (b *binder) coerceTo(e plan.Expr, target types.OID, mod types.Typmod, ctx coercion, form plan.CallForm, loc int) (plan.Expr, error) {
	t := e.T()
	if t.Type == target && (mod == t.Typmod) {
		return e, nil
	}
	if !b.canCoerce1(t.Type, target, ctx) {
		return nil, nil
	}
	r, err := b.coerce(e, target, mod, ctx, form, loc)
	if err != nil {
		return nil, err
	}
	if r != e && mod >= 0 && r.T().Typmod != mod {
		hideCoercion(r) // one cast is written, not two
	}
	return b.coerceTypmod(r, target, mod, ctx, form, loc)
}

// hideCoercion marks the outermost node, which is a cast just made, as one that was not written.
func hideCoercion(e plan.Expr) {
	switch x := e.(type) {
	case *plan.FuncCall:
		if x.Form == plan.FormExplicitCast {
			x.Form = plan.FormImplicitCast
		}
	case *plan.Relabel:
		x.Form = plan.FormImplicitCast
	case *plan.CoerceViaIO:
		x.Form = plan.FormImplicitCast
	case *plan.ArrayCoerce:
		x.Form = plan.FormImplicitCast
	}
}

// coerceTypmod applies a length coercion when the value's modifier differs.
func (b *binder) coerceTypmod(e plan.Expr, target types.OID, mod types.Typmod, ctx coercion, form plan.CallForm, loc int) (plan.Expr, error) {
	if e.T().Typmod == mod {
		return e, nil
	}
	if mod >= 0 {
		fn, elemwise := b.typmodFunc(target)
		if fn != 0 {
			kind := pathFunc
			if elemwise {
				kind = pathArray
			}
			return b.buildCast(e, kind, fn, target, mod, ctx, form, loc)
		}
	}
	return &plan.Relabel{Typed: plan.Typed{Type: target, Typmod: mod, Collation: e.T().Collation, Loc: loc}, Arg: e, Form: form}, nil
}

// typmodFunc finds the length coercion function of a type, or of an array's elements.
func (b *binder) typmodFunc(t types.OID) (fn types.OID, elemwise bool) {
	if et := b.elemType(t); et != 0 {
		t, elemwise = et, true
	}
	if c := pgdata.CastByTypes(t, t); c != nil {
		return c.Func, elemwise
	}
	return 0, false
}

// coerce is coerce_type; the caller has checked that the cast exists.
func (b *binder) coerce(e plan.Expr, target types.OID, mod types.Typmod, ctx coercion, form plan.CallForm, loc int) (plan.Expr, error) {
	from := e.T().Type
	if from == target {
		return e, nil
	}
	switch target {
	case types.AnyOID, types.AnyElementOID, types.AnyNonArrayOID, types.AnyCompatibleOID, types.AnyCompatibleNonArrayOID:
		return e, nil
	case types.AnyArrayOID, anyEnumOID, anyRangeOID, anyMultirangeOID, types.AnyCompatibleArrayOID, anyCompatRangeOID, anyCompatMultiRange:
		if from != types.UnknownOID {
			if base := b.baseType(from); base != from {
				return b.relabel(e, base, -1, form, loc), nil
			}
			return e, nil
		}
	}
	if from == types.UnknownOID {
		if r, done, err := b.coerceUnknown(e, target, mod, ctx, form, loc); done || err != nil {
			return r, err
		}
	}
	if k, fn := b.castPath(target, from, ctx); k != pathNone {
		return b.coerceByPath(e, k, fn, target, mod, ctx, form, loc)
	}
	switch {
	case from == types.RecordOID && b.isComplex(target):
		return b.coerceRecord(e, target, ctx, form, loc)
	case target == types.RecordOID && b.isComplex(from), target == types.RecordArrayOID, from == types.RecordArrayOID:
		return b.relabel(e, target, -1, form, loc), nil
	}
	return nil, b.errorAt(loc, sqlerr.InternalError, "failed to find conversion function from %s to %s", b.typeName(from), b.typeName(target))
}

// coerceByPath does what castPath found.
func (b *binder) coerceByPath(e plan.Expr, k pathKind, fn, target types.OID, mod types.Typmod, ctx coercion, form plan.CallForm, loc int) (plan.Expr, error) {
	base, baseMod := b.baseTypeMod(target, mod)
	if k != pathRelabel {
		r, err := b.buildCast(e, k, fn, base, baseMod, ctx, form, loc)
		if err != nil || base == target {
			return r, err
		}
		return b.coerceDomain(r, target, base, baseMod, ctx, form, loc)
	}
	if base != target {
		r := e
		if b.baseType(e.T().Type) != e.T().Type || e.T().Type != base {
			r = b.relabel(e, base, -1, form, loc)
		}
		return b.coerceDomain(r, target, base, baseMod, ctx, form, loc)
	}
	return b.relabel(e, target, -1, form, loc), nil
}

// relabel changes the type of e without changing its value.
func (b *binder) relabel(e plan.Expr, t types.OID, mod types.Typmod, form plan.CallForm, loc int) plan.Expr {
	coll := types.OID(0)
	if b.typeCollation(t) != 0 {
		if coll = e.T().Collation; coll == 0 {
			coll = b.typeCollation(t)
		}
	}
	return &plan.Relabel{Typed: plan.Typed{Type: t, Typmod: mod, Collation: coll, Loc: loc}, Arg: e, Form: form}
}

// coerceUnknown turns an untyped literal or parameter into the target type. done is false when e is neither.
func (b *binder) coerceUnknown(e plan.Expr, target types.OID, mod types.Typmod, ctx coercion, form plan.CallForm, loc int) (plan.Expr, bool, error) {
	switch x := e.(type) {
	case *plan.Const:
		r, err := b.literal(x, target, mod, ctx, form, loc)
		return r, true, err
	case *plan.Param:
		base, baseMod := b.baseTypeMod(target, mod)
		r, ok, err := b.params.coerce(b, x, base, baseMod, loc)
		if err != nil || !ok || base == target {
			return r, ok, err
		}
		// A parameter, or a literal's slot, gets the base type: input functions do not check a domain's constraints.
		r, err = b.coerceDomain(r, target, base, baseMod, ctx, form, loc)
		return r, true, err
	case *plan.Relabel: // COLLATE over a literal
		if x.Arg.T().Type == types.UnknownOID {
			r, err := b.coerce(x.Arg, target, mod, ctx, form, loc)
			if err != nil {
				return nil, true, err
			}
			if b.typeCollation(target) == 0 {
				return r, true, nil
			}
			return b.collate(r, x.Collation, x.Loc), true, nil
		}
	}
	// A column of type unknown (from a view or subquery): through text.
	if b.category1(target) == catString || ctx >= coerceExplicit || true {
		r, err := b.buildCast(e, pathViaIO, 0, b.baseType(target), mod, ctx, form, loc)
		return r, true, err
	}
	return nil, false, nil
}

func (b *binder) category1(t types.OID) byte {
	c, _ := b.category(t)
	return c
}

// literal reads an untyped literal as a value of the target type, at bind time where the input function's answer cannot change.
func (b *binder) literal(c *plan.Const, target types.OID, mod types.Typmod, ctx coercion, form plan.CallForm, loc int) (plan.Expr, error) {
	base, baseMod := b.baseTypeMod(target, mod)
	inMod := types.Typmod(-1)
	if base == types.IntervalOID {
		inMod = baseMod
	}
	out := &plan.Const{Typed: plan.Typed{Type: base, Typmod: inMod, Collation: b.typeCollation(base), Loc: c.Loc}}
	var r plan.Expr = out
	if c.Value.Null {
		out.Value = types.NullDatum
	} else {
		stable := b.inputStable(base, c.Value.B)
		v, err := b.input(base, inMod, c.Value.B)
		if err != nil {
			return nil, b.place(err, c.Loc)
		}
		out.Value = v
		if stable && !b.env.Fold {
			text := &plan.Const{Typed: plan.Typed{Type: types.TextOID, Typmod: -1, Collation: types.DefaultCollationOID, Loc: c.Loc}, Value: c.Value}
			r = &plan.CoerceViaIO{Typed: out.Typed, Arg: text, Form: plan.FormExplicitCast}
		}
	}
	if base == target {
		return r, nil
	}
	return b.coerceDomain(r, target, base, baseMod, ctx, form, loc)
}

// inputStable says whether reading text as the type depends on the clock, a setting or the catalog.
func (b *binder) inputStable(t types.OID, text []byte) bool {
	switch t {
	case types.BoolOID, types.Int2OID, types.Int4OID, types.Int8OID, types.TextOID, types.VarcharOID, types.BPCharOID, types.NumericOID,
		types.Float4OID, types.Float8OID, types.ByteaOID, types.NameOID, types.QCharOID, types.OIDOID, types.UUIDOID, types.JSONOID,
		types.JSONBOID, types.BitOID, types.VarbitOID, types.UnknownOID, types.InetOID:
		return false
	case types.DateOID, types.TimestampOID:
		return !isoDateText(text)
	case types.TimeOID:
		return len(text) == 0 || !(text[0] >= '0' && text[0] <= '9')
	case types.IntervalOID:
		for _, c := range text {
			if c == '-' && len(text) > 4 && text[4] == '-' {
				return true
			}
		}
		return false
	}
	td := b.typ(t)
	if td == nil {
		return true
	}
	if td.IsTrueArray() {
		return b.inputStable(td.Elem, []byte("now"))
	}
	if td.Type == 'e' {
		return false // labels are looked up once; a plan depends on its types' versions
	}
	if p := pgdata.FuncByOID(td.Input); p != nil {
		return p.Volatile != 'i'
	}
	return true
}

// isoDateText recognises YYYY-MM-DD with an optional time of digits: read the same under every DateStyle.
func isoDateText(s []byte) bool {
	if len(s) < 10 || s[4] != '-' || s[7] != '-' {
		return false
	}
	for i, c := range s {
		digit := c >= '0' && c <= '9'
		switch {
		case i < 10 && i != 4 && i != 7:
			if !digit {
				return false
			}
		case i >= 10:
			if !digit && c != ':' && c != '.' && c != ' ' && c != 'T' {
				return false
			}
		}
	}
	return true
}

// buildCast is build_coercion_expression.
func (b *binder) buildCast(e plan.Expr, k pathKind, fn, target types.OID, mod types.Typmod, ctx coercion, form plan.CallForm, loc int) (plan.Expr, error) {
	ty := plan.Typed{Type: target, Typmod: -1, Collation: b.typeCollation(target), Loc: loc}
	if ty.Collation != 0 && e.T().Collation != 0 {
		ty.Collation = e.T().Collation
	}
	switch k {
	case pathFunc:
		p, err := b.proc(fn)
		if err != nil {
			return nil, err
		}
		args := []plan.Expr{e}
		if p.NArgs >= 2 {
			args = append(args, b.intConst(int64(mod), types.Int4OID))
			ty.Typmod = mod
		}
		if p.NArgs >= 3 {
			args = append(args, b.boolConst(ctx == coerceExplicit))
		}
		return &plan.FuncCall{Typed: ty, Func: fn, Args: args, Volatile: p.Volatile, Strict: p.Strict, Form: form, InputColl: e.T().Collation}, nil
	case pathViaIO:
		return &plan.CoerceViaIO{Typed: ty, Arg: e, Form: form}, nil
	case pathArray:
		return b.buildArrayCast(e, target, mod, ctx, form, ty)
	}
	return nil, sqlerr.Internal("unsupported cast path")
}

// buildArrayCast casts element by element.
func (b *binder) buildArrayCast(e plan.Expr, target types.OID, mod types.Typmod, ctx coercion, form plan.CallForm, ty plan.Typed) (plan.Expr, error) {
	te, se := b.elemType(target), b.elemType(b.baseType(e.T().Type))
	test := &plan.CaseTest{Typed: plan.Typed{Type: se, Typmod: e.T().Typmod, Collation: b.typeCollation(se), Loc: -1}}
	elem, err := b.coerceTo(test, te, mod, ctx, form, ty.Loc)
	if err != nil {
		return nil, err
	}
	if elem == nil {
		return nil, sqlerr.Internal("no cast from %s to %s", b.typeName(se), b.typeName(te))
	}
	ty.Typmod = mod
	return &plan.ArrayCoerce{Typed: ty, Arg: e, Elem: elem, Form: form}, nil
}

// coerceDomain checks a base value against a domain.
func (b *binder) coerceDomain(e plan.Expr, domain, base types.OID, baseMod types.Typmod, ctx coercion, form plan.CallForm, loc int) (plan.Expr, error) {
	if base == domain {
		return e, nil
	}
	r, err := b.coerceTypmod(e, base, baseMod, ctx, plan.FormImplicitCast, loc)
	if err != nil {
		return nil, err
	}
	d := &plan.CoerceToDomain{Typed: plan.Typed{Type: domain, Typmod: -1, Collation: b.typeCollation(domain), Loc: loc}, Arg: r, Form: form}
	if err := b.fillDomain(d); err != nil {
		return nil, err
	}
	return d, nil
}

// coerceRecord casts a ROW() or whole record field by field to a composite type.
func (b *binder) coerceRecord(e plan.Expr, target types.OID, ctx coercion, form plan.CallForm, loc int) (plan.Expr, error) {
	base := b.baseType(target)
	cols, err := b.compositeCols(base)
	if err != nil {
		return nil, err
	}
	row, ok := e.(*plan.RowExpr)
	if !ok {
		return &plan.CoerceViaIO{Typed: plan.Typed{Type: base, Typmod: -1, Loc: loc}, Arg: e, Form: form}, nil
	}
	out := &plan.RowExpr{Typed: plan.Typed{Type: base, Typmod: -1, Loc: loc}}
	if loc < 0 {
		loc = exprLoc(e)
	}
	i := 0
	for _, c := range cols {
		if c.Name == "" {
			out.Args = append(out.Args, &plan.Const{Typed: plan.Typed{Type: types.Int4OID, Typmod: -1, Loc: -1}, Value: types.NullDatum})
			continue
		}
		if i >= len(row.Args) {
			return nil, b.errorAt(loc, sqlerr.CannotCoerce, "cannot cast type %s to %s", b.typeName(types.RecordOID), b.typeName(target)).WithDetail("Input has too few columns.")
		}
		arg, err := b.coerceTo(row.Args[i], c.Type, c.Typmod, ctx, plan.FormImplicitCast, -1)
		if err != nil {
			return nil, err
		}
		if arg == nil {
			return nil, b.errorAt(loc, sqlerr.CannotCoerce, "cannot cast type %s to %s", b.typeName(types.RecordOID), b.typeName(target)).
				WithDetail("Cannot cast type %s to %s in column %d.", b.typeName(row.Args[i].T().Type), b.typeName(c.Type), i+1)
		}
		out.Args = append(out.Args, arg)
		out.Names = append(out.Names, c.Name)
		i++
	}
	if i < len(row.Args) {
		return nil, b.errorAt(loc, sqlerr.CannotCoerce, "cannot cast type %s to %s", b.typeName(types.RecordOID), b.typeName(target)).WithDetail("Input has too many columns.")
	}
	if base != target {
		return b.coerceDomain(out, target, base, -1, ctx, form, loc)
	}
	return out, nil
}

// toBoolean is coerce_to_boolean; what names the clause ("WHERE").
func (b *binder) toBoolean(e plan.Expr, what string) (plan.Expr, error) {
	return b.toType(e, types.BoolOID, what)
}

// toType is coerce_to_specific_type.
func (b *binder) toType(e plan.Expr, t types.OID, what string) (plan.Expr, error) {
	if e.T().Type != t {
		r, err := b.coerceTo(e, t, -1, coerceAssignment, plan.FormImplicitCast, -1)
		if err != nil {
			return nil, err
		}
		if r == nil {
			return nil, b.errorAt(exprLoc(e), sqlerr.DatatypeMismatch, "argument of %s must be type %s, not type %s", what, b.typeName(t), b.typeName(e.T().Type))
		}
		e = r
	}
	if returnsSet(e) {
		return nil, b.errorAt(exprLoc(e), sqlerr.DatatypeMismatch, "argument of %s must not return a set", what)
	}
	return e, nil
}

func (b *binder) intConst(v int64, t types.OID) *plan.Const {
	return &plan.Const{Typed: plan.Typed{Type: t, Typmod: -1, Loc: -1}, Value: types.Int(v)}
}

func (b *binder) boolConst(v bool) *plan.Const {
	return &plan.Const{Typed: plan.Typed{Type: types.BoolOID, Typmod: -1, Loc: -1}, Value: types.Bool(v)}
}
