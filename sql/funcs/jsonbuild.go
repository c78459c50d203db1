package funcs

import (
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/types/datetime"
	"herd/sql/types/json"
)

// appendJSON appends a value of type t as to_json shows it. names are the field names when t is a record whose fields have
// no other names; pretty puts the elements of the outermost array or record on lines of their own.
func (c *Ctx) appendJSON(dst []byte, t types.OID, d types.Datum, names []string, pretty bool, depth int) ([]byte, error) {
	if d.Null {
		return append(dst, "null"...), nil
	}
	if depth > json.MaxDepth {
		return nil, sqlerr.New(sqlerr.StatementTooComplex, "stack depth limit exceeded")
	}
	switch t {
	case types.BoolOID:
		if d.Bool() {
			return append(dst, "true"...), nil
		}
		return append(dst, "false"...), nil
	case types.Int2OID, types.Int4OID, types.Int8OID:
		return types.Output(c.IO, dst, t, d), nil
	case types.Float4OID, types.Float8OID, types.NumericOID:
		at := len(dst)
		dst = types.Output(c.IO, dst, t, d)
		switch dst[at] {
		case 'N', 'I':
			return json.Quote(dst[:at], append([]byte(nil), dst[at:]...)), nil
		case '-':
			if len(dst) > at+1 && dst[at+1] == 'I' {
				return json.Quote(dst[:at], append([]byte(nil), dst[at:]...)), nil
			}
		}
		return dst, nil
	case types.JSONOID, types.JSONBOID:
		return append(dst, d.B...), nil
	case types.DateOID, types.TimestampOID, types.TimestampTZOID:
		return c.appendISO(dst, t, d.I), nil
	}
	switch t {
	case types.RecordArrayOID:
		return c.appendJSONArray(dst, types.ReadArray(d.B), types.RecordOID, pretty, depth)
	case types.AnyArrayOID:
		a := types.ReadArray(d.B)
		return c.appendJSONArray(dst, a, a.Elem(), pretty, depth)
	}
	if elem := c.IO.ElemType(t); elem != 0 && t != types.Int2VectorOID && t != types.OIDVectorOID {
		return c.appendJSONArray(dst, types.ReadArray(d.B), elem, pretty, depth)
	}
	if t == types.RecordOID {
		return c.appendJSONRecord(dst, d.B, names, pretty, depth)
	}
	if b := types.BuiltinByOID(t); b != nil {
		if b.Type == 'c' {
			return c.appendJSONRecord(dst, d.B, c.fieldNames(t, names), pretty, depth)
		}
	} else if c.IO.Catalog != nil {
		if info, ok := c.IO.Catalog.TypeInfo(t); ok {
			switch info.Kind {
			case 'c':
				return c.appendJSONRecord(dst, d.B, c.fieldNames(t, names), pretty, depth)
			case 'd':
				return c.appendJSON(dst, info.Base, d, names, pretty, depth+1)
			}
		}
	}
	return json.Quote(dst, types.Output(c.IO, nil, t, d)), nil
}

// fieldNames are the names of a composite type's fields; names is what the call site knows.
func (c *Ctx) fieldNames(t types.OID, names []string) []string {
	if c.IO.Catalog != nil {
		if info, ok := c.IO.Catalog.TypeInfo(t); ok && len(info.Fields) > 0 {
			out := make([]string, len(info.Fields))
			for i, f := range info.Fields {
				out[i] = f.Name
			}
			return out
		}
	}
	return names
}

// appendISO appends a date or timestamp in the form of XML Schema.
func (c *Ctx) appendISO(dst []byte, t types.OID, v int64) []byte {
	cfg := datetime.Default()
	cfg.Zone, cfg.Now = c.IO.Zone, c.IO.Now
	dst = append(dst, '"')
	at := len(dst)
	switch t {
	case types.DateOID:
		dst = datetime.AppendDate(dst, v, &cfg)
	case types.TimestampOID:
		dst = datetime.AppendTimestamp(dst, v, &cfg)
	default:
		dst = datetime.AppendTimestampTZ(dst, v, &cfg)
	}
	bc := len(dst) > at+3 && string(dst[len(dst)-3:]) == " BC"
	if bc {
		dst = dst[:len(dst)-3]
	}
	for i := at; i < len(dst); i++ {
		if dst[i] == ' ' {
			dst[i] = 'T'
			break
		}
	}
	if n := len(dst); t == types.TimestampTZOID && n > at+3 && (dst[n-3] == '+' || dst[n-3] == '-') {
		dst = append(dst, ":00"...)
	}
	if bc {
		dst = append(dst, " BC"...)
	}
	return append(dst, '"')
}

