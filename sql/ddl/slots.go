package ddl

import (
	"reflect"

	"herd/planner/plan"
	"herd/sql/catalog"
	"herd/sql/types"
)

var exprType = reflect.TypeFor[plan.Expr]()

// toSlots copies a bound expression over a relation's columns, with its Vars of entry 0 turned into Slots: column n becomes
// slot n-1. exec evaluates those over a row's datums. It is for definitions only, which are rare: it walks by reflection.
func toSlots(e plan.Expr) plan.Expr {
	if e == nil {
		return nil
	}
	return copyValue(reflect.ValueOf(&e).Elem()).Interface().(plan.Expr)
}

func copyValue(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() || v.Type() != exprType {
			return v
		}
		if x, ok := v.Interface().(*plan.Var); ok && x.LevelsUp == 0 && x.Attno > 0 {
			return reflect.ValueOf(&plan.Slot{Typed: x.Typed, Index: x.Attno - 1})
		}
		out := reflect.New(v.Type()).Elem()
		out.Set(copyValue(v.Elem()))
		return out
	case reflect.Pointer:
		if v.IsNil() || !v.Type().Implements(exprType) {
			return v
		}
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(copyStruct(v.Elem()))
		return out
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(copyValue(v.Index(i)))
		}
		return out
	case reflect.Struct:
		return copyStruct(v)
	}
	return v
}

func copyStruct(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	for i := range v.NumField() {
		if f := out.Field(i); f.CanSet() && holdsExpr(f.Type()) {
			f.Set(copyValue(v.Field(i)))
		}
	}
	return out
}

// holdsExpr says whether values of a type can have expressions in them.
func holdsExpr(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Interface:
		return t == exprType
	case reflect.Slice:
		return holdsExpr(t.Elem())
	case reflect.Pointer:
		return t.Implements(exprType)
	case reflect.Struct:
		for i := range t.NumField() {
			if holdsExpr(t.Field(i).Type) {
				return true
			}
		}
	}
	return false
}

// visit calls f for every expression under e, e included, and for those of queries in it.
func visit(e plan.Expr, f func(plan.Expr)) {
	if e != nil {
		visitValue(reflect.ValueOf(e), f, 0)
	}
}

var (
	relType  = reflect.TypeFor[*catalog.Relation]()
	rteType  = reflect.TypeFor[*plan.RTE]()
	cteType  = reflect.TypeFor[*plan.CTE]()
	datumTyp = reflect.TypeFor[types.Datum]()
)

func visitValue(v reflect.Value, f func(plan.Expr), depth int) {
	if depth > 20000 {
		return
	}
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			visitValue(v.Elem(), f, depth+1)
		}
	case reflect.Pointer:
		if v.IsNil() || v.Type() == relType {
			return
		}
		if e, ok := v.Interface().(plan.Expr); ok {
			f(e)
		}
		// A WITH item is visited where it is defined, not again where it is used.
		visitStruct(v.Elem(), v.Type() == rteType, f, depth)
	case reflect.Struct:
		visitStruct(v, false, f, depth)
	case reflect.Slice:
		for i := range v.Len() {
			visitValue(v.Index(i), f, depth+1)
		}
	}
}

func visitStruct(v reflect.Value, rte bool, f func(plan.Expr), depth int) {
	if v.Kind() != reflect.Struct || v.Type() == datumTyp {
		return
	}
	// The stored query of a view is not part of the query that uses it.
	isView := rte && v.FieldByName("Kind").Interface() == plan.RTERelation
	for i := range v.NumField() {
		t := v.Type().Field(i).Type
		if rte && t == cteType || isView && v.Type().Field(i).Name == "Sub" {
			continue
		}
		switch t.Kind() {
		case reflect.Interface, reflect.Pointer, reflect.Slice, reflect.Struct:
			visitValue(v.Field(i), f, depth+1)
		}
	}
}

// dependencies lists what an expression refers to: columns of rel, functions, sequences of nextval, types of constants and casts.
func (x *executor) dependencies(rel *catalog.Relation, e plan.Expr) []catalog.Dependency {
	d := depSet{seen: map[catalog.Dependency]bool{}}
	visit(e, func(n plan.Expr) {
		if v, ok := n.(*plan.Var); ok && rel != nil && v.Attno > 0 {
			d.add(catalog.ClassRelation, rel.OID, int32(v.Attno))
		}
		d.node(n)
	})
	return d.list
}

