package funcs

import (
	"strconv"

	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/types/json"
)

func init() {
	initJSONGet()
	initJSONExists()
	initJSONInfo()
}

// retJSON returns part of a JSON text; ok false is NULL.
func (r *row) retJSON(v []byte, ok bool) error {
	if !ok {
		return r.RetNull()
	}
	return r.RetBytes(v)
}

// retJSONText returns what ->> gives for part of a JSON text.
func (r *row) retJSONText(v []byte, ok bool) error {
	if !ok {
		return r.RetNull()
	}
	b, ok := json.AppendText(r.Start(), v)
	if !ok {
		return r.RetNull()
	}
	return r.Finish(b)
}

func initJSONGet() {
	each(func(r *row) error { v, ok := json.Field(r.Bytes(0), r.Bytes(1)); return r.retJSON(v, ok) }, "json_object_field", "jsonb_object_field")
	each(func(r *row) error { v, ok := json.Field(r.Bytes(0), r.Bytes(1)); return r.retJSONText(v, ok) }, "json_object_field_text", "jsonb_object_field_text")
	for _, p := range []string{"json", "jsonb"} {
		binary := p == "jsonb"
		each(func(r *row) error { v, ok := elementAt(r.Bytes(0), r.Int(1), binary); return r.retJSON(v, ok) }, p+"_array_element")
		each(func(r *row) error { v, ok := elementAt(r.Bytes(0), r.Int(1), binary); return r.retJSONText(v, ok) }, p+"_array_element_text")
	}
	each(func(r *row) error { v, ok := jsonPath(r.Bytes(0), r.Array(1)); return r.retJSON(v, ok) }, "json_extract_path", "jsonb_extract_path")
	each(func(r *row) error { v, ok := jsonPath(r.Bytes(0), r.Array(1)); return r.retJSONText(v, ok) }, "json_extract_path_text", "jsonb_extract_path_text")
}

// elementAt is ->: a scalar counts as an array of itself in jsonb.
func elementAt(text []byte, i int64, binary bool) ([]byte, bool) {
	if binary && jsonScalarKind(json.KindOf(text)) {
		return text, i == 0 || i == -1
	}
	if json.KindOf(text) != json.Array || i < -1<<31 || i > 1<<31-1 {
		return nil, false
	}
	return json.Index(text, int(i))
}

// jsonPath follows a path of keys and element numbers.
func jsonPath(text []byte, path types.Array) ([]byte, bool) {
	for it := path.Iter(); it.Next(); {
		if it.Null {
			return nil, false
		}
	}
	for it := path.Iter(); it.Next(); {
		var ok bool
		switch json.KindOf(text) {
		case json.Object:
			text, ok = json.Field(text, it.Val)
		case json.Array:
			i, err := pathInt(it.Val)
			if err != nil {
				return nil, false
			}
			text, ok = json.Index(text, i)
		}
		if !ok {
			return nil, false
		}
	}
	return text, true
}

// pathInt reads a path element as the number of an array element.
func pathInt(b []byte) (int, error) {
	for len(b) > 0 && (b[0] == ' ' || b[0] >= '\t' && b[0] <= '\r') {
		b = b[1:]
	}
	if len(b) > 1 && b[0] == '+' {
		b = b[1:]
	}
	v, err := strconv.ParseInt(string(b), 10, 32)
	return int(v), err
}

// jsonHas says whether a jsonb value has a key, or as an array or string the string itself.
func jsonHas(text, key []byte) bool {
	switch json.KindOf(text) {
	case json.Object:
		_, ok := json.Field(text, key)
		return ok
	case json.Array:
		it, _ := json.Walk(text)
		for it.Next() {
			if json.KindOf(it.Val) == json.String && string(json.Unquote(nil, it.Val)) == string(key) {
				return true
			}
		}
	case json.String:
		return string(json.Unquote(nil, text)) == string(key)
	}
	return false
}

// jsonTree parses argument k, a jsonb value, which is known to be valid.
func (r *row) jsonTree(k int) (*json.Value, error) { return json.Parse(r.Bytes(k)) }

