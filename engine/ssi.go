package engine

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"

	"herd/engine/lock"
	"herd/sql/sqlerr"
	"herd/storage"
)

// Serializable snapshot isolation. A transaction at this level notes the key ranges it reads and the keys it writes.
// An edge R -> W says that R read something in the state before W's concurrent write, so R comes before W in any serial
// order. A cycle needs two edges in a row, Tin -> Tpivot -> Tout, where Tout committed first of the three; when Tin is
// read only, also before Tin's snapshot. One transaction of each such structure is ended with 40001.
//
// Transactions at other levels take no part and pay nothing, as in PostgreSQL.

// rangesMax is how many ranges or keys of one tree a transaction notes before they become the whole tree.
const rangesMax = 256

// keyRange is [lo, hi); nil hi is unbounded.
type keyRange struct{ lo, hi []byte }

func (r *keyRange) has(key []byte) bool {
	return bytes.Compare(r.lo, key) <= 0 && (r.hi == nil || bytes.Compare(key, r.hi) < 0)
}

func (r *keyRange) meets(o *keyRange) bool {
	return (o.hi == nil || bytes.Compare(r.lo, o.hi) < 0) && (r.hi == nil || bytes.Compare(o.lo, r.hi) < 0)
}

// rangeSet is what a transaction read or wrote, by tree.
type rangeSet map[storage.TreeID][]keyRange

// add notes a range and tells whether it was new.
func (s rangeSet) add(t storage.TreeID, r keyRange) bool {
	list := s[t]
	for i := range list {
		l := &list[i]
		if bytes.Compare(l.lo, r.lo) <= 0 && (l.hi == nil || r.hi != nil && bytes.Compare(r.hi, l.hi) <= 0) {
			return false
		}
	}
	if len(list) >= rangesMax {
		s[t] = []keyRange{{}}
		return true
	}
	s[t] = append(list, keyRange{bytes.Clone(r.lo), bytes.Clone(r.hi)})
	return true
}

// exactly tells whether the one-key range r was noted as such: it was not lost in a coarser note.
func (s rangeSet) exactly(t storage.TreeID, r *keyRange) bool {
	return slices.ContainsFunc(s[t], func(l keyRange) bool { return bytes.Equal(l.lo, r.lo) && bytes.Equal(l.hi, r.hi) })
}

func (s rangeSet) meets(t storage.TreeID, r *keyRange) bool {
	list := s[t]
	for i := range list {
		if list[i].meets(r) {
			return true
		}
	}
	return false
}

// serialTx is a SERIALIZABLE transaction. Everything is guarded by ssi.mu.
type serialTx struct {
	own      *lock.Owner // whose transaction it is
	snap     storage.Seq
	readOnly bool // declared so
	reads    rangeSet
	writes   rangeSet
	in, out  map[*serialTx]struct{}
	gone     commit // the first of the forgotten transactions that were in out
	doomed   bool
	commit
}

// commit is a transaction's place among commits.
type commit struct {
	order uint64      // from the last check on; 0 = active
	seq   storage.Seq // snapshots from there on contain it. seqUnknown between check and append
}

const seqUnknown = storage.Seq(1<<64 - 1)

// ssi is the graph of one database.
type ssi struct {
	db    *Database
	mu    sync.Mutex
	n     atomic.Int64 // len(all)
	all   map[*serialTx]struct{}
	order uint64
	// safe: whom the sessions that wait for a safe snapshot wait for.
	safe map[*lock.Owner]map[*serialTx]struct{}
}

func (g *ssi) init(db *Database) {
	g.db, g.all, g.safe = db, map[*serialTx]struct{}{}, map[*lock.Owner]map[*serialTx]struct{}{}
}

func errSerial(reason string) error {
	return sqlerr.New(sqlerr.SerializationFailure, "could not serialize access due to read/write dependencies among transactions").
		WithDetail("Reason code: %s", reason).WithHint("The transaction might succeed if retried.")
}

// begin takes t's snapshot and registers t, in one step: no transaction that t is concurrent with may be forgotten in
// between. A read-only transaction without concurrent writers needs no checks.
func (g *ssi) begin(t *Tx) {
	g.mu.Lock()
	defer g.mu.Unlock()
	t.snap = t.s.pinStatement()
	if t.o.ReadOnly {
		for t.o.Deferrable && g.writersBeyond(t.snap.Seq()) && !t.s.intr.Pending() {
			if g.waitSafe(t) {
				return
			}
			t.snap = t.s.pinStatement()
		}
		if !g.writersBeyond(t.snap.Seq()) {
			return
		}
	}
	x := &serialTx{own: t.s.own, snap: t.snap.Seq(), readOnly: t.o.ReadOnly, reads: rangeSet{}, writes: rangeSet{},
		in: map[*serialTx]struct{}{}, out: map[*serialTx]struct{}{}}
	t.serial = x
	g.all[x] = struct{}{}
	g.n.Store(int64(len(g.all)))
}

