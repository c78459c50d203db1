package funcs

import (
	"herd/sql/types"
	"herd/sql/types/json"
	"herd/sql/vec"
)

func init() {
	for _, name := range []string{"json_array_elements", "jsonb_array_elements", "json_array_elements_text", "jsonb_array_elements_text"} {
		asText := len(name) > 21
		regSet(func(*CallInfo) setStart {
			return func(_ *Ctx, a []types.Datum) (SetFunc, error) { return jsonElements(name, asText, a[0].B) }
		}, name)
	}
	for _, name := range []string{"json_each", "jsonb_each", "json_each_text", "jsonb_each_text"} {
		asText := len(name) > 10
		elem := types.JSONOID
		if name[4] == 'b' {
			elem = types.JSONBOID
		}
		if asText {
			elem = types.TextOID
		}
		regSet(func(*CallInfo) setStart {
			return func(_ *Ctx, a []types.Datum) (SetFunc, error) { return jsonEach(name, asText, elem, a[0].B) }
		}, name)
	}
	for _, name := range []string{"json_object_keys", "jsonb_object_keys"} {
		regSet(func(*CallInfo) setStart {
			return func(_ *Ctx, a []types.Datum) (SetFunc, error) { return jsonKeys(name, a[0].B) }
		}, name)
	}
	for _, name := range []string{"json_to_record", "jsonb_to_record", "json_to_recordset", "jsonb_to_recordset"} {
		set := name[len(name)-1] == 't'
		if !set {
			each(func(*row) error { return errRowType(name) }, name) // without a column definition list
		}
		regSet(func(ci *CallInfo) setStart {
			site := *ci
			return func(c *Ctx, a []types.Datum) (SetFunc, error) { return jsonRecords(c, &site, name, set, a[0].B) }
		}, name)
	}
}

// jsonSetText sets row i to what ->> gives for a value.
func jsonSetText(v *vec.Vector, i int, val []byte) {
	b, ok := json.AppendText(nil, val)
	if !ok {
		v.SetNull(i)
		return
	}
	v.SetVar(i, b)
}

func jsonElements(name string, asText bool, text []byte) (SetFunc, error) {
	it, ok := json.Walk(text)
	jsonb := name[4] == 'b'
	switch kind := json.KindOf(text); {
	case !ok && jsonb:
		return nil, invalidParam("cannot extract elements from a scalar")
	case !ok:
		return nil, invalidParam("cannot call %s on a scalar", name)
	case kind == json.Object && jsonb:
		return nil, invalidParam("cannot extract elements from an object")
	case kind == json.Object:
		return nil, invalidParam("cannot call %s on a non-array", name)
	}
	return &genSet{next: func(_ *Ctx, i int, out []*vec.Vector) (bool, error) {
		if !it.Next() {
			return false, nil
		}
		if asText {
			jsonSetText(out[0], i, it.Val)
		} else {
			out[0].SetVar(i, it.Val)
		}
		return true, nil
	}}, nil
}

func jsonEach(name string, asText bool, elem types.OID, text []byte) (SetFunc, error) {
	it, ok := json.Walk(text)
	array := ok && json.KindOf(text) == json.Array
	switch {
	case (array || !ok) && name[4] == 'b':
		return nil, invalidParam("cannot call %s on a non-object", name)
	case array:
		return nil, invalidParam("cannot deconstruct an array as an object")
	case !ok:
		return nil, invalidParam("cannot deconstruct a scalar")
	}
	return &genSet{next: func(_ *Ctx, i int, out []*vec.Vector) (bool, error) {
		if !it.Next() {
			return false, nil
		}
		val := types.Bytes(it.Val)
		if asText {
			b, ok := json.AppendText(nil, it.Val)
			val = types.Datum{B: b, Null: !ok}
		}
		setRow(out, i, []types.OID{types.TextOID, elem}, []types.Datum{types.Bytes(json.Unquote(nil, it.Key)), val})
		return true, nil
	}}, nil
}

// setRow sets row i to several columns, or to one composite value when the caller asked for one column.
func setRow(out []*vec.Vector, i int, ts []types.OID, vals []types.Datum) {
	if len(out) == 1 && len(vals) > 1 {
		b := types.BuildRecord(nil, len(vals))
		for k, d := range vals {
			b.Add(ts[k], d)
		}
		out[0].SetVar(i, b.Buf)
		return
	}
	for k, v := range out {
		v.SetDatum(i, vals[k])
	}
}

func jsonKeys(name string, text []byte) (SetFunc, error) {
	it, ok := json.Walk(text)
	switch {
	case !ok:
		return nil, invalidParam("cannot call %s on a scalar", name)
	case json.KindOf(text) == json.Array:
		return nil, invalidParam("cannot call %s on an array", name)
	}
	return &genSet{next: func(_ *Ctx, i int, out []*vec.Vector) (bool, error) {
		if !it.Next() {
			return false, nil
		}
		out[0].SetVar(i, json.Unquote(nil, it.Key))
		return true, nil
	}}, nil
}

// jsonRecords is json(b)_to_record(set): the columns are those of the call's column definition list.
func jsonRecords(c *Ctx, ci *CallInfo, name string, set bool, text []byte) (SetFunc, error) {
	if !ci.listed() {
		return nil, errRowType(name)
	}
	fields := ci.listedFields()
	row := func(obj []byte, i int, out []*vec.Vector) error {
		switch kind := json.KindOf(obj); {
		case kind == json.Object:
		case set:
			return invalidParam("argument of %s must be an array of objects", name)
		case kind == json.Array:
			return invalidParam("cannot call populate_composite on an array")
		default:
			return invalidParam("cannot call populate_composite on a scalar")
		}
		vals, err := c.populate(fields, nil, obj)
		if err != nil {
			return err
		}
		for k, v := range out {
			v.SetDatum(i, vals[k])
		}
		return nil
	}
	if !set {
		return listSet(1, func(_ *Ctx, _, i int, out []*vec.Vector) error { return row(text, i, out) }), nil
	}
	it, ok := json.Walk(text)
	switch {
	case !ok:
		return nil, invalidParam("cannot call %s on a scalar", name)
	case json.KindOf(text) == json.Object:
		return nil, invalidParam("cannot call %s on an object", name)
	}
	return &genSet{next: func(_ *Ctx, i int, out []*vec.Vector) (bool, error) {
		if !it.Next() {
			return false, nil
		}
		return true, row(it.Val, i, out)
	}}, nil
}

// jsonToSQL converts a JSON value to a type through text.
func jsonToSQL(c *Ctx, t types.OID, val []byte) (types.Datum, error) {
	kind := json.KindOf(val)
	if kind == json.Null {
		return types.NullDatum, nil
	}
	switch t {
	case types.JSONOID:
		return types.Bytes(val), nil
	case types.JSONBOID:
		b, err := types.CanonicalJSONB(nil, val)
		return types.Bytes(b), err
	}
	b, _ := json.AppendText(nil, val)
	return types.Input(c.IO, t, -1, b)
}
