package types

import (
	"bytes"
	"cmp"
	"math"

	"herd/sql/types/datetime"
	"herd/sql/types/numeric"
)

// Compare orders two non-NULL values of type t as its default btree operator class does: -1, 0 or 1. All collations
// that herd has order text by bytes (see DESIGN §7).
func Compare(t, collation OID, a, b Datum) int {
	switch KindOf(t) {
	case KindInt:
		if t == XID8OID {
			return cmp.Compare(uint64(a.I), uint64(b.I))
		}
		return cmp.Compare(a.I, b.I)
	case KindBool:
		return cmp.Compare(a.I, b.I)
	case KindFloat:
		return CompareFloat(a.Float(), b.Float())
	}
	switch t {
	case TextOID, VarcharOID, NameOID, ByteaOID, UUIDOID, JSONOID, QCharOID:
		return bytes.Compare(a.B, b.B)
	case BPCharOID:
		return bytes.Compare(TrimPad(a.B), TrimPad(b.B))
	case NumericOID:
		return numeric.Compare(a.B, b.B)
	case IntervalOID:
		return DecodeInterval(a.B).Cmp(DecodeInterval(b.B))
	case TimeTZOID:
		return compareTimeTZ(a.B, b.B)
	case JSONBOID:
		return compareJSONB(a.B, b.B)
	case RecordOID:
		return compareRecord(collation, a.B, b.B)
	case OIDVectorOID:
		if c := cmp.Compare(ReadArray(a.B).Len(), ReadArray(b.B).Len()); c != 0 {
			return c // unlike other arrays
		}
	case TIDOID:
		return compareTID(a.B, b.B)
	case BitOID, VarbitOID:
		if c := bytes.Compare(a.B[4:], b.B[4:]); c != 0 {
			return c
		}
		return cmp.Compare(BitLen(a.B), BitLen(b.B))
	}
	if ElemOf(t) != 0 {
		return CompareArray(collation, a.B, b.B)
	}
	if b1 := BuiltinByOID(t); b1 == nil || b1.Type == 'p' {
		// A user type: an enum compares as bytes; arrays and composites over user types carry their structure.
		return compareUser(collation, a.B, b.B)
	}
	return bytes.Compare(a.B, b.B)
}

// compareUser tells enums (12 bytes) from arrays and records by their form.
func compareUser(collation OID, a, b []byte) int {
	if LooksRecord(a) && LooksRecord(b) {
		return compareRecord(collation, a, b)
	}
	if len(a) == 12 && len(b) == 12 {
		return bytes.Compare(a, b)
	}
	return CompareArray(collation, a, b)
}

// LooksRecord checks that b is exactly a record's form. No enum or array value is.
func LooksRecord(b []byte) bool {
	it := ReadRecord(b)
	n := 0
	for len(it.b) >= 8 {
		if l := int32(uint32(it.b[4]) | uint32(it.b[5])<<8 | uint32(it.b[6])<<16 | uint32(it.b[7])<<24); int(l) > len(it.b)-8 {
			return false
		}
		it.Next()
		n++
	}
	return len(it.b) == 0 && n == it.N && n > 0
}

// CompareFloat orders floats as PostgreSQL: NaN equals itself and is above everything, -0 equals 0.
func CompareFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	}
	an, bn := math.IsNaN(a), math.IsNaN(b)
	switch {
	case an && bn:
		return 0
	case an:
		return 1
	}
	return -1
}

func compareTimeTZ(a, b []byte) int {
	x, zx := DecodeTimeTZ(a)
	y, zy := DecodeTimeTZ(b)
	if c := cmp.Compare(x+int64(zx)*datetime.Second, y+int64(zy)*datetime.Second); c != 0 {
		return c
	}
	return cmp.Compare(zx, zy)
}

func compareTID(a, b []byte) int {
	for _, i := range [...]int{3, 2, 1, 0, 5, 4} { // block, then item, from the high byte
		if c := cmp.Compare(a[i], b[i]); c != 0 {
			return c
		}
	}
	return 0
}

// CompareArray orders arrays by elements, then number of elements, dimensions, lengths and lower bounds; NULL elements
// are equal to each other and above everything.
func CompareArray(collation OID, a, b []byte) int {
	x, y := ReadArray(a), ReadArray(b)
	i, j := x.Iter(), y.Iter()
	for {
		more1, more2 := i.Next(), j.Next()
		if !more1 || !more2 {
			if more1 != more2 {
				if more1 {
					return 1
				}
				return -1
			}
			break
		}
		if i.Null || j.Null {
			if i.Null && j.Null {
				continue
			}
			if i.Null {
				return 1
			}
			return -1
		}
		if c := Compare(x.elem, collation, DecodeValue(x.elem, i.Val), DecodeValue(y.elem, j.Val)); c != 0 {
			return c
		}
	}
	if c := cmp.Compare(x.ndim, y.ndim); c != 0 {
		return c
	}
	for d := range x.ndim {
		if c := cmp.Compare(x.Dim(d), y.Dim(d)); c != 0 {
			return c
		}
	}
	for d := range x.ndim {
		if c := cmp.Compare(x.Lower(d), y.Lower(d)); c != 0 {
			return c
		}
	}
	return 0
}

// compareRecord orders records column by column; NULLs are equal and above everything.
func compareRecord(collation OID, a, b []byte) int {
	i, j := ReadRecord(a), ReadRecord(b)
	for {
		more1, more2 := i.Next(), j.Next()
		if !more1 || !more2 {
			switch {
			case more1:
				return 1
			case more2:
				return -1
			}
			return 0
		}
		if i.Null || j.Null {
			if i.Null && j.Null {
				continue
			}
			if i.Null {
				return 1
			}
			return -1
		}
		if c := Compare(i.Type, collation, i.Datum(), j.Datum()); c != 0 {
			return c
		}
	}
}
