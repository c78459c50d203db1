package engine

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"herd/storage"
	"herd/txlog"
)

// A node that lacks more than the log has left compares its state with another node's, range by range by the checksums in the inner nodes,
// and gets the rows of the ranges that differ. They go onto a fork, whose leaves are written as it grows: neither memory nor what is read
// here meanwhile is in the way, and nothing of it shows before all of it is there.

const (
	// fetchPiece and finePiece are about how many bytes the ranges have that are compared first, and those of one of them that differs.
	fetchPiece = 1 << 20
	finePiece  = 32 << 10
	// fetchAhead is how many questions are on their way.
	fetchAhead = 16
	// mergeRows is how many changes are merged at a time.
	mergeRows = 4096
)

// fetcher brings a fork of the database to another node's state.
type fetcher struct {
	db       *Database
	fork     *storage.Fork
	base     *storage.Snapshot // what the fork began with; pinned by it
	progress func(done, total int64)

	conn io.ReadWriter
	ask  chan []byte   // questions to be sent
	in   chan inFrame  // answers
	free chan []byte   // buffers of answers that were taken
	quit chan struct{} // closed at the end

	last        txlog.Seq
	meta        []byte
	trees       []fetchTree
	todo        []fetchRange // not asked yet
	asked       []fetchRange // in order
	done, total int64
	set         storage.ChangeSet
}

type inFrame struct {
	kind byte
	body []byte
	err  error
}

// fetchTree is a tree as the other node has it.
type fetchTree struct {
	id    storage.TreeID
	rows  int64
	sum   uint64
	bytes int64
}

// fetchRange is a range that differs.
type fetchRange struct {
	tree   *fetchTree
	lo, hi []byte
	rows   int64 // that the other node has
	here   bool  // this node has rows there
	cut    bool  // it is to be compared in pieces
	piece  uint32
}

// Fetch implements txlog.Applier. On error the state is the one before.
func (a *applier) Fetch(conn io.ReadWriteCloser, progress func(done, total int64)) error {
	db := a.db
	db.bigMu.Lock() // one fork at a time
	defer db.bigMu.Unlock()
	f := &fetcher{db: db, conn: conn, progress: progress, ask: make(chan []byte, fetchAhead), in: make(chan inFrame, 2),
		free: make(chan []byte, 4), quit: make(chan struct{})}
	err := db.exclusive(func() (err error) {
		if a.role != following {
			return errors.New("the node does not follow")
		}
		f.base = db.tip.Load()
		if f.fork, err = db.store.Fork(f.base); err == nil {
			db.catchUp = &catchUp{} // nothing is moved meanwhile
		}
		return err
	})
	if err != nil {
		conn.Close()
		return fmt.Errorf("fetch the state of database %q: %w", db.Name(), err)
	}
	err = f.run(conn)
	if err == nil {
		err = db.exclusive(func() error { return a.takeOver(f) })
	}
	if err == nil {
		db.kickCheckpoint()
		return nil
	}
	_ = db.exclusive(func() error {
		db.catchUp = nil
		f.fork.Abandon()
		return nil
	})
	f.fork.Discard()
	return fmt.Errorf("fetch the state of database %q: %w", db.Name(), err)
}

// takeOver makes the fork the state, as the leader of the queue.
func (a *applier) takeOver(f *fetcher) error {
	db := a.db
	if a.role != following {
		return errors.New("the node does not follow")
	}
	if err := f.verify(); err != nil {
		return err
	}
	if f.last < a.Applied() {
		return fmt.Errorf("the other node's ends with entry %d, this node's with %d", f.last, a.Applied())
	}
	db.sequences.reset()
	last, _, err := db.decodeMeta(f.meta)
	if err != nil {
		return err
	}
	next, err := f.fork.Finish(storage.Seq(last), db.tip.Load())
	if err != nil {
		return err
	}
	db.catchUp = nil
	clear(a.parts)
	a.partBytes = 0
	db.parts.clear()
	a.last, a.done, a.snap, db.last, a.epoch = last, last, next, last, db.epoch
	a.published(next)
	db.ckpt.seq.Store(0) // the manifest is of another state
	return nil
}

// verify compares the figures of every tree.
func (f *fetcher) verify() (err error) {
	i := 0
	f.fork.Trees(func(id storage.TreeID, rows int64, sum uint64) bool {
		if i == len(f.trees) || f.trees[i].id != id || f.trees[i].rows != rows || f.trees[i].sum != sum {
			err = fmt.Errorf("tree %d has %d rows with checksum %x afterwards, which is not what the other node has: %w", id, rows, sum, storage.ErrCorrupt)
			return false
		}
		i++
		return true
	})
	if err == nil && i < len(f.trees) {
		err = fmt.Errorf("tree %d is not there afterwards: %w", f.trees[i].id, storage.ErrCorrupt)
	}
	return err
}

