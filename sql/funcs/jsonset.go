package funcs

import (
	"math"

	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/types/json"
)

// pathOp is what a change does at the end of its path.
type pathOp uint8

const (
	pathDelete pathOp = 1 << iota
	pathReplace
	pathCreate
	pathBefore
	pathAfter

	pathAdds = pathCreate | pathBefore | pathAfter
)

// pathChange is a change of the part of a jsonb value that a path names.
type pathChange struct {
	path  [][]byte
	nulls []bool
	op    pathOp
	value *json.Value
}

func (p *pathChange) last(level int) bool { return level == len(p.path)-1 }

// apply changes v in place; level is the number of path elements already followed.
func (p *pathChange) apply(v *json.Value, level int) error {
	if p.nulls[level] {
		return sqlerr.New(sqlerr.NullValueNotAllowed, "path element at position %d is null", level+1)
	}
	switch v.Kind {
	case json.Object:
		return p.object(v, level)
	case json.Array:
		return p.array(v, level)
	}
	return nil
}

func (p *pathChange) object(v *json.Value, level int) error {
	key := p.path[level]
	old := v.Get(key)
	if !p.last(level) {
		if old == nil {
			return nil
		}
		return p.apply(old, level+1)
	}
	switch {
	case old == nil:
		if p.op&pathAdds != 0 {
			v.Set(key, p.value)
		}
	case p.op&(pathBefore|pathAfter) != 0:
		return sqlerr.New(sqlerr.InvalidParameterValue, "cannot replace existing key").
			WithHint("Try using the function jsonb_set to replace key value.")
	case p.op&pathDelete != 0:
		v.DeleteKey(key)
	default:
		v.Set(key, p.value)
	}
	return nil
}

func (p *pathChange) array(v *json.Value, level int) error {
	i, err := pathInt(p.path[level])
	if err != nil {
		return sqlerr.New(sqlerr.InvalidTextRepresentation, "path element at position %d is not an integer: \"%s\"", level+1, p.path[level])
	}
	n := len(v.Elems)
	if i < 0 {
		if -i > n {
			i = math.MinInt32
		} else {
			i += n
		}
	}
	i = min(i, n)
	add := p.last(level) && p.op&pathAdds != 0
	switch {
	case add && (i == math.MinInt32 || n == 0):
		insertElem(v, 0, p.value)
	case i >= 0 && i < n && !p.last(level):
		return p.apply(v.Elems[i], level+1)
	case i >= 0 && i < n:
		switch {
		case p.op&pathBefore != 0:
			insertElem(v, i, p.value)
		case p.op&pathAfter != 0:
			insertElem(v, i+1, p.value)
		case p.op&pathDelete != 0:
			v.Delete(i)
		default:
			v.Elems[i] = p.value
		}
	case add && i == n:
		insertElem(v, n, p.value)
	}
	return nil
}

func insertElem(v *json.Value, i int, e *json.Value) {
	v.Elems = append(v.Elems, nil)
	copy(v.Elems[i+1:], v.Elems[i:])
	v.Elems[i] = e
}

// pathArg reads argument k as a path.
func (p *pathChange) pathArg(r *row, k int) error {
	a := r.Array(k)
	if a.NDim() > 1 {
		return sqlerr.New(sqlerr.ArraySubscriptError, "wrong number of array subscripts")
	}
	for it := a.Iter(); it.Next(); {
		p.path, p.nulls = append(p.path, it.Val), append(p.nulls, it.Null)
	}
	return nil
}

// changePath is jsonb_set, jsonb_insert and jsonb_delete_path; val is the number of the new value's argument, -1 none.
func changePath(r *row, op pathOp, val int) error {
	p := pathChange{op: op}
	if err := p.pathArg(r, 1); err != nil {
		return err
	}
	v, err := r.jsonTree(0)
	if err != nil {
		return err
	}
	if jsonScalarKind(v.Kind) {
		if op == pathDelete {
			return errPathScalar("delete path")
		}
		return errPathScalar("set path")
	}
	if len(v.Elems) == 0 && op&pathAdds == 0 || len(p.path) == 0 {
		return r.RetArg(0)
	}
	if val >= 0 {
		if p.value, err = r.jsonTree(val); err != nil {
			return err
		}
	}
	if err := p.apply(v, 0); err != nil {
		return err
	}
	return r.Finish(v.Append(r.Start()))
}

