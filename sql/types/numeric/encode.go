package numeric

import (
	"encoding/binary"
	"math/big"

	"herd/sql/sqlerr"
)

// The stored form (format 1), little endian:
//
//	small  0x00, scale u8, coefficient i64              10 bytes; the coefficient fits int64 and the scale a byte
//	wide   0x01 (positive) or 0x02, scale u16, magnitude big-endian without leading zeros
//	NaN 0x03, +Infinity 0x04, -Infinity 0x05            1 byte
const (
	tagSmall  = 0
	tagPos    = 1
	tagNeg    = 2
	tagNaN    = 3
	tagPosInf = 4
	tagNegInf = 5

	// SmallSize is the length in bytes of the small form.
	SmallSize = 10
)

// Encode appends the stored form of n.
func (n Num) Encode(dst []byte) []byte {
	switch n.kind {
	case NaN:
		return append(dst, tagNaN)
	case PosInf:
		return append(dst, tagPosInf)
	case NegInf:
		return append(dst, tagNegInf)
	}
	if n.big == nil && n.scale <= 255 {
		return AppendSmall(dst, n.coef, int(n.scale))
	}
	c := n.Coef()
	tag := byte(tagPos)
	if c.Sign() < 0 {
		tag = tagNeg
	}
	dst = append(dst, tag, byte(n.scale), byte(n.scale>>8))
	size := (c.BitLen() + 7) / 8
	for range size {
		dst = append(dst, 0)
	}
	c.FillBytes(dst[len(dst)-size:])
	return dst
}

// AppendSmall appends the stored form of coef / 10**scale; scale is at most 255.
func AppendSmall(dst []byte, coef int64, scale int) []byte {
	return binary.LittleEndian.AppendUint64(append(dst, tagSmall, byte(scale)), uint64(coef))
}

// PutSmall writes the stored form of coef / 10**scale, SmallSize bytes, to the beginning of dst; scale is at most 255.
func PutSmall(dst []byte, coef int64, scale int) {
	_ = dst[SmallSize-1]
	dst[0], dst[1] = tagSmall, byte(scale)
	binary.LittleEndian.PutUint64(dst[2:], uint64(coef))
}

// SmallOf returns the parts of a stored value in small form; ok is false for the other forms.
func SmallOf(b []byte) (coef int64, scale int, ok bool) {
	if len(b) == SmallSize && b[0] == tagSmall {
		return int64(binary.LittleEndian.Uint64(b[2:])), int(b[1]), true
	}
	return 0, 0, false
}

// Decode reads the stored form. It does not keep b.
func Decode(b []byte) Num {
	if len(b) == SmallSize && b[0] == tagSmall {
		return Num{coef: int64(binary.LittleEndian.Uint64(b[2:])), scale: int32(b[1])}
	}
	if len(b) == 0 {
		return NotANumber
	}
	switch b[0] {
	case tagPosInf:
		return Infinity
	case tagNegInf:
		return NegInfinity
	case tagPos, tagNeg:
		if len(b) < 3 {
			return NotANumber
		}
		c := new(big.Int).SetBytes(b[3:])
		if b[0] == tagNeg {
			c.Neg(c)
		}
		return FromBig(c, int(b[1])|int(b[2])<<8)
	}
	return NotANumber
}

// AppendBinary appends PostgreSQL's binary form: ndigits, weight, sign, dscale and base-10000 digits, big endian.
func (n Num) AppendBinary(dst []byte) []byte {
	be := binary.BigEndian
	switch n.kind {
	case NaN:
		return append(dst, 0, 0, 0, 0, 0xC0, 0, 0, 0)
	case PosInf:
		return append(dst, 0, 0, 0, 0, 0xD0, 0, 0, 0x20)
	case NegInf:
		return append(dst, 0, 0, 0, 0, 0xF0, 0, 0, 0x20)
	}
	digits, weight := n.Base10000()
	sign := uint16(0)
	if n.Sign() < 0 {
		sign = 0x4000
	}
	dst = be.AppendUint16(dst, uint16(len(digits)))
	dst = be.AppendUint16(dst, uint16(int16(weight)))
	dst = be.AppendUint16(dst, sign)
	dst = be.AppendUint16(dst, uint16(n.scale))
	for _, d := range digits {
		dst = be.AppendUint16(dst, d)
	}
	return dst
}