// run compares and fetches. It closes the connection.
func (f *fetcher) run(conn io.Closer) error {
	var talk sync.WaitGroup
	talk.Go(f.write)
	talk.Go(f.read)
	err := f.state()
	close(f.quit)
	if e := conn.Close(); err == nil {
		err = e
	}
	talk.Wait()
	return err
}

// write is the goroutine that sends questions.
func (f *fetcher) write() {
	for {
		select {
		case q := <-f.ask:
			if _, err := f.conn.Write(q); err != nil {
				return // the reader fails as well
			}
		case <-f.quit:
			return
		}
	}
}

// read is the goroutine that takes answers.
func (f *fetcher) read() {
	r := bufio.NewReaderSize(f.conn, 64<<10)
	for {
		var x inFrame
		select {
		case x.body = <-f.free:
		default:
		}
		x.kind, x.body, x.err = readFrame(r, x.body)
		if x.err == io.EOF {
			x.err = io.ErrUnexpectedEOF
		}
		select {
		case f.in <- x:
		case <-f.quit:
			return
		}
		if x.err != nil {
			return
		}
	}
}

// next returns the next answer, which has to be of a kind.
func (f *fetcher) next(kind byte) (frameReader, error) {
	x := <-f.in
	if x.err != nil {
		return frameReader{}, x.err
	}
	if x.kind != kind {
		return frameReader{}, fmt.Errorf("an answer of kind %d, expected %d: %w", x.kind, kind, storage.ErrCorrupt)
	}
	return frameReader{rest: x.body}, nil
}

// taken gives an answer's buffer back.
func (f *fetcher) taken(body []byte) {
	select {
	case f.free <- body:
	default:
	}
}

func (f *fetcher) state() error {
	if err := f.head(); err != nil {
		return err
	}
	if err := f.compareTrees(); err != nil {
		return err
	}
	for len(f.todo)+len(f.asked) > 0 {
		for len(f.todo) > 0 && len(f.asked) < fetchAhead {
			r := f.todo[0]
			f.todo = f.todo[1:]
			f.ask <- r.question()
			f.asked = append(f.asked, r)
		}
		r := f.asked[0]
		f.asked = f.asked[1:]
		var err error
		if r.cut {
			err = f.compare(&r)
		} else {
			err = f.take(&r)
		}
		if err != nil {
			return err
		}
		f.progress(f.done, f.total)
	}
	return nil
}

func (f *fetcher) head() error {
	r, err := f.next(frameHead)
	if err != nil {
		return err
	}
	if v := r.u8(); v != frameVersion {
		return fmt.Errorf("the other node's state comes in version %d: %w", v, ErrNewerFormat)
	}
	f.last = txlog.Seq(r.u64())
	f.meta = r.take(int(r.u32()))
	for len(r.rest) > 0 {
		t := fetchTree{id: storage.TreeID(r.u32()), rows: int64(r.u64()), sum: r.u64(), bytes: int64(r.u64())}
		if n := len(f.trees); n > 0 && f.trees[n-1].id >= t.id {
			r.bad = true
		}
		f.trees = append(f.trees, t)
		f.total += t.bytes
	}
	if r.bad || len(f.meta) == 0 || f.meta[0] > metaVersion {
		return fmt.Errorf("the other node's state has no proper head: %w", storage.ErrCorrupt)
	}
	return nil
}

// compareTrees makes and drops trees and notes those that differ.
func (f *fetcher) compareTrees() error {
	set, i := storage.ChangeSet{}, 0
	f.base.Trees(func(id storage.TreeID, _ int64) bool {
		for ; i < len(f.trees) && f.trees[i].id < id; i++ {
			set = append(set, storage.Change{Tree: f.trees[i].id, Op: storage.OpCreateTree})
		}
		if i < len(f.trees) && f.trees[i].id == id {
			i++
		} else {
			set = append(set, storage.Change{Tree: id, Op: storage.OpDropTree})
		}
		return true
	})
	for ; i < len(f.trees); i++ {
		set = append(set, storage.Change{Tree: f.trees[i].id, Op: storage.OpCreateTree})
	}
	if err := f.fork.Merge(set); err != nil {
		return err
	}
	for i := range f.trees {
		t := &f.trees[i]
		if err := f.differs(fetchRange{tree: t, rows: t.rows, cut: true, piece: fetchPiece}, t.sum); err != nil {
			return err
		}
	}
	return nil
}

