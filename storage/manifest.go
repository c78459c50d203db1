package storage

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

// ManifestStore keeps the newest manifest durable. The engine implements it with one bbolt transaction over
// EncodeManifest's bytes; FileManifests is the implementation over plain files.
type ManifestStore interface {
	// LoadManifest returns the newest manifest; ok is false when none was ever stored.
	LoadManifest() (m Manifest, ok bool, err error)
	// SwitchManifest makes m durable in place of the former one, atomically.
	SwitchManifest(m Manifest) error
}
