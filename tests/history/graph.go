package main

import "slices"

// kind is the kind of a dependency: the order of two versions, the read of a version, the read of the version before.
type kind byte

const (
	ww kind = iota
	wr
	rw
)

func (k kind) String() string { return [...]string{"ww", "wr", "rw"}[k] }

// dependency says that its transaction comes before to.
type dependency struct {
	to   int
	kind kind
	key  int
}

// graph holds the dependencies of each transaction, by its number.
type graph [][]dependency

func (g graph) add(from, to int, k kind, key int) {
	if from == to {
		return
	}
	d := dependency{to, k, key}
	if !slices.Contains(g[from], d) {
		g[from] = append(g[from], d)
	}
}

// step is one dependency of a cycle.
type step struct {
	from int
	dependency
}

// states is how often a transaction stands in the search: reached by a read or write dependency, and by rw. Where a snapshot
// forbids only cycles without two rw in a row, rw does not leave the second.
const states = 2

// cycle looks for a cycle of the allowed kinds. adjacent allows one rw to follow another.
func (g graph) cycle(allowed []kind, adjacent bool) []step {
	next := func(at int, yield func(to int, d dependency)) {
		n, byRW := at/states, at%states == 1
		for _, d := range g[n] {
			if !slices.Contains(allowed, d.kind) || d.kind == rw && byRW && !adjacent {
				continue
			}
			to := d.to * states
			if d.kind == rw {
				to++
			}
			yield(to, d)
		}
	}
	for _, part := range components(len(g)*states, func(at int, yield func(int)) {
		next(at, func(to int, _ dependency) { yield(to) })
	}) {
		if len(part) > 1 {
			return shortest(part, next)
		}
	}
	return nil
}

// shortest returns a shortest cycle through the first node of a strongly connected part.
func shortest(part []int, next func(int, func(int, dependency))) []step {
	inside := map[int]bool{}
	for _, n := range part {
		inside[n] = true
	}
	type back struct {
		from int
		d    dependency
	}
	start := part[0]
	came := map[int]back{}
	queue := []int{start}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		done := false
		next(at, func(to int, d dependency) {
			if _, seen := came[to]; !seen && inside[to] {
				came[to] = back{at, d}
				queue = append(queue, to)
				done = done || to == start
			}
		})
		if done {
			break
		}
	}
	var out []step
	for at := start; ; {
		b := came[at]
		out = append(out, step{b.from / states, b.d})
		if at = b.from; at == start {
			slices.Reverse(out)
			return out
		}
	}
}

// components returns the strongly connected parts of a graph (Tarjan's algorithm, without recursion).
func components(n int, next func(int, func(int))) [][]int {
	type frame struct {
		node, at int
		to       []int
	}
	index, low, on := make([]int, n), make([]int, n), make([]bool, n)
	var stack []int
	var parts [][]int
	count := 0
	enter := func(v int) frame {
		count++
		index[v], low[v], on[v] = count, count, true
		stack = append(stack, v)
		f := frame{node: v}
		next(v, func(to int) { f.to = append(f.to, to) })
		return f
	}
	for root := range n {
		if index[root] != 0 {
			continue
		}
		calls := []frame{enter(root)}
		for len(calls) > 0 {
			f := &calls[len(calls)-1]
			if f.at < len(f.to) {
				to := f.to[f.at]
				f.at++
				if index[to] == 0 {
					calls = append(calls, enter(to))
				} else if on[to] {
					low[f.node] = min(low[f.node], index[to])
				}
				continue
			}
			v := f.node
			calls = calls[:len(calls)-1]
			if len(calls) > 0 {
				up := calls[len(calls)-1].node
				low[up] = min(low[up], low[v])
			}
			if low[v] != index[v] {
				continue
			}
			var part []int
			for {
				w := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				on[w] = false
				part = append(part, w)
				if w == v {
					break
				}
			}
			parts = append(parts, part)
		}
	}
	return parts
}
