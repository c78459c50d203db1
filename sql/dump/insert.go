package dump

import (
	"bytes"
	"encoding/hex"
	"strings"
)

// Insert is an INSERT of literal tuples in MySQL's SQL: INSERT INTO name [(columns)] VALUES (...), (...).
type Insert struct {
	// Schema and Table are the name's parts, Columns the list, nil when there is none.
	Schema, Table string
	Columns       []string
	text          []byte
	at            int
}

// ParseInsert reads the head of an INSERT; nil for every other statement, INSERT IGNORE and REPLACE among them.
func ParseInsert(text []byte) *Insert {
	x := &Insert{text: text}
	if !x.word("insert") || !x.word("into") {
		return nil
	}
	var ok bool
	if x.Table, ok = x.name(); !ok {
		return nil
	}
	if x.byte('.') {
		x.Schema = x.Table
		if x.Table, ok = x.name(); !ok {
			return nil
		}
	}
	if x.byte('(') {
		for {
			c, ok := x.name()
			if !ok {
				return nil
			}
			x.Columns = append(x.Columns, c)
			if x.byte(')') {
				break
			}
			if !x.byte(',') {
				return nil
			}
		}
	}
	if !x.word("values") && !x.word("value") {
		return nil
	}
	return x
}

func (x *Insert) blank() {
	for x.at < len(x.text) && (x.text[x.at] == ' ' || x.text[x.at] >= '\t' && x.text[x.at] <= '\r') {
		x.at++
	}
}

func (x *Insert) byte(b byte) bool {
	x.blank()
	if x.at < len(x.text) && x.text[x.at] == b {
		x.at++
		return true
	}
	return false
}

func (x *Insert) word(w string) bool {
	x.blank()
	end := x.at + len(w)
	if end > len(x.text) || !bytes.EqualFold(x.text[x.at:end], []byte(w)) || end < len(x.text) && inName(x.text[end:end+1]) {
		return false
	}
	x.at = end
	return true
}

// name reads a name, in backticks or bare.
func (x *Insert) name() (string, bool) {
	x.blank()
	if x.at >= len(x.text) {
		return "", false
	}
	if x.text[x.at] == '`' {
		end := bytes.IndexByte(x.text[x.at+1:], '`')
		if end < 0 || x.at+end+2 < len(x.text) && x.text[x.at+end+2] == '`' {
			return "", false
		}
		s := string(x.text[x.at+1 : x.at+1+end])
		x.at += end + 2
		return s, true
	}
	from := x.at
	for x.at < len(x.text) && (inName(x.text[x.at:x.at+1]) || x.text[x.at] == '$') {
		x.at++
	}
	return string(x.text[from:x.at]), x.at > from
}

// Field says how the strings of a column are to be read.
type Field struct {
	// Bytes: as bytes, for bytea.
	Bytes bool
	// Bits: as bytes that hold this many bits, for bit; 0 for other types.
	Bits int
}

// AppendRows appends the tuples to dst as lines of COPY's text format and returns their number. fields says by column what
// its strings are. ok is false when something is no literal: then the statement is to be run as it is.
func (x *Insert) AppendRows(dst []byte, fields []Field) (_ []byte, rows int, ok bool) {
	begin := len(dst)
	for {
		if !x.byte('(') {
			return dst[:begin], 0, false
		}
		for col := 0; ; col++ {
			if col > 0 {
				dst = append(dst, '\t')
			}
			var f Field
			if col < len(fields) {
				f = fields[col]
			}
			var ok bool
			if dst, ok = x.literal(dst, f); !ok {
				return dst[:begin], 0, false
			}
			if x.byte(',') {
				continue
			}
			if !x.byte(')') {
				return dst[:begin], 0, false
			}
			break
		}
		dst = append(dst, '\n')
		rows++
		if x.byte(',') {
			continue
		}
		x.blank()
		return dst, rows, x.at == len(x.text)
	}
}

