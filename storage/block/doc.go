// Package block is the formats of blocks: leaf, inner node, the stub of a long value, and the frame around each on disk.
//
// # Purpose
//
// Everything here is a pure function from bytes to bytes. All numbers are little-endian; keys compare as bytes.
//
// Leaf, format 1 (in memory and on disk the same bytes; exact size, no pointers, at most 32 KiB):
//
//	0  u8   format
//	1  u8   flags, 0
//	2  u16  number of rows n, >= 1
//	4  u16  length p of the prefix that all keys share
//	6  u16  number of long values (big rows)
//	8  u16  [n+1] where key suffix i begins; [n] is where the last ends
//	   u16  [n+1] where value i begins; bit 15 marks a big row; [n] is the leaf's length
//	   p bytes of prefix, the key suffixes, the values
//
// A value longer than the inline limit is a block of its own. Its row holds a stub of 14 bytes: u16 ordinal among the
// leaf's big rows, u32 length of the value, u64 hash of the row. On disk a leaf with big rows is followed by one
// reference (u64 address, u32 frame length) per big row, in order.
//
// Inner node, format 1 (on disk; in memory package btree keeps it as arrays):
//
//	0  u8   format
//	1  u8   flags, 0
//	2  u16  number of children n, >= 1
//	4  u16  length p of the prefix that the separators share
//	6  u16  0
//	8  n entries of 32 bytes: u64 address, u32 frame length, u64 rows, u64 sum of row hashes, u32 end of the separator's
//	   suffix relative to the suffix bytes. Child 0 has no separator (its end is 0): it begins where the node begins.
//	   p bytes of prefix, the suffixes
//
// Frame, format 1:
//
//	0  u16  magic 0x4448
//	2  u8   kind (leaf, inner, value)
//	3  u8   frame format
//	4  u8   level (0 = leaf or value)
//	5  u8   0
//	6  u16  length of the first key
//	8  u32  tree
//	12 u32  length of the payload
//	16 u32  segment number
//	20 u32  CRC32C of bytes 0..19, the frame's offset (u32), the first key and the payload
//	24      first key, payload
//
// The first key lets the cleaner find the block's place in a tree without an index over addresses. For a value block it
// is the key of its row.
//
// # Invariants
//
//	I1  Decoding never reads outside its argument: Leaf and Inner bytes from disk pass CheckLeaf / DecodeInner first.
//	I2  A format number is written with each block; a decoder refuses numbers it does not know.
//
// # Goroutines
//
// None.
//
// # Files
//
//	address.go  TreeID, Address
//	leaf.go     reading and searching a leaf
//	build.go    making leaves from rows
//	patch.go    new values of rows, beside a leaf
//	inner.go    the inner node on disk
//	frame.go    frames
//	hash.go     row hashes and their sums
//	class.go    the allocator's size classes, for the books
package block

import "errors"

// ErrCorrupt marks bytes that are not what was written. It is wrapped with the place.
var ErrCorrupt = errors.New("corrupt block")

// ErrNewerFormat marks bytes that are whole and of a format that this version does not know. It is an ErrCorrupt too: they cannot
// be read.
var ErrNewerFormat error = newerFormat{}

type newerFormat struct{}

// Error implements error.
func (newerFormat) Error() string { return "written by a newer version of herd" }

// Is makes it an ErrCorrupt.
func (newerFormat) Is(target error) bool { return target == ErrCorrupt }

// Limits.
const (
	MaxKey    = 8 << 10      // bytes of a key
	MaxInline = 2 << 10      // bytes of the longest value kept in a leaf
	MaxLeaf   = 32<<10 - 256 // bytes of the longest leaf
)

// Kind says what a block is.
type Kind uint8

// The kinds of blocks.
const (
	KindLeaf Kind = iota + 1
	KindInner
	KindValue
)

// String returns the kind's name for reports.
func (k Kind) String() string {
	switch k {
	case KindLeaf:
		return "leaf"
	case KindInner:
		return "inner"
	case KindValue:
		return "value"
	}
	return "unknown"
}