func initJSONExists() {
	contains := func(a, b int) rowFunc {
		return func(r *row) error {
			x, err := r.jsonTree(a)
			if err != nil {
				return err
			}
			y, err := r.jsonTree(b)
			if err != nil {
				return err
			}
			return r.RetBool(json.Contains(x, y))
		}
	}
	each(contains(0, 1), "jsonb_contains")
	each(contains(1, 0), "jsonb_contained")
	each(func(r *row) error { return r.RetBool(jsonHas(r.Bytes(0), r.Bytes(1))) }, "jsonb_exists")
	each(func(r *row) error {
		for it := r.Array(1).Iter(); it.Next(); {
			if !it.Null && jsonHas(r.Bytes(0), it.Val) {
				return r.RetBool(true)
			}
		}
		return r.RetBool(false)
	}, "jsonb_exists_any")
	each(func(r *row) error {
		for it := r.Array(1).Iter(); it.Next(); {
			if !it.Null && !jsonHas(r.Bytes(0), it.Val) {
				return r.RetBool(false)
			}
		}
		return r.RetBool(true)
	}, "jsonb_exists_all")
}

func initJSONInfo() {
	each(func(r *row) error {
		switch json.KindOf(r.Bytes(0)) {
		case json.Null:
			return r.RetStr("null")
		case json.String:
			return r.RetStr("string")
		case json.Number:
			return r.RetStr("number")
		case json.Array:
			return r.RetStr("array")
		case json.Object:
			return r.RetStr("object")
		}
		return r.RetStr("boolean")
	}, "json_typeof", "jsonb_typeof")
	each(func(r *row) error {
		switch json.KindOf(r.Bytes(0)) {
		case json.Array:
			return r.RetInt(int64(json.Length(r.Bytes(0))))
		case json.Object:
			return invalidParam("cannot get array length of a non-array")
		}
		return invalidParam("cannot get array length of a scalar")
	}, "json_array_length", "jsonb_array_length")
	each(func(r *row) error {
		v, err := r.jsonTree(0)
		if err != nil {
			return err
		}
		return r.Finish(v.Pretty(r.Start(), 0))
	}, "jsonb_pretty")
	each(func(r *row) error {
		v, err := r.jsonTree(0)
		if err != nil {
			return err
		}
		stripNulls(v)
		return r.Finish(v.Append(r.Start()))
	}, "jsonb_strip_nulls")
	each(func(r *row) error { return r.Finish(appendStripped(r.Start(), r.Bytes(0))) }, "json_strip_nulls")
}

// stripNulls removes the object fields that are null, at all levels.
func stripNulls(v *json.Value) {
	keep := 0
	for i, e := range v.Elems {
		if v.Kind == json.Object {
			if e.Kind == json.Null {
				continue
			}
			v.Keys[keep] = v.Keys[i]
		}
		stripNulls(e)
		v.Elems[keep] = e
		keep++
	}
	v.Elems = v.Elems[:keep]
	if v.Kind == json.Object {
		v.Keys = v.Keys[:keep]
	}
}

// appendStripped is json_strip_nulls: the text without null fields and without blanks.
func appendStripped(dst, text []byte) []byte {
	it, ok := json.Walk(text)
	if !ok {
		s, e := json.Skip(text, 0)
		if json.KindOf(text) == json.String {
			return json.Quote(dst, json.Unquote(nil, text[s:e]))
		}
		return append(dst, text[s:e]...)
	}
	object := json.KindOf(text) == json.Object
	open, end := byte('['), byte(']')
	if object {
		open, end = '{', '}'
	}
	dst = append(dst, open)
	first := true
	for it.Next() {
		if object && json.KindOf(it.Val) == json.Null {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		if object {
			dst = append(json.Quote(dst, json.Unquote(nil, it.Key)), ':')
		}
		dst = appendStripped(dst, it.Val)
	}
	return append(dst, end)
}

func jsonScalarKind(k json.Kind) bool { return k != json.Array && k != json.Object }

func errPathScalar(what string) error {
	return sqlerr.New(sqlerr.InvalidParameterValue, "cannot %s in scalar", what)
}
