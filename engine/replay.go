package engine

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"herd/storage"
	"herd/txlog"
)

// A log is replayed by two: one reads, verifies and decodes entries, the other merges what was gathered and applies it. At
// most one gathered batch is applied while the next one is gathered.

// replayArena holds what entries decode to. What it has handed out stays as long as somebody uses it.
type replayArena struct {
	bytes   []byte            // the rest of a piece
	changes storage.ChangeSet // the same
	next    [2]int            // sizes of the next pieces
}

// decode returns the changes in body, which the caller uses again.
func (r *replayArena) decode(body []byte) (storage.ChangeSet, error) {
	const bytesMost, changesMost = 1 << 20, 1 << 14
	if len(body) > len(r.bytes) {
		r.next[0] = min(max(2*r.next[0], 1<<10), bytesMost)
		r.bytes = make([]byte, max(r.next[0], len(body)))
	}
	n := copy(r.bytes, body)
	own := r.bytes[:n:n]
	r.bytes = r.bytes[n:]
	cs, err := decodeChanges(r.changes[:0:cap(r.changes)], own)
	if len(cs) <= cap(r.changes) {
		r.changes = r.changes[len(cs):cap(r.changes)]
	} else { // it has a piece of its own
		r.next[1] = min(max(2*r.next[1], 16), changesMost)
		r.changes = make(storage.ChangeSet, 0, r.next[1])
	}
	return cs[:len(cs):len(cs)], err
}

// gathered is what entries change, in their order.
type gathered struct {
	sets    []storage.ChangeSet
	bytes   int // of sets
	changes int // in sets
	look    int // changes at which enough looks at memory
	arena   replayArena
}

func (g *gathered) add(size int, sets ...storage.ChangeSet) {
	g.sets = append(g.sets, sets...)
	g.bytes += size
	for _, s := range sets {
		g.changes += len(s)
	}
}

// enough tells whether what was gathered is to be applied: for its bytes, or because each change may copy a leaf and these would not fit into
// memory.
func (a *applier) enough() bool {
	if a.bytes > a.db.eng.o.replayBytes {
		return true
	}
	if a.role != replaying || a.changes < a.look {
		return false
	}
	const step = 256
	a.look = a.changes + step
	most := a.db.store.LeavesAtOnce()
	return most > 0 && a.changes > most
}

// turn has what was gathered applied, while a log is replayed beside the reading of more.
func (a *applier) turn() error {
	if a.role != replaying {
		return a.flush()
	}
	if err := a.drain(); err != nil {
		return err
	}
	if err := a.spill(); err != nil {
		return err
	}
	a.hand()
	return nil
}

// applied is a batch on its way into the store.
type applied struct {
	done chan struct{}
	at   place // where it leaves the state
	snap *storage.Snapshot
	err  error
}

// hand has what was gathered applied by another goroutine.
func (a *applier) hand() {
	if len(a.sets) == 0 {
		return
	}
	w := &applied{done: make(chan struct{}), at: a.here()}
	from, sets := a.snap, a.sets
	a.gathered = gathered{}
	a.under = w
	go func() { // ends with drain
		defer close(w.done)
		w.snap, w.err = a.merge(from, w.at.last, sets)
	}()
}

// drain waits for the batch that is being applied.
func (a *applier) drain() error {
	w := a.under
	if w == nil {
		return nil
	}
	<-w.done
	a.under = nil
	if w.err != nil {
		return w.err
	}
	a.snap, a.at = w.snap, w.at
	a.published(w.snap)
	return nil
}

// flush applies what was gathered.
func (a *applier) flush() error {
	if err := a.drain(); err != nil || len(a.sets) == 0 {
		return err
	}
	s, err := a.merge(a.snap, a.last, a.sets)
	if err != nil {
		return err
	}
	a.snap, a.gathered = s, gathered{}
	a.published(s)
	if a.role == replaying {
		a.at = a.here()
	}
	return nil
}

