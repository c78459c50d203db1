package cluster

import (
	"fmt"
	"log/slog"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"herd/internal/vfs"
	"herd/txlog"
)

// Kinds of records in the segments of a Raft log.
const (
	recordPiece = txlog.Foreign     // of a Raft entry: pieceHeader, then bytes
	recordCut   = txlog.Foreign + 1 // u64: entries at and behind this index are void
	recordTrim  = txlog.Foreign + 2 // u64: entries below this index are forgotten
)

// A piece: flags u8, index u64, term u64, type u8, time of append in unix nanoseconds u64, length of extensions u32; the
// last three are in the first piece only.
const (
	pieceFirst = 1
	pieceLast  = 2

	pieceHeader = 1 + 8 + 8 + 1 + 8 + 4
	pieceBytes  = txlog.MaxEntry - pieceHeader
)

const (
	// recentBytes is how much of the log's end is kept in memory, for followers that are up to date.
	recentBytes = 4 << 20
	// markBytes is the distance of the positions that are remembered, in bytes of log.
	markBytes = 256 << 10
	// readAhead is how many bytes of old entries one read keeps, since the next one asked for is mostly the next there is.
	readAhead = 1 << 20
)

// logStore is a Raft log in the segments of a txlog.Local. It implements raft.LogStore and raft.MonotonicLogStore.
type logStore struct {
	local *txlog.Local
	early atomic.Pointer[func() bool] // whether StoreLogs need not wait for the disk, see early.go; nil: it waits

	writing sync.Mutex // one StoreLogs or DeleteRange at a time; guards record
	record  txlog.Seq  // last one written

	mu          sync.Mutex // guards what follows
	first, last uint64     // 0, 0 when empty
	writes      []unsynced // not known to be on disk, in order
	recent      []*raft.Log
	recentSize  int
	marks       []mark
	old         []*raft.Log // what the last read of segments found
}

// mark says that everything at or behind an index lies at or behind a position.
type mark struct {
	index uint64
	pos   txlog.Position
}

var (
	_ raft.LogStore          = (*logStore)(nil)
	_ raft.MonotonicLogStore = (*logStore)(nil)
)

type logStoreOptions struct {
	FS              vfs.FS
	Dir             string
	Sync            txlog.SyncMode
	SyncInterval    time.Duration
	SegmentBytes    int64
	SegmentBytesMax int64
	KeepFreeBytes   uint64
	Fatal           func(error)
	Logger          *slog.Logger
}

func openLogStore(o logStoreOptions) (*logStore, error) {
	s := &logStore{}
	var as assembler
	local, err := txlog.OpenLocal(txlog.Options{
		FS: o.FS, Dir: o.Dir, Mode: o.Sync, Interval: o.SyncInterval, SegmentBytes: o.SegmentBytes, SegmentBytesMax: o.SegmentBytesMax,
		KeepFreeBytes: o.KeepFreeBytes, Fatal: o.Fatal, Logger: o.Logger,
	}, 0, func(pos txlog.Position, e txlog.Entry) error {
		s.record = e.Seq
		switch e.Kind {
		case recordPiece:
			start := len(e.Payload) > 0 && e.Payload[0]&pieceFirst != 0
			l, err := as.piece(e.Payload)
			if err != nil {
				return err
			}
			if start {
				s.addMark(as.index, pos)
			}
			if l != nil {
				s.add(l)
			}
			return nil
		case recordCut, recordTrim:
			if len(e.Payload) != 8 {
				return fmt.Errorf("record %d of the Raft log has %d bytes", e.Seq, len(e.Payload))
			}
			if i := le.Uint64(e.Payload); e.Kind == recordCut {
				s.cut(i, pos)
			} else {
				s.trim(i)
			}
			return nil
		}
		return fmt.Errorf("record %d of the Raft log is of unknown kind %d: %w", e.Seq, e.Kind, txlog.ErrNewerFormat)
	})
	if err != nil {
		return nil, err
	}
	s.local = local
	return s, nil
}

