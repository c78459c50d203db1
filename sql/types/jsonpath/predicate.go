package jsonpath

import (
	"bytes"
	"strings"

	"herd/sql/types/json"
)

// truth is the value of a condition.
type truth uint8

const (
	no truth = iota
	yes
	unknown
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

func (t truth) item() item {
	if t == unknown {
		return item{v: &json.Value{Kind: json.Null}}
	}
	return item{v: boolValue(t == yes)}
}

// truth evaluates a condition. Errors of the language within it make it unknown.
func (x *run) truth(n *node, it item) (truth, error) {
	switch n.kind {
	case kAnd, kOr:
		return x.both(n, it)
	case kNot, kIsUnknown:
		t, err := x.truth(n.left, it)
		if n.kind == kIsUnknown {
			return truthOf(t == unknown), err
		}
		if t == unknown {
			return t, err
		}
		return truthOf(t == no), err
	case kExists:
		return x.exists(n, it)
	}
	return x.compareAll(n, it)
}

// both evaluates AND and OR: an unknown left side does not decide.
func (x *run) both(n *node, it item) (truth, error) {
	decisive, neutral := no, yes
	if n.kind == kOr {
		decisive, neutral = yes, no
	}
	a, err := x.truth(n.left, it)
	if err != nil || a == decisive {
		return a, err
	}
	b, err := x.truth(n.right, it)
	if err == nil && b == neutral {
		return a, nil
	}
	return b, err
}

// quiet runs a part of a condition, in which errors of the language are not the statement's.
func (x *run) quiet(n *node, it item, unwrap bool, into *list) (outcome, error) {
	save := x.raise
	x.raise = false
	res, err := x.unwrapped(n, it, unwrap, into)
	x.raise = save
	return res, err
}

func (x *run) exists(n *node, it item) (truth, error) {
	var into *list
	if !x.lax {
		into = &list{} // strict mode finds all errors
	}
	res, err := x.quiet(n.left, it, false, into)
	switch {
	case err != nil || res == failed:
		return unknown, err
	case into != nil:
		return truthOf(len(into.items) > 0), nil
	}
	return truthOf(res == found), nil
}

// compareAll holds when some pair of the operands' values satisfies a comparison. Strict mode is unknown as soon as one pair is.
func (x *run) compareAll(n *node, it item) (truth, error) {
	var left, right list
	if res, err := x.quiet(n.left, it, true, &left); err != nil || res == failed {
		return unknown, err
	}
	if n.right != nil {
		if res, err := x.quiet(n.right, it, n.kind != kStartsWith, &right); err != nil || res == failed {
			return unknown, err
		}
	} else {
		right.items = []item{{}}
	}
	any, bad := false, false
	for _, a := range left.items {
		for _, b := range right.items {
			t, err := x.compare(n, a, b)
			switch {
			case err != nil:
				return unknown, err
			case t == unknown && !x.lax:
				return unknown, nil
			case t == unknown:
				bad = true
			case t == yes && x.lax:
				return yes, nil
			case t == yes:
				any = true
			}
		}
	}
	switch {
	case any:
		return yes, nil
	case bad:
		return unknown, nil
	}
	return no, nil
}

// compare evaluates a condition for one pair of values.
func (x *run) compare(n *node, a, b item) (truth, error) {
	switch n.kind {
	case kStartsWith:
		if !a.is(json.String) || !b.is(json.String) {
			return unknown, nil
		}
		return truthOf(bytes.HasPrefix(a.v.Text, b.v.Text)), nil
	case kLikeRegex:
		if !a.is(json.String) {
			return unknown, nil
		}
		ok, err := x.env.Match(n.text, n.flags, a.v.Text)
		return truthOf(ok), err
	}
	if a.dt != nil && b.dt != nil {
		c, ok, err := x.compareDatetimes(a.dt, b.dt)
		if err != nil || !ok {
			return unknown, err
		}
		return decide(n.kind, c), nil
	}
	if a.dt != nil || b.dt != nil {
		return x.unlike(n.kind, a, b), nil
	}
	c, ok := compareScalars(a.v, b.v)
	if !ok {
		return x.unlike(n.kind, a, b), nil
	}
	return decide(n.kind, c), nil
}

// unlike compares values of different types: only null is comparable, and equals nothing else.
func (x *run) unlike(k kind, a, b item) truth {
	if a.is(json.Null) != b.is(json.Null) {
		return truthOf(k == kNotEqual)
	}
	return unknown
}

func decide(k kind, c int) truth {
	switch k {
	case kEqual:
		return truthOf(c == 0)
	case kNotEqual:
		return truthOf(c != 0)
	case kLess:
		return truthOf(c < 0)
	case kGreater:
		return truthOf(c > 0)
	case kLessEqual:
		return truthOf(c <= 0)
	}
	return truthOf(c >= 0)
}

// compareScalars orders two scalars of one type; strings by code points, which is what the bytes of UTF-8 give.
func compareScalars(a, b *json.Value) (int, bool) {
	isBool := func(k json.Kind) bool { return k == json.True || k == json.False }
	switch {
	case a.Kind == json.Null && b.Kind == json.Null:
		return 0, true
	case a.Kind == json.Number && b.Kind == json.Number:
		return a.Num.Cmp(b.Num), true
	case a.Kind == json.String && b.Kind == json.String:
		return strings.Compare(string(a.Text), string(b.Text)), true
	case isBool(a.Kind) && isBool(b.Kind):
		switch {
		case a.Kind == b.Kind:
			return 0, true
		case a.Kind == json.True:
			return 1, true
		}
		return -1, true
	}
	return 0, false
}
