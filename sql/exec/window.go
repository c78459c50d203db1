package exec

import (
	"bytes"
	"slices"

	"herd/internal/mem"
	"herd/planner/plan"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/vec"
)

// windowOp is plan.WindowAgg. It gathers one partition at a time on a tape, which goes to a file when memory is refused, and
// computes the functions in chunks of vec.MaxRows rows as rows are wanted; windowChunks keeps the chunks in use.
type windowOp struct {
	st    *State
	in    Operator
	win   *plan.Window
	nIn   int // columns of the input; one more on the tape is the row's peer group
	partP []program
	partC []sortCol
	partV []*vec.Vector
	ordP  []program
	ordC  []sortCol
	ordV  []*vec.Vector
	funcs []*windowFunc
	start program
	end   program

	rows     *tape
	n        int // rows of the partition
	groups   int // peer groups of the partition
	group    vec.Vector
	cols     []*vec.Vector
	partKey  []byte
	ordKey   []byte
	keyBuf   []byte
	b        *vec.Batch // input batch in work
	rest     []uint16
	restBuf  []uint16
	ended    bool
	have     bool // a partition is loaded
	startOff types.Datum
	endOff   types.Datum
	stateM   account // of aggregates

	chunks windowChunks
	chunk  int // next chunk to give
	at     int // rows of the chunk given so far
	cur    *windowChunk
	out    vec.Batch
	sel    []uint16
	ready  bool // results of the chunk are computed
	// bounds of the peer group asked for last
	peer, peerFrom, peerTo int
}

func (s *State) buildWindow(n *plan.WindowAgg) (Operator, error) {
	in, err := s.build(n.Input)
	if err != nil {
		return nil, err
	}
	kinds := kindsOf(n.Input)
	o := &windowOp{st: s, in: in, win: n.Window, nIn: len(kinds), rows: newTape(append(kinds[:len(kinds):len(kinds)], types.KindInt))}
	o.group.Reset(types.KindInt, 1)
	o.group.Const = true
	c := s.compiler()
	keys := func(ks []plan.SortKey) ([]program, []sortCol, []*vec.Vector, error) {
		var ps []program
		for _, k := range ks {
			p, err := c.compile(k.Expr)
			if err != nil {
				return nil, nil, nil, err
			}
			ps = append(ps, p)
		}
		return ps, sortCols(ks), make([]*vec.Vector, len(ks)), nil
	}
	if o.partP, o.partC, o.partV, err = keys(n.Window.PartitionBy); err != nil {
		return nil, err
	}
	if o.ordP, o.ordC, o.ordV, err = keys(n.Window.OrderBy); err != nil {
		return nil, err
	}
	if o.start, err = c.optional(n.Window.Frame.StartOffset); err != nil {
		return nil, err
	}
	if o.end, err = c.optional(n.Window.Frame.EndOffset); err != nil {
		return nil, err
	}
	for _, f := range n.Funcs {
		w, err := c.windowFunc(o, f)
		if err != nil {
			return nil, err
		}
		o.funcs = append(o.funcs, w)
	}
	o.out.Cols = make([]*vec.Vector, o.nIn+len(o.funcs))
	o.out.Src = (*windowSource)(o)
	o.chunks.op = o
	return o, nil
}

func (o *windowOp) clear() {
	o.b, o.rest, o.ended, o.have, o.chunk, o.at, o.ready = nil, nil, false, false, 0, 0, false
	o.chunks.drop()
	o.stateM.release()
	o.cur = nil
}

func (o *windowOp) Open(env *Env) error {
	o.clear()
	o.rows.open(env)
	o.rows.bytes.mem.use = mem.UseWindow
	o.chunks.mem.open(env, mem.UseWindow)
	o.stateM.open(env, mem.UseWindow)
	return o.in.Open(env)
}

func (o *windowOp) Rescan() error {
	o.clear()
	o.rows.open(o.st.env)
	return o.in.Rescan()
}

func (o *windowOp) Close() error {
	o.clear()
	o.rows.close()
	o.chunks.free = nil
	clear(o.out.Cols)
	clear(o.cols)
	return o.in.Close()
}

