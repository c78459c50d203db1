// Package vec has the typed column batches that operators and kernels work on.
//
// # Purpose
//
// A Vector is one column of up to MaxRows values: a typed slice, a NULL bitmap and a constant flag. Variable-length
// values are views without pointers over buffers: rows of pinned blocks, or the vector's own arena.
//
// # Invariants
//
//	I1  A vector of kind K uses only K's slice; Reset makes it long enough.
//	I2  With Const every row has the value (and NULL bit) at index 0; readers that do not know pass through At.
//	I3  HasNulls false promises that no row is NULL, whatever Nulls holds.
//	I4  Views are offsets, so the arena may move while it grows. What Bytes returned stays readable until Reset.
//	I5  Own bytes are only appended to the arena; buffers added with AddBuf or SetBufs are never written.
//	I6  A vector of numerics with Dec has coefficients in Int; its views and bytes are made by the first Bytes.
//
// # Goroutines
//
// None. A vector belongs to the operator that made it.
//
// # Files
//
//	vec.go     Vector, Batch, Source
//	vector.go  reading and writing one value, NULLs, the arena
//	decimal.go numerics as integers at one scale
//	copy.go    copying between vectors, gathering
//	pool.go    reuse
package vec
