package types

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unsafe"

	"herd/sql/sqlerr"
)

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// trim drops C's white space at both ends.
func trim(s []byte) []byte {
	for len(s) > 0 && isSpace(s[0]) {
		s = s[1:]
	}
	for len(s) > 0 && isSpace(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

// str views b as a string for parsers that do not keep it.
func str(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

var intNames = map[int]string{16: "smallint", 32: "integer", 64: "bigint"}

// ParseInt reads a decimal integer of 16, 32 or 64 bits; blanks around it are allowed. 22P02 or 22003.
func ParseInt(text []byte, bits int) (int64, error) {
	s := text
	if len(s) == 0 || s[0] <= ' ' || s[len(s)-1] <= ' ' {
		s = trim(s)
	}
	neg := false
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		neg = s[0] == '-'
		s = s[1:]
	}
	if len(s) == 0 {
		return 0, badSyntax(intNames[bits], text)
	}
	limit := uint64(1)<<(bits-1) - 1
	if neg {
		limit++
	}
	var v uint64
	over := false
	for _, c := range s {
		if c < '0' || c > '9' {
			return 0, badSyntax(intNames[bits], text)
		}
		d := uint64(c - '0')
		if v > (limit-d)/10 {
			over = true
		}
		v = v*10 + d
	}
	if over {
		return 0, outOfRange(intNames[bits], text)
	}
	if neg {
		return -int64(v), nil
	}
	return int64(v), nil
}

// ParseBool reads PostgreSQL's spellings of a boolean and their prefixes.
func ParseBool(text []byte) (bool, error) {
	s := trim(text)
	if len(s) > 0 && len(s) <= 5 {
		is := func(word string) bool { return len(s) <= len(word) && strings.EqualFold(word[:len(s)], str(s)) }
		switch s[0] | 0x20 {
		case 't':
			if is("true") {
				return true, nil
			}
		case 'f':
			if is("false") {
				return false, nil
			}
		case 'y':
			if is("yes") {
				return true, nil
			}
		case 'n':
			if is("no") {
				return false, nil
			}
		case 'o':
			if len(s) == 2 && is("on") {
				return true, nil
			}
			if len(s) >= 2 && is("off") {
				return false, nil
			}
		}
		if len(s) == 1 && s[0] == '1' {
			return true, nil
		}
		if len(s) == 1 && s[0] == '0' {
			return false, nil
		}
	}
	return false, badSyntax("boolean", text)
}

// ParseFloat reads a float of 32 or 64 bits. 22P02, or 22003 on overflow and underflow.
func ParseFloat(text []byte, bits int) (float64, error) {
	typ := "double precision"
	if bits == 32 {
		typ = "real"
	}
	s := trim(text)
	if len(s) == 0 {
		return 0, badSyntax(typ, text)
	}
	for _, c := range s {
		if c == '_' || c == 'p' || c == 'P' && !bytes.ContainsAny(s, "xX") {
			return 0, badSyntax(typ, text)
		}
	}
	f, err := strconv.ParseFloat(str(s), bits)
	if err != nil {
		if ne, ok := err.(*strconv.NumError); ok && ne.Err == strconv.ErrRange {
			return 0, sqlerr.New(sqlerr.NumericValueOutOfRange, "\"%s\" is out of range for type %s", s, typ)
		}
		return 0, badSyntax(typ, text)
	}
	if f == 0 && underflowed(s) {
		return 0, sqlerr.New(sqlerr.NumericValueOutOfRange, "\"%s\" is out of range for type %s", s, typ)
	}
	return f, nil
}

// underflowed says whether a text that parsed to zero has a digit other than zero in its mantissa.
func underflowed(s []byte) bool {
	for _, c := range s {
		if c == 'e' || c == 'E' {
			return false
		}
		if c >= '1' && c <= '9' {
			return true
		}
	}
	return false
}

// AppendFloat appends a float as PostgreSQL prints it under extra_float_digits = extra.
func AppendFloat(dst []byte, f float64, bits, extra int) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	}
	prec, low := -1, 15
	if bits == 32 {
		low = 6
	}
	if extra <= 0 {
		prec = max(1, low+extra)
	}
	if f == 0 {
		if math.Signbit(f) {
			dst = append(dst, '-')
		}
		return append(dst, '0')
	}
	// Digits and exponent first; then C's %g rules with the switch to exponents at 15 (6) digits.
	var tmp [32]byte
	p := prec
	if p > 0 {
		p--
	}
	e := strconv.AppendFloat(tmp[:0], f, 'e', p, bits)
	x := bytes.LastIndexByte(e, 'e')
	exp, _ := strconv.Atoi(str(e[x+1:]))
	limit := low
	if prec > 0 {
		limit = prec
	}
	if exp < -4 || exp >= limit {
		m := e[:x]
		if bytes.IndexByte(m, '.') >= 0 {
			m = bytes.TrimRight(m, "0")
			m = bytes.TrimSuffix(m, []byte("."))
		}
		dst = append(dst, m...)
		return append(dst, e[x:]...)
	}
	return appendPlain(dst, e[:x], exp)
}

// appendPlain writes the mantissa d.ddd times 10**exp without an exponent and without zeros at the end of the fraction.
func appendPlain(dst, m []byte, exp int) []byte {
	if m[0] == '-' {
		dst = append(dst, '-')
		m = m[1:]
	}
	if len(m) > 1 { // take the point out
		m[1] = m[0]
		m = m[1:]
	}
	for len(m) > 1 && m[len(m)-1] == '0' {
		m = m[:len(m)-1]
	}
	if exp < 0 {
		dst = append(dst, '0', '.')
		for range -exp - 1 {
			dst = append(dst, '0')
		}
		return append(dst, m...)
	}
	for i := 0; i <= exp; i++ {
		if i < len(m) {
			dst = append(dst, m[i])
		} else {
			dst = append(dst, '0')
		}
	}
	if len(m) > exp+1 {
		dst = append(append(dst, '.'), m[exp+1:]...)
	}
	return dst
}

func parseUint32(text []byte, typ string) (int64, error) {
	s := trim(text)
	if len(s) == 0 {
		return 0, badSyntax(typ, text)
	}
	neg := s[0] == '-'
	if neg || s[0] == '+' {
		s = s[1:]
	}
	v, err := strconv.ParseUint(str(s), 10, 64)
	if err != nil && len(s) > 0 && s[0] >= '0' && s[0] <= '9' && err.(*strconv.NumError).Err == strconv.ErrRange {
		return 0, outOfRange(typ, text)
	}
	if err != nil {
		return 0, badSyntax(typ, text)
	}
	if v > math.MaxUint32 || neg && v > 1<<31 {
		return 0, outOfRange(typ, text)
	}
	if neg {
		return int64(uint32(-int64(v))), nil
	}
	return int64(v), nil
}

func parseXID8(text []byte) (int64, error) {
	v, err := strconv.ParseUint(str(trim(text)), 10, 64)
	if err != nil {
		return 0, badSyntax("xid8", text)
	}
	return int64(v), nil
}
