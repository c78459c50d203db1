package jsonpath

import (
	"math"

	"herd/sql/sqlerr"
	"herd/sql/types/json"
)

// access runs a step into a value.
func (x *run) access(n *node, it item, into *list, unwrap bool) (outcome, error) {
	switch n.kind {
	case kKey:
		return x.key(n, it, into, unwrap)
	case kAnyKey:
		switch {
		case it.is(json.Object):
			return x.any(n.next, it.v, into, levels{1, 1, false, x.lax}, 1)
		case unwrap && it.is(json.Array):
			return x.elements(n, it, into)
		case !x.lenient:
			return x.fail(sqlerr.SqlJsonObjectNotFound, "jsonpath wildcard member accessor can only be applied to an object")
		}
	case kAnyArray:
		switch {
		case it.is(json.Array):
			return x.any(n.next, it.v, into, levels{1, 1, false, x.lax}, 1)
		case x.lax:
			return x.next(n, it, into)
		case !x.lenient:
			return x.fail(sqlerr.SqlJsonArrayNotFound, "jsonpath wildcard array accessor can only be applied to an array")
		}
	case kAny:
		return x.anyLevel(n, it, into)
	case kIndex:
		if it.is(json.Array) || x.lax {
			return x.index(n, it, into)
		}
		if !x.lenient {
			return x.fail(sqlerr.SqlJsonArrayNotFound, "jsonpath array accessor can only be applied to an array")
		}
	}
	return notFound, nil
}

// elements runs the step itself on each element of an array, which is what unwrapping means.
func (x *run) elements(n *node, it item, into *list) (outcome, error) {
	return x.any(n, it.v, into, levels{1, 1, false, false}, 1)
}

func (x *run) key(n *node, it item, into *list, unwrap bool) (outcome, error) {
	switch {
	case it.is(json.Object):
		if v := it.v.Get([]byte(n.text)); v != nil {
			return x.next(n, item{v: v}, into)
		}
		if !x.lenient {
			return x.fail(sqlerr.SqlJsonMemberNotFound, "JSON object does not contain key \"%s\"", n.text)
		}
	case unwrap && it.is(json.Array):
		return x.elements(n, it, into)
	case !x.lenient:
		return x.fail(sqlerr.SqlJsonMemberNotFound, "jsonpath member accessor can only be applied to an object")
	}
	return notFound, nil
}

// levels says which levels below a value a wildcard takes, and how its results go on.
type levels struct {
	first, last uint32
	lenient     bool
	unwrap      bool
}

// any runs a step on the parts of a container, and on theirs, down to the last level. A nil step keeps them.
func (x *run) any(n *node, v *json.Value, into *list, l levels, level uint32) (outcome, error) {
	res := notFound
	if level > l.last {
		return res, nil
	}
	if x.depth++; x.depth > maxDepth*4 {
		return failed, tooDeep()
	}
	defer func() { x.depth-- }()
	for _, e := range v.Elems {
		it := item{v: e}
		var err error
		if level >= l.first || l.first == noLevel && l.last == noLevel && !it.container() {
			if res, err = x.part(n, it, into, l); err != nil || res == failed || res == found && into == nil {
				return res, err
			}
		}
		if level < l.last && it.container() {
			if res, err = x.any(n, e, into, l, level+1); err != nil || res == failed || res == found && into == nil {
				return res, err
			}
		}
	}
	return res, nil
}

func (x *run) part(n *node, it item, into *list, l levels) (outcome, error) {
	if n == nil {
		return x.next(nil, it, into)
	}
	save := x.lenient
	x.lenient = x.lenient || l.lenient
	res, err := x.step(n, it, into, l.unwrap)
	x.lenient = save
	return res, err
}

func (x *run) anyLevel(n *node, it item, into *list) (outcome, error) {
	res := notFound
	if n.first == 0 {
		save := x.lenient
		x.lenient = true
		var err error
		res, err = x.next(n, it, into)
		x.lenient = save
		if err != nil || res == found && into == nil {
			return res, err
		}
	}
	if it.container() {
		return x.any(n.next, it.v, into, levels{n.first, n.last, true, x.lax}, 1)
	}
	return res, nil
}

// index runs [a, b to c]; lax mode takes what is no array for an array of one.
func (x *run) index(n *node, it item, into *list) (outcome, error) {
	elems := []*json.Value{it.v}
	array := it.is(json.Array)
	if array {
		elems = it.v.Elems
	}
	saved := x.size
	defer func() { x.size = saved }()
	x.size = len(elems)
	res := notFound
	for _, s := range n.subs {
		from, to, bad, err := x.bounds(s, it)
		if err != nil || bad == failed {
			return failed, err
		}
		if !x.lenient && (from < 0 || from > to || to >= int64(len(elems))) {
			return x.fail(sqlerr.InvalidSqlJsonSubscript, "jsonpath array subscript is out of bounds")
		}
		res = notFound
		for i := max(from, 0); i <= min(to, int64(len(elems))-1); i++ {
			e := it
			if array {
				e = item{v: elems[i]}
			}
			if res, err = x.next(n, e, into); err != nil || res == failed || res == found && into == nil {
				return res, err
			}
		}
	}
	return res, nil
}

func (x *run) bounds(s subscript, it item) (from, to int64, res outcome, err error) {
	if from, res, err = x.position(s.from, it); err != nil || res == failed {
		return 0, 0, failed, err
	}
	if to = from; s.to != nil {
		to, res, err = x.position(s.to, it)
	}
	return from, to, res, err
}

// position evaluates a subscript.
func (x *run) position(n *node, it item) (int64, outcome, error) {
	var l list
	res, err := x.item(n, it, &l)
	if err != nil || res == failed {
		return 0, failed, err
	}
	if len(l.items) != 1 || !l.items[0].is(json.Number) {
		res, err = x.fail(sqlerr.InvalidSqlJsonSubscript, "jsonpath array subscript is not a single numeric value")
		return 0, res, err
	}
	v, bad := l.items[0].v.Num.Trunc(0).Int64(math.MinInt32, math.MaxInt32, "integer")
	if bad != nil {
		res, err = x.fail(sqlerr.InvalidSqlJsonSubscript, "jsonpath array subscript is out of integer range")
		return 0, res, err
	}
	return v, found, nil
}

func (x *run) filter(n *node, it item, into *list, unwrap bool) (outcome, error) {
	if unwrap && it.is(json.Array) {
		return x.elements(n, it, into)
	}
	save := x.current
	x.current = it
	t, err := x.truth(n.left, it)
	x.current = save
	if err != nil || t != yes {
		return notFound, err
	}
	return x.next(n, it, into)
}