// assembler puts pieces together.
type assembler struct {
	index uint64
	log   *raft.Log
}

// piece takes the next piece; the entry is returned with its last one. Pieces whose beginning was truncated are dropped.
func (a *assembler) piece(p []byte) (*raft.Log, error) {
	if len(p) < 9 {
		return nil, fmt.Errorf("a piece of a Raft entry has %d bytes", len(p))
	}
	a.index = le.Uint64(p[1:])
	if p[0]&pieceFirst != 0 {
		if len(p) < pieceHeader {
			return nil, fmt.Errorf("the first piece of Raft entry %d has %d bytes", a.index, len(p))
		}
		body, ext := p[pieceHeader:], int(le.Uint32(p[26:]))
		if ext > len(body) {
			return nil, fmt.Errorf("Raft entry %d has extensions of %d bytes in %d", a.index, ext, len(body))
		}
		a.log = &raft.Log{Index: a.index, Term: le.Uint64(p[9:]), Type: raft.LogType(p[17])}
		if n := int64(le.Uint64(p[18:])); n != 0 {
			a.log.AppendedAt = time.Unix(0, n)
		}
		if ext > 0 {
			a.log.Extensions = append([]byte(nil), body[:ext]...)
		}
		a.log.Data = append([]byte(nil), body[ext:]...)
	} else if a.log != nil {
		if a.log.Index != a.index {
			return nil, fmt.Errorf("a piece of Raft entry %d follows one of entry %d", a.index, a.log.Index)
		}
		a.log.Data = append(a.log.Data, p[9:]...)
	}
	if p[0]&pieceLast == 0 || a.log == nil {
		return nil, nil
	}
	l := a.log
	a.log = nil
	return l, nil
}

// pieces appends the records of l to es.
func pieces(es []txlog.Entry, l *raft.Log) ([]txlog.Entry, error) {
	if len(l.Extensions) > pieceBytes/2 {
		return nil, fmt.Errorf("Raft entry %d has extensions of %d bytes", l.Index, len(l.Extensions))
	}
	data := l.Data
	n := min(len(data), pieceBytes-len(l.Extensions))
	b := make([]byte, 0, pieceHeader+len(l.Extensions)+n)
	b = le.AppendUint64(append(b, pieceFirst), l.Index)
	b = append(le.AppendUint64(b, l.Term), byte(l.Type))
	at := int64(0)
	if !l.AppendedAt.IsZero() {
		at = l.AppendedAt.UnixNano()
	}
	b = le.AppendUint64(b, uint64(at))
	b = append(le.AppendUint32(b, uint32(len(l.Extensions))), l.Extensions...)
	b = append(b, data[:n]...)
	es = append(es, txlog.Entry{Kind: recordPiece, Payload: b})
	for data = data[n:]; len(data) > 0; data = data[n:] {
		n = min(len(data), pieceBytes)
		b := le.AppendUint64(make([]byte, 1, 9+n), l.Index)
		es = append(es, txlog.Entry{Kind: recordPiece, Payload: append(b, data[:n]...)})
	}
	es[len(es)-1].Payload[0] |= pieceLast
	return es, nil
}

// add takes l as the last entry. mu is held, or the store is being opened.
func (s *logStore) add(l *raft.Log) {
	if s.last != 0 && l.Index != s.last+1 { // what came before was forgotten, its records are not all gone
		s.first, s.last = 0, 0
		s.recent, s.recentSize = nil, 0
	}
	if s.first == 0 {
		s.first = l.Index
	}
	s.last = l.Index
	s.recent = append(s.recent, l)
	s.recentSize += logSize(l)
	drop, read := 0, s.syncedLocked() // others cannot be read from the segments yet
	for s.recentSize > recentBytes && drop < len(s.recent)-1 && s.recent[drop].Index <= read {
		s.recentSize -= logSize(s.recent[drop])
		s.recent[drop] = nil
		drop++
	}
	s.recent = s.recent[drop:]
}