// differs notes a range to be asked for unless what is here has the same figures. One of which the other node has no rows is emptied.
func (f *fetcher) differs(r fetchRange, sum uint64) error {
	rows, here := int64(0), uint64(0)
	if f.base.TreeExists(r.tree.id) {
		var err error
		if rows, here, err = f.base.RangeSum(r.tree.id, r.lo, r.hi); err != nil {
			return err
		}
	}
	switch r.here = rows > 0; {
	case rows == r.rows && here == sum:
		f.count(&r)
		return nil
	case r.rows == 0:
		return f.take(&r)
	}
	f.todo = append(f.todo, r)
	return nil
}

// count notes that a range is done.
func (f *fetcher) count(r *fetchRange) {
	if r.tree.rows > 0 {
		f.done += int64(float64(r.tree.bytes) * float64(r.rows) / float64(r.tree.rows))
	}
}

func (r *fetchRange) question() []byte {
	le := binary.LittleEndian
	kind := byte(frameWant)
	if r.cut {
		kind = frameCut
	}
	q := le.AppendUint32(beginFrame(nil, kind), uint32(r.tree.id))
	if r.cut {
		q = le.AppendUint32(q, r.piece)
	}
	return endFrame(appendBound(appendBound(q, r.lo), r.hi))
}

// compare takes the figures of a range's pieces.
func (f *fetcher) compare(r *fetchRange) error {
	b, err := f.next(framePieces)
	if err != nil {
		return err
	}
	lo := r.lo
	for len(b.rest) > 0 {
		p := fetchRange{tree: r.tree, lo: lo, rows: int64(b.u64())}
		sum := b.u64()
		p.hi = bytes.Clone(b.bound())
		if b.bad {
			break
		}
		p.cut, p.piece = r.piece == fetchPiece, finePiece
		if p.cut && f.base.Count(r.tree.id) == 0 {
			p.cut = false
		}
		if err := f.differs(p, sum); err != nil {
			return err
		}
		lo = p.hi
	}
	if b.bad || !bytes.Equal(lo, r.hi) {
		return fmt.Errorf("pieces of a range in tree %d: %w", r.tree.id, storage.ErrCorrupt)
	}
	return nil
}

// take makes a range what the other node has; it was asked for unless there is nothing there.
func (f *fetcher) take(r *fetchRange) error {
	var own storage.Cursor
	if r.here {
		own.Init(storage.View{Snap: f.base}, r.tree.id, r.lo, r.hi, false)
		defer own.Close()
	}
	more := r.here && own.Next() // own has a row that is not dealt with
	for last := r.rows == 0; !last; {
		b, err := f.next(frameRows)
		if err != nil {
			return err
		}
		body := b.rest
		last = b.u8() == 1
		for len(b.rest) > 0 {
			key, val := b.bytes(), b.bytes()
			if b.bad {
				return fmt.Errorf("rows of tree %d: %w", r.tree.id, storage.ErrCorrupt)
			}
			for more && bytes.Compare(own.Key(), key) < 0 {
				f.drop(r, &own)
				more = own.Next()
			}
			same := more && bytes.Equal(own.Key(), key)
			if !same || !bytes.Equal(own.Value(), val) {
				f.set = append(f.set, storage.Change{Tree: r.tree.id, Op: storage.OpPut, Key: key, Val: val})
			}
			if same {
				more = own.Next()
			}
			if err := f.merge(mergeRows); err != nil {
				return err
			}
		}
		if err := f.merge(1); err != nil { // before the buffer is used again
			return err
		}
		f.taken(body)
	}
	for ; more; more = own.Next() {
		f.drop(r, &own)
		if err := f.merge(mergeRows); err != nil {
			return err
		}
	}
	if r.here && own.Err() != nil {
		return own.Err()
	}
	f.count(r)
	return f.merge(1)
}

// drop deletes a row that the other node does not have.
func (f *fetcher) drop(r *fetchRange, own *storage.Cursor) {
	f.set = append(f.set, storage.Change{Tree: r.tree.id, Op: storage.OpDelete, Key: bytes.Clone(own.Key())})
}

// merge merges what was gathered when it is enough, and waits while memory is short.
func (f *fetcher) merge(enough int) error {
	if len(f.set) < enough {
		return nil
	}
	err := f.fork.Merge(f.set)
	clear(f.set)
	f.set = f.set[:0]
	if err == nil {
		f.db.awaitMemory()
	}
	return err
}

// awaitMemory waits a while for eviction when the budget is used up.
func (db *Database) awaitMemory() {
	root, k := db.eng.o.Memory, &db.eng.keeper
	full := func() bool { return k.budget.Load() > 0 && root.Used() >= k.budget.Load()/100*95 }
	if !full() {
		return
	}
	db.stats.slowed.Add(1)
	db.kickCheckpoint()
	k.soon()
	end := time.NewTimer(slowPatience(root.Used(), root.Limit()))
	defer end.Stop()
	for full() {
		select {
		case <-k.nextFreed():
		case <-end.C:
			return
		}
	}
}
