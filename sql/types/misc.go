package types

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"

	"herd/sql/sqlerr"
)

func tidIn(text []byte) (Datum, error) {
	s := trim(text)
	if len(s) > 2 && s[0] == '(' && s[len(s)-1] == ')' {
		if a, b, ok := bytes.Cut(s[1:len(s)-1], []byte{','}); ok {
			x, e1 := strconv.ParseUint(str(trim(a)), 10, 32)
			y, e2 := strconv.ParseUint(str(trim(b)), 10, 16)
			if e1 == nil && e2 == nil {
				return Datum{B: MakeTID(uint32(x), uint16(y))}, nil
			}
		}
	}
	return Datum{}, badSyntax("tid", text)
}

// MakeTID returns the value of type tid.
func MakeTID(block uint32, item uint16) []byte {
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, 6), block)
	return binary.LittleEndian.AppendUint16(b, item)
}

func tidOut(dst, b []byte) []byte {
	if len(b) < 6 {
		return dst
	}
	dst = strconv.AppendUint(append(dst, '('), uint64(binary.LittleEndian.Uint32(b)), 10)
	dst = strconv.AppendUint(append(dst, ','), uint64(binary.LittleEndian.Uint16(b[4:])), 10)
	return append(dst, ')')
}

// moneyIn reads an amount in the C locale's dollars with two decimals.
func moneyIn(text []byte) (int64, error) {
	s := trim(text)
	neg := false
	if len(s) > 1 && s[0] == '(' && s[len(s)-1] == ')' {
		neg, s = true, s[1:len(s)-1]
	}
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		neg, s = s[0] == '-' || neg, s[1:]
	}
	s = trim(bytes.TrimPrefix(trim(s), []byte("$")))
	if len(s) > 0 && s[0] == '-' {
		neg, s = true, s[1:]
	}
	whole, frac, _ := bytes.Cut(s, []byte{'.'})
	digits := bytes.ReplaceAll(whole, []byte{','}, nil)
	for _, c := range append(append([]byte{}, digits...), frac...) {
		if c < '0' || c > '9' {
			return 0, badSyntax("money", text)
		}
	}
	up := len(frac) > 2 && frac[2] >= '5'
	cents := append(append([]byte{}, digits...), append(append([]byte{}, frac...), '0', '0')[:2]...)
	v, err := strconv.ParseUint(str(append([]byte{'0'}, cents...)), 10, 64)
	if up {
		v++
	}
	if err != nil || v > math.MaxInt64 && !(neg && v == 1<<63) {
		return 0, outOfRange("money", text)
	}
	if neg {
		return -int64(v), nil
	}
	return int64(v), nil
}

func moneyOut(dst []byte, v int64) []byte {
	u := uint64(v)
	if v < 0 {
		dst = append(dst, '-')
		u = -u
	}
	dst = append(dst, '$')
	w := strconv.FormatUint(u/100, 10)
	for i := range len(w) {
		if i > 0 && (len(w)-i)%3 == 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, w[i])
	}
	return append(dst, '.', '0'+byte(u%100/10), '0'+byte(u%10))
}

// regIn reads a reg* type: a number, "-" for 0, or a name that the catalog resolves.
func regIn(c *IOContext, t OID, text []byte) (int64, error) {
	if len(text) == 1 && text[0] == '-' {
		return 0, nil
	}
	if len(text) > 0 && text[0] >= '0' && text[0] <= '9' {
		digits := true
		for _, ch := range text {
			digits = digits && ch >= '0' && ch <= '9'
		}
		if digits {
			return parseUint32(text, "oid")
		}
	}
	if c == nil || c.Catalog == nil {
		return 0, sqlerr.Unsupported("type %s without a catalog", BuiltinByOID(t).Name)
	}
	v, err := c.Catalog.RegIn(t, string(text))
	return int64(v), err
}

func regOut(c *IOContext, dst []byte, t, v OID) []byte {
	if v == 0 {
		if t == RegprocOID || t == RegclassOID || t == RegtypeOID || t == RegprocedureOID || t == RegnamespaceOID ||
			t == RegroleOID || t == RegcollationOID || t == 3734 || t == 3769 {
			return append(dst, '-')
		}
		return append(dst, '0')
	}
	if c != nil && c.Catalog != nil {
		if name, ok := c.Catalog.RegOut(t, v); ok {
			return append(dst, name...)
		}
	}
	return strconv.AppendUint(dst, uint64(v), 10)
}
