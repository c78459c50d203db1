package types

import (
	"math/rand/v2"
	"testing"
)

// fuzzTypes are the types whose input and receive functions must survive anything.
var fuzzTypes = []OID{BoolOID, ByteaOID, QCharOID, NameOID, Int8OID, Int2OID, Int2VectorOID, Int4OID, TextOID, OIDOID, TIDOID, XIDOID, OIDVectorOID,
	JSONOID, Float4OID, Float8OID, MoneyOID, BPCharOID, VarcharOID, DateOID, TimeOID, TimestampOID, TimestampTZOID, IntervalOID, TimeTZOID, BitOID,
	VarbitOID, NumericOID, UUIDOID, JSONBOID, XID8OID, RecordOID, Int4ArrayOID, TextArrayOID, 1231, 1115, 2951, 3807, 1001, 2287, 1187, 1561}

// TestMutations feeds damaged variants of good inputs to Input and Recv. Nothing may panic, and what is accepted must
// survive output, comparison and hashing.
func TestMutations(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	io := testContext("")
	cases := readCases(t)
	rounds := 5
	if testing.Short() {
		rounds = 1
	}
	mutate := func(b []byte) []byte {
		b = append([]byte(nil), b...)
		for range 1 + rng.IntN(3) {
			if len(b) == 0 {
				return []byte{byte(rng.Uint32())}
			}
			i := rng.IntN(len(b))
			switch rng.IntN(5) {
			case 0:
				b[i] = byte(rng.Uint32())
			case 1:
				b = append(b[:i], b[i+1:]...)
			case 2:
				b = append(b[:i], append([]byte{byte(rng.Uint32())}, b[i:]...)...)
			case 3:
				b = b[:i]
			default:
				b[i] ^= 1 << rng.IntN(8)
			}
		}
		return b
	}
	use := func(typ OID, d Datum) {
		Output(io, nil, typ, d)
		Send(nil, nil, typ, d)
		Hash(typ, d)
		if Compare(typ, 0, d, d) != 0 {
			t.Errorf("type %d: a value differs from itself", typ)
		}
	}
	for _, c := range cases {
		typ, mod := parseType(c.typ)
		if len(c.input) > 2000 {
			continue
		}
		good, err := Input(io, typ, mod, []byte(c.input))
		var bin []byte
		if err == nil {
			bin = Send(nil, nil, typ, good)
		}
		for range rounds {
			in := mutate([]byte(c.input))
			other := fuzzTypes[rng.IntN(len(fuzzTypes))]
			for _, ty := range []OID{typ, other} {
				if d, err := Input(io, ty, -1, in); err == nil {
					use(ty, d)
				}
				if d, err := Recv(io, ty, -1, mutate(bin)); err == nil {
					use(ty, d)
				}
			}
		}
	}
}
