package funcs

import (
	"strconv"

	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/types/json"
	"herd/sql/vec"
)

// jsonField is a field of the row that a JSON object is converted to.
type jsonField struct {
	name string
	t    types.OID // what is kept
	mod  types.Typmod
	as   types.OID // what is declared, where that is a domain
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
		out[i] = jsonField{name: f.Name}
		if out[i].t, out[i].mod = c.IO.BaseType(f.Type, f.Typmod); out[i].t != f.Type {
			out[i].as = f.Type
		}
	}
	return out
}

// populate converts an object to the values of fields; a field that the object lacks has base's value (base may be nil).
func (c *Ctx) populate(fields []jsonField, base, obj []byte) ([]types.Datum, error) {
	vals := make([]types.Datum, len(fields))
	for i, f := range fields {
		have := types.NullDatum
		if base != nil {
			_, have = types.RecordField(base, i+1)
		}
		val, ok := json.Field(obj, []byte(f.name))
		if !ok {
			if vals[i] = have; f.as != 0 && base == nil {
				if err := c.IO.CheckDomain(f.as, have); err != nil {
					return nil, err
				}
			}
			continue
		}
		t := f.t
		if f.as != 0 {
			t = f.as
		}
		d, err := c.fromJSON(t, f.mod, f.name, have, val)
		if err != nil {
			return nil, err
		}
		vals[i] = d
	}
	return vals, nil
}

// fromJSON converts a JSON value to a type: objects to composite types, arrays to arrays, the rest through text. key names the value in
// hints, have is what a row to be converted to has before.
func (c *Ctx) fromJSON(t types.OID, mod types.Typmod, key string, have types.Datum, val []byte) (types.Datum, error) {
	if base, low := c.IO.BaseType(t, mod); base != t {
		d, err := c.fromJSON(base, low, key, have, val)
		if err == nil {
			err = c.IO.CheckDomain(t, d)
		}
		return d, err
	}
	kind := json.KindOf(val)
	if kind != json.String && kind != json.Null && t != types.JSONOID && t != types.JSONBOID {
		if elem := c.IO.ElemType(t); elem != 0 {
			return c.arrayFromJSON(elem, mod, key, val)
		}
		if fields := c.compositeFields(t); fields != nil {
			return c.rowFromJSON(fields, have, val, kind)
		}
	}
	d, err := jsonToSQL(c, t, val)
	if err != nil || d.Null || mod < 0 {
		return d, err
	}
	return types.ApplyTypmod(t, mod, false, d)
}

func (c *Ctx) rowFromJSON(fields []jsonField, have types.Datum, val []byte, kind json.Kind) (types.Datum, error) {
	switch kind {
	case json.Object:
	case json.Array:
		return types.NullDatum, invalidParam("cannot call populate_composite on an array")
	default:
		return types.NullDatum, invalidParam("cannot call populate_composite on a scalar")
	}
	var base []byte
	if !have.Null {
		base = have.B
	}
	vals, err := c.populate(fields, base, val)
	if err != nil {
		return types.NullDatum, err
	}
	return types.Bytes(buildRow(fields, vals)), nil
}

func buildRow(fields []jsonField, vals []types.Datum) []byte {
	b := types.BuildRecord(nil, len(fields))
	for i, d := range vals {
		b.Add(fields[i].t, d)
	}
	return b.Buf
}

// jsonArray collects the elements of nested JSON arrays: populate_array. How many dimensions there are is known from the first element
// that is no array.
type jsonArray struct {
	c     *Ctx
	elem  types.OID
	mod   types.Typmod
	key   string
	dims  []int // -1: not known yet
	sizes []int // of the arrays at hand
	vals  []types.Datum
}

