package json

import (
	"bytes"
	"sort"

	"herd/sql/types/numeric"
)

// Kind is the type of a JSON value.
type Kind uint8

// Kinds of values.
const (
	Null Kind = iota
	String
	Number
	False
	True
	Array
	Object
)

// Value is a tree of JSON. Objects from Parse keep every key in the order of the text, until Normalize.
type Value struct {
	Kind  Kind
	Text  []byte      // String: the content without escapes
	Num   numeric.Num // Number
	Keys  [][]byte    // Object
	Elems []*Value    // Array and Object
}

// Parse reads a text into a tree as jsonb input does: sorted unique keys. 22P02 and kin.
func Parse(text []byte) (*Value, error) {
	p := parser{s: text, build: true, jsonb: true}
	v, err := p.all()
	if err != nil {
		return nil, err
	}
	v.Normalize()
	return v, nil
}

func (p *parser) makeNumber(s []byte) (*Value, error) {
	n, err := numeric.Parse(s)
	if err != nil {
		return nil, err
	}
	return &Value{Kind: Number, Num: n}, nil
}

// KeyLess is the order of jsonb's keys: length first, then bytes.
func KeyLess(a, b []byte) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return bytes.Compare(a, b) < 0
}

// Normalize sorts the keys of all objects and drops all but the last of equal ones.
func (v *Value) Normalize() {
	for _, e := range v.Elems {
		e.Normalize()
	}
	if v.Kind == Object {
		v.sortKeys()
	}
}

type byKey struct{ *Value }

func (b byKey) Len() int           { return len(b.Keys) }
func (b byKey) Less(i, j int) bool { return KeyLess(b.Keys[i], b.Keys[j]) }
func (b byKey) Swap(i, j int) {
	b.Keys[i], b.Keys[j] = b.Keys[j], b.Keys[i]
	b.Elems[i], b.Elems[j] = b.Elems[j], b.Elems[i]
}

func (v *Value) sortKeys() {
	sorted := true
	for i := 1; i < len(v.Keys) && sorted; i++ {
		sorted = KeyLess(v.Keys[i-1], v.Keys[i])
	}
	if sorted {
		return
	}
	sort.Stable(byKey{v})
	n := 0
	for i := range v.Keys {
		if i+1 < len(v.Keys) && bytes.Equal(v.Keys[i], v.Keys[i+1]) {
			continue
		}
		v.Keys[n], v.Elems[n] = v.Keys[i], v.Elems[i]
		n++
	}
	v.Keys, v.Elems = v.Keys[:n], v.Elems[:n]
}

// Set gives an object's key a value, in sorted position.
func (v *Value) Set(key []byte, val *Value) {
	i := v.find(key)
	if i < len(v.Keys) && bytes.Equal(v.Keys[i], key) {
		v.Elems[i] = val
		return
	}
	v.Keys = append(v.Keys, nil)
	copy(v.Keys[i+1:], v.Keys[i:])
	v.Keys[i] = key
	v.Elems = append(v.Elems, nil)
	copy(v.Elems[i+1:], v.Elems[i:])
	v.Elems[i] = val
}

func (v *Value) find(key []byte) int {
	return sort.Search(len(v.Keys), func(i int) bool { return !KeyLess(v.Keys[i], key) })
}

// Get returns the value of a normalized object's key, nil when absent.
func (v *Value) Get(key []byte) *Value {
	if v.Kind != Object {
		return nil
	}
	if i := v.find(key); i < len(v.Keys) && bytes.Equal(v.Keys[i], key) {
		return v.Elems[i]
	}
	return nil
}

// Delete removes element i of an array or object.
func (v *Value) Delete(i int) {
	v.Elems = append(v.Elems[:i:i], v.Elems[i+1:]...)
	if v.Kind == Object {
		v.Keys = append(v.Keys[:i:i], v.Keys[i+1:]...)
	}
}

// DeleteKey removes a key of a normalized object.
func (v *Value) DeleteKey(key []byte) {
	if i := v.find(key); i < len(v.Keys) && bytes.Equal(v.Keys[i], key) {
		v.Delete(i)
	}
}

