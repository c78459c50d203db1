package wire

import (
	"bytes"
	"encoding/binary"

	"herd/sql/sqlerr"
)

// Fields walks a message body; the first short read sets Err and later reads return zero values.
type Fields struct {
	b   []byte
	Bad bool
}

// NewFields starts at the beginning of a body.
func NewFields(b []byte) Fields { return Fields{b: b} }

// Byte, Int16 and Int32 read fixed-width numbers.
func (f *Fields) Byte() byte {
	if len(f.b) < 1 {
		f.Bad = true
		return 0
	}
	v := f.b[0]
	f.b = f.b[1:]
	return v
}

// Int16 reads a big-endian 16-bit number.
func (f *Fields) Int16() int16 {
	if len(f.b) < 2 {
		f.Bad = true
		f.b = nil
		return 0
	}
	v := binary.BigEndian.Uint16(f.b)
	f.b = f.b[2:]
	return int16(v)
}

// Int32 reads a big-endian 32-bit number.
func (f *Fields) Int32() int32 {
	if len(f.b) < 4 {
		f.Bad = true
		f.b = nil
		return 0
	}
	v := binary.BigEndian.Uint32(f.b)
	f.b = f.b[4:]
	return int32(v)
}

// String reads a zero-terminated string (aliases the body).
func (f *Fields) String() []byte {
	i := bytes.IndexByte(f.b, 0)
	if i < 0 {
		f.Bad = true
		f.b = nil
		return nil
	}
	v := f.b[:i]
	f.b = f.b[i+1:]
	return v
}

// Raw reads n bytes.
func (f *Fields) Raw(n int) []byte {
	if n < 0 || n > len(f.b) {
		f.Bad = true
		f.b = nil
		return nil
	}
	v := f.b[:n:n]
	f.b = f.b[n:]
	return v
}

// Rest returns what is left.
func (f *Fields) Rest() []byte { return f.b }

// ErrInsufficient and ErrBadFormat are PostgreSQL's words for a message that is too short or too long.
func ErrInsufficient() error {
	return sqlerr.New(sqlerr.ProtocolViolation, "insufficient data left in message")
}

// ErrBadFormat says that bytes are left over in a message.
func ErrBadFormat() error {
	return sqlerr.New(sqlerr.ProtocolViolation, "invalid message format")
}

// Bind is the body of a Bind message; slices alias the body.
type Bind struct {
	Portal, Statement []byte
	ParamFormats      []int16
	Params            [][]byte // nil element = NULL
	ResultFormats     []int16
}

// Decode fills m from body, reusing its slices.
func (m *Bind) Decode(body []byte) error {
	f := NewFields(body)
	m.Portal, m.Statement = f.String(), f.String()
	m.ParamFormats = m.ParamFormats[:0]
	m.Params = m.Params[:0]
	m.ResultFormats = m.ResultFormats[:0]
	n := int(uint16(f.Int16()))
	for i := 0; i < n && !f.Bad; i++ {
		m.ParamFormats = append(m.ParamFormats, f.Int16())
	}
	n = int(uint16(f.Int16()))
	for i := 0; i < n && !f.Bad; i++ {
		size := f.Int32()
		if size == -1 {
			m.Params = append(m.Params, nil)
			continue
		}
		p := f.Raw(int(size))
		if p == nil {
			p = []byte{}
		}
		m.Params = append(m.Params, p)
	}
	n = int(uint16(f.Int16()))
	for i := 0; i < n && !f.Bad; i++ {
		m.ResultFormats = append(m.ResultFormats, f.Int16())
	}
	if f.Bad {
		return ErrInsufficient()
	}
	if len(f.Rest()) != 0 {
		return ErrBadFormat()
	}
	return nil
}

// FormatOf returns the format code of item i under the protocol's rule: none = text, one = for all, else one each.
func FormatOf(formats []int16, i int) int16 {
	switch len(formats) {
	case 0:
		return 0
	case 1:
		return formats[0]
	}
	return formats[i]
}
