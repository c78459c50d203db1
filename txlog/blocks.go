package txlog

import (
	"fmt"

	"herd/internal/invariant"
	"herd/internal/vfs"
)

// blockBytes is the unit in which segments are written: what a device writes whole, and what direct writes ask for.
const blockBytes = vfs.DirectAlign

// blocks makes writes of whole blocks out of groups. The block in which the last group ended is written again with the next
// one: its first bytes are the same, so whatever of the write a crash leaves behind, what was durable stays. Whoever
// writes only.
type blocks struct {
	seg *segment
	buf []byte // aligned; begins with the first used bytes of the block where the next group goes
	n   int    // used, below blockBytes
	at  int64  // of the block that note has seen the end of
	has int    // from where on
}

// note keeps what is in the block where the verified group p ends, which is at off of s: the block is written again with the next group, and must
// not be what another read of it gives. Called for each group of a recovery.
func (b *blocks) note(s *segment, off int64, p []byte) {
	end := off + int64(len(p))
	at := end &^ (blockBytes - 1)
	if b.seg != s || b.at != at {
		b.begin(s) // with what precedes the first group
		b.at, b.has = at, int(max(off-at, 0))
		if off == segmentHeader {
			b.has = 0
		}
	}
	from := max(off, at)
	copy(b.buf[from-at:], p[from-off:])
}

// resume begins behind the groups that are in s, at s.off.
func (b *blocks) resume(s *segment) error {
	n := int(s.off % blockBytes)
	at := s.off - int64(n)
	if b.seg != s || b.at != at {
		b.begin(s)
		b.at, b.has = at, n
	}
	b.n = n
	first := 0
	if at == 0 {
		first = segmentHeader
	}
	if first >= b.has {
		return nil
	}
	if _, err := s.file.ReadAt(labelRead, b.buf[first:b.has], at+int64(first)); err != nil { // groups that a checkpoint contains
		return fmt.Errorf("read %s: %w", s.file.Name(), err)
	}
	return nil
}

// begin turns to s, in which there is nothing but the header.
func (b *blocks) begin(s *segment) {
	if b.buf == nil {
		b.buf = vfs.AlignedBuffer(spareMax)
	}
	b.seg, b.n = s, copy(b.buf, encodeSegment(s.number, s.base, s.size))
}

// fill lays c out in whole blocks and returns them and where in the segment they go. The bytes are valid until done.
func (b *blocks) fill(c chunk) ([]byte, int64) {
	if b.seg != c.seg {
		b.begin(c.seg)
	}
	at := c.off - int64(b.n)
	invariant.Assert(at%blockBytes == 0, "txlog: a group does not follow the last one")
	end := b.n + len(c.data)
	whole := min((end+blockBytes-1)&^(blockBytes-1), int(c.seg.size-at))
	if whole > len(b.buf) {
		buf := vfs.AlignedBuffer(whole)
		copy(buf, b.buf[:b.n])
		b.buf = buf
	}
	copy(b.buf[b.n:], c.data)
	clear(b.buf[end:whole])
	b.n = end
	return b.buf[:whole], at
}

// done keeps what the next group's first block begins with.
func (b *blocks) done() {
	full := b.n &^ (blockBytes - 1)
	b.n = copy(b.buf, b.buf[full:b.n])
}

// large tells whether the buffer was made for a large group.
func (b *blocks) large() bool { return len(b.buf) > spareMax }

// slim gives a large buffer back.
func (b *blocks) slim() {
	if b.large() {
		buf := vfs.AlignedBuffer(spareMax)
		copy(buf, b.buf[:b.n])
		b.buf = buf
	}
}