// arrayFromJSON converts nested JSON arrays to an array of as many dimensions.
func (c *Ctx) arrayFromJSON(elem types.OID, mod types.Typmod, key string, val []byte) (types.Datum, error) {
	a := &jsonArray{c: c, elem: elem, mod: mod, key: key}
	if err := a.walk(val, 1); err != nil {
		return types.NullDatum, err
	}
	a.dims[0] = a.sizes[0]
	if len(a.vals) == 0 {
		return types.Bytes(types.EmptyArray(c.IO.Stored(elem))), nil
	}
	b := types.BuildArray(nil, c.IO.Stored(elem), a.dims, nil)
	for _, d := range a.vals {
		b.Add(d)
	}
	return types.Bytes(b.Buf), nil
}

// walk adds an array at a depth, 1 for the outermost.
func (a *jsonArray) walk(val []byte, depth int) error {
	if json.KindOf(val) != json.Array {
		return a.expected(depth - 1)
	}
	it, _ := json.Walk(val)
	some := it.Next()
	if a.dims == nil && (!some || json.KindOf(it.Val) != json.Array) {
		if depth > types.MaxDim {
			return sqlerr.New(sqlerr.ProgramLimitExceeded, "number of array dimensions (%d) exceeds the maximum allowed (%d)", depth, types.MaxDim)
		}
		a.dims, a.sizes = make([]int, depth), make([]int, depth)
		for i := range a.dims {
			a.dims[i] = -1
		}
	}
	for ; some; some = it.Next() {
		if a.dims != nil && depth >= len(a.dims) {
			d, err := a.c.fromJSON(a.elem, a.mod, "", types.NullDatum, it.Val)
			if err != nil {
				return err
			}
			a.vals = append(a.vals, d)
			a.sizes[depth-1]++
			continue
		}
		if err := a.walk(it.Val, depth+1); err != nil {
			return err
		}
		if err := a.close(depth); err != nil {
			return err
		}
	}
	return nil
}

// close compares the length of a sub-array that has ended with the others of its dimension.
func (a *jsonArray) close(dim int) error {
	n := a.sizes[dim]
	if a.dims[dim] >= 0 && a.dims[dim] != n {
		return sqlerr.New(sqlerr.InvalidTextRepresentation, "malformed JSON array").
			WithDetail("Multidimensional arrays must have sub-arrays with matching dimensions.")
	}
	a.dims[dim], a.sizes[dim] = n, 0
	a.sizes[dim-1]++
	return nil
}

// expected is the error about something that should have been an array.
func (a *jsonArray) expected(depth int) error {
	err := sqlerr.New(sqlerr.InvalidTextRepresentation, "expected JSON array")
	if depth <= 0 {
		if a.key == "" {
			return err
		}
		return err.WithHint("See the value of key \"%s\".", a.key)
	}
	at := ""
	for i := range depth {
		n := 0
		if i < len(a.sizes) {
			n = a.sizes[i]
		}
		at += "[" + strconv.Itoa(n) + "]"
	}
	if a.key == "" {
		return err.WithHint("See the array element %s.", at)
	}
	return err.WithHint("See the array element %s of key \"%s\".", at, a.key)
}

// listed says whether the call stands in FROM with a column definition list, or where its columns are known otherwise.
func (ci *CallInfo) listed() bool {
	return len(ci.Columns) > 0 && len(ci.ColumnNames) == len(ci.Columns)
}

// listedFields are the columns of the call in FROM as fields.
func (ci *CallInfo) listedFields() []jsonField {
	out := make([]jsonField, len(ci.Columns))
	for i, t := range ci.Columns {
		out[i] = jsonField{name: ci.ColumnNames[i], t: t, mod: -1}
		if i < len(ci.ColumnMods) {
			out[i].mod = ci.ColumnMods[i]
		}
	}
	return out
}

