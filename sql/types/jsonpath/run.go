package jsonpath

import (
	"herd/sql/sqlerr"
	"herd/sql/types/json"
)

// Env is what a run needs from above.
type Env interface {
	// Match tells whether a pattern of LIKE_REGEX matches somewhere in s.
	Match(pattern string, flags RegexFlags, s []byte) (bool, error)
	// ParseDatetime reads a text by a template, strictly.
	ParseDatetime(text, template string) (Datetime, error)
	// Zoned gives the timestamptz of a local timestamp, and ZoneEast the offset now, for comparisons of times.
	Zoned(local int64) int64
	ZoneEast() int
	// Interrupted returns the error of a cancelled statement.
	Interrupted() error
}

// Options of a run.
type Options struct {
	Vars   *json.Value // an object, nil: none
	Silent bool        // errors of the language give no result
	Zones  bool        // comparisons may use the session's time zone
}

// outcome is what a step came to.
type outcome uint8

const (
	found outcome = iota
	notFound
	failed
)

// item is a value on the way: JSON, or what .datetime() made. Base is where .keyvalue() counts its ids from.
type item struct {
	v  *json.Value
	dt *Datetime
}

// list gathers results; a nil list asks only whether there are any.
type list struct{ items []item }

// base is the object that ids of .keyvalue() are offsets in, and its number.
type base struct {
	root *json.Value
	id   int64
}

type run struct {
	env     Env
	vars    *json.Value
	root    item
	current item
	base    base
	objects int64 // numbers given to objects that .keyvalue() made
	size    int   // of the innermost array a subscript is for, -1 outside
	lax     bool
	lenient bool // structural errors are ignored
	raise   bool // errors of the language are errors of the statement
	zones   bool
	steps   int
	depth   int
}

func newRun(p *Path, target *json.Value, env Env, o Options) (*run, error) {
	x := &run{env: env, vars: o.Vars, root: item{v: target}, current: item{v: target}, lax: !p.strict, lenient: !p.strict,
		raise: !o.Silent, zones: o.Zones, size: -1, objects: 1}
	x.base = base{target, 0}
	if o.Vars != nil {
		if o.Vars.Kind != json.Object {
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "\"vars\" argument is not an object").
				WithDetail("Jsonpath parameters should be encoded as key-value pairs of \"vars\" object.")
		}
		x.objects = 2
	}
	return x, nil
}

// Exists tells whether a path finds anything in target; known is false when it failed silently.
func (p *Path) Exists(target *json.Value, env Env, o Options) (yes, known bool, err error) {
	x, err := newRun(p, target, env, o)
	if err != nil {
		return false, false, err
	}
	var into *list
	if p.strict {
		into = &list{} // strict mode finds errors behind the first result too
	}
	res, err := x.item(p.root, x.root, into)
	switch {
	case err != nil || res == failed:
		return false, false, err
	case into != nil:
		return len(into.items) > 0, true, nil
	}
	return res == found, true, nil
}

// Query returns what a path finds; after a silent failure that is what it found before.
func (p *Path) Query(target *json.Value, env Env, o Options) ([]*json.Value, error) {
	x, err := newRun(p, target, env, o)
	if err != nil {
		return nil, err
	}
	var into list
	if _, err := x.item(p.root, x.root, &into); err != nil {
		return nil, err
	}
	out := make([]*json.Value, len(into.items))
	for i, it := range into.items {
		out[i] = it.value()
	}
	return out, nil
}

// fail is an error of the language: the statement's, or a failed outcome.
func (x *run) fail(code sqlerr.Code, format string, args ...any) (outcome, error) {
	if !x.raise {
		return failed, nil
	}
	return failed, sqlerr.New(code, format, args...)
}

// failWith turns an error from elsewhere into one of the language, but for those that no mode may hide.
func (x *run) failWith(err error) (outcome, error) {
	switch sqlerr.CodeOf(err) {
	case sqlerr.QueryCanceled, sqlerr.OutOfMemory, sqlerr.StatementTooComplex, sqlerr.AdminShutdown:
		return failed, err
	}
	if !x.raise {
		return failed, nil
	}
	return failed, err
}

