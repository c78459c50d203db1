package funcs

import (
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/types/json"
	"herd/sql/vec"
)

// Conversions of any value to JSON.
const (
	fnToJSON  types.OID = 3176
	fnToJSONB types.OID = 3787
)

func init() {
	for _, name := range []string{"json_agg", "jsonb_agg", "json_object_agg", "jsonb_object_agg"} {
		binary, object := name[4] == 'b', len(name) > 10
		regAgg(func(ci *CallInfo) func() Agg {
			val := 0
			if object {
				val = 1
			}
			sub := CallInfo{Func: fnToJSON, ArgTypes: ci.ArgTypes[val : val+1], Result: types.JSONOID, Typmod: -1}
			if binary {
				sub.Func, sub.Result = fnToJSONB, types.JSONBOID
			}
			if ci.ArgFields != nil {
				sub.ArgFields = ci.ArgFields[val : val+1]
			}
			kernel, ok := Lookup(sub)
			if !ok {
				return nil
			}
			key := ci.ArgTypes[0]
			return func() Agg { return &jsonAgg{kernel: kernel, binary: binary, object: object, key: key} }
		}, name)
	}
}

// jsonAgg is json(b)_agg and json(b)_object_agg. The text grows element by element; that of jsonb is made canonical at the end.
type jsonAgg struct {
	kernel         Kernel
	binary, object bool
	key            types.OID
	g              [][]byte // without brackets; nil: no rows
	bytes          int64
	val            vec.Vector
	buf            []byte
}

func (a *jsonAgg) Grow(g int) error { a.g = extendTo(a.g, g); return nil }
func (a *jsonAgg) Size() int64      { return int64(24*cap(a.g)) + a.bytes }
func (a *jsonAgg) Reset()           { clear(a.g); a.g, a.bytes = a.g[:0], 0 }

// Drop implements Collector.
func (a *jsonAgg) Drop(g int) {
	a.bytes -= int64(cap(a.g[g]))
	a.g[g] = nil
}

func (a *jsonAgg) Update(c *Ctx, groups []uint32, n int, sel []uint16, args []*vec.Vector) error {
	v := args[0]
	if a.object {
		v = args[1]
	}
	if err := a.convert(c, n, sel, v); err != nil {
		return err
	}
	return loopErr(n, sel, func(i int) error {
		g := groups[i]
		b := a.g[g]
		first := b == nil
		if !first {
			b = append(b, ", "...)
		} else {
			b = make([]byte, 0, 32)
		}
		if a.object {
			var err error
			if b, err = a.appendKey(c, b, args[0], i); err != nil {
				return err
			}
		}
		if v.IsNull(i) {
			b = append(b, "null"...)
		} else {
			t := a.val.Bytes(i)
			if !a.object && !a.binary && !first && len(t) > 0 && (t[0] == '[' || t[0] == '{') {
				b = append(b, "\n "...)
			}
			b = append(b, t...)
		}
		a.bytes += int64(cap(b) - cap(a.g[g]))
		a.g[g] = b
		return nil
	})
}

// convert turns the values that are not NULL into JSON.
func (a *jsonAgg) convert(c *Ctx, n int, sel []uint16, v *vec.Vector) error {
	a.val.Reset(types.KindBytes, n)
	if v.HasNulls {
		some := make([]uint16, 0, n)
		loop(n, sel, func(i int) {
			if !v.IsNull(i) {
				some = append(some, uint16(i))
			}
		})
		if len(some) == 0 {
			return nil
		}
		sel = some
	}
	return a.kernel(c, n, sel, []*vec.Vector{v}, &a.val)
}

// appendKey adds "key": of an object.
func (a *jsonAgg) appendKey(c *Ctx, b []byte, v *vec.Vector, i int) ([]byte, error) {
	if v.IsNull(i) {
		return b, invalidParam("field name must not be null")
	}
	if c.IO.ElemType(a.key) != 0 || a.key == types.JSONOID || a.key == types.JSONBOID || a.key == types.RecordOID {
		return b, invalidParam("key value must be scalar, not array, composite, or json")
	}
	a.buf = types.Output(c.IO, a.buf[:0], a.key, v.Datum(i))
	if a.key == types.BoolOID {
		a.buf = append(a.buf[:0], [...]string{"false", "true"}[v.Datum(i).I]...)
	}
	b = json.Quote(b, a.buf)
	if a.binary {
		return append(b, ": "...), nil
	}
	return append(b, " : "...), nil
}

func (a *jsonAgg) Combine(other Agg, m []uint32) error {
	for g, o := range other.(*jsonAgg).g {
		if m[g] == ^uint32(0) || o == nil {
			continue
		}
		b := a.g[m[g]]
		old := cap(b)
		if b != nil {
			b = append(b, ", "...)
		}
		a.g[m[g]] = append(b, o...)
		a.bytes += int64(cap(a.g[m[g]]) - old)
	}
	return nil
}

func (a *jsonAgg) Final(_ *Ctx, from, to int, out *vec.Vector) error {
	open, end := "[", "]"
	switch {
	case a.object && a.binary:
		open, end = "{", "}"
	case a.object:
		open, end = "{ ", " }"
	}
	for g := from; g < to; g++ {
		if a.g[g] == nil {
			out.SetNull(g - from)
			continue
		}
		b := append(append(append(make([]byte, 0, len(a.g[g])+4), open...), a.g[g]...), end...)
		if !a.binary {
			out.SetVar(g-from, b)
			continue
		}
		t, err := types.CanonicalJSONB(out.Start(), b)
		if err != nil {
			return sqlerr.From(err)
		}
		out.Finish(g-from, t)
	}
	return nil
}
