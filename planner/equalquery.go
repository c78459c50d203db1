package planner

import (
	"reflect"

	"herd/planner/plan"
	"herd/sql/catalog"
)

// equalQuery says whether two bound queries mean the same: they are compared node by node, without their places in the text.
// Only sublinks are compared so (a sublink that is grouped by, or inside of an aggregate), hence reflection is cheap enough.
func equalQuery(a, b *plan.Query) bool {
	c := &queryComparer{seen: map[[2]*plan.Query]bool{}}
	return c.query(a, b)
}

type queryComparer struct {
	seen  map[[2]*plan.Query]bool // pairs compared already, or being compared: a recursive WITH query contains itself
	depth int
}

func (c *queryComparer) query(a, b *plan.Query) bool {
	if a == b || a == nil || b == nil {
		return a == b
	}
	pair := [2]*plan.Query{a, b}
	if c.seen[pair] {
		return true
	}
	c.seen[pair] = true
	x, y := *a, *b
	x.Deps, y.Deps = nil, nil
	return c.value(reflect.ValueOf(x), reflect.ValueOf(y))
}

func (c *queryComparer) value(a, b reflect.Value) bool {
	if c.depth++; c.depth > maxWalkDepth {
		return false
	}
	defer func() { c.depth-- }()
	switch a.Kind() {
	case reflect.Interface, reflect.Pointer:
		return c.pointer(a, b)
	case reflect.Struct:
		t := a.Type()
		for i := range t.NumField() {
			if t.Field(i).Name == "Loc" && t == reflect.TypeFor[plan.Typed]() {
				continue
			}
			if !c.value(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Slice:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !c.value(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	}
	return a.Comparable() && a.Equal(b)
}

func (c *queryComparer) pointer(a, b reflect.Value) bool {
	if a.IsNil() || b.IsNil() {
		return a.IsNil() && b.IsNil()
	}
	if a.Kind() == reflect.Interface {
		return a.Elem().Type() == b.Elem().Type() && c.value(a.Elem(), b.Elem())
	}
	if a.Pointer() == b.Pointer() {
		return true
	}
	switch x := a.Interface().(type) {
	case *plan.Query:
		return c.query(x, b.Interface().(*plan.Query))
	case *catalog.Relation:
		return x.OID == b.Interface().(*catalog.Relation).OID
	}
	return c.value(a.Elem(), b.Elem())
}
