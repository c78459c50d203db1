package lock

import (
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"herd/sql/sqlerr"
)

// class is the kind of thing a name names.
type class uint8

const (
	classRow class = iota
	classTable
	classAdvisory    // one bigint
	classAdvisoryTwo // two ints
	classTree        // all rows of a tree
	classTransaction // a transaction that is waited for, by its owner's number
)

// name identifies a wide lock.
type name struct {
	class class
	id    uint64
}

type holder struct {
	o    *Owner
	held mask
}

// strongest returns the greatest mode of a set; for rows that is the one that counts.
func (m mask) strongest() Mode {
	if m == 0 {
		return None
	}
	return Mode(bits.Len16(uint16(m)) - 1)
}

// wide is a lock with more than one party.
type wide struct {
	mu      *sync.Mutex // of its shard, or Manager.heavyMu
	name    name
	tree    uint32 // rows: for display
	key     []byte // rows: as the first that waits named it
	holders []holder
	queue   []*Owner // by Owner.wait
}

// waitState is what an owner waits for: at most one lock.
type waitState struct {
	on      atomic.Pointer[wide]
	mode    Mode // guarded by on.mu
	granted atomic.Bool
	since   int64
}

func (w *wide) idle() bool { return len(w.holders) == 0 && len(w.queue) == 0 }

func (w *wide) heldBy(o *Owner) mask {
	for i := range w.holders {
		if w.holders[i].o == o {
			return w.holders[i].held
		}
	}
	return 0
}

// add gives o modes more.
func (w *wide) add(o *Owner, m mask) {
	for i := range w.holders {
		if w.holders[i].o == o {
			w.holders[i].held |= m
			return
		}
	}
	w.holders = append(w.holders, holder{o, m})
}

func (w *wide) replace(o *Owner, m mask) {
	for i := range w.holders {
		if w.holders[i].o == o {
			w.holders[i].held = m
			return
		}
	}
}

func (w *wide) drop(o *Owner) {
	w.holders = slices.DeleteFunc(w.holders, func(h holder) bool { return h.o == o })
}

// free tells whether no other holder conflicts with o having m.
func (w *wide) free(o *Owner, m Mode) bool {
	for i := range w.holders {
		if h := &w.holders[i]; h.o != o && h.held&conflicts[m] != 0 {
			return false
		}
	}
	return true
}

// join decides about a request of o (I2): granted at once, or the place in the queue that it has to take. rival is a
// waiter that waits for o and that o would have to wait for: a deadlock before anybody has waited.
//
// A row goes to whoever conflicts with no holder, as in PostgreSQL: who shares it with its holders does not queue behind
// one that wants it alone. Its holders wait ahead of all others, so that a stronger lock on the same row does not
// deadlock with those that wait for it anyway. Other locks are first come, first served, except that a holder goes ahead
// of the first that waits for it.
func (w *wide) join(o *Owner, m Mode) (at int, now bool, rival *Owner) {
	held, free := w.heldBy(o), w.free(o, m)
	if w.name.class == classRow {
		if held != 0 {
			return 0, free, nil
		}
		return len(w.queue), free, nil
	}
	var ahead mask
	for i, q := range w.queue {
		if held&conflicts[q.wait.mode] != 0 {
			if w.heldBy(q)&conflicts[m] != 0 {
				return i, false, q
			}
			return i, free && conflicts[m]&ahead == 0, nil
		}
		ahead |= bit(q.wait.mode)
	}
	return len(w.queue), free && conflicts[m]&ahead == 0, nil
}

// setMode records a grant. A row is held in one mode, the strongest; other locks in a set of modes.
func (w *wide) setMode(o *Owner, m Mode) {
	if w.name.class == classRow {
		if w.heldBy(o) != 0 {
			w.replace(o, bit(m))
			return
		}
	}
	w.add(o, bit(m))
}