// Append appends the canonical text.
func (v *Value) Append(dst []byte) []byte {
	switch v.Kind {
	case Null:
		return append(dst, "null"...)
	case True:
		return append(dst, "true"...)
	case False:
		return append(dst, "false"...)
	case String:
		return Quote(dst, v.Text)
	case Number:
		return v.Num.Append(dst)
	case Array:
		dst = append(dst, '[')
		for i, e := range v.Elems {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = e.Append(dst)
		}
		return append(dst, ']')
	}
	dst = append(dst, '{')
	for i, e := range v.Elems {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(Quote(dst, v.Keys[i]), ": "...)
		dst = e.Append(dst)
	}
	return append(dst, '}')
}

// Pretty appends the text of jsonb_pretty.
func (v *Value) Pretty(dst []byte, level int) []byte {
	if v.Kind != Array && v.Kind != Object {
		return v.Append(dst)
	}
	open, end := byte('['), byte(']')
	if v.Kind == Object {
		open, end = '{', '}'
	}
	dst = append(dst, open)
	indent := func(n int) {
		dst = append(dst, '\n')
		for range n * 4 {
			dst = append(dst, ' ')
		}
	}
	for i, e := range v.Elems {
		if i > 0 {
			dst = append(dst, ',')
		}
		indent(level + 1)
		if v.Kind == Object {
			dst = append(Quote(dst, v.Keys[i]), ": "...)
		}
		dst = e.Pretty(dst, level+1)
	}
	indent(level)
	return append(dst, end)
}

// Quote appends s as a JSON string.
func Quote(dst, s []byte) []byte {
	dst = append(dst, '"')
	from := 0
	for i, c := range s {
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			const h = "0123456789abcdef"
			dst = append(dst, '\\', 'u', '0', '0', h[c>>4], h[c&15])
		}
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}

// Canonical appends the canonical text of a JSON text.
func Canonical(dst, text []byte) ([]byte, error) {
	v, err := Parse(text)
	if err != nil {
		return dst, err
	}
	return v.Append(dst), nil
}

// rank orders kinds in comparisons: Null < String < Number < False < True < Array < Object.
// An empty array at the top sorts below null, which PostgreSQL keeps for compatibility.
func Compare(a, b *Value) int {
	if a.Kind != b.Kind {
		ea, eb := a.Kind == Array && len(a.Elems) == 0, b.Kind == Array && len(b.Elems) == 0
		if ea {
			return -1
		}
		if eb {
			return 1
		}
	}
	return compare(a, b)
}

func compare(a, b *Value) int {
	if a.Kind != b.Kind {
		if a.Kind < b.Kind {
			return -1
		}
		return 1
	}
	switch a.Kind {
	case String:
		return bytes.Compare(a.Text, b.Text)
	case Number:
		return a.Num.Cmp(b.Num)
	case Array, Object:
		if d := len(a.Elems) - len(b.Elems); d != 0 {
			if d < 0 {
				return -1
			}
			return 1
		}
		for i := range a.Elems {
			if a.Kind == Object {
				if c := bytes.Compare(a.Keys[i], b.Keys[i]); c != 0 {
					return c
				}
			}
			if c := compare(a.Elems[i], b.Elems[i]); c != 0 {
				return c
			}
		}
	}
	return 0
}

// Contains is jsonb's @>.
func Contains(a, b *Value) bool {
	if a.Kind == Array && b.Kind != Array && b.Kind != Object {
		for _, e := range a.Elems { // a scalar on the right is found in an array
			if e.Kind == b.Kind && compare(e, b) == 0 {
				return true
			}
		}
		return false
	}
	if a.Kind != b.Kind {
		return false
	}
	switch a.Kind {
	case Object:
		for i, k := range b.Keys {
			if e := a.Get(k); e == nil || !containsPart(e, b.Elems[i]) {
				return false
			}
		}
		return true
	case Array:
		for _, want := range b.Elems {
			found := false
			for _, e := range a.Elems {
				if found = containsPart(e, want); found {
					break
				}
			}
			if !found {
				return false
			}
		}
		return true
	}
	return compare(a, b) == 0
}

// containsPart is Contains below the top, where a scalar does not match an array.
func containsPart(a, b *Value) bool {
	if a.Kind != b.Kind {
		return false
	}
	return Contains(a, b)
}
