package engine

import (
	"encoding/json"
	"fmt"

	"herd/storage"
	"herd/txlog"
)

// BackupChecker verifies the pieces of a backup without making anything of them: each database's rows against the counts and
// checksums that its trees had in the server. Between two pieces its exported fields are all of its state, so that it can be
// stored and gone on with.
type BackupChecker struct {
	Head  BackupHead
	At    DatabaseHead
	Begun bool // At is the head of a database that has not ended
	Done  []DatabaseHead
	End   *BackupEnd
	Bytes int64 // of state pieces

	State   CheckedState
	counted stateCounter
	in      *stateParser
}

// CheckedState is the place in a database's state.
type CheckedState struct {
	Begun    bool
	Version  uint8
	Sum      uint32
	Tree     storage.TreeID
	Rows     uint64 // of the database
	Trees    int    // that ended
	TreeRows uint64
	TreeSum  uint64
	Open     bool // a tree has begun and not ended
}

// stateCounter is a stateTaker that counts and sums.
type stateCounter struct {
	last txlog.Seq
	*CheckedState
}

func (c *stateCounter) head(last txlog.Seq, _ []byte) error {
	c.last = last
	return nil
}

func (c *stateCounter) tree(storage.TreeID) error {
	if c.Open {
		return fmt.Errorf("tree %d has no end: %w", c.Tree, storage.ErrCorrupt)
	}
	c.TreeRows, c.TreeSum, c.Open = 0, 0, true
	return nil
}

func (c *stateCounter) row(_ storage.TreeID, key, val []byte) error {
	c.TreeRows++
	c.TreeSum += storage.RowHash(key, val)
	return nil
}

func (c *stateCounter) treeEnd(id storage.TreeID, rows, sum uint64) error {
	if !c.Open || c.TreeRows != rows || c.TreeSum != sum {
		return fmt.Errorf("tree %d has %d rows with checksum %x, it had %d with %x in the server: %w", id, c.TreeRows, c.TreeSum, rows, sum, storage.ErrCorrupt)
	}
	c.Open = false
	c.Trees++
	return nil
}

func (c *stateCounter) end() error { return nil }

// Piece takes the next piece.
func (c *BackupChecker) Piece(kind BackupPiece, p []byte) (err error) {
	switch kind {
	case BackupBegins:
		c.Head, err = decodeHead(p)
		return err
	case BackupDatabase:
		if c.Begun {
			return fmt.Errorf("database %q is not whole: %w", c.At.Name, storage.ErrCorrupt)
		}
		c.State, c.in = CheckedState{}, nil
		c.At, err = decodeDatabase(p)
		c.Begun = err == nil
		return err
	case BackupState:
		return c.state(p)
	case BackupEnds:
		return c.ends(p)
	}
	return unknownPiece(kind)
}

func (c *BackupChecker) state(p []byte) error {
	if !c.Begun {
		return fmt.Errorf("a state of no database: %w", storage.ErrCorrupt)
	}
	c.Bytes += int64(len(p))
	s := &c.State
	c.counted.CheckedState = s
	if c.in == nil {
		c.in = &stateParser{to: &c.counted, Begun: s.Begun, Version: s.Version, Sum: s.Sum, Tree: s.Tree, Rows: s.Rows}
	}
	if err := c.in.feed(p); err != nil {
		return fmt.Errorf("database %q: %w", c.At.Name, err)
	}
	if len(c.in.rest) > 0 {
		return fmt.Errorf("database %q: a piece ends within a record: %w", c.At.Name, storage.ErrCorrupt)
	}
	s.Begun, s.Version, s.Sum, s.Tree, s.Rows = c.in.Begun, c.in.Version, c.in.Sum, c.in.Tree, c.in.Rows
	if !c.in.Ended {
		return nil
	}
	if s.Trees != c.At.Trees || int64(s.Rows) != c.At.Rows || s.Open {
		return fmt.Errorf("database %q has %d trees and %d rows, its head says %d and %d: %w", c.At.Name, s.Trees, s.Rows, c.At.Trees, c.At.Rows, storage.ErrCorrupt)
	}
	c.Done, c.Begun, c.in = append(c.Done, c.At), false, nil
	return nil
}

func (c *BackupChecker) ends(p []byte) error {
	var end BackupEnd
	if err := json.Unmarshal(p, &end); err != nil {
		return fmt.Errorf("the backup's end: %v: %w", err, storage.ErrCorrupt)
	}
	if c.Begun || len(c.Done) != len(c.Head.Databases) || end.Databases != len(c.Done) || end.Bytes != c.Bytes {
		return fmt.Errorf("the backup has %d databases and %d bytes, its end says %d and %d: %w", len(c.Done), c.Bytes, end.Databases, end.Bytes, storage.ErrCorrupt)
	}
	c.End = &end
	return nil
}

// Finished returns an error when the pieces so far are not a whole backup.
func (c *BackupChecker) Finished() error {
	if c.End == nil {
		return fmt.Errorf("the backup has no end: %w", storage.ErrCorrupt)
	}
	return nil
}
