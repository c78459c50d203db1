package funcs

import (
	"encoding/binary"
	"math"
	"math/bits"

	"herd/sql/types"
	"herd/sql/types/numeric"
)

// The hash functions that SQL can call give PostgreSQL's values, since clients keep them (advisory lock keys, partitions by
// hash). They are Bob Jenkins' lookup3 with PostgreSQL's start values. Inside, herd hashes with types.Hash.

// jenkins hashes b; with a seed the result has 64 useful bits.
func jenkins(b []byte, seed uint64) (lo, hi uint32) {
	n := uint32(len(b))
	a := 0x9e3779b9 + n + 3923095
	x, y, z := a, a, a
	if seed != 0 {
		x += uint32(seed >> 32)
		y += uint32(seed)
		x, y, z = mix(x, y, z)
	}
	for len(b) >= 12 {
		x += binary.LittleEndian.Uint32(b)
		y += binary.LittleEndian.Uint32(b[4:])
		z += binary.LittleEndian.Uint32(b[8:])
		x, y, z = mix(x, y, z)
		b = b[12:]
	}
	// The lowest byte of z is kept for the length.
	for i, c := range b {
		switch {
		case i < 4:
			x += uint32(c) << (8 * i)
		case i < 8:
			y += uint32(c) << (8 * (i - 4))
		default:
			z += uint32(c) << (8 * (i - 7))
		}
	}
	_, y, z = final(x, y, z)
	return z, y
}

func jenkins32(k uint32, seed uint64) (lo, hi uint32) {
	a := uint32(0x9e3779b9) + 4 + 3923095
	x, y, z := a, a, a
	if seed != 0 {
		x += uint32(seed >> 32)
		y += uint32(seed)
		x, y, z = mix(x, y, z)
	}
	x += k
	_, y, z = final(x, y, z)
	return z, y
}

func mix(a, b, c uint32) (uint32, uint32, uint32) {
	a -= c
	a ^= bits.RotateLeft32(c, 4)
	c += b
	b -= a
	b ^= bits.RotateLeft32(a, 6)
	a += c
	c -= b
	c ^= bits.RotateLeft32(b, 8)
	b += a
	a -= c
	a ^= bits.RotateLeft32(c, 16)
	c += b
	b -= a
	b ^= bits.RotateLeft32(a, 19)
	a += c
	c -= b
	c ^= bits.RotateLeft32(b, 4)
	b += a
	return a, b, c
}

func final(a, b, c uint32) (uint32, uint32, uint32) {
	c ^= b
	c -= bits.RotateLeft32(b, 14)
	a ^= c
	a -= bits.RotateLeft32(c, 11)
	b ^= a
	b -= bits.RotateLeft32(a, 25)
	c ^= b
	c -= bits.RotateLeft32(b, 16)
	a ^= c
	a -= bits.RotateLeft32(c, 4)
	b ^= a
	b -= bits.RotateLeft32(a, 14)
	c ^= b
	c -= bits.RotateLeft32(b, 24)
	return a, b, c
}

// hasher hashes a value with a seed; ext asks for 64 bits (the extended functions).
type hasher func(d types.Datum, seed uint64, ext bool) uint64

func wide(lo, hi uint32, ext bool) uint64 {
	if ext {
		return uint64(hi)<<32 | uint64(lo)
	}
	return uint64(lo)
}

func hashBytes(d types.Datum, seed uint64, ext bool) uint64 {
	lo, hi := jenkins(d.B, seed)
	return wide(lo, hi, ext)
}

func hash32(d types.Datum, seed uint64, ext bool) uint64 {
	lo, hi := jenkins32(uint32(d.I), seed)
	return wide(lo, hi, ext)
}

func hash64(d types.Datum, seed uint64, ext bool) uint64 {
	lo, hi := uint32(d.I), uint32(uint64(d.I)>>32)
	if d.I < 0 {
		hi = ^hi
	}
	l, h := jenkins32(lo^hi, seed)
	return wide(l, h, ext)
}

func hashDouble(d types.Datum, seed uint64, ext bool) uint64 {
	f := d.Float()
	if f == 0 {
		if ext {
			return seed
		}
		return 0
	}
	u := math.Float64bits(f)
	if math.IsNaN(f) {
		u = 0x7ff8 << 48
	}
	lo, hi := jenkins(binary.LittleEndian.AppendUint64(nil, u), seed)
	return wide(lo, hi, ext)
}

