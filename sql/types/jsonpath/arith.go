package jsonpath

import (
	"herd/sql/sqlerr"
	"herd/sql/types/json"
	"herd/sql/types/numeric"
)

var operations = map[kind]func(a, b numeric.Num) (numeric.Num, error){
	kAdd: numeric.Add, kSub: numeric.Sub, kMul: numeric.Mul, kDiv: numeric.Div, kMod: numeric.Mod,
}

func numItem(n numeric.Num) item { return item{v: &json.Value{Kind: json.Number, Num: n}} }
func intItem(v int64) item       { return numItem(numeric.FromInt64(v)) }

// binary runs + - * / %, whose operands are one number each.
func (x *run) binary(n *node, it item, into *list) (outcome, error) {
	var sides [2]list
	for i, o := range []*node{n.left, n.right} {
		if res, err := x.unwrapped(o, it, true, &sides[i]); err != nil || res == failed {
			return failed, err
		}
	}
	for i, side := range []string{"left", "right"} {
		if l := sides[i].items; len(l) != 1 || !l[0].is(json.Number) {
			return x.fail(sqlerr.SingletonSqlJsonItemRequired, "%s operand of jsonpath operator %s is not a single numeric value", side, symbols[n.kind])
		}
	}
	v, err := operations[n.kind](sides[0].items[0].v.Num, sides[1].items[0].v.Num)
	if err != nil {
		return x.failWith(err)
	}
	return x.next(n, numItem(v), into)
}

// sign runs unary + and - on every number of the operand.
func (x *run) sign(n *node, it item, into *list) (outcome, error) {
	var l list
	if res, err := x.unwrapped(n.left, it, true, &l); err != nil || res == failed {
		return failed, err
	}
	res := notFound
	for _, e := range l.items {
		if !e.is(json.Number) {
			if into == nil && n.next == nil {
				continue // who only asks whether there is something needs no number here
			}
			return x.fail(sqlerr.SqlJsonNumberNotFound, "operand of unary jsonpath operator %s is not a numeric value", symbols[n.kind])
		}
		v := e.v.Num
		if n.kind == kMinus {
			v = v.Neg()
		}
		r, err := x.next(n, numItem(v), into)
		if err != nil || r == failed {
			return failed, err
		}
		if r == found {
			if res = found; into == nil {
				return res, nil
			}
		}
	}
	return res, nil
}
