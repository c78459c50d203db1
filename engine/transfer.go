package engine

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"herd/storage"
	"herd/txlog"
)

// ErrOpenParts: the state cannot be given to another node while transactions have parts in the log that it would not contain.
var ErrOpenParts = errors.New("large transactions are open")

// piecesMost bounds the pieces that one range is cut into.
const piecesMost = 16 << 10

// server answers the questions of one Fetch from a pinned state.
type server struct {
	conn io.Writer
	snap *storage.Snapshot
	buf  []byte
}

// Serve implements txlog.Applier. ErrOpenParts: try again later.
func (a *applier) Serve(conn io.ReadWriter) error {
	db := a.db
	use := db.NewSession(SessionOptions{}) // keeps the database from being dropped
	defer use.Close()
	slot := db.store.NewSlot()
	defer slot.Close()
	s := server{conn: conn}
	last, meta, err := a.pinApplied(&s, slot)
	if err == nil {
		err = s.head(last, meta)
	}
	in := bufio.NewReader(conn)
	for buf := []byte(nil); err == nil; {
		var kind byte
		if kind, buf, err = readFrame(in, buf); err == io.EOF {
			return nil
		}
		if err == nil && use.intr.Pending() {
			return use.intr.Err()
		}
		if err == nil {
			err = s.answer(kind, frameReader{rest: buf})
		}
	}
	return fmt.Errorf("give another node the state of database %q: %w", db.Name(), err)
}

// pinApplied pins the state exactly behind an entry.
func (a *applier) pinApplied(s *server, slot *storage.ReaderSlot) (last txlog.Seq, meta []byte, err error) {
	db := a.db
	var epoch txlog.Epoch
	err = db.exclusive(func() error { // so that no entry comes in between
		if db.parts.waiting() {
			return ErrOpenParts
		}
		for s.snap = db.durable.Load(); !slot.Pin(s.snap); {
			s.snap = db.durable.Load()
		}
		last, epoch = a.Applied(), a.epoch
		return nil
	})
	if err != nil {
		return 0, nil, err
	}
	// Not as the leader: who draws a sequence's next value holds the sequence while its entry queues. What is recorded is at
	// least as far as the entry last.
	return last, db.encodeMeta(last, epoch, nil), nil
}

func (s *server) send(f []byte) error {
	s.buf = f
	_, err := s.conn.Write(endFrame(f))
	return err
}

func (s *server) head(last txlog.Seq, meta []byte) error {
	le := binary.LittleEndian
	f := append(beginFrame(s.buf, frameHead), frameVersion)
	f = le.AppendUint64(f, uint64(last))
	f = append(le.AppendUint32(f, uint32(len(meta))), meta...)
	s.snap.Trees(func(id storage.TreeID, rows int64) bool {
		f = le.AppendUint64(le.AppendUint32(f, uint32(id)), uint64(rows))
		f = le.AppendUint64(le.AppendUint64(f, s.snap.Checksum(id)), uint64(s.snap.TreeBytes(id)))
		return true
	})
	return s.send(f)
}

func (s *server) answer(kind byte, r frameReader) error {
	id, piece := storage.TreeID(r.u32()), uint32(0)
	if kind == frameCut {
		piece = r.u32()
	}
	lo, hi := r.bound(), r.bound()
	switch {
	case r.bad || len(r.rest) > 0:
		return fmt.Errorf("a question that is not one: %w", storage.ErrCorrupt)
	case kind == frameCut:
		return s.cut(id, int64(max(piece, 1)), lo, hi)
	case kind == frameWant:
		return s.rows(id, lo, hi)
	}
	return fmt.Errorf("a question of kind %d: %w", kind, ErrNewerFormat)
}

// cut answers where a range is to be cut, and what is in its pieces.
func (s *server) cut(id storage.TreeID, piece int64, lo, hi []byte) error {
	le := binary.LittleEndian
	rows, sum, err := s.snap.RangeSum(id, lo, hi)
	if err != nil {
		return err
	}
	parts := int64(1)
	if all := s.snap.Count(id); all > 0 {
		size := float64(s.snap.TreeBytes(id)) * float64(rows) / float64(all)
		parts = min(max(int64(size)/piece, 1), piecesMost)
	}
	keys, err := s.snap.Split(id, lo, hi, int(parts))
	if err != nil {
		return err
	}
	f := beginFrame(s.buf, framePieces)
	from, leftRows, leftSum := lo, rows, sum
	for _, k := range keys {
		n, c, err := s.snap.RangeSum(id, from, k)
		if err != nil {
			return err
		}
		f = appendBound(le.AppendUint64(le.AppendUint64(f, uint64(n)), c), k)
		from, leftRows, leftSum = k, leftRows-n, leftSum-c
	}
	f = appendBound(le.AppendUint64(le.AppendUint64(f, uint64(leftRows)), leftSum), hi)
	return s.send(f)
}

// rows answers with the rows of a range.
func (s *server) rows(id storage.TreeID, lo, hi []byte) error {
	var c storage.Cursor
	c.Init(storage.View{Snap: s.snap}, id, lo, hi, false)
	defer c.Close()
	f := append(beginFrame(s.buf, frameRows), 0)
	for c.Next() {
		f = appendBytes(appendBytes(f, c.Key()), c.Value())
		if len(f) < frameRowsBytes {
			continue
		}
		if err := s.send(f); err != nil {
			return err
		}
		f = append(beginFrame(f, frameRows), 0)
	}
	if err := c.Err(); err != nil {
		return fmt.Errorf("read tree %d: %w", id, err)
	}
	f[frameStart] = 1
	return s.send(f)
}
