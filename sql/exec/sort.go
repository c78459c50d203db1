package exec

import (
	"bytes"
	"container/heap"
	"encoding/binary"
	"errors"
	"slices"

	"herd/internal/mem"
	"herd/planner/plan"
	"herd/sql/vec"
)

// sortOp is plan.Sort: order-preserving keys and tuples in memory, sorted runs in files when memory is refused, a heap of
// the smallest rows under a Limit.
type sortOp struct {
	st    *State
	in    Operator
	progs []program
	cols  []sortCol
	vs    []*vec.Vector
	codec *tupleCodec
	top   int // rows to keep, set by the parent Limit; -1 all
	topN  bool

	bytes   arena
	items   []sortItem
	seq     uint64 // number of the next row: equal keys keep the input's order
	tmp     []byte
	extra   account
	runs    []*spillFile
	merge   *merger
	done    bool
	pos     int
	batch   *tupleBatch
	rows    [][]byte
	dropped int64
}

// sortItem is one row: rec is key length, key, tuple; prefix the key's first eight bytes.
type sortItem struct {
	prefix uint64
	seq    uint64
	rec    []byte
}

func (it *sortItem) key() []byte {
	n := binary.LittleEndian.Uint32(it.rec)
	return it.rec[4 : 4+n]
}

func (it *sortItem) tuple() []byte {
	n := binary.LittleEndian.Uint32(it.rec)
	return it.rec[4+n:]
}

func keyPrefix(k []byte) uint64 {
	if len(k) >= 8 {
		return binary.BigEndian.Uint64(k)
	}
	var b [8]byte
	copy(b[:], k)
	return binary.BigEndian.Uint64(b[:])
}

func compareItems(a, b *sortItem) int {
	if a.prefix != b.prefix {
		if a.prefix < b.prefix {
			return -1
		}
		return 1
	}
	if c := bytes.Compare(a.key(), b.key()); c != 0 {
		return c
	}
	if a.seq < b.seq {
		return -1
	}
	return 1
}

func (s *State) buildSort(n *plan.Sort) (Operator, error) {
	in, err := s.build(n.Input)
	if err != nil {
		return nil, err
	}
	o := &sortOp{st: s, in: in, cols: sortCols(n.Keys), codec: newTupleCodec(kindsOf(n.Input)), top: -1, topN: n.TopN}
	c := s.compiler()
	for _, k := range n.Keys {
		p, err := c.compile(k.Expr)
		if err != nil {
			return nil, err
		}
		o.progs = append(o.progs, p)
	}
	o.vs = make([]*vec.Vector, len(o.progs))
	o.batch = newTupleBatch(o.codec)
	return o, nil
}

func (o *sortOp) clear() {
	o.bytes.reset()
	o.extra.release()
	clear(o.items)
	o.items = o.items[:0]
	for _, r := range o.runs {
		r.close()
	}
	o.runs, o.merge, o.done, o.pos, o.seq = nil, nil, false, 0, 0
	clear(o.rows)
}

func (o *sortOp) Open(env *Env) error {
	o.clear()
	o.bytes.mem.acct, o.extra.acct = env.Acct, env.Acct
	return o.in.Open(env)
}

func (o *sortOp) Rescan() error {
	o.clear()
	return o.in.Rescan()
}

func (o *sortOp) Close() error {
	o.clear()
	o.bytes.mem.release()
	o.bytes.chunks, o.items = nil, nil
	return o.in.Close()
}

func (o *sortOp) Next(want int) (*vec.Batch, error) {
	if !o.done {
		if err := o.load(); err != nil {
			return nil, errMemory(err)
		}
		o.done = true
	}
	want = min(want, vec.MaxRows)
	if len(o.rows) < want {
		o.rows = make([][]byte, vec.MaxRows)
	}
	n := 0
	if o.merge != nil {
		for n < want {
			it, err := o.merge.next()
			if err != nil {
				return nil, err
			}
			if it == nil {
				break
			}
			o.rows[n] = it.tuple()
			n++
		}
	} else {
		for n < want && o.pos < len(o.items) {
			o.rows[n] = o.items[o.pos].tuple()
			o.pos++
			n++
		}
	}
	if n == 0 {
		return nil, nil
	}
	return o.batch.set(o.rows[:n]), nil
}

// load reads the whole input and sorts it.
func (o *sortOp) load() error {
	for {
		b, err := o.in.Next(vec.MaxRows)
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		if err := o.st.interrupt(); err != nil {
			return err
		}
		cols, err := allCols(b)
		if err != nil {
			return err
		}
		f := frame{st: o.st, b: b, n: b.N}
		for i, p := range o.progs {
			if o.vs[i], err = p.eval(&f, b.Sel); err != nil {
				return err
			}
		}
		each(b.N, b.Sel, func(i int) {
			if err == nil {
				err = o.add(cols, i)
			}
		})
		if err != nil {
			return err
		}
	}
	if len(o.runs) == 0 {
		o.order()
		return nil
	}
	if err := o.spillRun(); err != nil {
		return err
	}
	var err error
	o.merge, err = newMerger(o.runs)
	return err
}

// order sorts what is in memory.
func (o *sortOp) order() {
	slices.SortFunc(o.items, func(a, b sortItem) int { return compareItems(&a, &b) })
}

