package vec

import "herd/sql/types"

// MaxRows is the largest number of rows in a batch. A variable only so that tests can run everything with 1 and 3.
var MaxRows = 1024

// FirstRows is the row count of the first batch of an operator; batches grow by four up to MaxRows.
const FirstRows = 32

// View is a variable-length value without a pointer: bytes [Off, Off+Len) of buffer Buf of its vector.
type View struct {
	Buf, Off, Len uint32
	Prefix        uint32 // first four bytes, big-endian, zero padded: a cheap first compare
}

// Vector is one column of a batch. Exactly one of the slices is in use, by Kind.
// A vector is valid until the operator that made it is asked for its next batch; what outlives the batch copies.
type Vector struct {
	Kind  types.Kind
	Const bool     // every row has the value at index 0
	Nulls []uint64 // bit set = NULL; nil or HasNulls false = none
	// HasNulls false promises that no row is NULL, whatever Nulls holds.
	HasNulls bool
	Int      []int64
	Float    []float64
	Bool     []bool
	Var      []View
	Bufs     [][]byte // buffers that Var points into; the last one may be the vector's own growing arena
	arena    int      // index in Bufs of the own arena when hasArena
	hasArena bool
	shared   bool // Bufs is someone else's slice: copied before it is appended to
	// Dec says that a vector of numerics has its values as coefficients in Int too, all at Scale. Nothing but NULLs is set in such a
	// vector before its next Reset.
	Dec      bool
	lazy     bool // Dec, and Var is still to be made
	Scale    int
	borrowed bool // the value slices belong to another vector (Share)
}

// Batch is a set of rows: N physical rows of which Sel (nil = all) are live.
// Columns may be absent (nil) until asked for through Col, which decodes them from Src for the selected rows.
type Batch struct {
	N    int
	Sel  []uint16 // ascending row numbers; nil means 0..N-1
	Cols []*Vector
	Src  Source // decodes columns on first use; nil when all columns are materialized
}

// Source decodes one column of a batch on first use, for selected rows only.
type Source interface {
	DecodeColumn(b *Batch, col int) (*Vector, error)
}

// Rows returns the number of live rows.
func (b *Batch) Rows() int {
	if b.Sel != nil {
		return len(b.Sel)
	}
	return b.N
}

// Col returns column i, decoding it first if needed.
func (b *Batch) Col(i int) (*Vector, error) {
	if v := b.Cols[i]; v != nil {
		return v, nil
	}
	v, err := b.Src.DecodeColumn(b, i)
	if err != nil {
		return nil, err
	}
	b.Cols[i] = v
	return v, nil
}
