package storage

import (
	"errors"
	"fmt"
	"slices"

	"herd/storage/block"
	"herd/storage/btree"
)

// cleanPercentUsual is the share of live bytes below which a full segment is cleaned when Options do not say.
const cleanPercentUsual = 35

// cleanPercentHard is the share below which a segment is cleaned when all segments together have too much that is dead. With more than half
// of the bytes dead there is always one below it.
const cleanPercentHard = 60

// CleanShare returns how many bytes of live blocks the cleaner should move for each byte of new blocks that a checkpoint writes,
// so that dead bytes stay below the live ones and two segments more. 0: there is no hurry. Between half as many dead bytes as live ones and
// as many it rises to 2: that frees more than is written, as the segments with the fewest live bytes are moved first.
func (st *Store) CleanShare() float64 {
	if st.o.CleanPercent < 0 {
		return 0
	}
	_, size, live := st.segments.totals()
	slack := 2 * st.o.Segment
	over := float64(size - live - live/2 - slack)
	if over <= 0 {
		return 0
	}
	return 2 * min(over/float64(max(live/2, slack)), 1)
}

// Cleaning is the live blocks of one mostly dead segment. The engine moves them in small batches, which are not logged
// since they change no contents:
//
//	c, err := store.PlanCleaning(newest, stop)        nil: nothing to do
//	for c.Left() > 0 {
//		pin, err := store.PrepareRewrite(tip, c, 64, 4<<20)  reads; without the commit mutex
//		next, err := store.Rewrite(tip, c)            under the commit mutex; next becomes tip with the same Seq
//		pin.Release()
//	}
//
// The next checkpoint writes the blocks elsewhere, and then the file goes.
type Cleaning struct {
	Segment uint32
	refs    []cleanRef
	ready   int   // refs[:ready] are prepared
	moved   int64 // bytes of those that were moved
}

type cleanRef struct {
	tree TreeID
	kind block.Kind
	lvl  uint8
	key  []byte
	addr block.Address
	size int
}

// Left returns the number of blocks that were not moved yet.
func (c *Cleaning) Left() int { return len(c.refs) }

// Moved returns the bytes of the blocks that were moved.
func (c *Cleaning) Moved() int64 { return c.moved }

// planStep is how many frames are looked up in one snapshot.
const planStep = 256

// PlanCleaning picks the segment with the smallest share of live bytes, if that is small, and finds its live blocks by
// looking up each frame's key. newest pins the newest snapshot in place of the one before; it is called again and again, so that
// none is held for long. PlanCleaning returns nil when no segment is worth it, or when stop says that something else has to be done first;
// the segment has its turn again then. It also corrects the books of the segment when they say more than is there.
func (st *Store) PlanCleaning(newest func() *Snapshot, stop func() bool) (*Cleaning, error) {
	st.ckptMu.Lock()
	defer st.ckptMu.Unlock()
	if err := st.writable(); err != nil {
		return nil, err
	}
	s := newest()
	if s.ver < max(st.manifestVer.Load(), st.written.Load()) {
		return nil, nil // frames of versions that s does not know would look dead
	}
	share := int64(st.o.CleanPercent)
	if st.CleanShare() > 0 {
		share = max(share, cleanPercentHard)
	}
	seg := st.pickSegment(share)
	if seg == nil || stop() {
		return nil, nil
	}
	if st.cleaned == nil {
		st.cleaned = map[uint32]uint64{}
	}
	st.cleaned[seg.no] = st.ver.Load() // also when it is damaged: the others have their turn
	c := &Cleaning{Segment: seg.no}
	var found int64
	looked := 0
	branches := st.branches()
	err := walkFrames(seg.f, seg.no, segmentHeader, seg.size, func(a block.Address, f block.Frame, n int) error {
		if stop() {
			return errCleanLater
		}
		if looked++; looked%planStep == 0 {
			s = newest()
		}
		tr := s.roots.get(f.Tree)
		if tr == nil {
			return nil
		}
		live, err := st.isLive(tr, f, a)
		if err != nil || !live {
			return err
		}
		found += int64(n)
		c.refs = append(c.refs, cleanRef{f.Tree, f.Kind, f.Level, slices.Clone(f.Key), a, n})
		return nil
	})
	if errors.Is(err, errCleanLater) {
		delete(st.cleaned, seg.no)
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("clean segment %d: %w", seg.no, err)
	}
	// What was live in one of the snapshots and is not in a later one is among what was replaced and counts twice: that is safe. But
	// no branch of versions may have been left meanwhile, whose blocks come to life again.
	if st.branches() == branches {
		st.correctLive(s, seg.no, found)
	}
	slices.SortFunc(c.refs, func(a, b cleanRef) int {
		if a.tree != b.tree {
			return int(a.tree) - int(b.tree)
		}
		return slices.Compare(a.key, b.key)
	})
	return c, nil
}

