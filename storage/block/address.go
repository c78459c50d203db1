package block

// TreeID names a B+tree of a database. 0 is invalid; numbers are never used twice in a database's life.
type TreeID uint32

// Address is where a block's frame begins: segment number in the upper 32 bits, byte offset in the lower. 0 means that
// the block has no disk copy (segment numbers start at 1).
type Address uint64

// MakeAddress returns the address of the frame at offset off of segment seg.
func MakeAddress(seg uint32, off uint32) Address { return Address(uint64(seg)<<32 | uint64(off)) }

// Segment returns the number of the segment file.
func (a Address) Segment() uint32 { return uint32(a >> 32) }

// Offset returns the byte offset of the frame in its segment file.
func (a Address) Offset() uint32 { return uint32(a) }

// ScratchBase is the first segment number of scratch files, whose blocks do not outlive the process.
const ScratchBase = 0xF0000000

// Scratch reports whether the frame lies in a scratch file.
func (a Address) Scratch() bool { return a.Segment() >= ScratchBase }