func hashNum(d types.Datum, seed uint64, ext bool) uint64 {
	n := numeric.Decode(d.B)
	if n.Kind() != numeric.Finite {
		if ext {
			return seed
		}
		return 0
	}
	digits, weight := n.Base10000()
	if len(digits) == 0 {
		if ext {
			return seed - 1
		}
		return math.MaxUint32
	}
	var b []byte
	for _, g := range digits {
		b = binary.LittleEndian.AppendUint16(b, g)
	}
	lo, hi := jenkins(b, seed)
	return wide(lo, hi, ext) ^ uint64(weight)&widthMask(ext)
}

func widthMask(ext bool) uint64 {
	if ext {
		return math.MaxUint64
	}
	return math.MaxUint32
}

func hashSpan(d types.Datum, seed uint64, ext bool) uint64 {
	_, lo := types.DecodeInterval(d.B).Span()
	return hash64(types.Int(int64(lo)), seed, ext)
}

func hashTimeTZ(d types.Datum, seed uint64, ext bool) uint64 {
	v, z := types.DecodeTimeTZ(d.B)
	return hash64(types.Int(v), seed, ext) ^ hash32(types.Int(int64(z)), seed, ext)
}

// hashByType is the hash of a value of an element type.
func hashByType(t types.OID) hasher {
	switch t {
	case types.Int2OID, types.Int4OID, types.OIDOID, types.DateOID, types.BoolOID, types.XIDOID, types.CIDOID, types.RegclassOID, types.RegtypeOID:
		return hash32
	case types.Int8OID, types.TimestampOID, types.TimestampTZOID, types.TimeOID, types.XID8OID:
		return hash64
	case types.Float4OID, types.Float8OID:
		return hashDouble
	case types.NumericOID:
		return hashNum
	case types.IntervalOID:
		return hashSpan
	case types.TimeTZOID:
		return hashTimeTZ
	case types.BPCharOID:
		return func(d types.Datum, seed uint64, ext bool) uint64 {
			return hashBytes(types.Bytes(types.TrimPad(d.B)), seed, ext)
		}
	case types.TextOID, types.VarcharOID, types.NameOID, types.ByteaOID, types.UUIDOID:
		return hashBytes
	}
	return nil
}

func regHash(h hasher, symbol, extended string) {
	each(func(r *row) error { return r.RetInt(int64(int32(uint32(h(r.Datum(0), 0, false))))) }, symbol)
	each(func(r *row) error { return r.RetInt(int64(h(r.Datum(0), uint64(r.Int(1)), true))) }, extended)
}

func init() {
	regHash(hash32, "hashint2", "hashint2extended")
	regHash(hash32, "hashint4", "hashint4extended")
	regHash(hash64, "hashint8", "hashint8extended")
	regHash(hash32, "hashoid", "hashoidextended")
	regHash(hashDouble, "hashfloat4", "hashfloat4extended")
	regHash(hashDouble, "hashfloat8", "hashfloat8extended")
	regHash(hashBytes, "hashname", "hashnameextended")
	regHash(hashBytes, "hashtext", "hashtextextended")
	regHash(hashBytes, "hashvarlena", "hashvarlenaextended")
	regHash(hashByType(types.BPCharOID), "hashbpchar", "hashbpcharextended")
	regHash(hashNum, "hash_numeric", "hash_numeric_extended")
	regHash(hashBytes, "uuid_hash", "uuid_hash_extended")
	regHash(hash64, "time_hash", "time_hash_extended")
	regHash(hash64, "timestamp_hash", "timestamp_hash_extended")
	regHash(hashSpan, "interval_hash", "interval_hash_extended")
	regHash(hashTimeTZ, "timetz_hash", "timetz_hash_extended")
	regHash(func(d types.Datum, seed uint64, ext bool) uint64 {
		c := types.Datum{}
		if len(d.B) > 0 {
			c.I = int64(int8OfByte(d.B[0]))
		}
		return hash32(c, seed, ext)
	}, "hashchar", "hashcharextended")
	combine := func(r *row, seed uint64, ext bool) (uint64, error) {
		a := r.Array(0)
		h := hashByType(a.Elem())
		if h == nil && a.Elem() != 0 {
			return 0, unsupported("hash function for type %s", r.c.IO.NameOf(a.Elem()))
		}
		v := uint64(1)
		for it := a.Iter(); it.Next(); {
			e := uint64(0)
			if !it.Null {
				e = h(types.DecodeValue(a.Elem(), it.Val), seed, ext)
			}
			v = v*31 + e
		}
		return v, nil
	}
	each(func(r *row) error {
		v, err := combine(r, 0, false)
		return r.RetI(int64(int32(uint32(v))), err)
	}, "hash_array")
	each(func(r *row) error {
		v, err := combine(r, uint64(r.Int(1)), true)
		return r.RetI(int64(v), err)
	}, "hash_array_extended")
}
