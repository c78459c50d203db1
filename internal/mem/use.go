package mem

import "sync/atomic"

// Use is what memory is for. Accounts say who holds it.
type Use uint8

// Uses. UseOther is what is not counted by use.
const (
	UseOther   Use = iota
	UseSort        // rows being sorted, and their keys
	UseHash        // hash tables: joins, aggregation, DISTINCT, set operations
	UseRows        // rows that a plan keeps: materialised inputs, CTEs, recursion
	UseWindow      // partitions of window functions
	UseSpill       // buffers of temporary files
	UsePortal      // result rows of portals and cursors
	UseLocks       // row and key locks
	UseIndex       // entries of an index that is being built
	UseMessage     // a client's messages and COPY data, beyond what each connection has
	UseCount       // number of uses
)

var useNames = [UseCount]string{"other", "sorts", "hash tables", "rows", "windows", "spill buffers", "portals", "locks", "index builds", "messages"}

// String returns the use's name in views and metrics.
func (u Use) String() string { return useNames[u] }

// Uses counts the bytes of a child of the process's account, such as a session, and of all below it by use.
type Uses struct {
	used, peak [UseCount]atomic.Int64
}

// Of returns the bytes in use for u, and the most there were.
func (u *Uses) Of(use Use) (used, peak int64) {
	used = u.used[use].Load()
	return used, max(used, u.peak[use].Load())
}

// Uses returns what the memory of the account, and of the others that have come from the same child of the process's, is for; nil
// for the process's own.
func (a *Account) Uses() *Uses { return a.uses }

// ChildFor is Child for memory that all counts as one use, whatever its holders say.
func (a *Account) ChildFor(name string, u Use) *Account {
	c := a.Child(name)
	c.use = u
	return c
}

// Note says that n bytes of what the account has granted, or that -n bytes of what was given back, are for u.
func (a *Account) Note(u Use, n int64) {
	if a.uses == nil || n == 0 {
		return
	}
	if a.use != UseOther {
		u = a.use
	}
	used := a.uses.used[u].Add(n)
	if p := &a.uses.peak[u]; n > 0 && used > p.Load() {
		p.Store(used)
	}
}