var errCleanLater = errors.New("something else comes first")

// branches counts the branches of versions that were left.
func (st *Store) branches() int {
	st.retired.mu.Lock()
	defer st.retired.mu.Unlock()
	return st.retired.branches
}

// isLive reports whether the frame at a is reached from tr, without loading the block itself.
func (st *Store) isLive(tr *tree, f block.Frame, a block.Address) (bool, error) {
	live := false
	_, err := btree.Find(absentOK{st, a}, tr.id, tr.root.H, f.Kind, f.Level, f.Key, a, func(h *btree.Handle) { live = live || h.Addr() == a })
	if live {
		return true, nil
	}
	return false, err
}

// absentOK is a loader that does not load the block that is being looked for.
type absentOK struct {
	st *Store
	a  block.Address
}

// LoadBlock implements btree.Loader.
func (l absentOK) LoadBlock(t TreeID, h *btree.Handle) (*btree.Block, error) {
	if h.Addr() == l.a {
		return nil, btree.ErrAbsent
	}
	return l.st.LoadBlock(t, h)
}

// pickSegment returns the segment to clean, the one with the smallest share of live bytes if that is below share per cent, or nil. One that was looked at is left alone until the next manifest.
func (st *Store) pickSegment(share int64) (best *segment) {
	st.segments.mu.RLock()
	defer st.segments.mu.RUnlock()
	for no, seg := range st.segments.all {
		if v, done := st.cleaned[no]; done && v >= st.manifestVer.Load() || seg.open || seg.unsynced || seg.live <= 0 {
			continue
		}
		if p := seg.live * 100 / max(seg.size, 1); p < share {
			best, share = seg, p
		}
	}
	if best != nil {
		c := *best // the figures as they are now
		return &c
	}
	return nil
}

// correctLive lowers a segment's live bytes to what the newest version reaches plus what is retired. Branches of
// versions that were left can leave more on the books; dropped trees that are not expanded yet are not counted, so then
// nothing is corrected.
func (st *Store) correctLive(s *Snapshot, no uint32, found int64) {
	st.retired.mu.Lock()
	pending := len(st.retired.drops)
	st.retired.mu.Unlock()
	if pending > 0 || st.forkActive.Load() != nil || s.ver < st.written.Load() {
		return
	}
	held, ok := st.heldIn(no)
	if !ok {
		return
	}
	st.segments.mu.Lock()
	defer st.segments.mu.Unlock()
	if seg := st.segments.all[no]; seg != nil && seg.live > found+held {
		seg.live = found + held
	}
}

// next returns how many of the next blocks, at most n and at least one, have no more than so many bytes on disk together.
func (c *Cleaning) next(n int, bytes int64) int {
	n = min(n, len(c.refs))
	for i, r := range c.refs[:n] {
		if bytes -= int64(r.size); bytes < 0 {
			return max(i, 1)
		}
	}
	return n
}

// PrepareRewrite brings the next blocks of c and the ways to them into memory and pins them there: at most n, and not many more than so many bytes.
func (st *Store) PrepareRewrite(s *Snapshot, c *Cleaning, n int, bytes int64) (Pin, error) {
	p := Pin{held: pinLists.Get().(*[]*btree.Handle)}
	c.ready = c.next(n, bytes)
	for _, r := range c.refs[:c.ready] {
		tr := s.roots.get(r.tree)
		if tr == nil {
			continue
		}
		_, err := btree.Find(st, tr.id, tr.root.H, r.kind, r.lvl, r.key, r.addr, func(h *btree.Handle) {
			h.Pin()
			*p.held = append(*p.held, h)
		})
		if err != nil {
			p.Release()
			return Pin{}, err
		}
	}
	return p, nil
}

// Rewrite returns s with the prepared blocks of c as new blocks without a disk copy. The sequence number stays, the
// contents too. Blocks that are gone meanwhile, or absent again, are passed over. Like Apply, under the commit mutex.
func (st *Store) Rewrite(s *Snapshot, c *Cleaning) (*Snapshot, error) {
	if err := st.writable(); err != nil {
		return nil, err
	}
	ap := &st.applier
	ap.begin(st, st.ver.Add(1), nil)
	next := &Snapshot{st: st, seq: s.seq, catalog: s.catalog, ver: ap.ed.Ver, roots: s.roots}
	for _, r := range c.refs[:c.ready] {
		tr := next.roots.get(r.tree)
		if tr == nil {
			continue
		}
		root, ok := ap.ed.Rewrite(r.tree, tr.root, r.kind, r.key, r.addr)
		if ok {
			c.moved += int64(r.size)
		}
		if ok && root != tr.root {
			next.roots.replace(ap.ed.Ver, r.tree, root)
		}
	}
	c.refs, c.ready = c.refs[c.ready:], 0
	st.install(next.ver, ap.ed.Created, ap.ed.Retired, nil)
	ap.forget()
	return next, nil
}