// merge applies sets up to entry seq: the last change of each key, sorted, tree by tree on all processors.
func (a *applier) merge(from *storage.Snapshot, seq txlog.Seq, sets []storage.ChangeSet) (s *storage.Snapshot, err error) {
	workers := runtime.GOMAXPROCS(0)
	cs := netChanges(sets, workers)
	if most := a.db.store.LeavesAtOnce(); a.role == replaying && most > 0 {
		s, err = a.applySteps(from, storage.Seq(seq), cs, max(most/8, 64))
	} else {
		s, err = a.db.store.ApplySorted(from, storage.Seq(seq), cs, workers)
	}
	if err != nil {
		return nil, fmt.Errorf("replay up to entry %d: %w", seq, err)
	}
	return s, nil
}

// stepReaders is how many blocks are read at a time for the step that comes next.
const stepReaders = 16

// applySteps applies step by step, n changes each, what changes blocks that have to be read first. Those of the next step are read, several at
// a time, while one is applied.
func (a *applier) applySteps(s *storage.Snapshot, seq storage.Seq, cs storage.ChangeSet, n int) (_ *storage.Snapshot, err error) {
	st, workers := a.db.store, runtime.GOMAXPROCS(0)
	slot := st.NewSlot()
	defer slot.Close()
	st.Prefetch(s, cs[:min(n, len(cs))], stepReaders)
	for len(cs) > 0 {
		this, rest := cs[:min(n, len(cs))], cs[min(n, len(cs)):]
		ahead, base := make(chan struct{}), s
		slot.Pin(base) // the newest: that never fails
		go func() {    // ends with the step
			defer close(ahead)
			st.Prefetch(base, rest[:min(n, len(rest))], stepReaders)
		}()
		s, err = st.ApplySorted(base, seq, this, workers)
		<-ahead
		if err != nil {
			return nil, err
		}
		cs = rest
	}
	return s, nil
}

// netTree is the changes of one tree, in their order in the log.
type netTree struct {
	id      storage.TreeID
	list    storage.ChangeSet
	made    bool
	dropped bool
}

// netChanges merges change sets in order into one, sorted: the last change of each key, nothing of trees that come and go,
// of dropped trees only the drop. It sorts several trees at a time.
func netChanges(sets []storage.ChangeSet, workers int) storage.ChangeSet {
	trees := byTree(sets)
	var all sync.WaitGroup
	free := make(chan struct{}, max(workers, 1))
	n := 0
	for _, t := range trees {
		free <- struct{}{}
		all.Go(func() {
			t.settle()
			<-free
		})
	}
	all.Wait()
	for _, t := range trees {
		n += len(t.list)
	}
	out := make(storage.ChangeSet, 0, n)
	for _, t := range trees {
		out = append(out, t.list...)
	}
	return out
}

// byTree parts changes by tree, ascending.
func byTree(sets []storage.ChangeSet) []*netTree {
	count := map[storage.TreeID]int{}
	for _, s := range sets {
		for i := 0; i < len(s); {
			j := i + 1
			for j < len(s) && s[j].Tree == s[i].Tree {
				j++
			}
			count[s[i].Tree] += j - i
			i = j
		}
	}
	trees := map[storage.TreeID]*netTree{}
	list := make([]*netTree, 0, len(count))
	for id, n := range count {
		t := &netTree{id: id, list: make(storage.ChangeSet, 0, n)}
		trees[id] = t
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b *netTree) int { return cmp.Compare(a.id, b.id) })
	for _, s := range sets {
		var t *netTree
		for i := range s {
			if t == nil || t.id != s[i].Tree {
				t = trees[s[i].Tree]
			}
			switch s[i].Op {
			case storage.OpCreateTree:
				t.made = true
			case storage.OpDropTree:
				t.dropped = true
			}
			t.list = append(t.list, s[i])
		}
	}
	return list
}

// settle leaves what the tree's changes come to.
func (t *netTree) settle() {
	id := t.id
	switch {
	case t.made && t.dropped:
		t.list = nil
	case t.dropped:
		t.list = storage.ChangeSet{{Tree: id, Op: storage.OpDropTree}}
	case t.made:
		rows := slices.DeleteFunc(t.list, func(c storage.Change) bool { return c.Op == storage.OpCreateTree })
		t.list = slices.Insert(lastOfKeys(rows), 0, storage.Change{Tree: id, Op: storage.OpCreateTree})
	default:
		t.list = lastOfKeys(t.list)
	}
}