// populateFields are the fields of the row that json_populate_record makes: of the argument's type, of the record that it is, or of the
// columns in FROM.
func (c *Ctx) populateFields(ci *CallInfo, arg types.Datum, name string) ([]jsonField, error) {
	if f := c.compositeFields(ci.ArgTypes[0]); f != nil {
		return f, nil
	}
	if !arg.Null && ci.ArgTypes[0] == types.RecordOID {
		var out []jsonField
		for it := types.ReadRecord(arg.B); it.Next(); {
			out = append(out, jsonField{name: "f" + strconv.Itoa(len(out)+1), t: it.Type, mod: -1})
			if len(ci.ArgFields) > 0 && len(out) <= len(ci.ArgFields[0]) && ci.ArgFields[0][len(out)-1] != "" {
				out[len(out)-1].name = ci.ArgFields[0][len(out)-1]
			}
		}
		return out, ci.sameRow(out)
	}
	if ci.listed() {
		return ci.listedFields(), nil
	}
	if ci.ArgTypes[0] != types.RecordOID {
		return nil, sqlerr.New(sqlerr.DatatypeMismatch, "first argument of %s must be a row type", name)
	}
	return nil, errRowType(name)
}

func errRowType(name string) error {
	return sqlerr.New(sqlerr.FeatureNotSupported, "could not determine row type for result of %s", name).
		WithHint("Provide a non-null record argument, or call the function in the FROM clause using a column definition list.")
}

// sameRow demands that the columns listed in FROM are those of the row that the function returns.
func (ci *CallInfo) sameRow(fields []jsonField) error {
	if !ci.listed() {
		return nil
	}
	mismatch := sqlerr.New(sqlerr.DatatypeMismatch, "function return row and query-specified return row do not match")
	if n := len(fields); n != len(ci.Columns) {
		plural := "s"
		if n == 1 {
			plural = ""
		}
		return mismatch.WithDetail("Returned row contains %d attribute%s, but query expects %d.", n, plural, len(ci.Columns))
	}
	for i, f := range fields {
		if f.t != ci.Columns[i] {
			return mismatch.WithDetail("Returned type %s at ordinal position %d, but query expects %s.",
				types.FormatType(f.t, -1, false), i+1, types.FormatType(ci.Columns[i], -1, false))
		}
	}
	return nil
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
			fields, err := r.c.populateFields(r.ci, r.Datum(0), name)
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
		regSet(func(ci *CallInfo) setStart { // in FROM, where it returns one row
			site := *ci
			return func(c *Ctx, a []types.Datum) (SetFunc, error) { return populateOne(c, &site, name, a) }
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

// fieldTypes are the types of the columns.
func fieldTypes(fields []jsonField) []types.OID {
	ts := make([]types.OID, len(fields))
	for i, f := range fields {
		ts[i] = f.t
	}
	return ts
}

// populateOne is json_populate_record in FROM.
func populateOne(c *Ctx, ci *CallInfo, name string, a []types.Datum) (SetFunc, error) {
	fields, err := c.populateFields(ci, a[0], name)
	if err != nil {
		return nil, err
	}
	ts := fieldTypes(fields)
	vals := make([]types.Datum, len(fields))
	for i := range vals {
		vals[i] = types.NullDatum
		if !a[0].Null {
			_, vals[i] = types.RecordField(a[0].B, i+1)
		}
	}
	if !a[1].Null {
		var base []byte
		if !a[0].Null {
			base = a[0].B
		}
		if vals, err = c.populateObject(fields, base, a[1].B, name); err != nil {
			return nil, err
		}
	}
	return listSet(1, func(_ *Ctx, _, i int, out []*vec.Vector) error {
		setRow(out, i, ts, vals)
		return nil
	}), nil
}

// populateSet is json_populate_recordset: a row for each element of an array of objects.
func populateSet(c *Ctx, ci *CallInfo, name string, a []types.Datum) (SetFunc, error) {
	if a[1].Null {
		return emptySet{}, nil
	}
	fields, err := c.populateFields(ci, a[0], name)
	if err != nil {
		return nil, err
	}
	ts := fieldTypes(fields)
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