func init() {
	set := func(r *row) error {
		op := pathReplace
		if r.N() < 4 || r.Bool(3) {
			op = pathCreate
		}
		return changePath(r, op, 2)
	}
	each(set, "jsonb_set")
	each(func(r *row) error {
		op := pathBefore
		if r.N() > 3 && r.Bool(3) {
			op = pathAfter
		}
		return changePath(r, op, 2)
	}, "jsonb_insert")
	each(func(r *row) error { return changePath(r, pathDelete, -1) }, "jsonb_delete_path")
	each(setLax, "jsonb_set_lax")
	each(jsonbConcat, "jsonb_concat")
	each(func(r *row) error {
		return deleteKeys(r, func(key []byte) bool { return string(key) == string(r.Bytes(1)) })
	}, "jsonb_delete")
	each(func(r *row) error {
		a := r.Array(1)
		if a.NDim() > 1 {
			return sqlerr.New(sqlerr.ArraySubscriptError, "wrong number of array subscripts")
		}
		return deleteKeys(r, func(key []byte) bool {
			for it := a.Iter(); it.Next(); {
				if !it.Null && string(it.Val) == string(key) {
					return true
				}
			}
			return false
		})
	}, "jsonb_delete_array")
	each(deleteIndex, "jsonb_delete_idx")
}

// setLax is jsonb_set_lax: what a NULL value does is the last argument's choice.
func setLax(r *row) error {
	if r.Null(0) || r.Null(1) || r.Null(3) {
		return r.RetNull()
	}
	if r.Null(4) {
		return invalidParam("null_value_treatment must be \"delete_key\", \"return_target\", \"use_json_null\", or \"raise_exception\"")
	}
	op := pathReplace
	if r.Bool(3) {
		op = pathCreate
	}
	if !r.Null(2) {
		return changePath(r, op, 2)
	}
	switch r.Str(4) {
	case "raise_exception":
		return sqlerr.New(sqlerr.NullValueNotAllowed, "JSON value must not be null").
			WithDetail("Exception was raised because null_value_treatment is \"raise_exception\".").
			WithHint("To avoid, either change the null_value_treatment argument or ensure that an SQL NULL is not passed.")
	case "use_json_null":
		return setNull(r, op)
	case "delete_key":
		return changePath(r, pathDelete, -1)
	case "return_target":
		return r.RetArg(0)
	}
	return invalidParam("null_value_treatment must be \"delete_key\", \"return_target\", \"use_json_null\", or \"raise_exception\"")
}

func setNull(r *row, op pathOp) error {
	v, err := r.jsonTree(0)
	if err != nil {
		return err
	}
	if jsonScalarKind(v.Kind) {
		return errPathScalar("set path")
	}
	p := pathChange{op: op, value: &json.Value{Kind: json.Null}}
	if err := p.pathArg(r, 1); err != nil {
		return err
	}
	if len(v.Elems) == 0 && op&pathAdds == 0 || len(p.path) == 0 {
		return r.RetArg(0)
	}
	if err := p.apply(v, 0); err != nil {
		return err
	}
	return r.Finish(v.Append(r.Start()))
}

// jsonbConcat is ||: objects merge, everything else becomes arrays that are joined.
func jsonbConcat(r *row) error {
	a, err := r.jsonTree(0)
	if err != nil {
		return err
	}
	b, err := r.jsonTree(1)
	if err != nil {
		return err
	}
	if a.Kind == json.Object && b.Kind == json.Object {
		for i, k := range b.Keys {
			a.Set(k, b.Elems[i])
		}
		return r.Finish(a.Append(r.Start()))
	}
	list := func(v *json.Value) []*json.Value {
		if v.Kind == json.Array {
			return v.Elems
		}
		return []*json.Value{v}
	}
	out := &json.Value{Kind: json.Array, Elems: append(append([]*json.Value(nil), list(a)...), list(b)...)}
	return r.Finish(out.Append(r.Start()))
}

