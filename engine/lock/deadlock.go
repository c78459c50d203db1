package lock

import (
	"fmt"
	"slices"
	"strings"

	"herd/sql/sqlerr"
)

// edge says that an owner waits for another.
type edge struct {
	from, to *Owner
	mode     Mode
	name     name
	soft     bool // to is only ahead in the queue
}

// checkDeadlock returns 40P01 when o is part of a cycle of waits that no other order of the queues undoes. The first
// walk locks one shard at a time and may see edges that never existed together; what it finds is confirmed with
// everything locked (I4).
func (m *Manager) checkDeadlock(o *Owner) error {
	if m.cycle(o, true, nil) == nil {
		return nil
	}
	for i := range m.shards {
		m.shards[i].mu.Lock()
	}
	m.heavyMu.Lock()
	path := m.cycle(o, false, nil)
	if path != nil {
		if orders := m.reorder(o); orders != nil {
			orders.apply()
			path = nil
		} else {
			o.leave() // so that no other member of the cycle finds it again
		}
	}
	m.heavyMu.Unlock()
	for i := range m.shards {
		m.shards[i].mu.Unlock()
	}
	if path == nil {
		return nil
	}
	return m.deadlock(path)
}

// deadlock counts a cycle of waits and makes the error of it.
func (m *Manager) deadlock(path []edge) error {
	m.Deadlocks.Add(1)
	var b strings.Builder
	for i, e := range path {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "Process %d waits for %s; blocked by process %d.", e.from.pid, e.what(m.Database), e.to.pid)
	}
	return sqlerr.New(sqlerr.DeadlockDetected, "deadlock detected").
		WithDetail("%s", b.String()).WithHint("See server log for query details.")
}

// what names the lock in PostgreSQL's words. Who waits for a row waits for the transaction that has it, or that will
// have it first.
func (e *edge) what(database uint32) string {
	switch e.name.class {
	case classTable:
		return fmt.Sprintf("%s on relation %d of database %d", e.mode, e.name.id, database)
	case classTransaction:
		return fmt.Sprintf("ShareLock on virtual transaction %d/%d", e.to.pid, e.to.ended.Load()+1)
	case classAdvisory:
		return fmt.Sprintf("%s on advisory lock [%d,%d,%d,1]", e.mode, database, e.name.id>>32, uint32(e.name.id))
	case classAdvisoryTwo:
		return fmt.Sprintf("%s on advisory lock [%d,%d,%d,2]", e.mode, database, e.name.id>>32, uint32(e.name.id))
	}
	return fmt.Sprintf("ShareLock on transaction %d", uint32(e.to.xid.Load()))
}

// Blockers returns the process numbers of those that the process waits for, directly.
func (m *Manager) Blockers(pid int32) []int32 {
	m.ownersMu.RLock()
	owners := slices.Clone(m.owners)
	m.ownersMu.RUnlock()
	var out []int32
	for _, o := range owners {
		if o == nil || o.pid != pid {
			continue
		}
		for _, e := range blockers(o, true, nil) {
			if !slices.Contains(out, e.to.pid) {
				out = append(out, e.to.pid)
			}
		}
	}
	return out
}

// cycle looks for a path of waits from o back to o, depth first. orders, which may be nil, are queues to suppose.
func (m *Manager) cycle(o *Owner, locking bool, orders queues) []edge {
	seen := map[*Owner]bool{}
	var path []edge
	var visit func(x *Owner) bool
	visit = func(x *Owner) bool {
		for _, e := range blockers(x, locking, orders) {
			if e.to == o {
				path = append(path, e)
				return true
			}
			if seen[e.to] {
				continue
			}
			seen[e.to] = true
			path = append(path, e)
			if visit(e.to) {
				return true
			}
			path = path[:len(path)-1]
		}
		return false
	}
	if visit(o) {
		return path
	}
	return nil
}

// blockers returns whom x waits for: conflicting holders, and conflicting waiters ahead of it, in the queue that orders
// has for the lock or else in the lock's own.
func blockers(x *Owner, locking bool, orders queues) []edge {
	w := x.wait.on.Load()
	if w == nil {
		return nil
	}
	if locking {
		w.mu.Lock()
		defer w.mu.Unlock()
		if x.wait.on.Load() != w {
			return nil
		}
	}
	bad := conflicts[x.wait.mode]
	var out []edge
	for _, h := range w.holders {
		if h.o != x && h.held&bad != 0 {
			out = append(out, edge{x, h.o, x.wait.mode, w.name, false})
		}
	}
	queue, supposed := orders[w]
	if !supposed {
		queue = w.queue
	}
	at := 0
	for at < len(queue) && queue[at] != x {
		at++
	}
	// Backwards up to the first that waits for everything x waits for: through it the others are reached, so a long
	// queue costs one edge a waiter.
	for i := at - 1; i >= 0; i-- {
		q := queue[i]
		if bad&bit(q.wait.mode) == 0 {
			continue
		}
		// Who holds the lock in a conflicting mode, too, is in the way in any order of the queue.
		out = append(out, edge{x, q, x.wait.mode, w.name, w.heldBy(q)&bad == 0})
		if conflicts[q.wait.mode]&bad == bad {
			break
		}
	}
	return out
}