// beyond tells whether x may still commit, or has committed, something that a snapshot does not have.
func (x *serialTx) beyond(snap storage.Seq) bool {
	return !x.readOnly && (x.order == 0 || x.seq > snap)
}

// writersBeyond tells whether any transaction is beyond the snapshot. One that is just being ordered, or whose commit is
// not durable yet, has ended for itself but not for a snapshot taken now.
func (g *ssi) writersBeyond(snap storage.Seq) bool {
	for x := range g.all {
		if x.beyond(snap) {
			return true
		}
	}
	return false
}

// waitSafe waits until the writers that are beyond t's snapshot now have ended, and tells whether t's snapshot turned out safe: none
// of them committed after reading the state before a transaction that t sees. g.mu is held, and released meanwhile.
func (g *ssi) waitSafe(t *Tx) bool {
	snap := t.snap.Seq()
	wait := map[*serialTx]struct{}{}
	for x := range g.all {
		if x.beyond(snap) {
			wait[x] = struct{}{}
		}
	}
	keep := &serialTx{snap: snap, readOnly: true} // keeps the others' ends in the graph
	g.all[keep] = struct{}{}
	g.safe[t.s.own] = wait
	defer func() {
		delete(g.safe, t.s.own)
		delete(g.all, keep)
	}()
	for len(wait) > 0 {
		g.mu.Unlock()
		err := t.s.intr.Sleep(1)
		g.mu.Lock()
		if err != nil {
			t.s.intr.Cancel() // the statement that waited reports it
			return false
		}
		for x := range wait {
			if _, known := g.all[x]; known && (x.order == 0 || x.seq == seqUnknown) {
				continue
			}
			for o := range x.out {
				if x.order != 0 && o.order != 0 && o.seq <= snap {
					return false
				}
			}
			if x.order != 0 && x.gone.order != 0 && x.gone.seq <= snap {
				return false
			}
			delete(wait, x)
		}
	}
	return true
}

// SafeSnapshotBlockers returns the process numbers of the transactions whose ends a READ ONLY DEFERRABLE transaction of
// process pid waits for.
func (db *Database) SafeSnapshotBlockers(pid int32) []int32 {
	g := &db.ssi
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []int32
	for own, wait := range g.safe {
		if own.PID() != pid {
			continue
		}
		for x := range wait {
			out = append(out, x.own.PID())
		}
	}
	return out
}

// NoteRead notes that [lo, hi) of tree was read; nil bounds are open. At levels below SERIALIZABLE it does nothing.
// 40001: the transaction cannot commit any more.
func (t *Tx) NoteRead(tree storage.TreeID, lo, hi []byte) error {
	if t.serial == nil {
		return nil
	}
	t.s.db.ssi.noteRead(t, tree, lo, hi)
	return t.s.db.ssi.doomedErr(t)
}

// noteRead notes that a range was read.
func (g *ssi) noteRead(t *Tx, tree storage.TreeID, lo, hi []byte) {
	x := t.serial
	g.mu.Lock()
	defer g.mu.Unlock()
	r := keyRange{lo, hi}
	if !x.reads.add(tree, r) {
		return
	}
	for w := range g.all {
		if w != x && g.concurrent(x, w) && w.writes.meets(tree, &r) {
			g.edge(x, w, x)
		}
	}
}

// NoteWrite notes a write that another's row stands in the way of, before that is reported as a violated constraint.
// Who read the key's absence and loses to a concurrent insert must learn that a retry may help: the error is 40001 then.
// At levels below SERIALIZABLE it does nothing.
func (t *Tx) NoteWrite(tree storage.TreeID, key []byte) error {
	if t.iso != Serializable {
		return nil
	}
	return t.serialWrite(tree, key)
}

// noteWrite notes that key of tree was written.
func (g *ssi) noteWrite(t *Tx, tree storage.TreeID, key []byte) {
	x := t.serial
	if x == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	r := keyRange{key, append(bytes.Clone(key), 0)}
	if !x.writes.add(tree, r) {
		return
	}
	for o := range g.all {
		if o != x && g.concurrent(x, o) && o.reads.meets(tree, &r) && !g.replaced(tree, &r, o, x) {
			g.edge(o, x, x)
		}
	}
}

// replaced tells whether the version of key r that reader read was replaced by a transaction that writer sees. Then the edge
// goes to that one only: the writers after it follow by the order of versions.
func (g *ssi) replaced(tree storage.TreeID, r *keyRange, reader, writer *serialTx) bool {
	for w := range g.all {
		if w != reader && w.order != 0 && w.seq > reader.snap && w.seq <= writer.snap && w.writes.exactly(tree, r) {
			return true
		}
	}
	return false
}

