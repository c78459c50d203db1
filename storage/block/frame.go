package block

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

const (
	frameMagic  = 0x4448
	frameFormat = 1
)

// FrameHeader is the length of a frame before its first key.
const FrameHeader = 24

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Frame is one block as it lies in a segment file.
type Frame struct {
	Kind    Kind
	Level   uint8
	Tree    TreeID
	Key     []byte // first key
	Payload []byte
}

// FrameLen returns the length of a frame.
func FrameLen(key, payload int) int { return FrameHeader + key + payload }

// BeginFrame appends a header and the key to dst; the caller appends the payload and calls EndFrame.
func BeginFrame(dst []byte, f *Frame) []byte {
	le := binary.LittleEndian
	dst = le.AppendUint16(dst, frameMagic)
	dst = append(dst, byte(f.Kind), frameFormat, f.Level, 0)
	dst = le.AppendUint16(dst, uint16(len(f.Key)))
	dst = le.AppendUint32(dst, uint32(f.Tree))
	dst = append(dst, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	return append(dst, f.Key...)
}

// EndFrame completes the frame p, which will be written at a.
func EndFrame(p []byte, a Address) {
	le := binary.LittleEndian
	key := int(le.Uint16(p[6:]))
	le.PutUint32(p[12:], uint32(len(p)-FrameHeader-key))
	le.PutUint32(p[16:], a.Segment())
	le.PutUint32(p[20:], frameCRC(p, a))
}

func frameCRC(p []byte, a Address) uint32 {
	var off [4]byte
	binary.LittleEndian.PutUint32(off[:], a.Offset())
	c := crc32.Update(0, castagnoli, p[:20])
	c = crc32.Update(c, castagnoli, off[:])
	return crc32.Update(c, castagnoli, p[FrameHeader:])
}

// PeekFrame reads the header at the beginning of p and returns the length of the whole frame. It checks what can be
// checked without the rest.
func PeekFrame(p []byte, a Address) (length int, err error) {
	le := binary.LittleEndian
	if len(p) < FrameHeader || le.Uint16(p) != frameMagic {
		return 0, fmt.Errorf("frame at %d:%d: no magic: %w", a.Segment(), a.Offset(), ErrCorrupt)
	}
	if le.Uint32(p[16:]) != a.Segment() {
		return 0, fmt.Errorf("frame at %d:%d: says segment %d: %w", a.Segment(), a.Offset(), le.Uint32(p[16:]), ErrCorrupt)
	}
	return FrameLen(int(le.Uint16(p[6:])), int(le.Uint32(p[12:]))), nil
}

// DecodeFrame checks the frame p, read from a, and takes it apart. The results alias p.
func DecodeFrame(p []byte, a Address) (f Frame, err error) {
	n, err := PeekFrame(p, a)
	if err != nil {
		return f, err
	}
	if n != len(p) {
		return f, fmt.Errorf("frame at %d:%d: length %d instead of %d: %w", a.Segment(), a.Offset(), n, len(p), ErrCorrupt)
	}
	le := binary.LittleEndian
	if frameCRC(p, a) != le.Uint32(p[20:]) {
		return f, fmt.Errorf("frame at %d:%d: checksum: %w", a.Segment(), a.Offset(), ErrCorrupt)
	}
	if p[3] > frameFormat { // the checksum says that no bit has flipped
		return f, fmt.Errorf("frame at %d:%d: format %d: %w", a.Segment(), a.Offset(), p[3], ErrNewerFormat)
	}
	key := int(le.Uint16(p[6:]))
	return Frame{Kind: Kind(p[2]), Level: p[4], Tree: TreeID(le.Uint32(p[8:])),
		Key: p[FrameHeader : FrameHeader+key], Payload: p[FrameHeader+key:]}, nil
}
