package exec

import (
	"slices"

	"herd/sql/types"
	"herd/sql/vec"
)

// windowChunksMin is the number of chunks that are kept whatever the memory limit says: the row's own, the ends of its frame and
// a neighbour.
const windowChunksMin = 4

// windowChunk is vec.MaxRows rows of a partition with the arguments of the window functions.
type windowChunk struct {
	no     int
	tick   int64 // when it was used last
	size   int64
	rows   [][]byte
	batch  *tupleBatch
	groups *vec.Vector
	args   [][]*vec.Vector // by function, by argument
	own    [][]vec.Vector  // memory of args that are not columns
	pass   [][]uint16      // by function: rows that pass the filter; nil all
	order  vec.Vector      // the ORDER BY column, for RANGE offsets
}

// windowChunks keeps the chunks of a partition: all of them, unless memory is refused; then those used last.
type windowChunks struct {
	op    *windowOp
	mem   account
	all   []*windowChunk // by number; nil not loaded
	first []int32        // by number: peer group of the first row
	live  []*windowChunk
	free  []*windowChunk
	tick  int64
}

// drop forgets the partition's chunks.
func (w *windowChunks) drop() {
	for _, c := range w.live {
		w.recycle(c)
	}
	clear(w.all)
	clear(w.live)
	w.all, w.first, w.live = w.all[:0], w.first[:0], w.live[:0]
	w.mem.release()
}

func (w *windowChunks) recycle(c *windowChunk) {
	if len(w.free) < windowChunksMin {
		w.free = append(w.free, c)
	}
}

// add says that a chunk begins, with a row of the given peer group.
func (w *windowChunks) add(group int) {
	w.all, w.first = append(w.all, nil), append(w.first, int32(group))
}

// before returns the last chunk that begins before peer group g: it has the group's first row, or ends where the group begins.
func (w *windowChunks) before(g int) int {
	k, _ := slices.BinarySearch(w.first, int32(g))
	return max(k-1, 0)
}

// get returns chunk k, loading it if it is not there.
func (w *windowChunks) get(k int) (*windowChunk, error) {
	w.tick++
	if c := w.all[k]; c != nil {
		c.tick = w.tick
		return c, nil
	}
	var c *windowChunk
	if n := len(w.free); n > 0 {
		c, w.free = w.free[n-1], w.free[:n-1]
	} else {
		c = &windowChunk{batch: newTupleBatch(w.op.rows.codec)}
	}
	c.no, c.tick = k, w.tick
	if err := w.load(c); err != nil {
		return nil, err
	}
	w.all[k] = c
	w.live = append(w.live, c)
	return c, nil
}

// load reads a chunk's rows and evaluates what the functions need of them.
func (w *windowChunks) load(c *windowChunk) error {
	o := w.op
	from := c.no * vec.MaxRows
	n := min(vec.MaxRows, o.n-from)
	c.rows = append(c.rows[:0], make([][]byte, n)...)
	r := tapeReader{t: o.rows, pos: int64(from)}
	if _, err := r.next(c.rows); err != nil {
		return err
	}
	c.size = w.measure(c)
	if err := w.room(c.size); err != nil {
		return err
	}
	c.batch.set(c.rows)
	var err error
	if c.groups, err = c.batch.Col(o.nIn); err != nil {
		return err
	}
	f := frame{st: o.st, b: &c.batch.Batch, n: n}
	if o.win.Frame.Mode == 'r' && (o.start != nil || o.end != nil) {
		v, err := o.ordP[0].eval(&f, nil)
		if err != nil {
			return err
		}
		c.order.Gather(v, n, nil)
	}
	if c.args == nil {
		c.args, c.own, c.pass = make([][]*vec.Vector, len(o.funcs)), make([][]vec.Vector, len(o.funcs)), make([][]uint16, len(o.funcs))
		for i, fn := range o.funcs {
			c.args[i], c.own[i] = make([]*vec.Vector, len(fn.progs)), make([]vec.Vector, len(fn.progs))
		}
	}
	for i, fn := range o.funcs {
		if err := c.evaluate(&f, i, fn); err != nil {
			return err
		}
	}
	return nil
}

// evaluate computes the filter and the arguments of function i.
func (c *windowChunk) evaluate(f *frame, i int, fn *windowFunc) error {
	var sel []uint16
	if fn.filter != nil {
		s, err := fn.filter.run(f, nil)
		if err != nil {
			return err
		}
		if s != nil {
			sel = append(make([]uint16, 0, len(s)+1), s...) // not nil, even when empty
		}
	}
	c.pass[i] = sel
	for k, p := range fn.progs {
		own := &c.own[i][k]
		c.args[i][k] = own
		if sel != nil && len(sel) == 0 {
			own.Reset(types.KindOf(fn.ref.Args[k].T().Type), f.n)
			continue
		}
		v, err := p.eval(f, sel)
		if err != nil {
			return err
		}
		if slices.Contains(c.batch.Cols, v) {
			c.args[i][k] = v
			continue
		}
		own.Reset(v.Kind, f.n)
		own.CopyFrom(v, f.n, sel)
	}
	return nil
}

// measure estimates the bytes that a chunk will hold: decoded columns and arguments.
func (w *windowChunks) measure(c *windowChunk) int64 {
	cols := len(w.op.rows.codec.kinds)
	for _, f := range w.op.funcs {
		cols += len(f.progs)
	}
	size := int64(len(c.rows)*(24+16*cols)) + 512
	for _, r := range c.rows {
		size += int64(len(r))
	}
	return size
}

// room takes memory for a chunk, dropping those not used for longest when it is refused.
func (w *windowChunks) room(size int64) error {
	for {
		err := w.mem.grow(size)
		if err == nil {
			return nil
		}
		if !w.op.st.env.canSpill(err) {
			return err
		}
		if len(w.live) < windowChunksMin {
			w.mem.force(size)
			return nil
		}
		w.evict()
	}
}

// evict drops the chunk that was not used for longest, never the one being given.
func (w *windowChunks) evict() {
	oldest := -1
	for i, c := range w.live {
		if c != w.op.cur && (oldest < 0 || c.tick < w.live[oldest].tick) {
			oldest = i
		}
	}
	c := w.live[oldest]
	w.live = slices.Delete(w.live, oldest, oldest+1)
	w.all[c.no] = nil
	w.mem.shrink(c.size)
	w.recycle(c)
}
