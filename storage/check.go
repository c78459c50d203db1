package storage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"herd/internal/vfs"
	"herd/storage/block"
	"herd/storage/btree"
)

// Problem is one finding of Check.
type Problem struct {
	Where string // manifest, segment, tree and address
	Tree  TreeID // 0: none in particular
	What  string
	// Note marks what wastes space but endangers nothing.
	Note bool
}

// Check reads the durable manifest and every block that it reaches from disk and verifies checksums, formats, key order
// and ranges, row counts, hash sums, long values, and the live bytes of the segments. It uses nothing that is in memory,
// so it also says whether a restart would find everything. It may run beside everything but a checkpoint, which waits.
// The error is one of reading the manifest; all else goes to report.
func (st *Store) Check(report func(Problem)) error {
	st.ckptMu.Lock()
	defer st.ckptMu.Unlock()
	m, ok, err := st.o.Manifests.LoadManifest()
	if err != nil {
		return fmt.Errorf("check: %w", err)
	}
	if !ok {
		return nil
	}
	c := checker{st: st, report: report, seen: map[block.Address]uint32{}}
	for _, r := range m.Roots {
		c.tree(r)
	}
	c.live(m)
	return nil
}

type checker struct {
	st     *Store
	report func(Problem)
	seen   map[block.Address]uint32 // frames reached, with their lengths
	buf    []byte
	key    []byte // first key of the frame read last
}

func (c *checker) tree(r RootEntry) {
	where := func(h *btree.Handle) string {
		if h == nil {
			return fmt.Sprintf("tree %d", r.Tree)
		}
		a := h.Addr()
		return fmt.Sprintf("tree %d, file %s at %d", r.Tree, c.st.fileOf(a), a.Offset())
	}
	say := func(h *btree.Handle, what string) { c.report(Problem{Where: where(h), Tree: r.Tree, What: what}) }
	v := btree.Verifier{
		Get:    func(h *btree.Handle) (*btree.Block, error) { return c.read(r.Tree, h) },
		Report: say,
		Visit: func(h *btree.Handle, b *btree.Block, lo, hi []byte) {
			ref := h.Ref()
			if _, twice := c.seen[ref.Addr]; twice {
				say(h, "is reached twice")
			}
			c.seen[ref.Addr] = ref.Size
			switch {
			case b.Kind == block.KindValue && !bytes.Equal(c.key, lo):
				say(h, "the frame's key is not that of the value's row")
			case b.Kind == block.KindLeaf && !bytes.Equal(c.key, b.Leaf().AppendKey(nil, 0)):
				say(h, "the frame's key is not the first of the leaf")
			case b.Kind == block.KindInner && (bytes.Compare(c.key, lo) < 0 || hi != nil && bytes.Compare(c.key, hi) >= 0):
				say(h, "the frame's key does not lead to the node")
			}
		},
	}
	root := btree.Root{Stat: block.Stat{Rows: r.Rows, Sum: r.Sum}}
	if r.Addr != 0 {
		root.H = btree.NewDiskHandle(block.Ref{Addr: block.Address(r.Addr), Size: r.Size})
	}
	v.Tree(root)
}

// read reads h's block past the memory.
func (c *checker) read(t TreeID, h *btree.Handle) (*btree.Block, error) {
	f, err := c.st.readFrame(h.Ref(), &c.buf)
	if err != nil {
		return nil, err
	}
	if f.Tree != t {
		return nil, fmt.Errorf("the frame belongs to tree %d: %w", f.Tree, ErrCorrupt)
	}
	c.key = append(c.key[:0], f.Key...)
	return btree.Decode(&f)
}

// live compares the manifest's live bytes with what was reached.
func (c *checker) live(m Manifest) {
	live := map[uint32]int64{}
	for a, size := range c.seen {
		live[a.Segment()] += int64(size)
	}
	for _, s := range m.Segments {
		have := live[s.No]
		delete(live, s.No)
		if have == s.Live {
			continue
		}
		c.report(Problem{Where: "file " + c.st.segments.name(s.No), Note: s.Live > have,
			What: fmt.Sprintf("the manifest says %d live bytes, %d are reached", s.Live, have)})
	}
	for no, have := range live {
		c.report(Problem{Where: "file " + c.st.segments.name(no), What: fmt.Sprintf("%d live bytes and not in the manifest", have)})
	}
}

// CheckSnapshot verifies a snapshot as it is in memory, loading what is absent: shape, counts, sums, and that what has
// an address has only addressed children.
func (st *Store) CheckSnapshot(s *Snapshot, report func(Problem)) {
	s.roots.walk(nil, func(tr *tree) bool {
		say := func(h *btree.Handle, what string) {
			report(Problem{Where: fmt.Sprintf("tree %d in memory", tr.id), Tree: tr.id, What: what})
		}
		v := btree.Verifier{
			Get: func(h *btree.Handle) (*btree.Block, error) {
				if b := h.Block(); b != nil {
					return b, nil
				}
				return st.LoadBlock(tr.id, h)
			},
			Report: say,
			Visit: func(h *btree.Handle, b *btree.Block, _, _ []byte) {
				for _, k := range b.Children() {
					if h.Addr() != 0 && k.Addr() == 0 {
						say(h, "has an address and a child has none")
					}
				}
				if h.Flag(btree.FlagDead) {
					say(h, "is dead and still reached")
				}
			},
		}
		v.Tree(tr.root)
		return true
	})
}

