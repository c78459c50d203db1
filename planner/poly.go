package planner

import (
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// checkGeneric is check_generic_type_consistency: whether actual types fit declared polymorphic ones.
func (b *binder) checkGeneric(actual, declared []types.OID) bool {
	var elem, arr, rng, multi types.OID
	var nonArray, isEnum bool
	var compat []types.OID
	var compatRange types.OID
	compatNonArray := false
	for i, d := range declared {
		a := actual[i]
		switch d {
		case types.AnyElementOID, types.AnyNonArrayOID, anyEnumOID:
			nonArray = nonArray || d == types.AnyNonArrayOID
			isEnum = isEnum || d == anyEnumOID
			if a == types.UnknownOID {
				continue
			}
			if elem != 0 && a != elem {
				return false
			}
			elem = a
		case types.AnyArrayOID:
			if a == types.UnknownOID {
				continue
			}
			a = b.baseType(a)
			if arr != 0 && a != arr {
				return false
			}
			arr = a
		case anyRangeOID:
			if a == types.UnknownOID {
				continue
			}
			if a = b.baseType(a); rng != 0 && a != rng {
				return false
			}
			rng = a
		case anyMultirangeOID:
			if a == types.UnknownOID {
				continue
			}
			if a = b.baseType(a); multi != 0 && a != multi {
				return false
			}
			multi = a
		case types.AnyCompatibleOID, types.AnyCompatibleNonArrayOID:
			compatNonArray = compatNonArray || d == types.AnyCompatibleNonArrayOID
			if a != types.UnknownOID {
				compat = append(compat, a)
			}
		case types.AnyCompatibleArrayOID:
			if a == types.UnknownOID {
				continue
			}
			et := b.baseElemType(a)
			if et == 0 {
				return false
			}
			compat = append(compat, et)
		case anyCompatRangeOID:
			if a == types.UnknownOID {
				continue
			}
			if a = b.baseType(a); compatRange != 0 && compatRange != a {
				return false
			}
			t := b.typ(a)
			if t == nil || t.Type != 'r' {
				return false
			}
			compatRange = a
			compat = append(compat, t.Subtype)
		case anyCompatMultiRange:
			if a == types.UnknownOID {
				continue
			}
			t := b.typ(b.baseType(a))
			if t == nil || t.Type != 'm' {
				return false
			}
			compat = append(compat, t.Subtype)
		}
	}
	if arr != 0 {
		if arr == types.AnyArrayOID {
			if elem != 0 {
				return false
			}
		} else {
			et := b.elemType(arr)
			if et == 0 || elem != 0 && et != elem {
				return false
			}
			elem = et
		}
	}
	for _, r := range [2]types.OID{rng, multi} {
		if r == 0 {
			continue
		}
		t := b.typ(r)
		if t == nil || t.Subtype == 0 || r == rng && t.Type != 'r' || r == multi && t.Type != 'm' || elem != 0 && elem != t.Subtype {
			return false
		}
		elem = t.Subtype
	}
	if nonArray && elem != 0 && b.baseElemType(elem) != 0 {
		return false
	}
	if isEnum {
		if t := b.typ(elem); t == nil || t.Type != 'e' { // an untyped literal is no enum
			return false
		}
	}
	if len(compat) > 0 {
		t, _ := b.commonTypeOIDs(compat, true)
		if t == 0 {
			return false
		}
		for _, c := range compat {
			if c != t && !b.canCoerce1(c, t, coerceImplicit) {
				return false
			}
		}
		if compatNonArray && b.baseElemType(t) != 0 {
			return false
		}
	}
	return true
}

// polyState collects what enforceGeneric learns.
type polyState struct {
	elem, arr, rng, multi     types.OID
	nonArray, isEnum, unknown bool
	seen, compatSeen          bool
	compat                    []types.OID
	compatType, compatRange   types.OID
	compatNonArray            bool
	compatArr                 types.OID
}

// enforceGeneric is enforce_generic_type_consistency: it replaces polymorphic entries of declared by what the arguments
// must become and returns the result type.
func (b *binder) enforceGeneric(actual, declared []types.OID, ret types.OID) (types.OID, error) {
	any := isPolymorphic(ret)
	for _, d := range declared {
		any = any || isPolymorphic(d)
	}
	if !any {
		return ret, nil
	}
	var s polyState
	for i, d := range declared {
		if err := b.polyArg(&s, actual[i], d); err != nil {
			return 0, err
		}
	}
	if s.seen {
		if err := b.polyElem(&s); err != nil {
			return 0, err
		}
	}
	if s.compatSeen {
		if len(s.compat) > 0 {
			t, err := b.commonTypeOIDs(s.compat, false)
			if err != nil {
				return 0, err
			}
			s.compatType = t
		} else {
			s.compatType = types.TextOID
		}
		if s.compatNonArray && b.baseElemType(s.compatType) != 0 {
			return 0, sqlerr.New(sqlerr.DatatypeMismatch, "type matched to anycompatiblenonarray is an array type: %s", b.typeName(s.compatType))
		}
	}
	for i, d := range declared {
		t, err := b.polyResult(&s, d, actual[i])
		if err != nil {
			return 0, err
		}
		if isPolyCompat(d) || isPolyElem(d) && actual[i] == types.UnknownOID {
			declared[i] = t
		}
	}
	return b.polyResult(&s, ret, 0)
}

func (b *binder) polyArg(s *polyState, a, d types.OID) error {
	alike := func(have types.OID, name string) error {
		return sqlerr.New(sqlerr.DatatypeMismatch, "arguments declared \"%s\" are not all alike", name).WithDetail("%s versus %s", b.typeName(have), b.typeName(a))
	}
	switch {
	case isPolyElem(d):
		s.seen = true
	case isPolyCompat(d):
		s.compatSeen = true
	default:
		return nil
	}
	if d == types.AnyNonArrayOID {
		s.nonArray = true
	}
	if d == anyEnumOID {
		s.isEnum = true
	}
	if d == types.AnyCompatibleNonArrayOID {
		s.compatNonArray = true
	}
	if a == types.UnknownOID {
		s.unknown = true
		return nil
	}
	switch d {
	case types.AnyElementOID, types.AnyNonArrayOID, anyEnumOID:
		if s.elem != 0 && s.elem != a {
			return alike(s.elem, "anyelement")
		}
		s.elem = a
	case types.AnyArrayOID:
		a = b.baseType(a)
		if s.arr != 0 && s.arr != a {
			return alike(s.arr, "anyarray")
		}
		s.arr = a
	case anyRangeOID:
		a = b.baseType(a)
		if s.rng != 0 && s.rng != a {
			return alike(s.rng, "anyrange")
		}
		s.rng = a
	case anyMultirangeOID:
		a = b.baseType(a)
		if s.multi != 0 && s.multi != a {
			return alike(s.multi, "anymultirange")
		}
		s.multi = a
	case types.AnyCompatibleOID, types.AnyCompatibleNonArrayOID:
		s.compat = append(s.compat, a)
	case types.AnyCompatibleArrayOID:
		et := b.baseElemType(a)
		if et == 0 {
			return sqlerr.New(sqlerr.DatatypeMismatch, "argument declared %s is not an array but type %s", "anycompatiblearray", b.typeName(b.baseType(a)))
		}
		s.compat = append(s.compat, et)
	case anyCompatRangeOID, anyCompatMultiRange:
		t := b.typ(b.baseType(a))
		if t == nil || t.Subtype == 0 {
			return sqlerr.New(sqlerr.DatatypeMismatch, "argument declared %s is not a range type but type %s", "anycompatiblerange", b.typeName(a))
		}
		s.compat = append(s.compat, t.Subtype)
		if t.Type == 'r' {
			s.compatRange = t.OID
		} else {
			s.compatRange = t.Range
		}
	}
	return nil
}

func (b *binder) polyElem(s *polyState) error {
	if s.arr != 0 {
		et := b.elemType(s.arr)
		if s.arr == types.AnyArrayOID {
			et = types.AnyElementOID
		}
		if et == 0 {
			return sqlerr.New(sqlerr.DatatypeMismatch, "argument declared %s is not an array but type %s", "anyarray", b.typeName(s.arr))
		}
		if s.elem == 0 {
			s.elem = et
		} else if s.elem != et {
			return sqlerr.New(sqlerr.DatatypeMismatch, "argument declared %s is not consistent with argument declared %s", "anyarray", "anyelement").
				WithDetail("%s versus %s", b.typeName(s.arr), b.typeName(s.elem))
		}
	}
	for _, r := range [2]types.OID{s.rng, s.multi} {
		if r == 0 {
			continue
		}
		name := "anyrange"
		what := "a range type"
		if r == s.multi {
			name, what = "anymultirange", "a multirange type"
		}
		t := b.typ(r)
		if t == nil || t.Subtype == 0 {
			return sqlerr.New(sqlerr.DatatypeMismatch, "argument declared %s is not %s but type %s", name, what, b.typeName(r))
		}
		if s.elem == 0 {
			s.elem = t.Subtype
		} else if s.elem != t.Subtype {
			return sqlerr.New(sqlerr.DatatypeMismatch, "argument declared %s is not consistent with argument declared %s", name, "anyelement").
				WithDetail("%s versus %s", b.typeName(r), b.typeName(s.elem))
		}
	}
	if s.elem == 0 && s.unknown {
		return sqlerr.New(sqlerr.DatatypeMismatch, "could not determine polymorphic type because input has type %s", "unknown")
	}
	if s.nonArray && b.baseElemType(s.elem) != 0 {
		return sqlerr.New(sqlerr.DatatypeMismatch, "type matched to anynonarray is an array type: %s", b.typeName(s.elem))
	}
	if s.isEnum && s.elem != anyEnumOID {
		if t := b.typ(s.elem); t == nil || t.Type != 'e' {
			return sqlerr.New(sqlerr.DatatypeMismatch, "type matched to anyenum is not an enum type: %s", b.typeName(s.elem))
		}
	}
	return nil
}

// polyResult is the type that a declared type stands for.
func (b *binder) polyResult(s *polyState, d, actual types.OID) (types.OID, error) {
	array := func(elem types.OID) (types.OID, error) {
		if elem == types.AnyElementOID {
			return types.AnyArrayOID, nil
		}
		if t := b.arrayType(elem); t != 0 {
			return t, nil
		}
		return 0, sqlerr.New(sqlerr.UndefinedObject, "could not find array type for data type %s", b.typeName(elem))
	}
	switch d {
	case types.AnyElementOID, types.AnyNonArrayOID, anyEnumOID:
		return s.elem, nil
	case types.AnyArrayOID:
		if s.arr != 0 {
			return s.arr, nil
		}
		return array(s.elem)
	case anyRangeOID:
		if s.rng == 0 && s.multi != 0 {
			return b.typ(s.multi).Range, nil
		}
		if s.rng == 0 {
			return 0, sqlerr.New(sqlerr.DatatypeMismatch, "could not determine polymorphic type %s because input has type %s", "anyrange", "unknown")
		}
		return s.rng, nil
	case anyMultirangeOID:
		if s.multi == 0 && s.rng != 0 {
			return b.typ(s.rng).Range, nil
		}
		if s.multi == 0 {
			return 0, sqlerr.New(sqlerr.DatatypeMismatch, "could not determine polymorphic type %s because input has type %s", "anymultirange", "unknown")
		}
		return s.multi, nil
	case types.AnyCompatibleOID, types.AnyCompatibleNonArrayOID:
		return s.compatType, nil
	case types.AnyCompatibleArrayOID:
		return array(s.compatType)
	case anyCompatRangeOID:
		return s.compatRange, nil
	case anyCompatMultiRange:
		if t := b.typ(s.compatRange); t != nil {
			return t.Range, nil
		}
	}
	return d, nil
}