// deleteKeys is jsonb - text and jsonb - text[].
func deleteKeys(r *row, drop func(key []byte) bool) error {
	v, err := r.jsonTree(0)
	if err != nil {
		return err
	}
	if jsonScalarKind(v.Kind) {
		return invalidParam("cannot delete from scalar")
	}
	keep := 0
	for i, e := range v.Elems {
		if v.Kind == json.Object {
			if drop(v.Keys[i]) {
				continue
			}
			v.Keys[keep] = v.Keys[i]
		} else if e.Kind == json.String && drop(e.Text) {
			continue
		}
		v.Elems[keep] = e
		keep++
	}
	v.Elems = v.Elems[:keep]
	if v.Kind == json.Object {
		v.Keys = v.Keys[:keep]
	}
	return r.Finish(v.Append(r.Start()))
}

// deleteIndex is jsonb - integer.
func deleteIndex(r *row) error {
	v, err := r.jsonTree(0)
	if err != nil {
		return err
	}
	switch v.Kind {
	case json.Object:
		return invalidParam("cannot delete from object using integer index")
	case json.Array:
	default:
		return invalidParam("cannot delete from scalar")
	}
	i, n := r.Int(1), int64(len(v.Elems))
	if i < 0 {
		if -i > n {
			i = n
		} else {
			i += n
		}
	}
	if i >= n {
		return r.RetArg(0)
	}
	v.Delete(int(i))
	return r.Finish(v.Append(r.Start()))
}

// SetJSONPath gives the part of a jsonb value that subscripts name a new value, as UPDATE t SET j['a'][0] = v does: missing
// keys, elements and containers are made. target nil counts as an empty array when the first subscript is a number, else as an empty object.
func SetJSONPath(target []byte, path [][]byte, array bool, value []byte) ([]byte, error) {
	nv, err := json.Parse(value)
	if err != nil {
		return nil, err
	}
	var root *json.Value
	if target != nil {
		if root, err = json.Parse(target); err != nil {
			return nil, err
		}
	} else if root = (&json.Value{Kind: json.Object}); array {
		root.Kind = json.Array
	}
	if jsonScalarKind(root.Kind) {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "cannot replace existing key").
			WithDetail("The path assumes key is a composite object, but it is a scalar value.")
	}
	if err := fillPath(root, path, 0, nv); err != nil {
		return nil, err
	}
	return root.Append(nil), nil
}

func emptyFor(key []byte) *json.Value {
	if _, err := pathInt(key); err == nil {
		return &json.Value{Kind: json.Array}
	}
	return &json.Value{Kind: json.Object}
}

func fillPath(v *json.Value, path [][]byte, level int, nv *json.Value) error {
	last := level == len(path)-1
	next := func() *json.Value {
		if last {
			return nv
		}
		return emptyFor(path[level+1])
	}
	switch v.Kind {
	case json.Object:
		old := v.Get(path[level])
		if old == nil || last {
			old = next()
			v.Set(path[level], old)
		}
		if last {
			return nil
		}
		return fillPath(old, path, level+1, nv)
	case json.Array:
		i, err := pathInt(path[level])
		if err != nil {
			return sqlerr.New(sqlerr.InvalidTextRepresentation, "path element at position %d is not an integer: \"%s\"", level+1, path[level])
		}
		if i < 0 {
			if -i > len(v.Elems) {
				return sqlerr.New(sqlerr.InvalidParameterValue, "path element at position %d is out of range: %d", level+1, i)
			}
			i += len(v.Elems)
		}
		if err := types.CheckArraySize([]int{i}); err != nil {
			return err
		}
		for len(v.Elems) < i {
			v.Elems = append(v.Elems, &json.Value{Kind: json.Null})
		}
		if i == len(v.Elems) {
			v.Elems = append(v.Elems, next())
		} else if last {
			v.Elems[i] = nv
		}
		if last {
			return nil
		}
		return fillPath(v.Elems[i], path, level+1, nv)
	}
	return sqlerr.New(sqlerr.InvalidParameterValue, "cannot replace existing key").
		WithDetail("The path assumes key is a composite object, but it is a scalar value.")
}
