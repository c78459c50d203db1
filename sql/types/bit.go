package types

import (
	"encoding/binary"

	"herd/sql/sqlerr"
)

// BitLen returns the number of bits of a bit or varbit value.
func BitLen(b []byte) int {
	if len(b) < 4 {
		return 0
	}
	return int(binary.LittleEndian.Uint32(b))
}

// MakeBit returns a zeroed bit string value of n bits.
func MakeBit(n int) []byte {
	b := make([]byte, 4+(n+7)/8)
	binary.LittleEndian.PutUint32(b, uint32(n))
	return b
}

// BitAt returns bit i, counted from the left.
func BitAt(b []byte, i int) bool { return b[4+i/8]&(0x80>>(i%8)) != 0 }

// SetBitAt sets bit i, counted from the left.
func SetBitAt(b []byte, i int, on bool) {
	if on {
		b[4+i/8] |= 0x80 >> (i % 8)
	} else {
		b[4+i/8] &^= 0x80 >> (i % 8)
	}
}

func bitIn(t OID, mod Typmod, text []byte) (Datum, error) {
	s, hex := text, false
	if len(s) > 0 && (s[0] == 'b' || s[0] == 'B') {
		s = s[1:]
	} else if len(s) > 0 && (s[0] == 'x' || s[0] == 'X') {
		s, hex = s[1:], true
	}
	n := len(s)
	if hex {
		n *= 4
	}
	b := MakeBit(n)
	for i, c := range s {
		if hex {
			v, ok := hexDigit(c)
			if !ok {
				return Datum{}, sqlerr.New(sqlerr.InvalidTextRepresentation, "\"%c\" is not a valid hexadecimal digit", c)
			}
			for k := range 4 {
				SetBitAt(b, 4*i+k, v&(8>>k) != 0)
			}
			continue
		}
		if c != '0' && c != '1' {
			return Datum{}, sqlerr.New(sqlerr.InvalidTextRepresentation, "\"%c\" is not a valid binary digit", c)
		}
		SetBitAt(b, i, c == '1')
	}
	return ApplyTypmod(t, mod, false, Datum{B: b})
}

func bitOut(dst, b []byte) []byte {
	for i := range BitLen(b) {
		if BitAt(b, i) {
			dst = append(dst, '1')
		} else {
			dst = append(dst, '0')
		}
	}
	return dst
}

// ResizeBit returns b with n bits, cut or zero-filled at the right.
func ResizeBit(b []byte, n int) []byte {
	out := MakeBit(n)
	copy(out[4:], b[4:])
	if n%8 != 0 {
		out[len(out)-1] &= 0xff << (8 - n%8)
	}
	return out
}
