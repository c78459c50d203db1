package txlog

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"strconv"
	"strings"
)

// formatVersion numbers the layout of segments, groups and entries.
const formatVersion = 1

const (
	segmentMagic = 0x474f4c48 // "HLOG"
	groupMagic   = 0x52474c48 // "HLGR"

	segmentHeader = 64
	groupHeader   = 56
	entryHeader   = 32
	align         = 8

	// slack is the room, in bytes, that a segment may leave unused at its end: the largest entry alone in a group.
	slack = groupHeader + entryHeader + MaxEntry + align
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// le is the byte order of all formats of this package.
var le = binary.LittleEndian

// group is a decoded group header.
//
//	0  magic u32, version u16, header length u16
//	8  segment number u64
//	16 position u64
//	24 end of the previous group u64
//	32 synced u64
//	40 length of the entries u32, number of entries u32
//	48 CRC32C u32 of header (this field 0) and entries, 0 u32
type group struct {
	segment uint64
	pos     Position
	prevEnd Position
	synced  Position
	length  int
	count   int
	crc     uint32
}

// encodeGroup writes g's header to p[:groupHeader] and the CRC over all of p.
func encodeGroup(p []byte, g group) {
	le.PutUint32(p[0:], groupMagic)
	le.PutUint16(p[4:], formatVersion)
	le.PutUint16(p[6:], groupHeader)
	le.PutUint64(p[8:], g.segment)
	le.PutUint64(p[16:], uint64(g.pos))
	le.PutUint64(p[24:], uint64(g.prevEnd))
	le.PutUint64(p[32:], uint64(g.synced))
	le.PutUint32(p[40:], uint32(len(p)-groupHeader))
	le.PutUint32(p[44:], uint32(g.count))
	le.PutUint64(p[48:], 0)
	le.PutUint32(p[48:], crc32.Checksum(p, castagnoli))
}

// decodeGroup reads a header. ok says that magic and version are right, nothing more.
func decodeGroup(p []byte) (g group, ok bool) {
	if le.Uint32(p) != groupMagic || le.Uint16(p[4:]) != formatVersion || le.Uint16(p[6:]) != groupHeader {
		return g, false
	}
	return group{
		segment: le.Uint64(p[8:]),
		pos:     Position(le.Uint64(p[16:])),
		prevEnd: Position(le.Uint64(p[24:])),
		synced:  Position(le.Uint64(p[32:])),
		length:  int(le.Uint32(p[40:])),
		count:   int(le.Uint32(p[44:])),
		crc:     le.Uint32(p[48:]),
	}, true
}

// verifyGroup checks the CRC of a whole group.
func verifyGroup(p []byte) bool {
	var head [groupHeader]byte
	copy(head[:], p)
	want := le.Uint32(head[48:])
	le.PutUint32(head[48:], 0)
	crc := crc32.Update(0, castagnoli, head[:])
	return crc32.Update(crc, castagnoli, p[groupHeader:]) == want
}

// roundUp returns n rounded up to a multiple of align.
func roundUp(n int) int { return (n + align - 1) &^ (align - 1) }

// appendEntry encodes e behind b: length of the payload u32, kind u8, 3 zero bytes, epoch, seq, prev u64, payload,
// zero bytes up to a multiple of 8.
func appendEntry(b []byte, e Entry) []byte {
	var h [entryHeader]byte
	le.PutUint32(h[0:], uint32(len(e.Payload)))
	h[4] = byte(e.Kind)
	le.PutUint64(h[8:], uint64(e.Epoch))
	le.PutUint64(h[16:], uint64(e.Seq))
	le.PutUint64(h[24:], uint64(e.Prev))
	b = append(b, h[:]...)
	b = append(b, e.Payload...)
	for len(b)%align != 0 {
		b = append(b, 0)
	}
	return b
}

// decodeEntry reads the entry at the beginning of p and returns its encoded size.
func decodeEntry(p []byte) (Entry, int, error) {
	if len(p) < entryHeader {
		return Entry{}, 0, fmt.Errorf("entry header needs %d bytes, %d left", entryHeader, len(p))
	}
	n := int(le.Uint32(p))
	size := roundUp(entryHeader + n)
	if n > MaxEntry || size > len(p) {
		return Entry{}, 0, fmt.Errorf("entry of %d bytes in %d", n, len(p))
	}
	return Entry{
		Kind:    Kind(p[4]),
		Epoch:   Epoch(le.Uint64(p[8:])),
		Seq:     Seq(le.Uint64(p[16:])),
		Prev:    Seq(le.Uint64(p[24:])),
		Payload: p[entryHeader : entryHeader+n : entryHeader+n],
	}, size, nil
}

// encodeSegment returns a segment's header: magic u32, version u16, header length u16, number u64, base u64, size
// u64, zeros, CRC32C u32 in the last four bytes.
func encodeSegment(number uint64, base Position, size int64) []byte {
	p := make([]byte, segmentHeader)
	le.PutUint32(p[0:], segmentMagic)
	le.PutUint16(p[4:], formatVersion)
	le.PutUint16(p[6:], segmentHeader)
	le.PutUint64(p[8:], number)
	le.PutUint64(p[16:], uint64(base))
	le.PutUint64(p[24:], uint64(size))
	le.PutUint32(p[segmentHeader-4:], crc32.Checksum(p[:segmentHeader-4], castagnoli))
	return p
}

// decodeSegment reads a segment's header.
func decodeSegment(p []byte) (number uint64, base Position, size int64, err error) {
	if le.Uint32(p) != segmentMagic {
		return 0, 0, 0, fmt.Errorf("not a log segment")
	}
	if le.Uint32(p[segmentHeader-4:]) != crc32.Checksum(p[:segmentHeader-4], castagnoli) {
		return 0, 0, 0, fmt.Errorf("segment header does not verify")
	}
	if v := le.Uint16(p[4:]); v > formatVersion {
		return 0, 0, 0, fmt.Errorf("log format %d: %w", v, ErrNewerFormat)
	}
	return le.Uint64(p[8:]), Position(le.Uint64(p[16:])), int64(le.Uint64(p[24:])), nil
}

const segmentSuffix = ".log"

// segmentName returns the path of segment number in dir.
func segmentName(dir string, number uint64) string {
	s := strconv.FormatUint(number, 16)
	return filepath.Join(dir, strings.Repeat("0", 16-len(s))+s+segmentSuffix)
}

// parseSegmentName returns the number in a base name made by segmentName.
func parseSegmentName(base string) (uint64, bool) {
	hex, ok := strings.CutSuffix(base, segmentSuffix)
	if !ok || len(hex) != 16 {
		return 0, false
	}
	n, err := strconv.ParseUint(hex, 16, 64)
	return n, err == nil
}