// keyHead is how a change is sorted: by the bytes of its key behind what all keys begin with, and then by its place.
type keyHead struct {
	head  uint64
	place uint32
}

// lastOfKeys returns the last change of each key, sorted by key. It uses cs.
func lastOfKeys(cs storage.ChangeSet) storage.ChangeSet {
	if len(cs) < 2 {
		return cs
	}
	common := commonPrefix(cs)
	heads := make([]keyHead, len(cs))
	for i := range cs {
		heads[i] = keyHead{head8(cs[i].Key[common:]), uint32(i)}
	}
	slices.SortFunc(heads, func(a, b keyHead) int {
		if a.head != b.head {
			return cmp.Compare(a.head, b.head)
		}
		// Equal heads say nothing about keys that go on behind them, nor of zero bytes against the end of a key.
		if c := bytes.Compare(cs[a.place].Key[common:], cs[b.place].Key[common:]); c != 0 {
			return c
		}
		return cmp.Compare(a.place, b.place)
	})
	out := make(storage.ChangeSet, 0, len(cs))
	for i := range heads {
		c := &cs[heads[i].place]
		if i+1 < len(heads) && heads[i+1].head == heads[i].head && bytes.Equal(cs[heads[i+1].place].Key, c.Key) {
			continue
		}
		out = append(out, *c)
	}
	return out
}

// commonPrefix returns the length of what all keys begin with.
func commonPrefix(cs storage.ChangeSet) int {
	first := cs[0].Key
	n := len(first)
	for i := range cs {
		k := cs[i].Key
		n = min(n, len(k))
		if bytes.Equal(k[:n], first[:n]) {
			continue
		}
		m := 0
		for m < n && k[m] == first[m] {
			m++
		}
		n = m
	}
	return n
}

// head8 returns the first eight bytes of a key as a number that sorts as they do.
func head8(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var b [8]byte
	copy(b[:], key)
	return binary.BigEndian.Uint64(b[:])
}

// replayReport is how often the progress of a replay is told.
const replayReport = 2 * time.Second

// replayProgress tells how far a replay is.
type replayProgress struct {
	from, end txlog.Position
	began     time.Time
	next      time.Time
	look      txlog.Position // no look at the clock before it
}

// replayFound is called with the stretch of the log that is to be replayed, the unused end of its last file included.
func (db *Database) replayFound(from, end txlog.Position) {
	now := time.Now()
	db.applier.progress = replayProgress{from: from, end: end, began: now, next: now.Add(db.eng.o.replayReport)}
}

// report tells how far the replay is when it is time again.
func (a *applier) report(pos txlog.Position) {
	const step = 1 << 20
	p := &a.progress
	if a.role != replaying || pos < p.look || p.end == 0 {
		return
	}
	p.look = pos + step
	now := time.Now()
	if now.Before(p.next) {
		return
	}
	p.next = now.Add(a.db.eng.o.replayReport)
	a.db.eng.o.Logger.Info("replaying the log", "database", a.db.Name(), "done_bytes", uint64(pos-p.from), "of_at_most", uint64(p.end-p.from),
		"percent", int(100*(pos-p.from)/max(p.end-p.from, 1)), "entries", a.entries, "seconds", now.Sub(p.began).Round(100*time.Millisecond).Seconds())
}

// reportEnd tells what was replayed.
func (a *applier) reportEnd() {
	if a.entries == 0 {
		return
	}
	p, db := &a.progress, a.db
	size, took := int64(db.log.End())-int64(p.from), time.Since(p.began)
	db.eng.o.Logger.Info("replayed the log", "database", db.Name(), "entries", a.entries, "last", db.last, "bytes", size,
		"seconds", took.Round(time.Millisecond).Seconds(), "mib_per_second", int64(float64(size)/(1<<20)/max(took.Seconds(), 1e-9)))
}
