package engine

import (
	"sort"
	"sync"
	"time"

	"herd/storage"
)

// horizons remember, once a second, which transactions had begun when an entry was the newest: snapshots are numbered by
// entries, and PostgreSQL's views show the age of a snapshot in transactions. It costs readers nothing.
type horizons struct {
	mu   sync.Mutex
	list []horizon // guarded by mu; ascending
}

type horizon struct {
	seq storage.Seq
	tx  uint64 // transactions below had begun
	at  time.Time
}

// note adds the present state and forgets what no snapshot is older than.
func (h *horizons) note(seq storage.Seq, tx uint64, oldest storage.Seq) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := len(h.list); n == 0 || h.list[n-1].seq < seq {
		h.list = append(h.list, horizon{seq, tx, time.Now()})
	}
	keep := sort.Search(len(h.list), func(i int) bool { return h.list[i].seq > oldest })
	if keep > 1 {
		h.list = append(h.list[:0], h.list[keep-1:]...)
	}
}

// at returns a transaction number such that the snapshot of seq may miss only transactions from there on.
func (h *horizons) at(seq storage.Seq) uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := sort.Search(len(h.list), func(i int) bool { return h.list[i].seq > seq })
	if i == 0 {
		return firstTransaction
	}
	return h.list[i-1].tx
}

// age returns how long, to a second, entries have been there that the snapshot of seq lacks.
func (h *horizons) age(seq storage.Seq) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := sort.Search(len(h.list), func(i int) bool { return h.list[i].seq > seq })
	if i == len(h.list) {
		return 0
	}
	return time.Since(h.list[i].at)
}

// oldestPinned is OldestSnapshot with what suspended portals keep.
func (db *Database) oldestPinned(oldest storage.Seq) storage.Seq {
	db.sessMu.Lock()
	defer db.sessMu.Unlock()
	for s := range db.sessions {
		if seq, ok := s.pinned.oldest(); ok {
			oldest = min(oldest, seq)
		}
	}
	return oldest
}

// Horizon returns the number of the first transaction that the oldest snapshot which the session keeps may not contain,
// as of a second ago; 0 when it keeps none. Any goroutine may ask.
func (s *Session) Horizon() uint64 {
	db := s.db
	if db == nil {
		return 0
	}
	seq, ok := s.pinned.oldest()
	if n := s.reading.Load(); n != 0 && (!ok || storage.Seq(n-1) < seq) {
		seq, ok = storage.Seq(n-1), true
	}
	if !ok {
		return 0
	}
	return db.horizons.at(seq)
}

// TransactionNumber returns the number of the session's transaction, 0 while it has none. Any goroutine may ask.
func (s *Session) TransactionNumber() uint64 { return s.own.TransactionNumber() }

// pinnedViews are the snapshots that suspended portals and cursors of a session keep.
type pinnedViews struct {
	mu   sync.Mutex
	list []pinnedView // guarded by mu
}

type pinnedView struct {
	seq  storage.Seq
	slot *storage.ReaderSlot
}

func (p *pinnedViews) add(seq storage.Seq, slot *storage.ReaderSlot) {
	p.mu.Lock()
	p.list = append(p.list, pinnedView{seq, slot})
	p.mu.Unlock()
}

func (p *pinnedViews) remove(slot *storage.ReaderSlot) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, v := range p.list {
		if v.slot == slot {
			last := len(p.list) - 1
			p.list[i], p.list[last] = p.list[last], pinnedView{}
			p.list = p.list[:last]
			return
		}
	}
}

func (p *pinnedViews) oldest() (seq storage.Seq, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, v := range p.list {
		if !ok || v.seq < seq {
			seq, ok = v.seq, true
		}
	}
	return seq, ok
}