// literal appends one literal as a field.
func (x *Insert) literal(dst []byte, f Field) ([]byte, bool) {
	x.blank()
	if x.at >= len(x.text) {
		return dst, false
	}
	switch b := x.text[x.at]; {
	case b == '\'' || b == '"':
		return x.str(dst, b, f)
	case b == '_':
		introducer, _ := x.name()
		x.blank()
		if x.at >= len(x.text) || x.text[x.at] != '\'' {
			return dst, false
		}
		switch strings.ToLower(introducer) {
		case "_binary":
			if f.Bits == 0 {
				f.Bytes = true
			}
			return x.str(dst, '\'', f)
		case "_utf8", "_utf8mb3", "_utf8mb4":
			return x.str(dst, '\'', f)
		}
		return dst, false
	case b == '0' && x.at+1 < len(x.text) && x.text[x.at+1] == 'x':
		return x.hex(dst)
	case b == '-' || b == '+' || b == '.' || b >= '0' && b <= '9':
		return x.number(dst)
	case b|0x20 == 'b' && x.at+1 < len(x.text) && x.text[x.at+1] == '\'':
		end := bytes.IndexByte(x.text[x.at+2:], '\'')
		if end < 0 {
			return dst, false
		}
		dst = append(dst, x.text[x.at+2:x.at+2+end]...)
		x.at += end + 3
		return dst, true
	case x.word("null"):
		return append(dst, '\\', 'N'), true
	case x.word("true"):
		return append(dst, '1'), true
	case x.word("false"):
		return append(dst, '0'), true
	}
	return dst, false
}

func (x *Insert) number(dst []byte) ([]byte, bool) {
	from := x.at
	digits := 0
	for ; x.at < len(x.text); x.at++ {
		b := x.text[x.at]
		if b >= '0' && b <= '9' {
			digits++
		} else if !(b == '.' || b|0x20 == 'e' && digits > 0 || (b == '-' || b == '+') && (x.at == from || x.text[x.at-1]|0x20 == 'e')) {
			break
		}
	}
	if digits == 0 || x.at < len(x.text) && inName(x.text[x.at:x.at+1]) {
		return dst, false
	}
	return append(dst, x.text[from:x.at]...), true
}

// hex appends 0x1f as bytea's text.
func (x *Insert) hex(dst []byte) ([]byte, bool) {
	from := x.at + 2
	end := from
	for end < len(x.text) && inName(x.text[end:end+1]) {
		end++
	}
	if (end-from)%2 != 0 {
		return dst, false
	}
	if _, err := hex.DecodeString(string(x.text[from:end])); err != nil {
		return dst, false
	}
	x.at = end
	return append(append(dst, `\\x`...), x.text[from:end]...), true
}

// str appends a string, undoing MySQL's escapes and doing COPY's, or as bytea's text.
func (x *Insert) str(dst []byte, q byte, f Field) ([]byte, bool) {
	from := len(dst)
	if f.Bytes {
		dst = append(dst, `\\x`...)
	}
	for x.at++; x.at < len(x.text); x.at++ {
		b := x.text[x.at]
		switch {
		case b == q && x.at+1 < len(x.text) && x.text[x.at+1] == q:
			x.at++
		case b == q:
			x.at++
			if f.Bits > 0 {
				return bits(dst, from, f.Bits)
			}
			return dst, true
		case b == '\\' && x.at+1 < len(x.text):
			switch next := x.text[x.at+1]; {
			case next == '%' || next == '_': // both bytes stay
			case unescaped[next] != 0 || next == '0':
				b = unescaped[next]
				x.at++
			default:
				b = next
				x.at++
			}
		}
		switch {
		case f.Bits > 0:
			dst = append(dst, b)
		case f.Bytes:
			dst = hex.AppendEncode(dst, []byte{b})
		case b == '\\':
			dst = append(dst, '\\', '\\')
		case b == '\n':
			dst = append(dst, '\\', 'n')
		case b == '\t':
			dst = append(dst, '\\', 't')
		case b == '\r':
			dst = append(dst, '\\', 'r')
		default:
			dst = append(dst, b)
		}
	}
	return dst, false
}

// bits turns the bytes at dst[from:], the number that they are, into n binary digits.
func bits(dst []byte, from, n int) ([]byte, bool) {
	raw := bytes.Clone(dst[from:])
	dst = dst[:from]
	for i := n - 1; i >= 0; i-- {
		digit := byte('0')
		if k := len(raw) - 1 - i/8; k >= 0 && raw[k]>>(i%8)&1 == 1 {
			digit = '1'
		}
		dst = append(dst, digit)
	}
	return dst, len(raw) <= (n+7)/8
}

// unescaped is what a letter after a backslash stands for, where that is another byte; 0 stands for itself.
var unescaped = [256]byte{'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'Z': 26}
