package lock

import (
	"fmt"
	"strings"

	"herd/sql/sqlerr"
)

// edge says that an owner waits for another.
type edge struct {
	from, to *Owner
	mode     Mode
	name     name
	tree     uint32
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
		fmt.Fprintf(&b, "Process %d waits for %s on %s; blocked by process %d.", e.from.pid, e.mode, e.what(), e.to.pid)
	}
	return sqlerr.New(sqlerr.DeadlockDetected, "deadlock detected").
		WithDetail("%s", b.String()).WithHint("See server log for query details.")
}

func (e *edge) what() string {
	switch e.name.class {
	case classTable:
		return fmt.Sprintf("relation %d", e.name.id)
	case classTransaction:
		return fmt.Sprintf("virtual transaction %d/0", e.to.pid)
	case classAdvisory, classAdvisoryTwo:
		return fmt.Sprintf("advisory lock [%d,%d]", e.name.id>>32, uint32(e.name.id))
	}
	if e.name.class == classTree {
		return fmt.Sprintf("the rows of tree %d", e.name.id)
	}
	return fmt.Sprintf("row %016x of tree %d", e.name.id, e.tree)
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
			out = append(out, edge{x, h.o, x.wait.mode, w.name, w.tree})
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
		out = append(out, edge{x, q, x.wait.mode, w.name, w.tree})
		if conflicts[q.wait.mode]&bad == bad {
			break
		}
	}
	return out
}
