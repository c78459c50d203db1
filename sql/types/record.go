package types

import (
	"encoding/binary"

	"herd/sql/sqlerr"
)

// RecordBuilder appends the value form of a record.
type RecordBuilder struct{ Buf []byte }

// BuildRecord starts a record of n columns at the end of dst.
func BuildRecord(dst []byte, n int) RecordBuilder {
	return RecordBuilder{Buf: binary.LittleEndian.AppendUint16(dst, uint16(n))}
}

// Add adds a column.
func (b *RecordBuilder) Add(t OID, d Datum) {
	b.Buf = binary.LittleEndian.AppendUint32(b.Buf, uint32(t))
	at := len(b.Buf)
	b.Buf = append(b.Buf, 0xff, 0xff, 0xff, 0xff)
	if d.Null {
		return
	}
	b.Buf = EncodeValue(b.Buf, t, d)
	binary.LittleEndian.PutUint32(b.Buf[at:], uint32(len(b.Buf)-at-4))
}

// RecordIter walks the columns of a record value.
type RecordIter struct {
	b    []byte
	N    int // columns in all
	Type OID
	Null bool
	Val  []byte
}

// ReadRecord starts a walk over a record value.
func ReadRecord(b []byte) RecordIter {
	if len(b) < 2 {
		return RecordIter{}
	}
	return RecordIter{b: b[2:], N: int(binary.LittleEndian.Uint16(b))}
}

// Next moves to the next column, false at the end.
func (it *RecordIter) Next() bool {
	if len(it.b) < 8 {
		return false
	}
	it.Type = OID(binary.LittleEndian.Uint32(it.b))
	n := int32(binary.LittleEndian.Uint32(it.b[4:]))
	it.b = it.b[8:]
	if n < 0 {
		it.Null, it.Val = true, nil
		return true
	}
	it.Null, it.Val = false, it.b[:n:n]
	it.b = it.b[n:]
	return true
}

// Datum returns the current column's value.
func (it *RecordIter) Datum() Datum {
	if it.Null {
		return NullDatum
	}
	return DecodeValue(it.Type, it.Val)
}

// RecordField returns column i of a record value, counted from 1; NULL when there is no such column.
func RecordField(b []byte, i int) (OID, Datum) {
	it := ReadRecord(b)
	for it.Next() {
		if i--; i == 0 {
			return it.Type, it.Datum()
		}
	}
	return InvalidOID, NullDatum
}

func recordOut(c *IOContext, dst, b []byte) []byte {
	dst = append(dst, '(')
	it := ReadRecord(b)
	for first := true; it.Next(); first = false {
		if !first {
			dst = append(dst, ',')
		}
		if it.Null {
			continue
		}
		at := len(dst)
		dst = Output(c, dst, it.Type, it.Datum())
		dst = quoteField(dst, at)
	}
	return append(dst, ')')
}

// quoteField puts dst[at:] in double quotes when a record literal needs it.
func quoteField(dst []byte, at int) []byte {
	need := len(dst) == at
	for _, c := range dst[at:] {
		if c == '"' || c == '\\' || c == '(' || c == ')' || c == ',' || isSpace(c) {
			need = true
			break
		}
	}
	if !need {
		return dst
	}
	field := append([]byte(nil), dst[at:]...)
	dst = append(dst[:at], '"')
	for _, c := range field {
		if c == '"' || c == '\\' {
			dst = append(dst, c)
		}
		dst = append(dst, c)
	}
	return append(dst, '"')
}

// recordIn reads a composite literal for a type that the catalog knows.
func recordIn(c *IOContext, info TypeInfo, text []byte) (Datum, error) {
	bad := func(detail string) (Datum, error) {
		return Datum{}, sqlerr.New(sqlerr.InvalidTextRepresentation, "malformed record literal: \"%s\"", text).WithDetail("%s", detail)
	}
	s := trim(text)
	if len(s) == 0 || s[0] != '(' {
		return bad("Missing left parenthesis.")
	}
	s = s[1:]
	rec := BuildRecord(nil, len(info.Fields))
	for i, f := range info.Fields {
		if i > 0 {
			if len(s) == 0 || s[0] != ',' {
				return bad("Too few columns.")
			}
			s = s[1:]
		}
		if len(s) > 0 && (s[0] == ',' || s[0] == ')') {
			if err := c.checkNull(f.Type); err != nil {
				return Datum{}, err
			}
			rec.Add(c.Stored(f.Type), NullDatum)
			continue
		}
		val, rest, ok := recordField(s)
		if !ok {
			return bad("Unexpected end of input.")
		}
		s = rest
		d, err := Input(c, f.Type, f.Typmod, val)
		if err != nil {
			return Datum{}, err
		}
		rec.Add(c.Stored(f.Type), d)
	}
	if len(s) == 0 || s[0] != ')' {
		if len(s) > 0 && s[0] == ',' {
			return bad("Too many columns.")
		}
		return bad("Unexpected end of input.")
	}
	if len(trim(s[1:])) != 0 {
		return bad("Junk after right parenthesis.")
	}
	return Datum{B: rec.Buf}, nil
}

func recordField(s []byte) (val, rest []byte, ok bool) {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			if i++; i >= len(s) {
				return nil, nil, false
			}
			val = append(val, s[i])
		case c == '"':
			if quoted && i+1 < len(s) && s[i+1] == '"' {
				val = append(val, '"')
				i++
				continue
			}
			quoted = !quoted
		case !quoted && (c == ',' || c == ')'):
			return val, s[i:], true
		default:
			val = append(val, c)
		}
	}
	return nil, nil, false
}