func logSize(l *raft.Log) int { return len(l.Data) + len(l.Extensions) + 96 }

func (s *logStore) addMark(index uint64, pos txlog.Position) {
	if n := len(s.marks); n == 0 || index < s.marks[n-1].index || pos >= s.marks[n-1].pos+markBytes {
		s.marks = append(s.marks, mark{index, pos})
	}
}

// cut forgets entries at and behind i. What comes in their place lies at or behind pos.
func (s *logStore) cut(i uint64, pos txlog.Position) {
	s.old = nil
	for n := len(s.recent); n > 0 && s.recent[n-1].Index >= i; n-- {
		s.recentSize -= logSize(s.recent[n-1])
		s.recent = s.recent[:n-1]
	}
	for n := len(s.marks); n > 0 && s.marks[n-1].index >= i; n-- {
		s.marks = s.marks[:n-1]
	}
	s.marks = append(s.marks, mark{i, pos})
	if i <= s.first {
		s.first, s.last = 0, 0
	} else if s.last >= i {
		s.last = i - 1
	}
}

// trim forgets entries below i.
func (s *logStore) trim(i uint64) {
	s.old = nil
	if i > s.last {
		s.first, s.last = 0, 0
		s.recent, s.recentSize, s.marks = nil, 0, nil
		return
	}
	s.first = max(s.first, i)
	n := 0
	for n < len(s.recent) && s.recent[n].Index < i {
		s.recentSize -= logSize(s.recent[n])
		n++
	}
	s.recent = s.recent[n:]
	for len(s.marks) > 1 && s.marks[1].index <= i {
		s.marks = s.marks[1:]
	}
}

// IsMonotonic implements raft.MonotonicLogStore.
func (s *logStore) IsMonotonic() bool { return true }

// FirstIndex implements raft.LogStore.
func (s *logStore) FirstIndex() (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.first, nil
}

// LastIndex implements raft.LogStore.
func (s *logStore) LastIndex() (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last, nil
}