// Base10000 returns the base-10000 digits of |n| without zeros at either end and the weight of the first.
func (n Num) Base10000() (digits []uint16, weight int) {
	if n.Sign() == 0 {
		return nil, 0
	}
	var tmp [40]byte
	dec := new(big.Int).Abs(n.Coef()).Append(tmp[:0], 10)
	intDigits := len(dec) - int(n.scale) // may be negative
	// Pad in front so that the point falls between groups of four, and behind to fill the last group.
	front := ((4 - intDigits%4) % 4)
	if intDigits < 0 {
		front = (-intDigits) % 4
	}
	weight = (intDigits+front)/4 - 1
	if intDigits < 0 {
		weight = -((-intDigits - front) / 4) - 1
	}
	padded := make([]byte, 0, len(dec)+8)
	for range front {
		padded = append(padded, '0')
	}
	padded = append(padded, dec...)
	for len(padded)%4 != 0 {
		padded = append(padded, '0')
	}
	for i := 0; i < len(padded); i += 4 {
		d := uint16(padded[i]-'0')*1000 + uint16(padded[i+1]-'0')*100 + uint16(padded[i+2]-'0')*10 + uint16(padded[i+3]-'0')
		digits = append(digits, d)
	}
	for len(digits) > 0 && digits[0] == 0 {
		digits = digits[1:]
		weight--
	}
	for len(digits) > 0 && digits[len(digits)-1] == 0 {
		digits = digits[:len(digits)-1]
	}
	return digits, weight
}

// ParseBinary reads PostgreSQL's binary form.
func ParseBinary(b []byte) (Num, error) {
	be := binary.BigEndian
	if len(b) < 8 {
		return Num{}, sqlerr.New(sqlerr.ProtocolViolation, "insufficient data left in message")
	}
	nd, weight, sign, dscale := int(be.Uint16(b)), int(int16(be.Uint16(b[2:]))), be.Uint16(b[4:]), int(be.Uint16(b[6:]))
	switch sign {
	case 0xC000:
		return NotANumber, nil
	case 0xD000:
		return Infinity, nil
	case 0xF000:
		return NegInfinity, nil
	case 0, 0x4000:
	default:
		return Num{}, sqlerr.New(sqlerr.InvalidBinaryRepresentation, "invalid sign in external \"numeric\" value")
	}
	if dscale&^0x3FFF != 0 {
		return Num{}, sqlerr.New(sqlerr.InvalidBinaryRepresentation, "invalid scale in external \"numeric\" value")
	}
	if len(b) != 8+2*nd {
		return Num{}, sqlerr.New(sqlerr.InvalidBinaryRepresentation, "incorrect binary data format")
	}
	c := new(big.Int)
	tenThousand, d := big.NewInt(10000), new(big.Int)
	for i := range nd {
		v := be.Uint16(b[8+2*i:])
		if v > 9999 {
			return Num{}, sqlerr.New(sqlerr.InvalidBinaryRepresentation, "invalid digit in external \"numeric\" value")
		}
		c.Mul(c, tenThousand).Add(c, d.SetInt64(int64(v)))
	}
	if sign == 0x4000 {
		c.Neg(c)
	}
	n := Num{}
	if c.Sign() != 0 {
		// The value is c * 10000**(weight-nd+1).
		exp := (weight - nd + 1) * 4
		if exp >= 0 {
			n = FromBig(c.Mul(c, bigPow(exp)), 0)
		} else {
			n = FromBig(c, -exp)
		}
	}
	return n.Trunc(dscale).check() // PostgreSQL cuts digits beyond the display scale
}
