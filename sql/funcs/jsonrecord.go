package funcs

import (
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/types/json"
	"herd/sql/vec"
)

// jsonField is a field of the row that a JSON object is converted to.
type jsonField struct {
	name string
	t    types.OID
	mod  types.Typmod
}

// compositeFields returns the fields of a named composite type, nil when t is none.
func (c *Ctx) compositeFields(t types.OID) []jsonField {
	if c.IO.Catalog == nil {
		return nil
	}
	info, ok := c.IO.Catalog.TypeInfo(t)
	if !ok || info.Kind != 'c' {
		return nil
	}
	out := make([]jsonField, len(info.Fields))
	for i, f := range info.Fields {
		out[i] = jsonField{name: f.Name, t: f.Type, mod: f.Typmod}
		for {
			d, ok := c.IO.Catalog.TypeInfo(out[i].t)
			if !ok || d.Kind != 'd' {
				break
			}
			if out[i].t = d.Base; d.Typmod >= 0 {
				out[i].mod = d.Typmod
			}
		}
	}
	return out
}

// populate converts an object to the values of fields; a field that the object lacks has base's value (base may be nil).
func (c *Ctx) populate(fields []jsonField, base, obj []byte) ([]types.Datum, error) {
	vals := make([]types.Datum, len(fields))
	for i, f := range fields {
		val, ok := json.Field(obj, []byte(f.name))
		if !ok {
			vals[i] = types.NullDatum
			if base != nil {
				_, vals[i] = types.RecordField(base, i+1)
			}
			continue
		}
		d, err := c.fromJSON(f.t, f.mod, val)
		if err != nil {
			return nil, err
		}
		vals[i] = d
	}
	return vals, nil
}

// fromJSON converts a JSON value to a type: objects to composite types, arrays to arrays, the rest through text.
func (c *Ctx) fromJSON(t types.OID, mod types.Typmod, val []byte) (types.Datum, error) {
	kind := json.KindOf(val)
	if kind == json.Object && t != types.JSONOID && t != types.JSONBOID {
		if fields := c.compositeFields(t); fields != nil {
			vals, err := c.populate(fields, nil, val)
			if err != nil {
				return types.NullDatum, err
			}
			return types.Bytes(buildRow(fields, vals)), nil
		}
	}
	if elem := c.IO.ElemType(t); elem != 0 && kind == json.Array {
		return c.arrayFromJSON(elem, mod, val)
	}
	d, err := jsonToSQL(c, t, val)
	if err != nil || d.Null || mod < 0 {
		return d, err
	}
	return types.ApplyTypmod(t, mod, false, d)
}

func buildRow(fields []jsonField, vals []types.Datum) []byte {
	b := types.BuildRecord(nil, len(fields))
	for i, d := range vals {
		b.Add(fields[i].t, d)
	}
	return b.Buf
}

// arrayFromJSON converts nested JSON arrays to an array of as many dimensions.
func (c *Ctx) arrayFromJSON(elem types.OID, mod types.Typmod, val []byte) (types.Datum, error) {
	var lens []int
	var elems []types.Datum
	malformed := func() error {
		return sqlerr.New(sqlerr.InvalidTextRepresentation, "malformed JSON array").
			WithDetail("Multidimensional arrays must have sub-arrays with matching dimensions.")
	}
	var walk func(val []byte, level int) error
	walk = func(val []byte, level int) error {
		n := json.Length(val)
		switch {
		case level == len(lens) && len(elems) == 0 && level < types.MaxDim:
			lens = append(lens, n)
		case level >= len(lens) || lens[level] != n:
			return malformed()
		}
		it, _ := json.Walk(val)
		for it.Next() {
			if json.KindOf(it.Val) == json.Array && elem != types.JSONOID && elem != types.JSONBOID {
				if err := walk(it.Val, level+1); err != nil {
					return err
				}
				continue
			}
			if level != len(lens)-1 {
				return malformed()
			}
			d, err := c.fromJSON(elem, mod, it.Val)
			if err != nil {
				return err
			}
			elems = append(elems, d)
		}
		return nil
	}
	if err := walk(val, 0); err != nil {
		return types.NullDatum, err
	}
	if len(elems) == 0 {
		return types.Bytes(types.EmptyArray(elem)), nil
	}
	b := types.BuildArray(nil, elem, lens, nil)
	for _, d := range elems {
		b.Add(d)
	}
	return types.Bytes(b.Buf), nil
}

// populateFields are the fields of the row that json_populate_record makes: of the argument's type, or of the columns in FROM.
func (c *Ctx) populateFields(ci *CallInfo) ([]jsonField, error) {
	if f := c.compositeFields(ci.ArgTypes[0]); f != nil {
		return f, nil
	}
	if len(ci.Columns) > 0 && len(ci.ColumnNames) == len(ci.Columns) {
		out := make([]jsonField, len(ci.Columns))
		for i, t := range ci.Columns {
			out[i] = jsonField{name: ci.ColumnNames[i], t: t, mod: -1}
		}
		return out, nil
	}
	return nil, invalidParam("first argument of json_populate_record must be a row type")
}

func init() {
	for _, name := range []string{"json_populate_record", "jsonb_populate_record"} {
		each(func(r *row) error {
			if r.Null(1) {
				if r.Null(0) {
					return r.RetNull()
				}
				return r.RetArg(0)
			}
			fields, err := r.c.populateFields(r.ci)
			if err != nil {
				return err
			}
			var base []byte
			if !r.Null(0) {
				base = r.Bytes(0)
			}
			vals, err := r.c.populateObject(fields, base, r.Bytes(1), name)
			if err != nil {
				return err
			}
			return r.RetBytes(buildRow(fields, vals))
		}, name)
	}
	for _, name := range []string{"json_populate_recordset", "jsonb_populate_recordset"} {
		regSet(func(ci *CallInfo) setStart {
			site := *ci
			return func(c *Ctx, a []types.Datum) (SetFunc, error) { return populateSet(c, &site, name, a) }
		}, name)
	}
}

func (c *Ctx) populateObject(fields []jsonField, base, obj []byte, name string) ([]types.Datum, error) {
	switch json.KindOf(obj) {
	case json.Object:
		return c.populate(fields, base, obj)
	case json.Null:
		return c.populate(fields, base, []byte("{}"))
	case json.Array:
		return nil, invalidParam("cannot call %s on an array", name)
	}
	return nil, invalidParam("cannot call %s on a scalar", name)
}

// populateSet is json_populate_recordset: a row for each element of an array of objects.
func populateSet(c *Ctx, ci *CallInfo, name string, a []types.Datum) (SetFunc, error) {
	if a[1].Null {
		return emptySet{}, nil
	}
	fields, err := c.populateFields(ci)
	if err != nil {
		return nil, err
	}
	ts := make([]types.OID, len(fields))
	for i, f := range fields {
		ts[i] = f.t
	}
	it, ok := json.Walk(a[1].B)
	switch {
	case !ok:
		return nil, invalidParam("cannot call %s on a scalar", name)
	case json.KindOf(a[1].B) == json.Object:
		return nil, invalidParam("cannot call %s on an object", name)
	}
	var base []byte
	if !a[0].Null {
		base = a[0].B
	}
	return &genSet{next: func(c *Ctx, i int, out []*vec.Vector) (bool, error) {
		if !it.Next() {
			return false, nil
		}
		if json.KindOf(it.Val) != json.Object {
			return false, invalidParam("argument of %s must be an array of objects", name)
		}
		vals, err := c.populate(fields, base, it.Val)
		if err != nil {
			return false, err
		}
		setRow(out, i, ts, vals)
		return true, nil
	}}, nil
}