func (c *Ctx) appendJSONArray(dst []byte, a types.Array, elem types.OID, pretty bool, depth int) ([]byte, error) {
	if a.NDim() == 0 {
		return append(dst, "[]"...), nil
	}
	it := a.Iter()
	var dim func(k int, pretty bool) error
	dim = func(k int, pretty bool) error {
		dst = append(dst, '[')
		for i := range a.Dim(k) {
			if i > 0 {
				dst = append(dst, ',')
				if pretty {
					dst = append(dst, "\n "...)
				}
			}
			if k+1 < a.NDim() {
				if err := dim(k+1, false); err != nil {
					return err
				}
				continue
			}
			it.Next()
			d := types.NullDatum
			if !it.Null {
				d = types.DecodeValue(elem, it.Val)
			}
			var err error
			if dst, err = c.appendJSON(dst, elem, d, nil, false, depth+1); err != nil {
				return err
			}
		}
		dst = append(dst, ']')
		return nil
	}
	err := dim(0, pretty)
	return dst, err
}

func (c *Ctx) appendJSONRecord(dst, rec []byte, names []string, pretty bool, depth int) ([]byte, error) {
	dst = append(dst, '{')
	k := 0
	for it := types.ReadRecord(rec); it.Next(); k++ {
		if k > 0 {
			dst = append(dst, ',')
			if pretty {
				dst = append(dst, "\n "...)
			}
		}
		name := "f" + itoa(int64(k+1))
		if k < len(names) && names[k] != "" {
			name = names[k]
		}
		dst = append(json.Quote(dst, []byte(name)), ':')
		var err error
		if dst, err = c.appendJSON(dst, it.Type, it.Datum(), nil, false, depth+1); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

// argNames are the field names that the call site knows for argument k.
func (r *row) argNames(k int) []string {
	if k < len(r.ci.ArgFields) {
		return r.ci.ArgFields[k]
	}
	return nil
}

// retBuilt returns JSON text that was just made, as jsonb in canonical form.
func (r *row) retBuilt(text []byte, binary bool) error {
	if !binary {
		return r.RetBytes(text)
	}
	b, err := json.Canonical(r.Start(), text)
	if err != nil {
		return err
	}
	return r.Finish(b)
}

func init() {
	convert := func(binary, pretty bool) rowFunc {
		return func(r *row) error {
			b, err := r.c.appendJSON(nil, r.Type(0), r.Datum(0), r.argNames(0), pretty && r.N() > 1 && r.Bool(1), 0)
			if err != nil {
				return err
			}
			return r.retBuilt(b, binary)
		}
	}
	each(convert(false, false), "to_json", "array_to_json", "row_to_json")
	each(convert(false, true), "array_to_json_pretty", "row_to_json_pretty")
	each(convert(true, false), "to_jsonb")
	for _, binary := range []bool{false, true} {
		p := "json"
		if binary {
			p = "jsonb"
		}
		each(func(r *row) error { return buildObject(r, binary) }, p+"_build_object")
		each(func(r *row) error { return r.RetStr("{}") }, p+"_build_object_noargs")
		each(func(r *row) error { return buildArray(r, binary) }, p+"_build_array")
		each(func(r *row) error { return r.RetStr("[]") }, p+"_build_array_noargs")
		each(func(r *row) error { return objectOfArray(r, binary) }, p+"_object")
		each(func(r *row) error { return objectOfArrays(r, binary) }, p+"_object_two_arg")
	}
}

func buildArray(r *row, binary bool) error {
	dst := []byte{'['}
	k := 0
	ok, err := r.eachArg(0, func(t types.OID, d types.Datum) (err error) {
		if k > 0 {
			dst = append(dst, ", "...)
		}
		dst, err = r.c.appendJSON(dst, t, d, r.argNames(k), false, 0)
		k++
		return err
	})
	if err != nil {
		return err
	}
	if !ok && r.ci.Variadic {
		return r.RetNull()
	}
	return r.retBuilt(append(dst, ']'), binary)
}

func buildObject(r *row, binary bool) error {
	if !r.ci.Variadic && r.N()%2 != 0 || r.ci.Variadic && !r.Null(r.N()-1) && r.Array(r.N()-1).Len()%2 != 0 {
		name := "json_build_object()"
		if binary {
			name = "jsonb_build_object()"
		}
		return sqlerr.New(sqlerr.InvalidParameterValue, "argument list must have even number of elements").
			WithHint("The arguments of %s must consist of alternating keys and values.", name)
	}
	dst := []byte{'{'}
	k := 0
	ok, err := r.eachArg(0, func(t types.OID, d types.Datum) (err error) {
		if k%2 == 0 {
			if k > 0 {
				dst = append(dst, ", "...)
			}
			if dst, err = r.c.appendJSONKey(dst, t, d, k, binary); err != nil {
				return err
			}
			dst = append(dst, " : "...)
		} else {
			dst, err = r.c.appendJSON(dst, t, d, r.argNames(k), false, 0)
		}
		k++
		return err
	})
	if err != nil {
		return err
	}
	if !ok && r.ci.Variadic {
		return r.RetNull()
	}
	return r.retBuilt(append(dst, '}'), binary)
}

// appendJSONKey appends argument k as an object's key.
func (c *Ctx) appendJSONKey(dst []byte, t types.OID, d types.Datum, k int, binary bool) ([]byte, error) {
	if d.Null {
		if binary {
			return nil, invalidParam("argument %d: key must not be null", k+1)
		}
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "argument %d cannot be null", k+1).WithHint("Object keys should be text.")
	}
	composite := t == types.RecordOID || t == types.JSONOID || t == types.JSONBOID || c.IO.ElemType(t) != 0 && t != types.Int2VectorOID && t != types.OIDVectorOID
	if !composite && types.BuiltinByOID(t) == nil && c.IO.Catalog != nil {
		info, ok := c.IO.Catalog.TypeInfo(t)
		composite = ok && info.Kind == 'c'
	}
	if composite {
		return nil, invalidParam("key value must be scalar, not array, composite, or json")
	}
	switch t {
	case types.DateOID, types.TimestampOID, types.TimestampTZOID:
		return c.appendISO(dst, t, d.I), nil
	case types.BoolOID:
		if d.Bool() {
			return append(dst, "\"true\""...), nil
		}
		return append(dst, "\"false\""...), nil
	}
	return json.Quote(dst, types.Output(c.IO, nil, t, d)), nil
}

// appendPair appends a key and a text value of json_object.
func appendPair(dst []byte, first bool, key, val *types.ArrayIter) ([]byte, error) {
	if key.Null {
		return nil, sqlerr.New(sqlerr.NullValueNotAllowed, "null value not allowed for object key")
	}
	if !first {
		dst = append(dst, ", "...)
	}
	dst = append(json.Quote(dst, key.Val), " : "...)
	if val.Null {
		return append(dst, "null"...), nil
	}
	return json.Quote(dst, val.Val), nil
}

// objectOfArray is json_object(text[]): alternating keys and values, or rows of two columns.
func objectOfArray(r *row, binary bool) error {
	a := r.Array(0)
	bad := func(format string) error { return sqlerr.New(sqlerr.ArraySubscriptError, format) }
	switch a.NDim() {
	case 0:
		return r.RetStr("{}")
	case 1:
		if a.Dim(0)%2 != 0 {
			return bad("array must have even number of elements")
		}
	case 2:
		if a.Dim(1) != 2 {
			return bad("array must have two columns")
		}
	default:
		return bad("wrong number of array subscripts")
	}
	dst, first := []byte{'{'}, true
	for it := a.Iter(); it.Next(); first = false {
		key := it
		it.Next()
		var err error
		if dst, err = appendPair(dst, first, &key, &it); err != nil {
			return err
		}
	}
	return r.retBuilt(append(dst, '}'), binary)
}

// objectOfArrays is json_object(keys, values).
func objectOfArrays(r *row, binary bool) error {
	a, b := r.Array(0), r.Array(1)
	if a.NDim() > 1 || a.NDim() != b.NDim() {
		return sqlerr.New(sqlerr.ArraySubscriptError, "wrong number of array subscripts")
	}
	if a.Len() != b.Len() {
		return sqlerr.New(sqlerr.ArraySubscriptError, "mismatched array dimensions")
	}
	dst, first := []byte{'{'}, true
	keys, vals := a.Iter(), b.Iter()
	for ; keys.Next() && vals.Next(); first = false {
		var err error
		if dst, err = appendPair(dst, first, &keys, &vals); err != nil {
			return err
		}
	}
	return r.retBuilt(append(dst, '}'), binary)
}