// grant gives the lock to waiters, front first, as far as rules I1 and I2 allow. w.mu is held.
func (w *wide) grant() {
	var ahead mask // modes of waiters that stay
	keep := w.queue[:0]
	for _, q := range w.queue {
		m := q.wait.mode
		if w.free(q, m) && conflicts[m]&ahead == 0 {
			w.setMode(q, m)
			q.wait.on.Store(nil)
			q.wait.granted.Store(true)
			q.intr.poke()
			continue
		}
		ahead |= bit(m)
		keep = append(keep, q)
	}
	clear(w.queue[len(keep):])
	w.queue = keep
}

// acquire gets w in mode m. It is called with w.mu held and returns without it.
func (o *Owner) acquire(w *wide, m Mode, p Policy, what string) (granted, waited bool, err error) {
	at, now, rival := w.join(o, m)
	if now {
		w.setMode(o, m)
		w.mu.Unlock()
		return true, false, nil
	}
	if p != Wait {
		o.m.forget(w)
		w.mu.Unlock()
		if p == SkipLocked {
			return false, false, nil
		}
		return false, false, sqlerr.New(sqlerr.LockNotAvailable, "could not obtain lock on "+what)
	}
	if rival != nil {
		path := []edge{{o, rival, m, w.name, false}, {rival, o, rival.wait.mode, w.name, false}}
		w.mu.Unlock()
		return false, false, o.m.deadlock(path)
	}
	o.wait.mode, o.wait.since = m, Now()
	o.wait.granted.Store(false)
	o.wait.on.Store(w)
	w.queue = slices.Insert(w.queue, at, o)
	w.mu.Unlock()
	o.m.Waits.Add(1)
	o.waits++
	err = o.sleep(w)
	return err == nil, true, err
}

// forget removes a wide lock nobody has or wants. w.mu is held. A waiter that gave up may come late: the lock was then
// forgotten already, and its name may belong to a newer one.
func (m *Manager) forget(w *wide) {
	if !w.idle() {
		return
	}
	if w.name.class != classRow {
		if m.heavy[w.name] == w {
			delete(m.heavy, w.name)
		}
		return
	}
	s := m.shardOf(w.name.id)
	if s.wide[w.name.id] != w {
		return
	}
	delete(s.wide, w.name.id)
	if i := s.find(w.name.id); i >= 0 {
		s.remove(i)
	}
}

// sleep waits until o is granted w, or an error ends the wait.
func (o *Owner) sleep(w *wide) error {
	i := o.intr
	i.Clear(LockTimeout | deadlockCheck)
	if o.Timeout > 0 {
		i.SetDeadline(LockTimeout, o.wait.since+o.Timeout)
	}
	i.SetDeadline(deadlockCheck, o.wait.since+o.DeadlockDelay)
	defer i.ClearDeadline(LockTimeout | deadlockCheck)
	for {
		if o.wait.granted.Load() {
			return nil
		}
		var err error
		switch {
		case i.Pending():
			if o.giveUp(w) {
				return i.Err()
			}
			return nil // granted meanwhile; the statement finds the interrupt, which is not consumed
		case i.Has(LockTimeout):
			err = sqlerr.New(sqlerr.LockNotAvailable, "canceling statement due to lock timeout")
		case i.Has(deadlockCheck):
			i.Clear(deadlockCheck)
			err = o.m.checkDeadlock(o)
		}
		if err != nil {
			if o.giveUp(w) {
				return err
			}
			return nil // granted meanwhile
		}
		<-i.wake
	}
}

// giveUp leaves the queue; false when the lock was granted first.
func (o *Owner) giveUp(w *wide) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if o.wait.granted.Load() {
		return false
	}
	o.leave()
	o.m.forget(w)
	return true
}

// leave takes o out of the queue it is in, if any. The lock's mutex is held.
func (o *Owner) leave() {
	w := o.wait.on.Load()
	if w == nil {
		return
	}
	w.queue = slices.DeleteFunc(w.queue, func(q *Owner) bool { return q == o })
	o.wait.on.Store(nil)
	w.grant()
}
