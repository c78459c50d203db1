package storage

import (
	"fmt"

	"herd/storage/block"
	"herd/storage/btree"
)

// Snapshot is one version of the database. It is immutable; any number of goroutines may read it while a ReaderSlot
// pins it. Without a pin its blocks may disappear from the disk.
type Snapshot struct {
	st      *Store
	seq     Seq
	catalog Seq
	ver     uint64 // number of the version in this process; a rewrite makes a new one with the same seq
	roots   roots
}

// Seq returns the number of the last commit that the snapshot contains.
func (s *Snapshot) Seq() Seq { return s.seq }

// CatalogVersion returns the number of the last commit that changed a system tree.
func (s *Snapshot) CatalogVersion() Seq { return s.catalog }

func noTree(t TreeID) error { return fmt.Errorf("tree %d: %w", t, ErrNoTree) }

// Get returns the value of key in tree t. val aliases immutable memory and must not be changed. err is ErrNoTree,
// ErrCorrupt or an I/O error.
func (s *Snapshot) Get(t TreeID, key []byte) (val []byte, ok bool, err error) {
	tr := s.roots.get(t)
	if tr == nil {
		return nil, false, noTree(t)
	}
	return btree.Get(s.st, t, tr.root.H, key)
}

// GetBoth is Get, and tells whether the older snapshot old has the key as well, which costs little more.
func (s *Snapshot) GetBoth(old *Snapshot, t TreeID, key []byte) (val []byte, ok, had bool, err error) {
	tr, was := s.roots.get(t), old.roots.get(t)
	if tr == nil || was == nil {
		return nil, false, false, noTree(t)
	}
	return btree.GetBoth(s.st, t, tr.root.H, was.root.H, key)
}

// TreeExists reports whether the snapshot has tree t.
func (s *Snapshot) TreeExists(t TreeID) bool { return s.roots.get(t) != nil }

// Trees calls f for each tree in ascending order until it returns false.
func (s *Snapshot) Trees(f func(t TreeID, rows int64) bool) {
	s.roots.walk(nil, func(tr *tree) bool { return f(tr.id, tr.root.Stat.Rows) })
}

// TreeCount returns the number of trees.
func (s *Snapshot) TreeCount() int { return s.roots.count }

// Count returns the exact number of rows of t, 0 when there is no such tree. It reads no block.
func (s *Snapshot) Count(t TreeID) (rows int64) {
	if tr := s.roots.get(t); tr != nil {
		return tr.root.Stat.Rows
	}
	return 0
}

// Checksum returns the sum of t's row hashes: equal for equal contents, whatever the shape of the tree. It reads no
// block.
func (s *Snapshot) Checksum(t TreeID) uint64 {
	if tr := s.roots.get(t); tr != nil {
		return tr.root.Stat.Sum
	}
	return 0
}

// RangeCount returns the number of rows with lo <= key < hi (nil = open). It reads one path per bound.
func (s *Snapshot) RangeCount(t TreeID, lo, hi []byte) (rows int64, err error) {
	tr := s.roots.get(t)
	if tr == nil {
		return 0, noTree(t)
	}
	rows = tr.root.Stat.Rows
	if hi != nil {
		if rows, err = btree.Rank(s.st, t, tr.root.H, hi); err != nil {
			return 0, err
		}
	}
	if lo != nil {
		below, err := btree.Rank(s.st, t, tr.root.H, lo)
		if err != nil {
			return 0, err
		}
		rows -= below
	}
	return max(rows, 0), nil
}

// RangeSum returns the number of rows with lo <= key < hi (nil = open) and the sum of their hashes. It reads one path per bound.
func (s *Snapshot) RangeSum(t TreeID, lo, hi []byte) (rows int64, sum uint64, err error) {
	tr := s.roots.get(t)
	if tr == nil {
		return 0, 0, noTree(t)
	}
	st := tr.root.Stat
	if hi != nil {
		if st, err = btree.Below(s.st, t, tr.root.H, hi); err != nil {
			return 0, 0, err
		}
	}
	if lo != nil {
		below, err := btree.Below(s.st, t, tr.root.H, lo)
		if err != nil {
			return 0, 0, err
		}
		st = st.Sub(below)
	}
	return st.Rows, st.Sum, nil
}

// Split returns at most parts-1 keys, ascending and strictly between lo and hi, that cut the range into about equal
// numbers of rows: the borders of a parallel scan's morsels.
func (s *Snapshot) Split(t TreeID, lo, hi []byte, parts int) ([][]byte, error) {
	tr := s.roots.get(t)
	if tr == nil {
		return nil, noTree(t)
	}
	return btree.Split(s.st, t, tr.root, lo, hi, parts)
}

// TreeBytes returns about how many bytes the rows of t take, from a sample of four leaves; 0 when there is no such tree
// or it cannot be read. Long values count with their length.
func (s *Snapshot) TreeBytes(t TreeID) int64 {
	tr := s.roots.get(t)
	if tr == nil || tr.root.H == nil {
		return 0
	}
	const samples = 4
	var rows, bytes int64
	for i := range int64(samples) {
		b, err := btree.LeafAt(s.st, t, tr.root.H, tr.root.Stat.Rows*(2*i+1)/(2*samples))
		if err != nil {
			return 0
		}
		l := b.Leaf()
		rows += int64(l.Len())
		bytes += int64(len(l))
		for i := range l.Len() {
			if v, big := b.Value(i); big {
				_, n, _ := block.Stub(v)
				bytes += int64(n)
			}
		}
	}
	return int64(float64(bytes) / float64(rows) * float64(tr.root.Stat.Rows))
}

// RowHash returns the hash of one row, of which Checksum is the sum.
func RowHash(key, val []byte) uint64 { return block.RowHash(key, val) }