// add takes one row. Under a Limit a row beyond the worst of the rows kept is dropped at once.
func (o *sortOp) add(cols []*vec.Vector, i int) error {
	rec := append(o.tmp[:0], 0, 0, 0, 0)
	rec = appendSortKey(rec, o.cols, o.vs, i)
	binary.LittleEndian.PutUint32(rec, uint32(len(rec)-4))
	it := sortItem{prefix: keyPrefix(rec[4:]), seq: o.seq}
	o.seq++
	full := o.top >= 0 && len(o.runs) == 0 && len(o.items) >= o.top
	if full {
		it.rec = rec
		if o.top == 0 || compareItems(&it, &o.items[0]) > 0 {
			o.tmp = rec
			return nil
		}
	}
	rec = o.codec.encode(rec, cols, i)
	o.tmp = rec
	if full {
		it.rec = append(o.items[0].rec[:0], rec...) // the dropped row's memory is reused
		o.items[0] = it
		heap.Fix((*maxHeap)(o), 0)
		return nil
	}
	return o.keep(it, rec)
}

// keep stores a row, writing a run when memory is refused.
func (o *sortOp) keep(it sortItem, rec []byte) error {
	for try := 0; ; try++ {
		err := o.grow()
		if err == nil {
			it.rec, err = o.bytes.save(rec)
		}
		if err == nil {
			break
		}
		if !errors.Is(err, mem.ErrLimit) || o.st.env.SpillFS == nil || try > 0 || len(o.items) == 0 {
			return err
		}
		if err := o.spillRun(); err != nil {
			return err
		}
	}
	o.items = append(o.items, it)
	if o.top >= 0 && len(o.runs) == 0 && len(o.items) == o.top {
		heap.Init((*maxHeap)(o))
	}
	return nil
}

// grow makes room for one more item in the account.
func (o *sortOp) grow() error {
	if len(o.items) < cap(o.items) && o.extra.used > 0 {
		return nil
	}
	return o.extra.grow(int64(40 * max(64, cap(o.items))))
}

// spillRun writes the rows in memory as a sorted run.
func (o *sortOp) spillRun() error {
	if len(o.items) == 0 {
		return nil
	}
	o.order()
	f, err := newSpill(o.st.env)
	if err != nil {
		return err
	}
	o.runs = append(o.runs, f)
	var seq [8]byte
	for i := range o.items {
		binary.LittleEndian.PutUint64(seq[:], o.items[i].seq)
		if err := f.write(seq[:], o.items[i].rec); err != nil {
			return err
		}
	}
	if err := f.flush(); err != nil {
		return err
	}
	f.buf = nil
	o.bytes.reset()
	o.extra.release()
	o.items = nil
	return nil
}

// maxHeap keeps the worst row of a top-N sort at index 0.
type maxHeap sortOp

func (h *maxHeap) Len() int           { return len(h.items) }
func (h *maxHeap) Less(i, j int) bool { return compareItems(&h.items[i], &h.items[j]) > 0 }
func (h *maxHeap) Swap(i, j int)      { h.items[i], h.items[j] = h.items[j], h.items[i] }
func (h *maxHeap) Push(any)           {}
func (h *maxHeap) Pop() any           { return nil }

// merger merges sorted runs.
type merger struct {
	in   []*spillReader
	head []sortItem
	heap []int
}

func newMerger(runs []*spillFile) (*merger, error) {
	m := &merger{}
	for i, r := range runs {
		rd, err := r.reader()
		if err != nil {
			return nil, err
		}
		m.in, m.head = append(m.in, rd), append(m.head, sortItem{})
		ok, err := m.advance(i)
		if err != nil {
			return nil, err
		}
		if ok {
			m.heap = append(m.heap, i)
		}
	}
	heap.Init((*runHeap)(m))
	return m, nil
}

// advance reads the next row of run i.
func (m *merger) advance(i int) (bool, error) {
	rec, err := m.in[i].next()
	if err != nil || rec == nil {
		return false, err
	}
	it := sortItem{seq: binary.LittleEndian.Uint64(rec), rec: rec[8:]}
	it.prefix = keyPrefix(it.key())
	m.head[i] = it
	return true, nil
}

// next returns the smallest row, nil at the end. It stays valid: readers never reuse buffers.
func (m *merger) next() (*sortItem, error) {
	if len(m.heap) == 0 {
		return nil, nil
	}
	i := m.heap[0]
	it := m.head[i]
	ok, err := m.advance(i)
	if err != nil {
		return nil, err
	}
	if ok {
		heap.Fix((*runHeap)(m), 0)
	} else {
		heap.Pop((*runHeap)(m))
	}
	return &it, nil
}

type runHeap merger

func (h *runHeap) Len() int { return len(h.heap) }
func (h *runHeap) Less(i, j int) bool {
	return compareItems(&h.head[h.heap[i]], &h.head[h.heap[j]]) < 0
}
func (h *runHeap) Swap(i, j int) { h.heap[i], h.heap[j] = h.heap[j], h.heap[i] }
func (h *runHeap) Push(any)      {}
func (h *runHeap) Pop() any {
	h.heap = h.heap[:len(h.heap)-1]
	return nil
}
