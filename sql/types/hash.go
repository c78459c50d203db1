package types

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/cespare/xxhash/v2"

	"herd/sql/types/datetime"
	"herd/sql/types/json"
	"herd/sql/types/numeric"
)

// HashInt is the hash of every KindInt and KindBool value, so that int2, int4 and int8 hash alike.
func HashInt(v int64) uint64 {
	hi, lo := bits.Mul64(uint64(v)^0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93)
	return hi ^ lo
}

// HashFloat is the hash of a KindFloat value; -0 hashes as 0 and all NaN alike.
func HashFloat(f float64) uint64 {
	if f == 0 {
		f = 0
	}
	if math.IsNaN(f) {
		return HashInt(0x7FF8000000000001)
	}
	if f == 0 {
		return HashInt(0)
	}
	return HashInt(int64(math.Float64bits(f)))
}

// HashBytes is the hash of text-like values.
func HashBytes(b []byte) uint64 { return xxhash.Sum64(b) }

// HashCombine mixes the hash of a further column into h.
func HashCombine(h, next uint64) uint64 {
	return (bits.RotateLeft64(h, 23) ^ next) * 0x9FB21C651E98DF25
}

// Hash returns a hash of a non-NULL value of type t: values that Compare as equal have equal hashes.
func Hash(t OID, d Datum) uint64 {
	switch KindOf(t) {
	case KindInt, KindBool:
		return HashInt(d.I)
	case KindFloat:
		return HashFloat(d.Float())
	}
	switch t {
	case TextOID, VarcharOID, NameOID, ByteaOID, UUIDOID, JSONOID, QCharOID, TIDOID, BitOID, VarbitOID:
		return xxhash.Sum64(d.B)
	case BPCharOID:
		return xxhash.Sum64(TrimPad(d.B))
	case NumericOID:
		return hashNumeric(d.B)
	case IntervalOID:
		hi, lo := DecodeInterval(d.B).Span()
		return HashCombine(HashInt(hi), HashInt(int64(lo)))
	case TimeTZOID:
		v, z := DecodeTimeTZ(d.B)
		return HashCombine(HashInt(v+int64(z)*datetime.Second), HashInt(int64(z)))
	case JSONBOID:
		v, err := json.Parse(d.B)
		if err != nil {
			return xxhash.Sum64(d.B)
		}
		return hashJSON(v)
	case RecordOID:
		return hashRecord(d.B)
	}
	if ElemOf(t) != 0 {
		return hashArray(d.B)
	}
	switch {
	case LooksRecord(d.B):
		return hashRecord(d.B)
	case len(d.B) == 12:
		return xxhash.Sum64(d.B)
	case BuiltinByOID(t) == nil:
		return hashArray(d.B)
	}
	return xxhash.Sum64(d.B)
}

func hashNumeric(b []byte) uint64 {
	if c, s, ok := numeric.SmallOf(b); ok {
		for s > 0 && c%10 == 0 {
			c /= 10
			s--
		}
		return HashCombine(HashInt(c), uint64(s))
	}
	n := numeric.Decode(b).TrimScale()
	if c, s, ok := n.Small(); ok {
		return HashCombine(HashInt(c), uint64(s))
	}
	var tmp [64]byte
	return xxhash.Sum64(n.Encode(tmp[:0]))
}

func hashJSON(v *json.Value) uint64 {
	h := HashInt(int64(v.Kind))
	switch v.Kind {
	case json.String:
		return HashCombine(h, xxhash.Sum64(v.Text))
	case json.Number:
		return HashCombine(h, hashNumeric(v.Num.Encode(nil)))
	}
	for i, e := range v.Elems {
		if v.Kind == json.Object {
			h = HashCombine(h, xxhash.Sum64(v.Keys[i]))
		}
		h = HashCombine(h, hashJSON(e))
	}
	return h
}

func hashArray(b []byte) uint64 {
	a := ReadArray(b)
	var dims [8]byte
	binary.LittleEndian.PutUint64(dims[:], uint64(a.ndim))
	h := xxhash.Sum64(dims[:])
	for it := a.Iter(); it.Next(); {
		if it.Null {
			h = HashCombine(h, 1)
		} else {
			h = HashCombine(h, Hash(a.elem, DecodeValue(a.elem, it.Val)))
		}
	}
	return h
}

func hashRecord(b []byte) uint64 {
	h := uint64(7)
	for it := ReadRecord(b); it.Next(); {
		if it.Null {
			h = HashCombine(h, 1)
		} else {
			h = HashCombine(h, Hash(it.Type, it.Datum()))
		}
	}
	return h
}
