package types

import (
	"bytes"
	"unicode/utf8"

	"herd/sql/sqlerr"
	"herd/sql/types/datetime"
	"herd/sql/types/numeric"
)

// Limits of the length in a type's modifier; functions called with more leave the value as it is.
const (
	MaxChars = 10485760
	MaxBits  = 83886080
)

// ApplyTypmod makes d fit the type modifier, as the length coercion casts do: explicit cuts what an assignment refuses
// (22001). mod -1 changes nothing. NULL stays NULL. Arrays get it for each element.
func ApplyTypmod(t OID, mod Typmod, explicit bool, d Datum) (Datum, error) {
	if mod < 0 || d.Null {
		return d, nil
	}
	switch t {
	case VarcharOID:
		return clipText(d, int(mod)-4, explicit, false)
	case BPCharOID:
		return clipText(d, int(mod)-4, explicit, true)
	case NumericOID:
		if mod < 4 {
			return d, nil
		}
		n, err := numericTypmod(numeric.Decode(d.B), mod)
		if err != nil {
			return d, err
		}
		return Datum{B: n.Encode(nil)}, nil
	case TimestampOID, TimestampTZOID:
		if datetime.IsInfinite(d.I) {
			return d, nil
		}
		return Datum{I: datetime.RoundMicros(d.I, int(mod))}, nil
	case TimeOID:
		return Datum{I: datetime.RoundMicros(d.I, int(mod))}, nil
	case TimeTZOID:
		v, z := DecodeTimeTZ(d.B)
		return Datum{B: EncodeTimeTZ(nil, datetime.RoundMicros(v, int(mod)), z)}, nil
	case IntervalOID:
		iv, err := datetime.IntervalTypmod(DecodeInterval(d.B), int32(mod))
		return Datum{B: EncodeInterval(nil, iv)}, err
	case BitOID, VarbitOID:
		return clipBit(t, int(mod), explicit, d)
	}
	if e := ElemOf(t); e != 0 {
		return arrayTypmod(e, mod, explicit, d)
	}
	return d, nil
}

func arrayTypmod(elem OID, mod Typmod, explicit bool, d Datum) (Datum, error) {
	a := ReadArray(d.B)
	lens, lowers := a.Dims()
	b := BuildArray(nil, elem, lens, lowers)
	for it := a.Iter(); it.Next(); {
		if it.Null {
			b.Null()
			continue
		}
		e, err := ApplyTypmod(elem, mod, explicit, DecodeValue(elem, it.Val))
		if err != nil {
			return d, err
		}
		b.Add(e)
	}
	return Datum{B: b.Buf}, nil
}

// clipText enforces a length in characters; blanks beyond it go silently. pad fills bpchar.
func clipText(d Datum, max int, explicit, pad bool) (Datum, error) {
	if max < 0 || max > MaxChars {
		return d, nil
	}
	b := d.B
	if len(b) <= max && !pad {
		return d, nil
	}
	n := utf8.RuneCount(b)
	if n > max {
		cut := 0
		for range max {
			_, w := utf8.DecodeRune(b[cut:])
			cut += w
		}
		if !explicit && len(bytes.TrimRight(b[cut:], " ")) > 0 {
			name := "character varying"
			if pad {
				name = "character"
			}
			return d, sqlerr.New(sqlerr.StringDataRightTruncation, "value too long for type %s(%d)", name, max)
		}
		return Datum{B: b[:cut:cut]}, nil
	}
	if pad && n < max {
		out := make([]byte, len(b), len(b)+max-n)
		copy(out, b)
		for range max - n {
			out = append(out, ' ')
		}
		return Datum{B: out}, nil
	}
	return d, nil
}

// NumericParts splits a numeric type modifier.
func NumericParts(mod Typmod) (precision, scale int) {
	m := int32(mod) - 4
	s := int(m & 0x7ff)
	return int(m>>16) & 0xffff, (s ^ 1024) - 1024
}

// NumericTypmod makes the type modifier of numeric(p,s).
func NumericTypmod(precision, scale int) Typmod {
	return Typmod(int32(precision)<<16|int32(scale)&0x7ff) + 4
}

func numericTypmod(n numeric.Num, mod Typmod) (numeric.Num, error) {
	p, s := NumericParts(mod)
	if n.Kind() != numeric.Finite {
		if n.Kind() == numeric.NaN {
			return n, nil
		}
		return n, sqlerr.New(sqlerr.NumericValueOutOfRange, "numeric field overflow").
			WithDetail("A field with precision %d, scale %d cannot hold an infinite value.", p, s)
	}
	r := n.Round(s)
	if !r.FitsDigits(p - s) {
		e := sqlerr.New(sqlerr.NumericValueOutOfRange, "numeric field overflow")
		if p == s {
			return n, e.WithDetail("A field with precision %d, scale %d must round to an absolute value less than %s.", p, s, "1")
		}
		return n, e.WithDetail("A field with precision %d, scale %d must round to an absolute value less than 10^%d.", p, s, p-s)
	}
	return r, nil
}

func clipBit(t OID, n int, explicit bool, d Datum) (Datum, error) {
	have := BitLen(d.B)
	if n <= 0 || n > MaxBits {
		return d, nil
	}
	if t == BitOID {
		if have == n {
			return d, nil
		}
		if !explicit {
			return d, sqlerr.New(sqlerr.StringDataLengthMismatch, "bit string length %d does not match type bit(%d)", have, n)
		}
		return Datum{B: ResizeBit(d.B, n)}, nil
	}
	if have <= n {
		return d, nil
	}
	if !explicit {
		return d, sqlerr.New(sqlerr.StringDataRightTruncation, "bit string too long for type bit varying(%d)", n)
	}
	return Datum{B: ResizeBit(d.B, n)}, nil
}
