package planner

import (
	"herd/planner/plan"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// commonType is select_common_type. what names the construct for the error ("CASE"); "" means: no error, 0 instead.
func (b *binder) commonType(exprs []plan.Expr, what string) (types.OID, error) {
	i, err := b.commonTypeIdx(exprs, what)
	return i, err
}

func (b *binder) commonTypeIdx(exprs []plan.Expr, what string) (types.OID, error) {
	first := exprs[0].T().Type
	if first != types.UnknownOID {
		same := true
		for _, e := range exprs[1:] {
			if e.T().Type != first {
				same = false
				break
			}
		}
		if same {
			return first, nil
		}
	}
	best := exprs[0]
	pt := b.baseType(first)
	pcat, ppref := b.category(pt)
	for _, e := range exprs[1:] {
		nt := b.baseType(e.T().Type)
		if nt == types.UnknownOID || nt == pt {
			continue
		}
		ncat, npref := b.category(nt)
		switch {
		case pt == types.UnknownOID:
			best, pt, pcat, ppref = e, nt, ncat, npref
		case ncat != pcat:
			if what == "" {
				return 0, nil
			}
			return 0, b.errorAt(exprLoc(e), sqlerr.DatatypeMismatch, "%s types %s and %s cannot be matched", what, b.typeName(pt), b.typeName(nt))
		case !ppref && b.canCoerce1(pt, nt, coerceImplicit) && !b.canCoerce1(nt, pt, coerceImplicit):
			best, pt, pcat, ppref = e, nt, ncat, npref
		}
	}
	_ = best
	if pt == types.UnknownOID {
		pt = types.TextOID
	}
	return pt, nil
}

// commonTypeOIDs is select_common_type over types; 0 when they do not match.
func (b *binder) commonTypeOIDs(list []types.OID, noError bool) (types.OID, error) {
	exprs := make([]plan.Expr, len(list))
	for i, t := range list {
		exprs[i] = &plan.CaseTest{Typed: plan.Typed{Type: t, Typmod: -1, Loc: -1}}
	}
	if noError {
		return b.commonType(exprs, "")
	}
	return b.commonType(exprs, "argument")
}

// toCommon is coerce_to_common_type.
func (b *binder) toCommon(e plan.Expr, t types.OID, what string) (plan.Expr, error) {
	from := e.T().Type
	if from == t {
		return e, nil
	}
	if b.canCoerce1(from, t, coerceImplicit) {
		return b.coerce(e, t, -1, coerceImplicit, plan.FormImplicitCast, -1)
	}
	return nil, b.errorAt(exprLoc(e), sqlerr.CannotCoerce, "%s could not convert type %s to %s", what, b.typeName(from), b.typeName(t))
}

// allToCommon finds the common type and casts all of exprs in place.
func (b *binder) allToCommon(exprs []plan.Expr, what string) (types.OID, error) {
	t, err := b.commonType(exprs, what)
	if err != nil {
		return 0, err
	}
	for i, e := range exprs {
		if exprs[i], err = b.toCommon(e, t, what); err != nil {
			return 0, err
		}
	}
	return t, nil
}

// commonTypmod is the modifier all expressions agree on, else -1.
func commonTypmod(exprs []plan.Expr, t types.OID) types.Typmod {
	mod := types.Typmod(-1)
	for i, e := range exprs {
		if e.T().Type != t {
			return -1
		}
		if i == 0 {
			mod = e.T().Typmod
		} else if e.T().Typmod != mod {
			return -1
		}
	}
	return mod
}

// commonCollation picks the collation of a result or comparison over exprs: an explicit one first, then a column's, then the type's.
func (b *binder) commonCollation(exprs ...plan.Expr) types.OID {
	coll := types.OID(0)
	for _, e := range exprs {
		if e == nil {
			continue
		}
		c := e.T().Collation
		if c == 0 {
			continue
		}
		if coll == 0 || coll == types.DefaultCollationOID {
			coll = c
		}
	}
	return coll
}

// collate gives e an explicit collation.
func (b *binder) collate(e plan.Expr, coll types.OID, loc int) plan.Expr {
	return &plan.Relabel{Typed: plan.Typed{Type: e.T().Type, Typmod: e.T().Typmod, Collation: coll, Loc: loc}, Arg: e, Form: plan.FormExplicitCast}
}

// isCollate recognises what collate made.
func isCollate(e plan.Expr) bool {
	r, ok := e.(*plan.Relabel)
	return ok && r.Form == plan.FormExplicitCast && r.Type == r.Arg.T().Type && r.Typmod == r.Arg.T().Typmod && r.Collation != 0
}

// checkCollations raises 42P21 when two explicit collations meet.
func (b *binder) checkCollations(exprs []plan.Expr) error {
	var seen types.OID
	for _, e := range exprs {
		if !isCollate(e) {
			continue
		}
		c := e.T().Collation
		if seen != 0 && c != seen {
			return b.errorAt(e.T().Loc, sqlerr.CollationMismatch, "collation mismatch between explicit collations \"%s\" and \"%s\"", b.collationName(seen), b.collationName(c))
		}
		seen = c
	}
	return nil
}
