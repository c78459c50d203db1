package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/zstd"
)

// Piece is one that a Reader gives back: a piece, or several State pieces as one.
type Piece struct {
	Kind   Kind
	Data   []byte // valid until the next call
	Offset int64  // of its frame
}

// Place is where a Reader is between two pieces. It can be stored.
type Place struct {
	Offset    int64
	Frames    uint32
	Raw       int64
	Digest    []byte // state of the SHA-256
	Head, End []byte
	Databases []Section
}

// Reader reads a backup file from its beginning to its end, or from a Place on.
type Reader struct {
	r      io.Reader
	zstd   *zstd.Decoder
	digest hash.Hash
	at     Place
	buf    []byte
	data   []byte
	m      *Manifest
}

// NewReader begins to read r. ErrNotBackup, ErrNewer, *DamageError.
func NewReader(r io.Reader) (*Reader, error) {
	b, err := newReader(r)
	if err != nil {
		return nil, err
	}
	p, err := b.read(headBytes, "within the head")
	if err != nil {
		if d := (*DamageError)(nil); errors.As(err, &d) && len(p) < len(fileMagic) {
			return nil, ErrNotBackup
		}
		return nil, err
	}
	b.digest.Write(p)
	return b, checkHead(p)
}

// Resume reads on from a place of the same file; r begins at at.Offset.
func Resume(r io.Reader, at Place) (*Reader, error) {
	b, err := newReader(r)
	if err != nil {
		return nil, err
	}
	if err := b.digest.(encoding.BinaryUnmarshaler).UnmarshalBinary(at.Digest); err != nil {
		return nil, fmt.Errorf("go on at offset %d: %w", at.Offset, err)
	}
	b.at = at
	return b, nil
}

func newReader(r io.Reader) (*Reader, error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(pieceMax))
	if err != nil {
		return nil, err
	}
	return &Reader{r: r, zstd: z, digest: sha256.New()}, nil
}

// Close gives memory back.
func (b *Reader) Close() { b.zstd.Close() }

// Place returns where the reader is.
func (b *Reader) Place() (Place, error) {
	at := b.at
	var err error
	at.Digest, err = b.digest.(encoding.BinaryMarshaler).MarshalBinary()
	return at, err
}

// Offset returns how far the reader is.
func (b *Reader) Offset() int64 { return b.at.Offset }

// Manifest returns the manifest once Next has returned io.EOF.
func (b *Reader) Manifest() *Manifest { return b.m }

// read returns the next n bytes, valid until the next call, and moves on.
func (b *Reader) read(n int, where string) ([]byte, error) {
	if cap(b.buf) < n {
		b.buf = make([]byte, n)
	}
	p := b.buf[:n]
	got, err := io.ReadFull(b.r, p)
	b.at.Offset += int64(got)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return p[:got], &DamageError{Offset: b.at.Offset, Reason: where, Torn: true}
	}
	if err != nil {
		return p[:got], fmt.Errorf("read the backup at offset %d: %w", b.at.Offset, err)
	}
	return p, nil
}

// Next returns the next piece; io.EOF when the file is whole and at its end. *DamageError.
func (b *Reader) Next() (Piece, error) {
	if b.m != nil {
		return Piece{}, io.EOF
	}
	start := b.at.Offset
	damaged := func(format string, args ...any) (Piece, error) {
		return Piece{}, &DamageError{Offset: start, Reason: fmt.Sprintf(format, args...)}
	}
	head, err := b.read(frameBytes, "before its manifest")
	if err != nil {
		return Piece{}, err
	}
	f, wrong := decodeFrame(head)
	if wrong != "" {
		return damaged("%s", wrong)
	}
	if f.number != b.at.Frames {
		return damaged("frame %d follows frame %d", f.number, int64(b.at.Frames)-1)
	}
	headCopy := [frameBytes]byte(head)
	p, err := b.read(int(f.stored), "within a frame")
	if err != nil {
		return Piece{}, err
	}
	if crc32.Checksum(p, castagnoli) != f.crc {
		return damaged("the frame's checksum does not match")
	}
	data := p
	if f.flags&flagZstd != 0 {
		if b.data, err = b.zstd.DecodeAll(p, b.data[:0]); err != nil {
			return damaged("the frame does not decompress: %v", err)
		}
		data = b.data
	}
	if len(data) != int(f.raw) {
		return damaged("the frame holds %d bytes, its head says %d", len(data), f.raw)
	}
	if f.kind == manifest {
		return Piece{}, b.finish(start, data)
	}
	b.digest.Write(headCopy[:])
	b.digest.Write(p)
	b.at.Frames++
	b.at.Raw += int64(len(data))
	switch f.kind {
	case Head:
		b.at.Head = bytes.Clone(data)
	case End:
		b.at.End = bytes.Clone(data)
	case Database:
		b.at.Databases = append(b.at.Databases, Section{Offset: start, Head: bytes.Clone(data)})
	}
	return Piece{Kind: f.kind, Data: data, Offset: start}, nil
}

// finish checks the manifest and the tail; io.EOF when all is well.
func (b *Reader) finish(start int64, data []byte) error {
	var m Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return &DamageError{Offset: start, Reason: fmt.Sprintf("the manifest does not decode: %v", err)}
	}
	wrong := ""
	switch {
	case m.SHA256 != hex.EncodeToString(b.digest.Sum(nil)):
		wrong = "the digest of all before does not match the manifest"
	case m.Bytes != start || m.Frames != b.at.Frames || m.Raw != b.at.Raw:
		wrong = "the manifest counts other bytes than there are"
	case !bytes.Equal(m.Head, b.at.Head) || !bytes.Equal(m.End, b.at.End) || len(m.Databases) != len(b.at.Databases):
		wrong = "the manifest is of another backup"
	}
	if wrong != "" {
		return &DamageError{Offset: start, Reason: wrong}
	}
	for i, d := range b.at.Databases {
		if m.Databases[i].Offset != d.Offset || !bytes.Equal(m.Databases[i].Head, d.Head) {
			return &DamageError{Offset: start, Reason: "the manifest is of another backup"}
		}
	}
	tail, err := b.read(tailBytes, "before its tail")
	if err != nil {
		return err
	}
	if string(tail[:8]) != tailMagic || le.Uint64(tail[8:]) != uint64(start) {
		return &DamageError{Offset: b.at.Offset - tailBytes, Reason: "the tail is not one"}
	}
	if n, err := io.ReadFull(b.r, make([]byte, 1)); n > 0 || err != io.EOF {
		return &DamageError{Offset: b.at.Offset, Reason: "something follows the end"}
	}
	b.m = &m
	return io.EOF
}