// next goes on with the step behind n, or keeps the value.
func (x *run) next(n *node, it item, into *list) (outcome, error) {
	if n != nil && n.next != nil {
		return x.item(n.next, it, into)
	}
	if into != nil {
		into.items = append(into.items, it)
	}
	return found, nil
}

// item runs a chain on a value; lax mode unwraps arrays where it must.
func (x *run) item(n *node, it item, into *list) (outcome, error) { return x.step(n, it, into, x.lax) }

// step runs one node.
func (x *run) step(n *node, it item, into *list, unwrap bool) (outcome, error) {
	if x.depth++; x.depth > maxDepth*4 {
		return failed, tooDeep()
	}
	defer func() { x.depth-- }()
	if x.steps++; x.steps&1023 == 0 {
		if err := x.env.Interrupted(); err != nil {
			return failed, err
		}
	}
	switch n.kind {
	case kNull, kString, kNumber, kBool, kVariable:
		return x.literal(n, into)
	case kRoot:
		save := x.base
		x.base = base{x.root.v, 0}
		res, err := x.next(n, x.root, into)
		x.base = save
		return res, err
	case kCurrent:
		return x.next(n, x.current, into)
	case kLast:
		return x.next(n, intItem(int64(x.size-1)), into)
	case kAdd, kSub, kMul, kDiv, kMod:
		return x.binary(n, it, into)
	case kPlus, kMinus:
		return x.sign(n, it, into)
	case kFilter:
		return x.filter(n, it, into, unwrap)
	case kMethod:
		return methods[n.text](x, n, it, into, unwrap)
	}
	if n.kind.predicate() {
		truth, err := x.truth(n, it)
		if err != nil {
			return failed, err
		}
		return x.next(n, truth.item(), into)
	}
	return x.access(n, it, into, unwrap)
}

// literal gives a constant or a variable.
func (x *run) literal(n *node, into *list) (outcome, error) {
	var v *json.Value
	switch n.kind {
	case kNull:
		v = &json.Value{Kind: json.Null}
	case kString:
		v = &json.Value{Kind: json.String, Text: []byte(n.text)}
	case kNumber:
		v = &json.Value{Kind: json.Number, Num: n.num}
	case kBool:
		v = boolValue(n.truth)
	case kVariable:
		if x.vars != nil {
			v = x.vars.Get([]byte(n.text))
		}
		if v == nil {
			return failed, sqlerr.New(sqlerr.UndefinedObject, "could not find jsonpath variable \"%s\"", n.text)
		}
		save := x.base
		x.base = base{x.vars, 1}
		defer func() { x.base = save }()
	}
	return x.next(n, item{v: v}, into)
}

// unwrapped runs a chain and, in lax mode, opens the arrays among its results.
func (x *run) unwrapped(n *node, it item, unwrap bool, into *list) (outcome, error) {
	if !unwrap || !x.lax {
		return x.item(n, it, into)
	}
	var all list
	res, err := x.item(n, it, &all)
	if err != nil || res == failed {
		return failed, err
	}
	for _, r := range all.items {
		if r.dt == nil && r.v.Kind == json.Array {
			for _, e := range r.v.Elems {
				into.items = append(into.items, item{v: e})
			}
			continue
		}
		into.items = append(into.items, r)
	}
	return found, nil
}

func boolValue(b bool) *json.Value {
	if b {
		return &json.Value{Kind: json.True}
	}
	return &json.Value{Kind: json.False}
}

// is says whether an item is JSON of a kind.
func (it item) is(k json.Kind) bool { return it.dt == nil && it.v.Kind == k }

func (it item) container() bool { return it.is(json.Array) || it.is(json.Object) }

// value returns an item as JSON.
func (it item) value() *json.Value {
	if it.dt != nil {
		return &json.Value{Kind: json.String, Text: it.dt.text()}
	}
	return it.v
}
