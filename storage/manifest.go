package storage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"path/filepath"

	"herd/internal/vfs"
)

// Meta is what a checkpoint records for its caller. storage hands it back from Open unread.
type Meta struct {
	LogPosition uint64 // where replay starts
	Opaque      []byte // the engine's: sequences, open parts, counters
}

// RootEntry is one tree of a manifest.
type RootEntry struct {
	Tree TreeID
	Addr uint64 // block.Address of the root; 0 = the tree is empty
	Size uint32 // bytes of the root's frame
	Rows int64
	Sum  uint64 // additive sum of the row hashes
}

// SegmentEntry is one segment file of a manifest.
type SegmentEntry struct {
	No   uint32
	Size int64 // bytes written
	Live int64 // bytes of frames reachable from the manifest's roots
}

// Manifest is the durable description of one snapshot. It is replaced as a whole by each checkpoint.
type Manifest struct {
	Seq            Seq
	CatalogVersion Seq
	NextSegment    uint32
	Roots          []RootEntry    // ascending by Tree
	Segments       []SegmentEntry // ascending by No
	Meta           Meta
}

// ManifestStore keeps the newest manifest durable. FileManifests is the implementation over plain files.
type ManifestStore interface {
	// LoadManifest returns the newest manifest; ok is false when none was ever stored.
	LoadManifest() (m Manifest, ok bool, err error)
	// SwitchManifest makes m durable in place of the former one, atomically.
	SwitchManifest(m Manifest) error
}

const (
	manifestMagic  = "HERDMAN1"
	manifestFormat = 1
)

// EncodeManifest returns m's durable form, format 1: magic (8), format (u32), then the fields in order as little-endian
// u64 with counts before lists, then CRC32C of all that (u32).
func EncodeManifest(m Manifest) []byte {
	le := binary.LittleEndian
	p := append(make([]byte, 0, 128+40*len(m.Roots)+24*len(m.Segments)+len(m.Meta.Opaque)), manifestMagic...)
	p = le.AppendUint32(p, manifestFormat)
	for _, v := range []uint64{uint64(m.Seq), uint64(m.CatalogVersion), uint64(m.NextSegment), m.Meta.LogPosition} {
		p = le.AppendUint64(p, v)
	}
	p = le.AppendUint64(p, uint64(len(m.Roots)))
	for _, r := range m.Roots {
		p = le.AppendUint32(p, uint32(r.Tree))
		p = le.AppendUint32(p, r.Size)
		p = le.AppendUint64(p, r.Addr)
		p = le.AppendUint64(p, uint64(r.Rows))
		p = le.AppendUint64(p, r.Sum)
	}
	p = le.AppendUint64(p, uint64(len(m.Segments)))
	for _, s := range m.Segments {
		p = le.AppendUint64(p, uint64(s.No))
		p = le.AppendUint64(p, uint64(s.Size))
		p = le.AppendUint64(p, uint64(s.Live))
	}
	p = le.AppendUint64(p, uint64(len(m.Meta.Opaque)))
	p = append(p, m.Meta.Opaque...)
	return le.AppendUint32(p, crc32.Checksum(p, crc32.MakeTable(crc32.Castagnoli)))
}

// manifestReader takes numbers off the front; short turns true when there are none left.
type manifestReader struct {
	p     []byte
	short bool
}

func (r *manifestReader) take(n int) []byte {
	if n < 0 || n > len(r.p) {
		r.short, r.p = true, nil
		return make([]byte, 8)
	}
	out := r.p[:n]
	r.p = r.p[n:]
	return out
}

func (r *manifestReader) u32() uint32 { return binary.LittleEndian.Uint32(r.take(4)) }
func (r *manifestReader) u64() uint64 { return binary.LittleEndian.Uint64(r.take(8)) }

// count reads the length of a list whose elements take size bytes.
func (r *manifestReader) count(size int) int {
	n := r.u64()
	if n > uint64(len(r.p)/size) {
		r.short, r.p = true, nil
		return 0
	}
	return int(n)
}

// DecodeManifest is the inverse of EncodeManifest. The error is ErrCorrupt or ErrNewerFormat.
func DecodeManifest(p []byte) (m Manifest, err error) {
	bad := func(what string) (Manifest, error) {
		return Manifest{}, fmt.Errorf("manifest: %s: %w", what, ErrCorrupt)
	}
	if len(p) < len(manifestMagic)+8 || string(p[:len(manifestMagic)]) != manifestMagic {
		return bad("no magic")
	}
	body := p[:len(p)-4]
	if crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)) != binary.LittleEndian.Uint32(p[len(body):]) {
		return bad("checksum")
	}
	r := manifestReader{p: body[len(manifestMagic):]}
	f := r.u32()
	if f > manifestFormat {
		return Manifest{}, fmt.Errorf("manifest: format %d: %w", f, ErrNewerFormat)
	}
	if f != manifestFormat {
		return bad(fmt.Sprintf("format %d", f))
	}
	m.Seq, m.CatalogVersion, m.NextSegment = Seq(r.u64()), Seq(r.u64()), uint32(r.u64())
	m.Meta.LogPosition = r.u64()
	for range r.count(32) {
		e := RootEntry{Tree: TreeID(r.u32()), Size: r.u32()}
		e.Addr, e.Rows, e.Sum = r.u64(), int64(r.u64()), r.u64()
		m.Roots = append(m.Roots, e)
	}
	for range r.count(24) {
		m.Segments = append(m.Segments, SegmentEntry{uint32(r.u64()), int64(r.u64()), int64(r.u64())})
	}
	if n := r.count(1); n > 0 {
		m.Meta.Opaque = append([]byte(nil), r.take(n)...)
	}
	if r.short || len(r.p) > 0 {
		return bad("length")
	}
	return m, nil
}

const labelManifest vfs.Label = "storage.manifest"

// FileManifests keeps the manifest in one file that is replaced as a whole.
type FileManifests struct {
	fs  vfs.FS
	dir string
}

// NewFileManifests returns the manifest store over dir/manifest, making dir when it is missing.
func NewFileManifests(fs vfs.FS, dir string) (*FileManifests, error) {
	if err := fs.MkdirAll(labelManifest, dir); err != nil {
		return nil, err
	}
	if err := fs.SyncDir(labelManifest, filepath.Dir(dir)); err != nil {
		return nil, err
	}
	return &FileManifests{fs, dir}, nil
}

func (f *FileManifests) name() string { return filepath.Join(f.dir, "manifest") }

// LoadManifest implements ManifestStore.
func (f *FileManifests) LoadManifest() (m Manifest, ok bool, err error) {
	p, err := vfs.ReadFile(f.fs, labelManifest, f.name())
	if errors.Is(err, fs.ErrNotExist) {
		return Manifest{}, false, nil
	}
	if err != nil {
		return Manifest{}, false, err
	}
	m, err = DecodeManifest(p)
	return m, err == nil, err
}

// SwitchManifest implements ManifestStore.
func (f *FileManifests) SwitchManifest(m Manifest) error {
	return vfs.WriteFileAtomic(f.fs, labelManifest, f.dir, f.name(), EncodeManifest(m))
}
