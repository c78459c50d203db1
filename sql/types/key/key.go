package key

import "herd/sql/types"

// Markers in front of a column's value: NULLs sort before or after all values.
const (
	nullFirst = 0x01
	value     = 0x02
	nullLast  = 0x03
	listEnd   = 0x00 // ends arrays and records
)

// AppendKey appends the key of one column. collation counts for text only; every collation that herd has orders by bytes.
func AppendKey(dst []byte, t types.OID, collation types.OID, desc, nullsFirst bool, d types.Datum) []byte {
	if d.Null {
		return AppendNull(dst, nullsFirst)
	}
	dst = append(dst, value)
	at := len(dst)
	dst = appendValue(dst, t, collation, d)
	if desc {
		invert(dst[at:])
	}
	return dst
}

// AppendNull appends the key of NULL, which is the same for all types and directions.
func AppendNull(dst []byte, nullsFirst bool) []byte {
	if nullsFirst {
		return append(dst, nullFirst)
	}
	return append(dst, nullLast)
}

// IsNull says whether the column that begins b is NULL.
func IsNull(b []byte) bool { return len(b) > 0 && b[0] != value }

// AppendNotNull appends the common first byte of all values that are not NULL: with Successor it bounds a range.
func AppendNotNull(dst []byte) []byte { return append(dst, value) }

func invert(b []byte) {
	for i := range b {
		b[i] = ^b[i]
	}
}

// Successor makes key, in place, the smallest key above everything that begins with it; nil when there is none.
func Successor(key []byte) []byte {
	for n := len(key); n > 0; n-- {
		if key[n-1] != 0xff {
			key[n-1]++
			return key[:n]
		}
	}
	return nil
}
