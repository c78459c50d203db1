package json

import "bytes"

// Skip returns the end of the value that begins at s[i] (after blanks, start is where it begins).
func Skip(s []byte, i int) (start, end int) {
	i = skipSpace(s, i)
	start = i
	if i >= len(s) {
		return start, i
	}
	switch s[i] {
	case '"':
		return start, skipString(s, i)
	case '{', '[':
		depth := 0
		for i < len(s) {
			switch s[i] {
			case '"':
				i = skipString(s, i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return start, i + 1
				}
			}
			i++
		}
		return start, i
	}
	for i < len(s) && bytes.IndexByte([]byte(",]} \t\n\r:"), s[i]) < 0 {
		i++
	}
	return start, i
}

func skipSpace(s []byte, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n' || s[i] == '\r') {
		i++
	}
	return i
}

func skipString(s []byte, i int) int {
	i++
	for i < len(s) {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
		i++
	}
	return i
}

// KindOf returns the kind of the value that text holds.
func KindOf(text []byte) Kind {
	i := skipSpace(text, 0)
	if i >= len(text) {
		return Null
	}
	switch text[i] {
	case '{':
		return Object
	case '[':
		return Array
	case '"':
		return String
	case 't':
		return True
	case 'f':
		return False
	case 'n':
		return Null
	}
	return Number
}

// Iter walks the elements of an array or the pairs of an object without a tree.
type Iter struct {
	s      []byte
	i      int
	object bool
	Key    []byte // with quotes and escapes as in the text; see Unquote
	Val    []byte // the element's text
}

// Walk returns an iterator over text, which holds an array or object; ok is false for anything else.
func Walk(text []byte) (it Iter, ok bool) {
	i := skipSpace(text, 0)
	if i >= len(text) || text[i] != '{' && text[i] != '[' {
		return Iter{}, false
	}
	return Iter{s: text, i: i + 1, object: text[i] == '{'}, true
}

// Next moves to the next element, false at the end.
func (it *Iter) Next() bool {
	it.i = skipSpace(it.s, it.i)
	if it.i < len(it.s) && it.s[it.i] == ',' {
		it.i = skipSpace(it.s, it.i+1)
	}
	if it.i >= len(it.s) || it.s[it.i] == ']' || it.s[it.i] == '}' {
		return false
	}
	if it.object {
		e := skipString(it.s, it.i)
		it.Key = it.s[it.i:e]
		it.i = skipSpace(it.s, e) + 1
	}
	from, to := Skip(it.s, it.i)
	it.Val, it.i = it.s[from:to], to
	return true
}

// Unquote appends the content of a JSON string given with its quotes.
func Unquote(dst, s []byte) []byte {
	if len(s) >= 2 && bytes.IndexByte(s, '\\') < 0 {
		return append(dst, s[1:len(s)-1]...)
	}
	p := parser{s: s, jsonb: true}
	b, err := p.str()
	if err != nil {
		return append(dst, s...)
	}
	return append(dst, b...)
}

// keyIs says whether a quoted key of the text is key.
func keyIs(quoted, key []byte) bool {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1:len(quoted)-1]) == string(key)
	}
	return bytes.Equal(Unquote(nil, quoted), key)
}

// Field returns the text of the value of an object's key (the last one when it occurs twice).
func Field(text, key []byte) (val []byte, ok bool) {
	it, isC := Walk(text)
	if !isC || !it.object {
		return nil, false
	}
	for it.Next() {
		if keyIs(it.Key, key) {
			val, ok = it.Val, true
		}
	}
	return val, ok
}

// Length returns the number of elements of an array or object, -1 for a scalar.
func Length(text []byte) int {
	it, ok := Walk(text)
	if !ok {
		return -1
	}
	n := 0
	for it.Next() {
		n++
	}
	return n
}

// Index returns the text of element i of an array; negative counts from the end.
func Index(text []byte, i int) (val []byte, ok bool) {
	it, isC := Walk(text)
	if !isC || it.object {
		return nil, false
	}
	if i < 0 {
		if i += Length(text); i < 0 {
			return nil, false
		}
	}
	for it.Next() {
		if i == 0 {
			return it.Val, true
		}
		i--
	}
	return nil, false
}

// AppendText appends what ->> returns for a value: strings without quotes, other values as they are. null is false.
func AppendText(dst, val []byte) ([]byte, bool) {
	switch KindOf(val) {
	case Null:
		return dst, false
	case String:
		return Unquote(dst, val), true
	}
	return append(dst, val...), true
}