// concurrent tells whether neither of two transactions sees the other's commit in its snapshot.
func (g *ssi) concurrent(a, b *serialTx) bool {
	return (a.order == 0 || a.seq > b.snap) && (b.order == 0 || b.seq > a.snap)
}

// after tells whether x commits later than the committed transaction c.
func after(x, c *serialTx) bool { return x == c || x.order == 0 || x.order > c.order }

// dangerous tells whether in -> pivot -> out may be part of a cycle, out being committed.
func dangerous(in, pivot, out *serialTx) bool {
	return in == out && out.order != 0 && after(pivot, out) && mayReturn(in, out.commit) || dangerousTo(in, pivot, out.commit)
}

// dangerousTo is dangerous for an out that is known by its commit only, and is not in.
func dangerousTo(in, pivot *serialTx, out commit) bool {
	if out.order == 0 || pivot.order != 0 && pivot.order <= out.order || in.order != 0 && in.order <= out.order {
		return false
	}
	return mayReturn(in, out)
}

// mayReturn tells whether in may read or have read what out wrote: one that is read only has to have it in its snapshot.
func mayReturn(in *serialTx, out commit) bool {
	return !in.readOnly || out.seq <= in.snap || out.seq == seqUnknown
}

// edge adds r -> w and ends somebody when that completes a dangerous structure. acting is the one whose call this is.
func (g *ssi) edge(r, w, acting *serialTx) {
	if _, known := r.out[w]; known {
		return
	}
	r.out[w], w.in[r] = struct{}{}, struct{}{}
	for out := range w.out {
		if dangerous(r, w, out) {
			g.end(w, acting)
		}
	}
	if dangerousTo(r, w, w.gone) {
		g.end(w, acting)
	}
	for in := range r.in {
		if dangerous(in, r, w) {
			g.end(r, acting)
		}
	}
}

// end dooms the pivot if it can still fail, else the acting transaction.
func (g *ssi) end(pivot, acting *serialTx) {
	if pivot.order == 0 {
		pivot.doomed = true
	} else if acting.order == 0 {
		acting.doomed = true
	}
}

// precommit is the last check before t is ordered. The leader calls it.
func (g *ssi) precommit(t *Tx) error {
	x := t.serial
	if x == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if x.order != 0 {
		return nil // it was checked, and sent back for a block
	}
	if x.doomed {
		return errSerial("Canceled on identification as a pivot, during commit attempt.")
	}
	// t commits now. If it is the first of in -> pivot -> t to do so, the pivot must not commit.
	for pivot := range x.in {
		if pivot.order != 0 {
			continue
		}
		for in := range pivot.in {
			if in != x && (in.order != 0 || in.doomed || in.readOnly) {
				continue
			}
			pivot.doomed = true
		}
	}
	g.order++
	x.order, x.seq = g.order, seqUnknown
	if len(g.all) > 64 && g.order%32 == 0 {
		g.sweepLocked()
	}
	return nil
}

// committed records t's place in the order.
func (g *ssi) committed(t *Tx, seq storage.Seq) {
	if t.serial == nil {
		return
	}
	g.mu.Lock()
	t.serial.seq = seq
	g.mu.Unlock()
}

// readOnlyCommit ends a transaction that changed nothing.
func (g *ssi) readOnlyCommit(t *Tx) error {
	if t.serial == nil {
		return nil
	}
	if err := g.precommit(t); err != nil {
		return err
	}
	g.committed(t, g.db.tip.Load().Seq())
	return nil
}

// abort takes t out of the graph.
func (g *ssi) abort(t *Tx) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if t.serial.order == 0 || t.serial.seq == seqUnknown {
		g.remove(t.serial)
	}
}

func (g *ssi) remove(x *serialTx) {
	for o := range x.in {
		delete(o.out, x)
		if x.order != 0 && x.seq != seqUnknown && (o.gone.order == 0 || x.order < o.gone.order) {
			o.gone = x.commit // who reads o's old state next may still meet a cycle through x
		}
	}
	for o := range x.out {
		delete(o.in, x)
	}
	delete(g.all, x)
	g.n.Store(int64(len(g.all)))
}

// sweep forgets committed transactions that no active one is concurrent with.
func (g *ssi) sweep() {
	if g.n.Load() == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sweepLocked()
}

func (g *ssi) sweepLocked() {
	// A snapshot taken next may be as old as the durable one.
	low := g.db.durable.Load().Seq()
	for x := range g.all {
		if x.order == 0 {
			low = min(low, x.snap)
		}
	}
	for x := range g.all {
		if x.order != 0 && x.seq <= low {
			g.remove(x)
		}
	}
}

// doomedErr returns the error of a transaction that another one's action ended.
func (g *ssi) doomedErr(t *Tx) error {
	if t.serial == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if t.serial.doomed {
		return errSerial("Canceled on identification as a pivot, during conflict checking.")
	}
	return nil
}