func (o *windowOp) Next(want int) (*vec.Batch, error) {
	if !o.have {
		ok, err := o.load()
		if err != nil || !ok {
			return nil, errMemory(err)
		}
	}
	if !o.ready {
		if err := o.compute(); err != nil {
			return nil, errMemory(err)
		}
	}
	size := o.cur.batch.N
	n := min(want, size-o.at)
	o.sel = reuse(o.sel, n)
	for i := range n {
		o.sel = append(o.sel, uint16(o.at+i))
	}
	o.out.N, o.out.Sel = size, o.sel
	o.at += n
	if o.at == size {
		o.chunk, o.at, o.ready = o.chunk+1, 0, false
		o.have = o.chunk*vec.MaxRows < o.n
	}
	return &o.out, nil
}

// windowSource decodes input columns of the chunk being given.
type windowSource windowOp

// DecodeColumn implements vec.Source.
func (o *windowSource) DecodeColumn(_ *vec.Batch, col int) (*vec.Vector, error) {
	return o.cur.batch.Col(col)
}

// load reads the next partition; false when there is none.
func (o *windowOp) load() (bool, error) {
	o.chunks.drop()
	o.rows.open(o.st.env)
	o.n, o.groups = 0, 0
	for {
		if len(o.rest) == 0 {
			if o.ended {
				break
			}
			if err := o.fetch(); err != nil {
				return false, err
			}
			if o.ended {
				break
			}
		}
		i := int(o.rest[0])
		o.keyBuf = appendSortKey(o.keyBuf[:0], o.partC, o.partV, i)
		if o.n == 0 {
			o.partKey = append(o.partKey[:0], o.keyBuf...)
		} else if !bytes.Equal(o.partKey, o.keyBuf) {
			break
		}
		o.keyBuf = appendSortKey(o.keyBuf[:0], o.ordC, o.ordV, i)
		if o.n == 0 || !bytes.Equal(o.ordKey, o.keyBuf) {
			o.groups++
			o.ordKey = append(o.ordKey[:0], o.keyBuf...)
		}
		o.group.Int[0] = int64(o.groups - 1)
		if o.n%vec.MaxRows == 0 {
			o.chunks.add(o.groups - 1)
		}
		if err := o.rows.add(o.cols, i); err != nil {
			return false, err
		}
		o.n++
		o.rest = o.rest[1:]
	}
	if o.n == 0 {
		return false, nil
	}
	return true, o.prepare()
}

func (o *windowOp) fetch() error {
	if err := o.st.interrupt(); err != nil {
		return err
	}
	b, err := o.in.Next(vec.MaxRows)
	if err != nil {
		return err
	}
	if b == nil {
		o.ended = true
		return nil
	}
	if _, err := allCols(b); err != nil {
		return err
	}
	f := frame{st: o.st, b: b, n: b.N}
	for i, p := range o.partP {
		if o.partV[i], err = p.eval(&f, b.Sel); err != nil {
			return err
		}
	}
	for i, p := range o.ordP {
		if o.ordV[i], err = p.eval(&f, b.Sel); err != nil {
			return err
		}
	}
	o.b = b
	o.cols = append(append(o.cols[:0], b.Cols...), &o.group)
	o.restBuf = fullSel(o.restBuf, b.N, b.Sel)
	o.rest = o.restBuf
	return nil
}

// prepare evaluates frame offsets and starts the functions for a new partition.
func (o *windowOp) prepare() error {
	o.have, o.chunk, o.at, o.ready, o.peer = true, 0, 0, false, -1
	var err error
	if o.startOff, err = o.offset(o.start, "starting"); err != nil {
		return err
	}
	if o.endOff, err = o.offset(o.end, "ending"); err != nil {
		return err
	}
	o.stateM.release()
	for _, f := range o.funcs {
		if err := f.begin(); err != nil {
			return err
		}
	}
	return nil
}

