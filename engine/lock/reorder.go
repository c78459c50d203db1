package lock

import "slices"

// Some deadlocks are made by the order of waiting alone: A waits for B only because B stands ahead of it in a queue, and B
// waits for A. Letting A go ahead undoes them, and nobody has to be ended. The search is PostgreSQL's: each such soft edge
// of a cycle in turn is turned round, and the queues that result are looked through for cycles again, until none is left
// or a cycle has no soft edge.

// reorderMax bounds how many edges one search turns round, and reorderTries how many sets of them it looks at.
const (
	reorderMax   = 16
	reorderTries = 256
)

// queues are orders of waiting to suppose, by lock.
type queues map[*wide][]*Owner

// turn demands that first stands ahead of then in the queue of a lock.
type turn struct {
	w           *wide
	first, then *Owner
}

// reorder looks for queues in which o and those that were moved are in no cycle. nil: there are none. Everything is locked.
func (m *Manager) reorder(o *Owner) queues {
	tries := reorderTries
	var search func(turns []turn) queues
	search = func(turns []turn) queues {
		if tries--; tries < 0 {
			return nil
		}
		orders, ok := arrange(turns)
		if !ok {
			return nil
		}
		path := m.cycle(o, false, orders)
		for i := 0; path == nil && i < len(turns); i++ {
			if path = m.cycle(turns[i].first, false, orders); path == nil {
				path = m.cycle(turns[i].then, false, orders)
			}
		}
		if path == nil {
			return orders
		}
		if len(turns) == reorderMax {
			return nil
		}
		for _, e := range slices.Backward(path) { // the farthest first
			if !e.soft {
				continue
			}
			more := append(slices.Clip(turns), turn{e.from.wait.on.Load(), e.from, e.to})
			if found := search(more); found != nil {
				return found
			}
		}
		return nil
	}
	return search(nil)
}

// arrange returns the queues that keep every demand and otherwise the present order; false when demands contradict.
func arrange(turns []turn) (queues, bool) {
	orders := queues{}
	for _, t := range turns {
		if _, done := orders[t.w]; done {
			continue
		}
		left := slices.Clone(t.w.queue)
		out := make([]*Owner, 0, len(left))
		for len(left) > 0 {
			// The first of the present order that nobody who is left must precede.
			next := slices.IndexFunc(left, func(q *Owner) bool {
				return !slices.ContainsFunc(turns, func(d turn) bool {
					return d.w == t.w && d.then == q && slices.Contains(left, d.first)
				})
			})
			if next < 0 {
				return nil, false
			}
			out = append(out, left[next])
			left = slices.Delete(left, next, next+1)
		}
		orders[t.w] = out
	}
	return orders, true
}

// apply makes the orders the queues and wakes whom they free. Everything is locked.
func (q queues) apply() {
	for w, order := range q {
		copy(w.queue, order)
	}
	for w := range q {
		w.grant()
	}
}