// FrameInfo is one frame of a segment file, for `herd inspect`.
type FrameInfo struct {
	Offset  int64
	Length  int // of the whole frame
	Kind    block.Kind
	Level   uint8
	Tree    TreeID
	Key     []byte // first key
	Payload []byte // valid during the call
}

// DumpSegment calls f for each frame of a segment file in order. It ends at the end of the file or at the first frame
// that is damaged, with ErrCorrupt and the offset: a file may have such a tail after a crash.
func DumpSegment(fsys vfs.FS, name string, f func(FrameInfo) error) error {
	file, err := fsys.OpenRead(labelRead, name)
	if err != nil {
		return err
	}
	defer file.Close()
	head := make([]byte, segmentHeader)
	if _, err := file.ReadAt(labelRead, head, 0); err != nil {
		return fmt.Errorf("read header of %s: %w", name, err)
	}
	var no uint32
	if _, err := fmt.Sscanf(filepath.Base(name), "%d", &no); err != nil || !bytes.Equal(head, headerOf(no)) {
		return fmt.Errorf("%s: header: %w", name, ErrCorrupt)
	}
	size, err := file.Size()
	if err != nil {
		return err
	}
	return walkFrames(file, no, segmentHeader, size, func(a block.Address, fr block.Frame, n int) error {
		return f(FrameInfo{Offset: int64(a.Offset()), Length: n, Kind: fr.Kind, Level: fr.Level, Tree: fr.Tree,
			Key: fr.Key, Payload: fr.Payload})
	})
}

// frameWindow is a stretch of a segment file in memory, so that a frame does not cost two reads.
type frameWindow struct {
	file vfs.File
	size int64 // of the file
	off  int64 // of data
	data []byte
	buf  []byte
}

// at returns up to n bytes at off, less at the end of the file; they are valid until the next call.
func (w *frameWindow) at(off, n int64) ([]byte, error) {
	n = min(n, w.size-off)
	if off >= w.off && off+n <= w.off+int64(len(w.data)) {
		return w.data[off-w.off : off-w.off+n], nil
	}
	if size := max(n, min(int64(cap(w.buf)), w.size-off)); size > int64(cap(w.buf)) {
		w.buf = make([]byte, size)
	}
	w.off, w.data = off, w.buf[:min(int64(cap(w.buf)), w.size-off)]
	if _, err := w.file.ReadAt(labelRead, w.data, off); err != nil && !errors.Is(err, io.EOF) {
		w.data = nil
		return nil, fmt.Errorf("read %s at %d: %w", w.file.Name(), off, err)
	}
	return w.data[:n], nil
}

// walkFrames calls f for each frame from offset off to size.
func walkFrames(file vfs.File, no uint32, off, size int64, f func(block.Address, block.Frame, int) error) error {
	w := frameWindow{file: file, size: size, buf: make([]byte, 128<<10)}
	for off < size {
		head, err := w.at(off, block.FrameHeader)
		if err != nil {
			return err
		}
		a := block.MakeAddress(no, uint32(off))
		n, err := block.PeekFrame(head, a)
		if err != nil {
			return err
		}
		if int64(n) > size-off {
			return fmt.Errorf("%s: the frame at %d is cut off: %w", file.Name(), off, ErrCorrupt)
		}
		p, err := w.at(off, int64(n))
		if err != nil {
			return err
		}
		fr, err := block.DecodeFrame(p, a)
		if err != nil {
			return err
		}
		if err := f(a, fr, n); err != nil {
			return err
		}
		off += int64(n)
	}
	return nil
}

// NodeInfo is one inner node or leaf of a tree, for `herd inspect`.
type NodeInfo struct {
	Level    uint8
	Address  block.Address // 0 = not on disk
	Resident bool          // was in memory before the walk
	Rows     int           // of a leaf
	Children int           // of an inner node; long values of a leaf
	Bytes    int           // of a leaf
	FirstKey []byte        // of a leaf
}

// Outline calls f for each node of tree t in key order, parents first.
func (st *Store) Outline(s *Snapshot, t TreeID, f func(NodeInfo) error) error {
	tr := s.roots.get(t)
	if tr == nil {
		return noTree(t)
	}
	if tr.root.H == nil {
		return nil
	}
	return st.outline(t, tr.root.H, f)
}

func (st *Store) outline(t TreeID, h *btree.Handle, f func(NodeInfo) error) error {
	b := h.Block()
	info := NodeInfo{Address: h.Addr(), Resident: b != nil}
	if b == nil {
		var err error
		if b, err = st.LoadBlock(t, h); err != nil {
			return err
		}
	}
	info.Level, info.Children = b.Level, b.ChildCount()
	if b.Kind == block.KindLeaf {
		l := b.Leaf()
		info.Rows, info.Bytes, info.FirstKey = l.Len(), len(l), l.AppendKey(nil, 0)
		return f(info)
	}
	if err := f(info); err != nil {
		return err
	}
	for _, k := range b.Children() {
		if err := st.outline(t, k, f); err != nil {
			return err
		}
	}
	return nil
}