// offset evaluates a frame offset.
func (o *windowOp) offset(p program, which string) (types.Datum, error) {
	if p == nil {
		return types.NullDatum, nil
	}
	d, err := evalOne(&frame{st: o.st, n: 1}, p)
	if err != nil {
		return d, err
	}
	if d.Null {
		return d, sqlerr.New(sqlerr.NullValueNotAllowed, "frame %s offset must not be null", which)
	}
	if o.win.Frame.Mode != 'r' && d.I < 0 {
		return d, sqlerr.New(sqlerr.InvalidPrecedingOrFollowingSize, "frame %s offset must not be negative", which)
	}
	return cloneDatum(d), nil
}

// compute fills the output batch for the next chunk.
func (o *windowOp) compute() error {
	if err := o.st.interrupt(); err != nil {
		return err
	}
	c, err := o.chunks.get(o.chunk)
	if err != nil {
		return err
	}
	o.cur = c
	clear(o.out.Cols)
	for i, f := range o.funcs {
		v, err := f.results(o, o.chunk*vec.MaxRows, c.batch.N)
		if err != nil {
			return err
		}
		o.out.Cols[o.nIn+i] = v
	}
	o.ready = true
	return nil
}

// groupOf returns the peer group of row i.
func (o *windowOp) groupOf(i int) (int, error) {
	c, err := o.chunks.get(i / vec.MaxRows)
	if err != nil {
		return 0, err
	}
	return int(c.groups.Int[i%vec.MaxRows]), nil
}

// groupStart returns the first row of peer group g, the end of the partition when there is no such group.
func (o *windowOp) groupStart(g int) (int, error) {
	if g >= o.groups {
		return o.n, nil
	}
	k := o.chunks.before(g)
	c, err := o.chunks.get(k)
	if err != nil {
		return 0, err
	}
	i, _ := slices.BinarySearch(c.groups.Int[:c.batch.N], int64(g))
	return k*vec.MaxRows + i, nil
}

// groupBounds returns the first row of peer group g and the row after its last one.
func (o *windowOp) groupBounds(g int) (from, to int, err error) {
	if g == o.peer {
		return o.peerFrom, o.peerTo, nil
	}
	if from, err = o.groupStart(g); err == nil {
		to, err = o.groupStart(g + 1)
	}
	if err == nil {
		o.peer, o.peerFrom, o.peerTo = g, from, to
	}
	return from, to, err
}

// peers returns the bounds of row i's peer group.
func (o *windowOp) peers(i int) (from, to int, err error) {
	if o.peer >= 0 && i >= o.peerFrom && i < o.peerTo {
		return o.peerFrom, o.peerTo, nil
	}
	g, err := o.groupOf(i)
	if err != nil {
		return 0, 0, err
	}
	return o.groupBounds(g)
}

// frameOf returns the frame [from, to) of row i, before exclusion.
func (o *windowOp) frameOf(i int) (from, to int, err error) {
	f := &o.win.Frame
	if from, err = o.frameBound(f.Start, o.startOff, i, true); err != nil {
		return
	}
	to, err = o.frameBound(f.End, o.endOff, i, false)
	return from, max(to, from), err
}

// frameBound is one end of the frame: its first row (start) or the row after its last.
func (o *windowOp) frameBound(kind byte, off types.Datum, i int, start bool) (int, error) {
	switch kind {
	case 'u':
		return 0, nil
	case 'U':
		return o.n, nil
	case 'c':
		if o.win.Frame.Mode == 'o' {
			if start {
				return i, nil
			}
			return i + 1, nil
		}
		return o.edge(i, start)
	}
	delta := int(min(off.I, int64(o.n)))
	if kind == 'p' {
		delta = -delta
	}
	switch o.win.Frame.Mode {
	case 'o':
		if !start {
			delta++
		}
		return min(max(i+delta, 0), o.n), nil
	case 'g':
		g, err := o.groupOf(i)
		if err != nil {
			return 0, err
		}
		if g += delta; g < 0 {
			return 0, nil
		}
		if !start {
			g++
		}
		return o.groupStart(g)
	}
	return o.rangeBound(kind == 'p', off, i, start)
}

// edge is the first row of row i's peer group (start) or the row after its last.
func (o *windowOp) edge(i int, start bool) (int, error) {
	from, to, err := o.peers(i)
	if start {
		return from, err
	}
	return to, err
}
