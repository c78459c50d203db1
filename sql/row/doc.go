// Package row has the stored form of a row: encoding, decoding of wanted columns, and the short way to the wire.
//
// # Purpose
//
// Format 1, little endian:
//
//	[0]      format: low nibble 1; bit 7 set = end offsets are 32 bits wide
//	[1:3]    n, the number of columns
//	[3:11]   stamp: the number of the transaction that last wrote the row
//	[11:..]  NULL bitmap, one bit a column, ceil(n/8) bytes
//	then     fixed-width columns in column order (a NULL one keeps its space, zeroed)
//	then     end offsets of the variable columns, relative to the first variable byte, u16 or u32
//	then     the variable bytes
//
// numeric(p,s) with p <= 18 and 0 <= s is a fixed column: its value at scale s, the smallest int64 for NaN. A variable value
// over LargeMin bytes is kept elsewhere: its end offset (32 bits then) has bit 31 set, the row holds {value id u64, length u64}.
//
// # Invariants
//
//	I1  A Layout is immutable: plans share it.
//	I2  A row with fewer columns than its Layout has the missing values of the others (ADD COLUMN rewrites nothing).
//	I3  Columns are only added at the end and never reused; a dropped column keeps its place and is NULL in new rows.
//	I4  Decode and DecodeVector may return bytes that alias the row.
//
// # Goroutines
//
// None. Layouts may be used by several goroutines.
//
// # Files
//
//	layout.go  Column, Layout, offsets
//	encode.go  Encode, Update, stamps, large values
//	decode.go  Decode
//	vector.go  DecodeVector
//	wire.go    AppendText, AppendBinary
package row
