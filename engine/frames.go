package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"herd/storage"
)

// What goes between Serve and Fetch are frames: kind u8, length u32, CRC32C u32 of kind and body, body. Serve begins:
//
//	'H' version u8, last entry u64, length u32 and meta (see encodeMeta), then for each tree: number u32, rows u64, checksum u64, bytes u64
//
// Fetch asks, ahead of the answers if it likes, and Serve answers in order:
//
//	'B' tree u32, bytes u32, lower and upper bound: where to cut the range into pieces of about so many bytes
//	    answered by 'b': for each piece rows u64, checksum u64, upper bound
//	'R' tree u32, lower and upper bound: the rows of the range
//	    answered by 'r' any number of times: last u8, then rows (length of key and key, length of value and value)
//
// Lengths of keys and values are uvarints. A bound is one more than its length, then its bytes; 0 is none. Integers are little-endian.
const (
	frameHead    = 'H'
	frameCut     = 'B'
	framePieces  = 'b'
	frameWant    = 'R'
	frameRows    = 'r'
	frameVersion = 1

	frameStart = 1 + 4 + 4
	// frameMax bounds a frame: the longest row with what is before it in its frame.
	frameMax = stateRowMax + 1<<20
	// frameRowsBytes is about how many bytes of rows go into one frame.
	frameRowsBytes = 256 << 10
)

// beginFrame begins a frame in buf, which it uses again.
func beginFrame(buf []byte, kind byte) []byte {
	return append(buf[:0], kind, 0, 0, 0, 0, 0, 0, 0, 0)
}

// endFrame fills in what a frame begins with.
func endFrame(f []byte) []byte {
	le := binary.LittleEndian
	le.PutUint32(f[1:], uint32(len(f)-frameStart))
	le.PutUint32(f[5:], frameSum(f[0], f[frameStart:]))
	return f
}

func frameSum(kind byte, body []byte) uint32 {
	return crc32.Update(crc32.Update(0, castagnoli, []byte{kind}), castagnoli, body)
}

// readFrame reads a frame into buf, which it may replace. io.EOF: there is none any more.
func readFrame(r io.Reader, buf []byte) (kind byte, body []byte, err error) {
	le := binary.LittleEndian
	var h [frameStart]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return 0, buf, err
	}
	n := int(le.Uint32(h[1:]))
	if n > frameMax {
		return 0, buf, fmt.Errorf("a frame of %d bytes: %w", n, storage.ErrCorrupt)
	}
	if cap(buf) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	if _, err := io.ReadFull(r, buf); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return 0, buf, err
	}
	if frameSum(h[0], buf) != le.Uint32(h[5:]) {
		return 0, buf, fmt.Errorf("a frame's checksum does not match: %w", storage.ErrCorrupt)
	}
	return h[0], buf, nil
}

func appendBound(dst, key []byte) []byte {
	if key == nil {
		return append(dst, 0)
	}
	return append(binary.AppendUvarint(dst, uint64(len(key))+1), key...)
}

func appendBytes(dst, p []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(p))), p...)
}

// frameReader takes a frame's body apart. What it returns aliases the body. After bad nothing is right.
type frameReader struct {
	rest []byte
	bad  bool
}

func (r *frameReader) take(n int) []byte {
	if n < 0 || n > len(r.rest) {
		r.bad, r.rest = true, nil
		return nil
	}
	p := r.rest[:n:n]
	r.rest = r.rest[n:]
	return p
}

func (r *frameReader) u8() byte {
	if p := r.take(1); p != nil {
		return p[0]
	}
	return 0
}

func (r *frameReader) u32() uint32 {
	if p := r.take(4); p != nil {
		return binary.LittleEndian.Uint32(p)
	}
	return 0
}

func (r *frameReader) u64() uint64 {
	if p := r.take(8); p != nil {
		return binary.LittleEndian.Uint64(p)
	}
	return 0
}

func (r *frameReader) uvarint() uint64 {
	n, w := binary.Uvarint(r.rest)
	if w <= 0 {
		r.bad, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[w:]
	return n
}

// bytes returns bytes with their length before them.
func (r *frameReader) bytes() []byte {
	n := r.uvarint()
	if n > uint64(len(r.rest)) {
		r.bad, r.rest = true, nil
		return nil
	}
	return r.take(int(n))
}

// bound returns a bound, nil: there is none.
func (r *frameReader) bound() []byte {
	n := r.uvarint()
	if n == 0 || n-1 > uint64(len(r.rest)) {
		r.bad = r.bad || n != 0
		return nil
	}
	return r.take(int(n - 1))
}
