package vfs

import "math/rand"

const (
	// pageBytes is the unit in which the page cache reaches the disk: at a crash each page of a file is as it was at some
	// moment since the last sync, whatever the other pages are.
	pageBytes = 4096
	// sectorBytes is the unit that a disk writes whole: a page may be torn there.
	sectorBytes = 512
)

// CrashOptions says what becomes of what was not synced.
type CrashOptions struct {
	// Rand decides for each page of 4 KiB and each change of a folder; nil loses all that was not synced.
	Rand *rand.Rand
	// KeepPercent is the chance of such a page to be as the process last wrote it, and of a name to be as it was last.
	// Otherwise the page is as it was at some earlier moment since the last sync. Below 100 some pages are torn: their
	// sectors are of two moments. 0 loses all.
	KeepPercent int
}

// crash is one loss of power.
type crash struct {
	CrashOptions
	lost    bool // nothing unsynced survives
	ordered bool // this file system's journal keeps the order of names: of a folder's changes the first few survive
	seen    map[*memNode]*memNode
}

// CrashClone returns the file system as a machine would find it after losing power now. m stays usable.
func (m *Mem) CrashClone(o CrashOptions) *Mem {
	c := crash{CrashOptions: o, lost: o.Rand == nil || o.KeepPercent <= 0, seen: map[*memNode]*memNode{}}
	c.ordered = !c.lost && o.Rand.Intn(2) == 0
	m.mu.Lock()
	defer m.mu.Unlock()
	out := NewMem()
	out.root = c.node(m.root)
	return out
}

func (c *crash) keep() bool { return !c.lost && c.Rand.Intn(100) < c.KeepPercent }

// moment returns how many of n writes in a row have reached the disk.
func (c *crash) moment(n int) int {
	if c.lost {
		return 0
	}
	if n == 0 || c.keep() {
		return n
	}
	return c.Rand.Intn(n)
}

// node returns what is left of n. Mem.mu is held.
func (c *crash) node(n *memNode) *memNode {
	if left := c.seen[n]; left != nil {
		return left
	}
	if !n.dir {
		left := c.file(n)
		c.seen[n] = left
		return left
	}
	left := newFolder()
	c.seen[n] = left
	names := make(map[string]*memNode, len(n.safe))
	for name, x := range n.safe {
		names[name] = x
	}
	changes := n.renames
	if c.ordered {
		changes = changes[:c.moment(len(changes))]
	}
	for i := range changes {
		if c.ordered || c.keep() {
			changes[i].apply(names)
		}
	}
	for _, name := range sortedNames(names) { // in order, so that a seed always gives the same
		x := c.node(names[name])
		left.entries[name], left.safe[name] = x, x
	}
	return left
}

// file returns what is left of a file.
func (c *crash) file(n *memNode) *memNode {
	n.mu.RLock()
	defer n.mu.RUnlock()
	if len(n.writes) == 0 {
		return &memNode{data: append([]byte(nil), n.data...)}
	}
	// The contents at the last sync, and the sizes since.
	data := append([]byte(nil), n.data...)
	sizes := make([]int64, 0, len(n.writes)+1)
	for i := len(n.writes) - 1; i >= 0; i-- {
		w := &n.writes[i]
		if int64(len(data)) < w.size {
			data = append(data, make([]byte, w.size-int64(len(data)))...)
		}
		copy(data[w.off:], w.old)
		data = data[:w.size]
	}
	for i := range n.writes {
		sizes = append(sizes, n.writes[i].size)
	}
	sizes = append(sizes, int64(len(n.data)))
	size := sizes[c.moment(len(n.writes))]
	if int64(len(data)) < size {
		data = append(data, make([]byte, size-int64(len(data)))...)
	}
	data = data[:size]
	pages, order := map[int64][]*memWrite{}, []int64(nil)
	for i := range n.writes {
		w := &n.writes[i]
		end := w.off + int64(max(len(w.old), len(w.new)))
		for p := w.off / pageBytes; p*pageBytes < min(end, size); p++ {
			if pages[p] == nil {
				order = append(order, p)
			}
			pages[p] = append(pages[p], w)
		}
	}
	for _, p := range order {
		c.page(data, p*pageBytes, pages[p])
	}
	return &memNode{data: data}
}

// page brings the page at off to some moment of the writes that touched it.
func (c *crash) page(data []byte, off int64, writes []*memWrite) {
	first := c.moment(len(writes))
	second, cut := first, off+pageBytes
	if !c.lost && c.KeepPercent < 100 && c.Rand.Intn(4) == 0 {
		second = c.moment(len(writes))
		cut = off + int64(1+c.Rand.Intn(pageBytes/sectorBytes-1))*sectorBytes
	}
	for i, w := range writes {
		if i < first {
			w.applyTo(data, off, cut)
		}
		if i < second {
			w.applyTo(data, cut, off+pageBytes)
		}
	}
}

// applyTo repeats the write on data between from and to. Bytes that a truncation took are zeros when they come back.
func (w *memWrite) applyTo(data []byte, from, to int64) {
	from, to = max(from, w.off), min(to, int64(len(data)))
	if len(w.new) == 0 {
		if to = min(to, w.off+int64(len(w.old))); from < to {
			clear(data[from:to])
		}
		return
	}
	if to = min(to, w.off+int64(len(w.new))); from < to {
		copy(data[from:to], w.new[from-w.off:])
	}
}
