package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"

	"github.com/klauspost/compress/zstd"
)

// Writer writes a backup file. Close must have returned nil for it to be one.
type Writer struct {
	w      io.Writer
	zstd   *zstd.Encoder
	digest hash.Hash
	state  []byte // State pieces that wait for their frame
	out    []byte
	m      Manifest
	err    error
}

// NewWriter begins a file on w.
func NewWriter(w io.Writer) (*Writer, error) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderCRC(false))
	if err != nil {
		return nil, err
	}
	b := &Writer{w: w, zstd: z, digest: sha256.New(), m: Manifest{Format: format}}
	return b, b.write(fileHead())
}

// write writes bytes that the digest covers.
func (b *Writer) write(p []byte) error {
	if b.err != nil {
		return b.err
	}
	if _, b.err = b.w.Write(p); b.err != nil {
		return b.err
	}
	b.digest.Write(p)
	b.m.Bytes += int64(len(p))
	return nil
}

// Piece adds a piece, which is not kept.
func (b *Writer) Piece(kind Kind, p []byte) error {
	if b.err != nil {
		return b.err
	}
	if len(p) > pieceMax/2 {
		return fmt.Errorf("a piece of %d bytes is too long for a backup", len(p))
	}
	if kind == State {
		b.state = append(b.state, p...)
		if len(b.state) < frameStep {
			return nil
		}
		return b.flush()
	}
	if err := b.flush(); err != nil {
		return err
	}
	switch kind {
	case Head:
		b.m.Head = bytes.Clone(p)
	case Database:
		b.m.Databases = append(b.m.Databases, Section{Offset: b.m.Bytes, Head: bytes.Clone(p)})
	case End:
		b.m.End = bytes.Clone(p)
	}
	return b.frame(kind, p)
}

func (b *Writer) flush() error {
	if len(b.state) == 0 {
		return nil
	}
	err := b.frame(State, b.state)
	b.state = b.state[:0]
	return err
}

func (b *Writer) frame(kind Kind, p []byte) error {
	f := frame{kind: kind, flags: flagZstd, number: b.m.Frames, raw: uint32(len(p))}
	b.out = b.zstd.EncodeAll(p, append(b.out[:0], make([]byte, frameBytes)...))
	if len(b.out)-frameBytes >= len(p) {
		f.flags = 0
		b.out = append(b.out[:frameBytes], p...)
	}
	encodeFrame(b.out, f)
	if err := b.write(b.out); err != nil {
		return err
	}
	b.m.Frames++
	b.m.Raw += int64(len(p))
	return nil
}

// Written returns the bytes of the file so far, and of the pieces in them.
func (b *Writer) Written() (file, pieces int64) { return b.m.Bytes, b.m.Raw }

// Close writes the manifest and the end of the file.
func (b *Writer) Close() error {
	defer b.zstd.Close()
	if err := b.flush(); err != nil {
		return err
	}
	if b.m.Head == nil || b.m.End == nil {
		return fmt.Errorf("the backup's stream has no %s", map[bool]string{true: "head", false: "end"}[b.m.Head == nil])
	}
	at := b.m.Bytes
	b.m.SHA256 = hex.EncodeToString(b.digest.Sum(nil))
	p, err := json.Marshal(b.m)
	if err != nil {
		return err
	}
	if err := b.frame(manifest, p); err != nil {
		return err
	}
	return b.write(le.AppendUint64([]byte(tailMagic), uint64(at)))
}
