package exec

import (
	"bytes"

	"herd/planner/plan"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/vec"
)

// windowOp is plan.WindowAgg. It reads one partition at a time into memory, in chunks of vec.MaxRows rows, and computes the
// functions chunk by chunk as rows are wanted.
type windowOp struct {
	st    *State
	in    Operator
	win   *plan.Window
	partP []program
	partC []sortCol
	partV []*vec.Vector
	ordP  []program
	ordC  []sortCol
	ordV  []*vec.Vector
	funcs []*windowFunc
	start program
	end   program

	rows     *rowStore
	n        int     // rows of the partition
	groupOf  []int32 // peer group of each row
	groupAt  []int   // first row of each peer group
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

	chunks []*tupleBatch // argument chunks are views over rows
	ordVal [][]vec.Vector
	chunk  int // next chunk to give
	at     int // rows of the chunk given so far
	out    vec.Batch
	sel    []uint16
	ready  bool // results of the chunk are computed
}

func (s *State) buildWindow(n *plan.WindowAgg) (Operator, error) {
	in, err := s.build(n.Input)
	if err != nil {
		return nil, err
	}
	o := &windowOp{st: s, in: in, win: n.Window, rows: newRowStore(kindsOf(n.Input))}
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
	o.out.Cols = make([]*vec.Vector, len(o.rows.codec.kinds)+len(o.funcs))
	return o, nil
}

func (o *windowOp) clear() {
	o.b, o.rest, o.ended, o.have, o.chunk, o.at, o.ready = nil, nil, false, false, 0, 0, false
}

func (o *windowOp) Open(env *Env) error {
	o.clear()
	o.rows.open(env)
	return o.in.Open(env)
}

func (o *windowOp) Rescan() error {
	o.clear()
	o.rows.reset()
	return o.in.Rescan()
}

func (o *windowOp) Close() error {
	o.clear()
	o.rows.close()
	o.chunks = nil
	for _, f := range o.funcs {
		f.args, f.pass = nil, nil
	}
	return o.in.Close()
}

func (o *windowOp) Next(want int) (*vec.Batch, error) {
	if !o.have {
		ok, err := o.load()
		if err != nil || !ok {
			return nil, errMemory(err)
		}
	}
	c := o.chunks[o.chunk]
	if !o.ready {
		if err := o.compute(); err != nil {
			return nil, errMemory(err)
		}
	}
	n := min(want, c.N-o.at)
	o.sel = reuse(o.sel, n)
	for i := range n {
		o.sel = append(o.sel, uint16(o.at+i))
	}
	o.out.N, o.out.Sel = c.N, o.sel
	o.at += n
	if o.at == c.N {
		o.chunk, o.at, o.ready = o.chunk+1, 0, false
		if o.chunk == len(o.chunks) {
			o.have = false
		}
	}
	return &o.out, nil
}

// load reads the next partition; false when there is none.
func (o *windowOp) load() (bool, error) {
	o.rows.reset()
	o.n, o.groupOf, o.groupAt = 0, o.groupOf[:0], o.groupAt[:0]
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
			o.groupAt = append(o.groupAt, o.n)
			o.ordKey = append(o.ordKey[:0], o.keyBuf...)
		}
		o.groupOf = append(o.groupOf, int32(len(o.groupAt)-1))
		if err := o.rows.add(o.b.Cols, i); err != nil {
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
	o.restBuf = fullSel(o.restBuf, b.N, b.Sel)
	o.rest = o.restBuf
	return nil
}

// prepare cuts the partition into chunks and evaluates arguments, filters and frame offsets.
func (o *windowOp) prepare() error {
	o.have, o.chunk, o.at, o.ready = true, 0, 0, false
	o.chunks = o.chunks[:0]
	for at := 0; at < o.n; at += vec.MaxRows {
		t := newTupleBatch(o.rows.codec)
		t.set(o.rows.rows[at:min(at+vec.MaxRows, o.n)])
		if _, err := allCols(&t.Batch); err != nil {
			return err
		}
		o.chunks = append(o.chunks, t)
	}
	var err error
	if o.startOff, err = o.offset(o.start, "starting"); err != nil {
		return err
	}
	if o.endOff, err = o.offset(o.end, "ending"); err != nil {
		return err
	}
	if o.win.Frame.Mode == 'r' && (o.start != nil || o.end != nil) {
		if err := o.orderValues(); err != nil {
			return err
		}
	}
	for _, f := range o.funcs {
		if err := f.prepare(o); err != nil {
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

// orderValues keeps the values of the ORDER BY column for RANGE offsets.
func (o *windowOp) orderValues() error {
	o.ordVal = o.ordVal[:0]
	for _, c := range o.chunks {
		v, err := o.ordP[0].eval(&frame{st: o.st, b: &c.Batch, n: c.N}, nil)
		if err != nil {
			return err
		}
		kept := make([]vec.Vector, 1)
		kept[0].Gather(v, c.N, nil)
		o.ordVal = append(o.ordVal, kept)
	}
	return nil
}

// compute fills the output batch for the current chunk.
func (o *windowOp) compute() error {
	c := o.chunks[o.chunk]
	copy(o.out.Cols, c.Cols)
	for i, f := range o.funcs {
		v, err := f.results(o, o.chunk*vec.MaxRows, c.N)
		if err != nil {
			return err
		}
		o.out.Cols[len(c.Cols)+i] = v
	}
	o.ready = true
	return nil
}

// groupEnd returns the row after the last one of peer group g.
func (o *windowOp) groupEnd(g int) int {
	if g+1 < len(o.groupAt) {
		return o.groupAt[g+1]
	}
	return o.n
}

// frameOf returns the frame [from, to) of row i, before exclusion.
func (o *windowOp) frameOf(i int) (from, to int, err error) {
	f := &o.win.Frame
	if from, err = o.frameBound(f.Start, o.startOff, i, true, f.InRangeStart); err != nil {
		return
	}
	to, err = o.frameBound(f.End, o.endOff, i, false, f.InRangeEnd)
	return from, max(to, from), err
}

// frameBound is one end of the frame: its first row (start) or the row after its last.
func (o *windowOp) frameBound(kind byte, off types.Datum, i int, start bool, inRange types.OID) (int, error) {
	g := int(o.groupOf[i])
	switch kind {
	case 'u':
		return 0, nil
	case 'U':
		return o.n, nil
	case 'c':
		switch {
		case o.win.Frame.Mode == 'o' && start:
			return i, nil
		case o.win.Frame.Mode == 'o':
			return i + 1, nil
		case start:
			return o.groupAt[g], nil
		}
		return o.groupEnd(g), nil
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
		return o.groupBound(g+delta, start), nil
	}
	return o.rangeBound(kind == 'p', off, i, start)
}

func (o *windowOp) groupBound(g int, start bool) int {
	switch {
	case g < 0:
		return 0
	case g >= len(o.groupAt):
		return o.n
	case start:
		return o.groupAt[g]
	}
	return o.groupEnd(g)
}
