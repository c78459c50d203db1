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
}

// checkDeadlock returns 40P01 when o is part of a cycle of waits. The first walk locks one shard at a time and may
// see edges that never existed together; what it finds is confirmed with everything locked (I4).
func (m *Manager) checkDeadlock(o *Owner) error {
	if m.cycle(o, true) == nil {
		return nil
	}
	for i := range m.shards {
		m.shards[i].mu.Lock()
	}
	m.heavyMu.Lock()
	path := m.cycle(o, false)
	if path != nil {
		o.leave() // so that no other member of the cycle finds it again
	}
	m.heavyMu.Unlock()
	for i := range m.shards {
		m.shards[i].mu.Unlock()
	}
	if path == nil {
		return nil
	}
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
		for _, e := range blockers(o, true) {
			if !slices.Contains(out, e.to.pid) {
				out = append(out, e.to.pid)
			}
		}
	}
	return out
}

// cycle looks for a path of waits from o back to o, depth first.
func (m *Manager) cycle(o *Owner, locking bool) []edge {
	seen := map[*Owner]bool{}
	var path []edge
	var visit func(x *Owner) bool
	visit = func(x *Owner) bool {
		for _, e := range blockers(x, locking) {
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

// blockers returns whom x waits for: conflicting holders, and conflicting waiters ahead of it.
func blockers(x *Owner, locking bool) []edge {
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
			out = append(out, edge{x, h.o, x.wait.mode, w.name})
		}
	}
	if w.heldBy(x) != 0 {
		return out
	}
	at := 0
	for at < len(w.queue) && w.queue[at] != x {
		at++
	}
	// Backwards up to the first that waits for everything x waits for: through it the others are reached, so a long
	// queue costs one edge a waiter.
	for i := at - 1; i >= 0; i-- {
		q := w.queue[i]
		if bad&bit(q.wait.mode) == 0 {
			continue
		}
		out = append(out, edge{x, q, x.wait.mode, w.name})
		if conflicts[q.wait.mode]&bad == bad {
			break
		}
	}
	return out
}
