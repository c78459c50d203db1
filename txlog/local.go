package txlog

import (
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"herd/internal/invariant"
	"herd/internal/vfs"
)

// SyncMode says when a commit counts as durable.
type SyncMode uint8

const (
	// SyncAlways syncs every group before it is acknowledged.
	SyncAlways SyncMode = iota
	// SyncEvery acknowledges written groups and syncs at an interval: a machine that loses power loses that much.
	SyncEvery
	// SyncNever leaves syncing to the operating system.
	SyncNever
)

// Options of a Local. Zero sizes mean the defaults.
type Options struct {
	FS  vfs.FS
	Dir string // exists
	// Mode and Interval: see SyncMode.
	Mode     SyncMode
	Interval time.Duration
	// SegmentBytes is the size of the first segment (default 4 MiB, at least 3 MiB); later ones double up to
	// SegmentBytesMax (default 64 MiB).
	SegmentBytes    int64
	SegmentBytesMax int64
	// KeepFreeBytes of the device are left alone when a segment is prepared: a checkpoint needs them to free the log.
	KeepFreeBytes uint64
	// CheckpointBytes returns what a checkpoint would write now: as much is left alone as well, and as much again as the new
	// segment will add to it. May be nil.
	CheckpointBytes func() int64
	// Archive says where the log is copied to.
	Archive ArchiveOptions
	// OnReplay is called once, before the first entry is handed out, with the stretch of the log that is read: from where to where
	// its files end, which is where the log ends or behind it. May be nil.
	OnReplay func(from, end Position)
	// OnDurable is called by the writer, in order, before anyone waiting for seq is told.
	OnDurable func(seq Seq)
	// Fatal is called once when a write or sync has failed. The process should stop.
	Fatal  func(error)
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.SegmentBytes == 0 {
		o.SegmentBytes = 4 << 20
	}
	o.SegmentBytes = max(o.SegmentBytes, 3<<20)
	if o.SegmentBytesMax == 0 {
		o.SegmentBytesMax = 64 << 20
	}
	o.SegmentBytesMax = max(o.SegmentBytesMax, o.SegmentBytes)
	if o.OnDurable == nil {
		o.OnDurable = func(Seq) {}
	}
	if o.Fatal == nil {
		o.Fatal = func(error) {}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Mode == SyncEvery && o.Interval <= 0 {
		o.Interval = time.Second
	}
	return o
}

const (
	labelWrite   = vfs.Label("log.write")
	labelSync    = vfs.Label("log.sync")
	labelSegment = vfs.Label("log.segment")
	labelRead    = vfs.Label("log.read")

	// shrinkReserve is the room, in bytes, that only Shrinking reservations may use.
	shrinkReserve = MaxEntry + slack
	// pendingMax is the size, in bytes, of the gathering group above which Reserve waits for the writer.
	pendingMax = 4 << 20
	// awaitedMax is its size above which the writer begins although somebody is to wait for each entry: a large group is
	// written while the rest of it is still made.
	awaitedMax = 64 << 10
	// An entry of more than largeEntry bytes waits already when pendingLarge gather, so that a commit behind the parts of a
	// large transaction waits for two short writes of the disk and not for two long ones.
	largeEntry   = 64 << 10
	pendingLarge = 1 << 20
	// spareMax is the size, in bytes, of a buffer that is always kept for the next group; a larger one goes after rareMax
	// groups in a row that did not need it.
	spareMax = 256 << 10
	rareMax  = 100
)

// Local is a log in segment files of one folder.
type Local struct {
	o Options

	durable atomic.Uint64 // Seq

	mu       sync.Mutex // guards what follows
	work     *sync.Cond // the writer waits here
	space    *sync.Cond // Reserve waits here for segments or for the writer
	buf      []byte     // groupHeader free bytes, then the encoded entries that gather
	ends     []int      // end of each entry in buf
	spare    []byte     // the buffer the writer has finished with
	spareEnd []int
	told     bool    // the writer goroutine knows that entries gather
	writing  bool    // somebody writes a group, and has the fields chunks and blocks
	chunks   []chunk // of the group that is being written
	rare     int     // groups since one needed a large buffer
	waiting  Waiters
	last     Seq   // last appended
	reserved int64 // cost of reservations not yet appended
	cur      *segment
	ready    []*segment // prepared, in order, behind cur
	old      []*segment // full, in order, before cur
	prevEnd  Position   // end of the last group laid out
	synced   Position   // everything below is on disk
	written  Position   // everything below is in the files
	alloc    allocState
	wantSync bool // SyncEvery: the interval has passed
	marks    marks
	err      error
	closed   bool

	allocMu sync.Mutex // serialises preparing and recycling segments
	writer  sync.WaitGroup
	allocWG sync.WaitGroup
	tick    chan struct{}
	arch    *archiver // nil: there is no archive
	blocks  blocks    // of the writer
	stats   Stats
}

// cost is the room an entry of n payload bytes takes at most: alone in its group.
func cost(n int) int64 { return int64(groupHeader + roundUp(entryHeader+n)) }

// OpenLocal opens the log in o.Dir, hands every entry at or behind from to replay in order, cuts the torn tail and
// makes the log ready for Append. replay gets the position of the entry's group; the payload is valid only during the
// call. from is a position that End returned, 0 for everything there is.
func OpenLocal(o Options, from Position, replay func(Position, Entry) error) (*Local, error) {
	o = o.withDefaults()
	l := &Local{o: o}
	l.work, l.space = sync.NewCond(&l.mu), sync.NewCond(&l.mu)
	l.buf = make([]byte, groupHeader, 64<<10)
	l.spare = make([]byte, groupHeader, 64<<10)
	if err := l.recover(from, replay); err != nil {
		l.closeFiles()
		return nil, fmt.Errorf("open log %s: %w", o.Dir, err)
	}
	l.durable.Store(uint64(l.last))
	l.cur.file, l.cur.opened = l.direct(l.cur.file), true
	if err := l.blocks.resume(l.cur); err != nil {
		l.closeFiles()
		return nil, fmt.Errorf("open log %s: %w", o.Dir, err)
	}
	l.writer.Add(1)
	go l.write()
	if o.Mode == SyncEvery {
		l.tick = make(chan struct{})
		l.writer.Add(1)
		go l.ticker()
	}
	l.startArchive()
	l.mu.Lock()
	l.prepareAhead()
	l.mu.Unlock()
	return l, nil
}

// available returns the room that is neither used, nor gathering, nor reserved. l.mu is held.
func (l *Local) available() int64 {
	room := max(0, l.cur.size-l.cur.off-slack)
	for _, s := range l.ready {
		room += s.size - segmentHeader - slack
	}
	return room - l.pendingCost() - l.reserved
}

func (l *Local) pendingCost() int64 {
	return int64(len(l.buf)-groupHeader) + int64(len(l.ends))*groupHeader
}

// Reserve implements Log.
func (l *Local) Reserve(bytes int, c Class) (Reservation, error) {
	if bytes > MaxEntry {
		return Reservation{}, fmt.Errorf("reserve %d bytes: %w", bytes, ErrTooLarge)
	}
	n := cost(bytes)
	keep := int64(shrinkReserve)
	if c == Shrinking {
		keep = 0
	}
	large, pending := bytes > largeEntry, pendingMax
	if large {
		pending = pendingLarge
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	tried := false
	for {
		if l.err != nil {
			return Reservation{}, l.err
		}
		room := l.available() - n
		if room < l.aheadMin() && !tried {
			l.prepareAhead()
		}
		// While more room is on its way large entries leave some to the others, who need not wait for it then.
		if room >= keep && (!large || tried || room >= l.aheadMin()/4) {
			if len(l.buf) < pending {
				l.reserved += n
				return Reservation{n}, nil
			}
			l.tellWriter() // of what nobody has waited for yet
			l.space.Wait()
			continue
		}
		if !l.alloc.running {
			if tried {
				return Reservation{}, l.alloc.failure()
			}
			l.prepareAhead()
		}
		gen := l.alloc.gen
		for l.alloc.gen == gen && l.err == nil {
			l.space.Wait()
		}
		tried = l.alloc.err != nil
	}
}

// aheadMin is the room below which another segment is prepared.
func (l *Local) aheadMin() int64 { return max(l.cur.size/2, 2*shrinkReserve) }

// Cancel implements Log.
func (l *Local) Cancel(r Reservation) {
	if r.cost == 0 {
		return
	}
	l.mu.Lock()
	l.reserved -= r.cost
	l.mu.Unlock()
}

// Append implements Log.
func (l *Local) Append(r Reservation, e Entry) error {
	l.mu.Lock()
	start, err := l.appendLocked(r, e)
	l.mu.Unlock()
	if start {
		l.work.Signal()
	}
	return err
}

// AppendAll implements Log: the entries gather in one buffer, which is published as one also when a segment ends in it.
func (l *Local) AppendAll(rs []Reservation, es []Entry) (err error) {
	wake := false
	l.mu.Lock()
	for i := range es {
		var start bool
		if start, err = l.appendLocked(rs[i], es[i]); err != nil {
			break
		}
		wake = wake || start
	}
	l.mu.Unlock()
	if wake {
		l.work.Signal()
	}
	return err
}

// appendLocked adds e to the gathering group and tells whether the writer has to be told. l.mu is held.
func (l *Local) appendLocked(r Reservation, e Entry) (start bool, err error) {
	invariant.Assert(cost(len(e.Payload)) <= r.cost, "txlog: an entry exceeds its reservation")
	if l.err != nil {
		return false, l.err
	}
	invariant.Assert(e.Seq > l.last, "txlog: entries out of order")
	l.reserved -= r.cost
	l.buf = appendEntry(l.buf, e)
	l.ends = append(l.ends, len(l.buf))
	l.last = e.Seq
	// Who waits for what gathers while nobody writes writes it himself (Wait). In the other modes nobody waits for the disk.
	start = !l.told && (!e.Awaited || l.o.Mode != SyncAlways || len(l.buf) > awaitedMax)
	l.told = l.told || start
	return start, nil
}

// Durable implements Log.
func (l *Local) Durable() Seq { return Seq(l.durable.Load()) }

// Barrier implements Log.
func (l *Local) Barrier() error {
	l.mu.Lock()
	last, err := l.last, l.err
	l.mu.Unlock()
	if err != nil {
		return err
	}
	return l.Wait(last, nil)
}

// End implements Log. Entries that still gather may land in a later segment, but never below the position returned.
func (l *Local) End() Position {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.prevEnd
}

// EndOf returns a position such that a replay from there sees every entry with a sequence number above seq, and
// perhaps some at or below it.
func (l *Local) EndOf(seq Seq) Position {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(l.marks.before(seq), l.oldest().base) // what was truncated held nothing above the last checkpoint's seq
}

// Last returns the sequence number of the last entry appended or found at Open.
func (l *Local) Last() Seq {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// Bytes returns the bytes between the oldest kept position and the end.
func (l *Local) Bytes() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int64(l.prevEnd - l.oldest().base)
}

// oldest returns the first segment that is kept. l.mu is held.
func (l *Local) oldest() *segment {
	if len(l.old) > 0 {
		return l.old[0]
	}
	return l.cur
}

// Close implements Log.
func (l *Local) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	l.work.Broadcast()
	l.mu.Unlock()
	if l.tick != nil {
		close(l.tick)
	}
	l.writer.Wait()
	l.allocWG.Wait()
	if l.arch != nil {
		l.arch.stop()
	}
	l.mu.Lock()
	err := l.err
	if l.err == nil {
		l.err = ErrClosed
	}
	l.space.Broadcast()
	l.mu.Unlock()
	l.closeFiles()
	return err
}

func (l *Local) closeFiles() {
	for _, list := range [][]*segment{l.old, {l.cur}, l.ready} {
		for _, s := range list {
			if s != nil && s.file != nil {
				s.file.Close()
			}
		}
	}
}

// fail records the first failure, wakes everybody and reports it.
func (l *Local) fail(err error) {
	l.mu.Lock()
	if l.err != nil {
		l.mu.Unlock()
		return
	}
	l.err = fmt.Errorf("%w: %w", ErrFailed, err)
	l.waiting.Release(l.last, nil)
	l.space.Broadcast()
	l.mu.Unlock()
	l.o.Logger.Error("transaction log failed", "dir", l.o.Dir, "error", err)
	l.o.Fatal(err)
}