// GetLog implements raft.LogStore. Raft asks whether it has what another leader sends again, and says yes: then it has to be on disk.
func (s *logStore) GetLog(index uint64, to *raft.Log) error {
	if !s.mayBeEarly() {
		if err := s.waitSynced(index); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.first == 0 || index < s.first || index > s.last {
		return raft.ErrLogNotFound
	}
	for _, list := range [][]*raft.Log{s.recent, s.old} {
		if n := len(list); n > 0 && index >= list[0].Index && index <= list[n-1].Index {
			*to = *list[index-list[0].Index]
			return nil
		}
	}
	if err := s.readOld(index); err != nil {
		return err
	}
	*to = *s.old[0]
	return nil
}

// readOld reads index and what follows it from the segments into s.old.
func (s *logStore) readOld(index uint64) error {
	i := sort.Search(len(s.marks), func(i int) bool { return s.marks[i].index > index })
	if i == 0 {
		return raft.ErrLogNotFound
	}
	until := uint64(0) // entries from there on were replaced later
	if i < len(s.marks) {
		until = s.marks[i].index
	}
	s.old = nil
	size := 0
	var as assembler
	var failed error
	err := s.local.Read(s.marks[i-1].pos, func(_ txlog.Position, e txlog.Entry) bool {
		if e.Kind == recordCut && len(s.old) > 0 {
			return false
		}
		if e.Kind != recordPiece {
			return true
		}
		l, err := as.piece(e.Payload)
		if err != nil {
			failed = err
			return false
		}
		switch {
		case l == nil || len(s.old) == 0 && l.Index != index:
			return true
		case len(s.old) > 0 && (l.Index != s.old[len(s.old)-1].Index+1 || until != 0 && l.Index >= until):
			return false
		}
		s.old = append(s.old, l)
		size += logSize(l)
		return size < readAhead
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return fmt.Errorf("read Raft entry %d: %w", index, err)
	}
	if len(s.old) == 0 {
		return raft.ErrLogNotFound
	}
	return nil
}

// StoreLog implements raft.LogStore.
func (s *logStore) StoreLog(l *raft.Log) error { return s.StoreLogs([]*raft.Log{l}) }

// StoreLogs implements raft.LogStore: it returns when all are on disk, unless early.go says that it need not.
func (s *logStore) StoreLogs(logs []*raft.Log) (err error) {
	es := make([]txlog.Entry, 0, len(logs))
	for _, l := range logs {
		if es, err = pieces(es, l); err != nil {
			return err
		}
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	empty, last := s.first == 0, s.last
	s.mu.Unlock()
	if len(logs) == 0 || !empty && logs[0].Index != last+1 {
		return fmt.Errorf("store %d Raft entries behind entry %d: they do not follow it", len(logs), last)
	}
	early := s.mayBeEarly() && !slices.ContainsFunc(logs, func(l *raft.Log) bool { return l.Type != raft.LogCommand })
	pos, err := s.write(es, txlog.Normal, !early)
	if err != nil {
		return fmt.Errorf("store Raft entries %d to %d: %w", logs[0].Index, logs[len(logs)-1].Index, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addMark(logs[0].Index, pos)
	if early {
		s.writes = append(s.writes, unsynced{logs[0].Index, logs[len(logs)-1].Index, s.record})
	}
	for _, l := range logs {
		s.add(l)
	}
	return nil
}

// write appends records and, unless told otherwise, waits for the disk. They lie at or behind the position returned.
func (s *logStore) write(es []txlog.Entry, c txlog.Class, wait bool) (txlog.Position, error) {
	rooms := make([]txlog.Reservation, 0, len(es))
	for i := range es {
		r, err := s.local.Reserve(len(es[i].Payload), c)
		if err != nil {
			for _, r := range rooms {
				s.local.Cancel(r)
			}
			return 0, err
		}
		rooms = append(rooms, r)
		es[i].Seq, es[i].Prev, es[i].Awaited = s.record+txlog.Seq(i)+1, s.record+txlog.Seq(i), wait
	}
	before := s.record
	s.record += txlog.Seq(len(es))
	if err := s.local.AppendAll(rooms, es); err != nil {
		return 0, err
	}
	if wait {
		if err := s.local.Wait(s.record, nil); err != nil {
			return 0, err
		}
	}
	return s.local.EndOf(before), nil
}

// DeleteRange implements raft.LogStore: Raft takes entries away at the end when a leader has others, and at the beginning.
func (s *logStore) DeleteRange(low, high uint64) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	first, last := s.first, s.last
	s.mu.Unlock()
	if first == 0 || high < first || low > last {
		return nil
	}
	kind, index := recordTrim, high+1
	if high >= last && low > first {
		kind, index = recordCut, low
	} else if low > first {
		return fmt.Errorf("delete Raft entries %d to %d of %d to %d: neither the beginning nor the end", low, high, first, last)
	}
	pos, err := s.write([]txlog.Entry{{Kind: kind, Payload: le.AppendUint64(nil, index)}}, txlog.Shrinking, true)
	if err != nil {
		return fmt.Errorf("delete Raft entries %d to %d: %w", low, high, err)
	}
	s.mu.Lock()
	if kind == recordCut {
		s.cut(index, pos)
		s.mu.Unlock()
		return nil
	}
	s.trim(index)
	if s.first != 0 {
		pos = s.marks[0].pos
	}
	s.mu.Unlock()
	return s.local.Truncate(pos)
}

// indexBefore returns an index such that the entries at and behind it take at least that many bytes, or the first.
func (s *logStore) indexBefore(bytes int64) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	end := s.local.End()
	for i := len(s.marks) - 1; i >= 0; i-- {
		if int64(end-s.marks[i].pos) > bytes {
			return s.marks[i].index
		}
	}
	return s.first
}

func (s *logStore) close() error { return s.local.Close() }
