package jsonpath

import (
	"math"
	"strconv"

	"herd/sql/sqlerr"
	"herd/sql/types/json"
	"herd/sql/types/numeric"
)

// method runs .name() on a value.
type method func(x *run, n *node, it item, into *list, unwrap bool) (outcome, error)

// methods has the methods by name.
var methods map[string]method

func init() {
	methods = map[string]method{
		"type": func(x *run, n *node, it item, into *list, _ bool) (outcome, error) {
			return x.next(n, stringItem(it.typeName()), into)
		},
		"size":     (*run).sizeOf,
		"abs":      numberMethod(numeric.Num.Abs),
		"floor":    numberMethod(numeric.Num.Floor),
		"ceiling":  numberMethod(numeric.Num.Ceil),
		"double":   (*run).double,
		"datetime": (*run).datetime,
		"keyvalue": (*run).keyvalue,
	}
}

func stringItem(s string) item { return item{v: &json.Value{Kind: json.String, Text: []byte(s)}} }

func (it item) typeName() string {
	if it.dt != nil {
		return it.dt.Kind.String()
	}
	switch it.v.Kind {
	case json.Null:
		return "null"
	case json.String:
		return "string"
	case json.Number:
		return "number"
	case json.True, json.False:
		return "boolean"
	case json.Array:
		return "array"
	}
	return "object"
}

func (x *run) sizeOf(n *node, it item, into *list, _ bool) (outcome, error) {
	size := 1
	switch {
	case it.is(json.Array):
		size = len(it.v.Elems)
	case x.lax:
	case !x.lenient:
		return x.fail(sqlerr.SqlJsonArrayNotFound, "jsonpath item method .%s() can only be applied to an array", n.text)
	default:
		return notFound, nil
	}
	return x.next(n, intItem(int64(size)), into)
}

func numberMethod(f func(numeric.Num) numeric.Num) method {
	return func(x *run, n *node, it item, into *list, unwrap bool) (outcome, error) {
		if unwrap && it.is(json.Array) {
			return x.elements(n, it, into)
		}
		if !it.is(json.Number) {
			return x.fail(sqlerr.NonNumericSqlJsonItem, "jsonpath item method .%s() can only be applied to a numeric value", n.text)
		}
		return x.next(n, numItem(f(it.v.Num)), into)
	}
}

func (x *run) double(n *node, it item, into *list, unwrap bool) (outcome, error) {
	switch {
	case unwrap && it.is(json.Array):
		return x.elements(n, it, into)
	case it.is(json.Number):
		if f, err := it.v.Num.Float64(); err != nil || math.IsInf(f, 0) {
			return x.fail(sqlerr.NonNumericSqlJsonItem, "numeric argument of jsonpath item method .%s() is out of range for type double precision", n.text)
		}
		return x.next(n, it, into)
	case it.is(json.String):
		f, err := strconv.ParseFloat(trimmed(it.v.Text), 64)
		if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
			return x.fail(sqlerr.NonNumericSqlJsonItem, "string argument of jsonpath item method .%s() is not a valid representation of a double precision number", n.text)
		}
		v, err := numeric.FromFloat64(f)
		if err != nil {
			return x.failWith(err)
		}
		return x.next(n, numItem(v), into)
	}
	return x.fail(sqlerr.NonNumericSqlJsonItem, "jsonpath item method .%s() can only be applied to a string or numeric value", n.text)
}

// trimmed takes the blanks that float8 input allows off both ends. What Go reads beyond decimal numbers (underscores) stays an error.
func trimmed(b []byte) string {
	s := string(b)
	for len(s) > 0 && (s[0] == ' ' || s[0] >= '\t' && s[0] <= '\r') {
		s = s[1:]
	}
	for len(s) > 0 && (s[len(s)-1] == ' ' || s[len(s)-1] >= '\t' && s[len(s)-1] <= '\r') {
		s = s[:len(s)-1]
	}
	return s
}

// keyvalue makes an object of each member: its key, its value, and an id of the object it came from.
func (x *run) keyvalue(n *node, it item, into *list, unwrap bool) (outcome, error) {
	if unwrap && it.is(json.Array) {
		return x.elements(n, it, into)
	}
	if !it.is(json.Object) {
		return x.fail(sqlerr.SqlJsonObjectNotFound, "jsonpath item method .%s() can only be applied to an object", n.text)
	}
	res := notFound
	id := x.base.id*10000000000 + offsetOf(x.base.root, it.v)
	for i, key := range it.v.Keys {
		obj := &json.Value{Kind: json.Object, Keys: [][]byte{[]byte("id"), []byte("key"), []byte("value")},
			Elems: []*json.Value{intItem(id).v, {Kind: json.String, Text: key}, it.v.Elems[i]}}
		save := x.base
		x.base = base{obj, x.objects}
		x.objects++
		var err error
		res, err = x.next(n, item{v: obj}, into)
		x.base = save
		if err != nil || res == failed || res == found && into == nil {
			return res, err
		}
	}
	return res, nil
}
