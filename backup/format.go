package backup

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
)

const (
	format = 1

	fileMagic  = "HERDBKUP"
	headBytes  = 16
	frameMagic = "HBFR"
	frameBytes = 28
	tailMagic  = "HERDBEND"
	tailBytes  = 16

	flagZstd = 1

	// frameStep is about how many bytes of State pieces share a frame.
	frameStep = 1 << 20
	// pieceMax bounds a piece, so that damage is not taken for one.
	pieceMax = 128 << 20
)

// Kind is what a piece is, as its maker numbers it.
type Kind byte

// The kinds that this package knows: those that the manifest repeats, those that may share a frame, and its own.
const (
	Head     Kind = 'B'
	Database Kind = 'D'
	State    Kind = 'S'
	End      Kind = 'E'
	manifest Kind = 'M'
)

var (
	le         = binary.LittleEndian
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// Errors of this package.
var (
	// ErrNotBackup: the file does not begin like a backup.
	ErrNotBackup = errors.New("not a backup of herd")
	// ErrNewer: a later version of herd wrote the file.
	ErrNewer = errors.New("written by a newer version of herd")
)

// DamageError says where a file is not what was written.
type DamageError struct {
	Offset int64
	Reason string
	Torn   bool // the file ends there
}

// Error implements error.
func (e *DamageError) Error() string {
	if e.Torn {
		return fmt.Sprintf("the backup is torn: it ends at offset %d, %s", e.Offset, e.Reason)
	}
	return fmt.Sprintf("the backup is damaged at offset %d: %s", e.Offset, e.Reason)
}

// Manifest is what the last frame says about all before.
type Manifest struct {
	Format    int             `json:"format"`
	Head      json.RawMessage `json:"head"` // the Head piece
	Databases []Section       `json:"databases"`
	End       json.RawMessage `json:"end"` // the End piece
	Frames    uint32          `json:"frames"`
	Bytes     int64           `json:"bytes"` // of the file before the manifest's frame
	Raw       int64           `json:"raw"`   // of the pieces
	SHA256    string          `json:"sha256"`
}

// Section is one Database piece.
type Section struct {
	Offset int64           `json:"offset"` // of its frame
	Head   json.RawMessage `json:"head"`   // the piece
}

func fileHead() []byte {
	p := le.AppendUint32([]byte(fileMagic), format)
	return le.AppendUint32(p, crc32.Checksum(p, castagnoli))
}

// checkHead checks a file's first bytes.
func checkHead(p []byte) error {
	if string(p[:len(fileMagic)]) != fileMagic {
		return ErrNotBackup
	}
	if le.Uint32(p[12:]) != crc32.Checksum(p[:12], castagnoli) {
		return &DamageError{Offset: 0, Reason: "the head's checksum does not match"}
	}
	if v := le.Uint32(p[8:]); v > format {
		return fmt.Errorf("backup file of format %d: %w", v, ErrNewer)
	}
	return nil
}

// frame is a decoded frame head.
type frame struct {
	kind   Kind
	flags  byte
	number uint32
	raw    uint32
	stored uint32
	crc    uint32 // of the payload
}

// encodeFrame writes f's head to p[:frameBytes], with the checksum of the payload behind it.
func encodeFrame(p []byte, f frame) {
	copy(p, frameMagic)
	p[4], p[5], p[6], p[7] = format, byte(f.kind), f.flags, 0
	le.PutUint32(p[8:], f.number)
	le.PutUint32(p[12:], f.raw)
	le.PutUint32(p[16:], uint32(len(p)-frameBytes))
	le.PutUint32(p[20:], crc32.Checksum(p[frameBytes:], castagnoli))
	le.PutUint32(p[24:], crc32.Checksum(p[:24], castagnoli))
}

// decodeFrame reads a frame's head; the string says what is wrong with it.
func decodeFrame(p []byte) (f frame, wrong string) {
	if string(p[:4]) != frameMagic {
		return f, "no frame begins here"
	}
	if le.Uint32(p[24:]) != crc32.Checksum(p[:24], castagnoli) {
		return f, "the frame head's checksum does not match"
	}
	f = frame{kind: Kind(p[5]), flags: p[6], number: le.Uint32(p[8:]), raw: le.Uint32(p[12:]), stored: le.Uint32(p[16:]), crc: le.Uint32(p[20:])}
	if f.raw > pieceMax || f.stored > pieceMax || f.flags&^flagZstd != 0 || p[4] != format {
		return f, fmt.Sprintf("a frame of format %d with flags %d and %d bytes", p[4], f.flags, f.stored)
	}
	return f, ""
}