// depSet collects references without repetition.
type depSet struct {
	list []catalog.Dependency
	seen map[catalog.Dependency]bool
}

func (d *depSet) add(class, id types.OID, sub int32) {
	dep := catalog.Dependency{RefClass: class, RefOID: id, RefSub: sub, Type: 'n'}
	if (id != 0 || sub != 0) && !d.seen[dep] { // a relation that is being made has no OID yet
		d.seen[dep] = true
		d.list = append(d.list, dep)
	}
}

// node adds what one expression refers to besides columns.
func (d *depSet) node(n plan.Expr) {
	d.add(catalog.ClassType, n.T().Type, 0)
	switch v := n.(type) {
	case *plan.FuncCall:
		d.add(catalog.ClassProc, v.Func, 0)
	case *plan.Aggref:
		d.add(catalog.ClassProc, v.Agg, 0)
	case *plan.WindowFunc:
		d.add(catalog.ClassProc, v.Func, 0)
	case *plan.NextValue:
		d.add(catalog.ClassRelation, v.Sequence, 0)
	case *plan.Const:
		if v.Type == types.RegclassOID && !v.Value.Null {
			d.add(catalog.ClassRelation, types.OID(v.Value.I), 0)
		}
	}
}

// queryDependencies lists what a query refers to: relations with the columns used, functions, types.
func (x *executor) queryDependencies(q *plan.Query) []catalog.Dependency {
	d := depSet{seen: map[catalog.Dependency]bool{}}
	var walk func(q *plan.Query, up []*plan.Query)
	walk = func(q *plan.Query, up []*plan.Query) {
		levels := append(append([]*plan.Query(nil), up...), q)
		for _, r := range q.RTable {
			if r.Kind == plan.RTERelation {
				d.add(catalog.ClassRelation, r.Rel.OID, 0)
			}
		}
		walkLevel(q, func(n plan.Expr) {
			if v, ok := n.(*plan.Var); ok {
				d.column(v, levels)
			}
			d.node(n)
		}, func(sub *plan.Query) { walk(sub, levels) })
	}
	walk(q, nil)
	return d.list
}

// column adds the column of a relation that a Var stands for, in the innermost of levels; a column of a join is one of its
// sides'.
func (d *depSet) column(v *plan.Var, levels []*plan.Query) {
	i := len(levels) - 1 - v.LevelsUp
	if i < 0 || v.RTE >= len(levels[i].RTable) || v.Attno <= 0 {
		return
	}
	switch r := levels[i].RTable[v.RTE]; r.Kind {
	case plan.RTERelation:
		d.add(catalog.ClassRelation, r.Rel.OID, int32(v.Attno))
	case plan.RTEJoin:
		if v.Attno <= len(r.JoinVars) {
			visit(r.JoinVars[v.Attno-1], func(n plan.Expr) {
				if v, ok := n.(*plan.Var); ok {
					d.column(v, levels[:i+1])
				}
			})
		}
	}
}

// walkLevel visits the expressions of one query level and hands over the queries under it.
func walkLevel(q *plan.Query, f func(plan.Expr), sub func(*plan.Query)) {
	var value func(v reflect.Value, depth int)
	value = func(v reflect.Value, depth int) {
		if depth > 20000 {
			return
		}
		switch v.Kind() {
		case reflect.Interface:
			if !v.IsNil() {
				value(v.Elem(), depth+1)
			}
		case reflect.Pointer:
			if v.IsNil() || v.Type() == relType {
				return
			}
			switch p := v.Interface().(type) {
			case *plan.Query:
				sub(p)
				return
			case *plan.RTE:
				if p.Kind == plan.RTERelation || p.Kind == plan.RTEJoin {
					return // a join lists all columns of its sides, used or not
				}
			case plan.Expr:
				f(p)
			}
			value(v.Elem(), depth+1)
		case reflect.Struct:
			if v.Type() == datumTyp {
				return
			}
			isRTE := v.Type() == rteType.Elem()
			for i := range v.NumField() {
				t := v.Type().Field(i).Type
				if isRTE && t == cteType {
					continue
				}
				value(v.Field(i), depth+1)
			}
		case reflect.Slice:
			for i := range v.Len() {
				value(v.Index(i), depth+1)
			}
		}
	}
	value(reflect.ValueOf(q).Elem(), 0)
}
