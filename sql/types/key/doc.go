// Package key encodes values as bytes whose order is the values' order.
//
// # Purpose
//
// Indexes, primary keys, sorts, merges and the ranges of SERIALIZABLE share these encoders. A column is a marker byte and
// the value's bytes; a DESC column has its value's bytes inverted. Every encoding is self-delimiting, so that the
// concatenation of columns compares column by column.
//
// # Invariants
//
//	I1  bytes.Compare(AppendKey(a), AppendKey(b)) = types.Compare(a, b) for every type.
//	I2  No encoding of a value is a prefix of another's.
//	I3  For reversible types DecodeKey(AppendKey(v)) = v, byte for byte.
//
// # Goroutines
//
// None.
//
// # Files
//
//	key.go      markers, direction, dispatch
//	encode.go   encoders by type
//	decode.go   the way back
package key
