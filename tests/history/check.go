package main

import (
	"fmt"
	"slices"
	"strings"
)

// checker judges one history.
type checker struct {
	h        *history
	level    level
	writer   map[int]*txn // by element
	problems []string
}

// problemsMax is how many problems are described.
const problemsMax = 10

// check returns what is wrong with a history at a level, in the words of Adya's phenomena: G0 and G1 at every level, at REPEATABLE
// READ also what a snapshot forbids (a cycle without two rw in a row, such as G-single), at SERIALIZABLE every cycle.
func check(h *history, l level) []string {
	c := &checker{h: h, level: l, writer: map[int]*txn{}}
	c.writers()
	c.settle()
	c.lists()
	for _, t := range h.txns {
		if t.fate == committed {
			c.reads(t)
		}
	}
	if len(c.problems) == 0 {
		c.cycles()
	}
	return c.problems
}

func (c *checker) problem(format string, args ...any) {
	if len(c.problems) < problemsMax {
		c.problems = append(c.problems, fmt.Sprintf(format, args...))
	}
}

// writers finds out who appended each element.
func (c *checker) writers() {
	for _, t := range c.h.txns {
		for _, o := range t.ops {
			if o.append {
				if c.writer[o.elem] != nil {
					c.problem("element %d was appended twice by the test itself", o.elem)
				}
				c.writer[o.elem] = t
			}
		}
	}
}

// settle makes transactions whose end is unknown committed ones when their elements are in the lists at the end, else aborted (I2).
func (c *checker) settle() {
	there := map[int]bool{}
	for _, list := range c.h.final {
		for _, e := range list {
			there[e] = true
		}
	}
	for _, t := range c.h.txns {
		if t.fate != unknown {
			continue
		}
		t.fate = aborted
		for _, o := range t.ops {
			if o.append && there[o.elem] {
				t.fate = committed
			}
		}
	}
}

// lists checks the lists at the end: every element once, all of the committed and none of the others.
func (c *checker) lists() {
	there := map[int]int{}
	for key, list := range c.h.final {
		for _, e := range list {
			if _, twice := there[e]; twice {
				c.problem("element %d is there twice", e)
			}
			there[e] = key
			switch w := c.writer[e]; {
			case w == nil:
				c.problem("list %d has element %d that nobody appended", key, e)
			case w.fate == aborted:
				c.problem("G1a: list %d has element %d of %s, which was aborted", key, e, w)
			}
		}
	}
	for _, t := range c.h.txns {
		for _, o := range t.ops {
			if !o.append || t.fate != committed {
				continue
			}
			if key, ok := there[o.elem]; !ok || key != o.key {
				c.problem("lost: %s appended %d to list %d and committed, but it is not there", t, o.elem, o.key)
			}
		}
	}
}

// reads checks each read of a committed transaction by itself, and against the reads before it.
func (c *checker) reads(t *txn) {
	own := map[int][]int{}  // what t has appended so far
	seen := map[int][]int{} // what t has to read next, at levels with one snapshot
	for _, o := range t.ops {
		if o.append {
			own[o.key] = append(own[o.key], o.elem)
			if list, ok := seen[o.key]; ok {
				seen[o.key] = append(slices.Clip(list), o.elem)
			}
			continue
		}
		final := c.h.final[o.key]
		if len(o.list) > len(final) || !slices.Equal(o.list, final[:len(o.list)]) {
			c.incompatible(t, &o)
			continue
		}
		if n := len(own[o.key]); n > 0 && (len(o.list) < n || !slices.Equal(own[o.key], o.list[len(o.list)-n:])) {
			c.problem("%s appended %v to list %d and read %v", t, own[o.key], o.key, o.list)
		}
		if list, ok := seen[o.key]; ok && c.level >= repeatableRead && !slices.Equal(list, o.list) {
			c.problem("%s read list %d twice in one snapshot: %v, then %v", t, o.key, list, o.list)
		}
		seen[o.key] = o.list
		c.intermediate(t, &o)
	}
}

// incompatible describes a read that is no beginning of the list at the end.
func (c *checker) incompatible(t *txn, o *op) {
	for _, e := range o.list {
		if w := c.writer[e]; w != nil && w.fate == aborted {
			c.problem("G1a: %s read element %d of list %d from %s, which was aborted", t, e, o.key, w)
			return
		}
	}
	c.problem("%s read list %d as %v, which is no beginning of %v", t, o.key, o.list, c.h.final[o.key])
}

// intermediate finds G1b: the last element read is not its writer's last.
func (c *checker) intermediate(t *txn, o *op) {
	if len(o.list) == 0 {
		return
	}
	w := c.writer[o.list[len(o.list)-1]]
	if w == nil || w == t {
		return
	}
	last := 0
	for _, x := range w.ops {
		if x.append && x.key == o.key {
			last = x.elem
		}
	}
	if last != o.list[len(o.list)-1] {
		c.problem("G1b: %s read list %d up to element %d of %s, which appended %d after it", t, o.key, o.list[len(o.list)-1], w, last)
	}
}

// cycles builds the graph of dependencies and looks for the cycles that the level forbids.
func (c *checker) cycles() {
	g := make(graph, len(c.h.txns))
	for key, list := range c.h.final {
		for i := 1; i < len(list); i++ {
			g.add(c.writer[list[i-1]].id, c.writer[list[i]].id, ww, key)
		}
	}
	for _, t := range c.h.txns {
		for _, o := range t.ops {
			if o.append || t.fate != committed {
				continue
			}
			final, n := c.h.final[o.key], len(o.list)
			if n > 0 {
				g.add(c.writer[final[n-1]].id, t.id, wr, o.key)
			}
			if n < len(final) {
				w := c.writer[final[n]]
				g.add(t.id, w.id, rw, o.key)
				if !w.end.IsZero() && w.end.Before(t.began) {
					c.problem("stale: %s began after %s had committed and did not see its element %d in list %d", t, w, final[n], o.key)
				}
			}
		}
	}
	for _, rule := range []struct {
		from     level
		name     string
		kinds    []kind
		adjacent bool
	}{
		{readCommitted, "G0", []kind{ww}, false},
		{readCommitted, "G1c", []kind{ww, wr}, false},
		{repeatableRead, "G-single or another cycle that no snapshot has", []kind{ww, wr, rw}, false},
		{serializable, "G2", []kind{ww, wr, rw}, true},
	} {
		if c.level < rule.from {
			continue
		}
		if path := g.cycle(rule.kinds, rule.adjacent); path != nil {
			c.problem("%s: %s", rule.name, c.describe(path))
			return
		}
	}
}

func (c *checker) describe(path []step) string {
	var b strings.Builder
	for _, s := range path {
		fmt.Fprintf(&b, "T%d -%s(list %d)-> ", s.from, s.kind, s.key)
	}
	fmt.Fprintf(&b, "T%d", path[0].from)
	for _, s := range path {
		t := c.h.txns[s.from]
		fmt.Fprintf(&b, "\n    T%d:", s.from)
		for _, o := range t.ops {
			if o.append {
				fmt.Fprintf(&b, " append(%d, %d)", o.key, o.elem)
			} else {
				fmt.Fprintf(&b, " read(%d)=%v", o.key, o.list)
			}
		}
	}
	return b.String()
}
