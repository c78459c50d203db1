package exec

import (
	"encoding/binary"

	"herd/planner/plan"
	"herd/sql/catalog"
	"herd/sql/row"
	"herd/sql/types"
	"herd/sql/vec"
	"herd/storage"
)

// System columns of a relation.
const (
	attCTID     int16 = -1
	attXmin     int16 = -2
	attCmin     int16 = -3
	attXmax     int16 = -4
	attCmax     int16 = -5
	attTableOID int16 = -6
)

// rowBatch decodes columns of stored rows on first use: the Source of scan batches.
type rowBatch struct {
	vec.Batch
	st     *State
	rel    *catalog.Relation
	layout *row.Layout
	attnos []int16
	rowID  bool // last column is the row identity
	newest bool // rows come from the newest state: so do their large values
	rows   [][]byte
	keys   [][]byte
	out    []vec.Vector
	buf    []byte
}

func newRowBatch(st *State, rel *catalog.Relation, attnos []int16, rowID bool) *rowBatch {
	n := len(attnos)
	if rowID {
		n++
	}
	r := &rowBatch{st: st, rel: rel, layout: rel.Layout(), attnos: attnos, rowID: rowID, out: make([]vec.Vector, n)}
	r.Cols = make([]*vec.Vector, n)
	r.Src = r
	return r
}

// fromNewest marks the batch as one of rows of the newest state.
func (r *rowBatch) fromNewest() *rowBatch {
	r.newest = true
	return r
}

// needKeys says whether row keys are columns.
func (r *rowBatch) needKeys() bool {
	if r.rowID {
		return true
	}
	for _, a := range r.attnos {
		if a == 0 || a == attCTID {
			return true
		}
	}
	return false
}

// set makes the batch the first n rows of rows (and keys).
func (r *rowBatch) set(n int) *vec.Batch {
	r.N, r.Sel = n, nil
	clear(r.Cols)
	return &r.Batch
}

// DecodeColumn implements vec.Source.
func (r *rowBatch) DecodeColumn(b *vec.Batch, col int) (*vec.Vector, error) {
	v := &r.out[col]
	if col >= len(r.attnos) || r.attnos[col] == 0 {
		v.Reset(types.KindBytes, r.N)
		each(r.N, b.Sel, func(i int) {
			r.buf = appendRowID(r.buf[:0], row.Stamp(r.rows[i]), r.keys[i])
			v.SetVar(i, r.buf)
		})
		return v, nil
	}
	a := r.attnos[col]
	if a < 0 {
		r.system(v, a, b.Sel)
		return v, nil
	}
	var large row.LargeReader = r
	if !r.newest {
		large = r.st.large(r.rel)
	}
	err := r.layout.DecodeVector(r.rows[:r.N], b.Sel, int(a)-1, v, large)
	return v, err
}

// ReadLarge implements row.LargeReader for rows of the newest state: most rows have no large value, and to look at that
// state makes the transaction's next change copy what was looked at.
func (r *rowBatch) ReadLarge(id, size uint64) ([]byte, error) {
	return NewLargeReader(r.st.env.Tx.Newest(), r.rel).ReadLarge(id, size)
}

// system fills a system column. herd has no row versions: xmax, cmin and cmax are 0; ctid is made of the row's key.
func (r *rowBatch) system(v *vec.Vector, a int16, sel []uint16) {
	switch a {
	case attTableOID:
		setConst(v, types.KindInt, types.Int(int64(r.rel.OID)))
	case attXmin:
		v.Reset(types.KindInt, r.N)
		each(r.N, sel, func(i int) { v.Int[i] = int64(uint32(row.Stamp(r.rows[i]))) })
	case attCTID:
		v.Reset(types.KindBytes, r.N)
		each(r.N, sel, func(i int) { v.SetVar(i, appendTID(r.buf[:0], r.keys[i])) })
	default:
		setConst(v, types.KindInt, types.Int(0))
	}
}

// appendTID makes a tid (block u32, offset u16) that is different for different rows with high probability: hidden row
// ids are shown as they are, other keys by their hash.
func appendTID(dst, key []byte) []byte {
	var id uint64
	if len(key) == 8 {
		id = binary.BigEndian.Uint64(key)
	} else {
		id = hashKey(key)
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(id>>15))
	return binary.LittleEndian.AppendUint16(dst, uint16(id&0x7fff)+1)
}

// TupleID returns what ctid shows for the row with a key.
func TupleID(key []byte) (page uint32, n uint16) {
	t := appendTID(nil, key)
	return binary.LittleEndian.Uint32(t), binary.LittleEndian.Uint16(t[4:])
}

// appendRowID adds a row identity: stamp, then key.
func appendRowID(dst []byte, stamp uint64, key []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, stamp)
	return append(dst, key...)
}

// splitRowID takes a row identity apart.
func splitRowID(id []byte) (stamp uint64, key []byte) {
	return binary.LittleEndian.Uint64(id), id[8:]
}

// scanOp is plan.Scan: rows in row-key order.
type scanOp struct {
	st      *State
	node    *plan.Scan
	ranges  *rangeSet
	todo    []byteRange
	pos     int
	cur     storage.Cursor
	started bool // cur is open on todo[pos]
	filter  *filterProg
	batch   *rowBatch
	withKey bool
	keys    storage.KeyBuf
	more    func() (byteRange, bool) // of an exchange: the next range when those of todo are read
	ramp    ramp
	readAhead
}

func (s *State) buildScan(n *plan.Scan) (Operator, error) {
	c := s.compiler()
	var cols []keyCol
	if n.Rel.PrimaryKey != nil {
		cols = indexCols(n.Rel, n.Rel.PrimaryKey)
	}
	rs, err := c.ranges(cols, n.Ranges)
	if err != nil {
		return nil, err
	}
	f, err := c.filter(n.Filter)
	if err != nil {
		return nil, err
	}
	b := newRowBatch(s, n.Rel, n.Attnos, n.RowID)
	return &scanOp{st: s, node: n, ranges: rs, filter: f, batch: b, withKey: b.needKeys()}, nil
}

func (o *scanOp) Open(*Env) error { return o.start() }

func (o *scanOp) start() error {
	o.stop()
	o.reset()
	o.ramp.reset()
	o.todo = nil
	return nil
}

func (o *scanOp) Rescan() error { return o.start() }

func (o *scanOp) stop() {
	if o.started {
		o.cur.Close()
		o.started = false
	}
}

func (o *scanOp) Close() error {
	o.stop()
	o.reset()
	clear(o.batch.rows)
	return nil
}

// plan evaluates the ranges at the first Next: their expressions may need exec params.
func (o *scanOp) plan() error {
	rs, err := o.ranges.eval(o.st)
	if err != nil {
		return err
	}
	if rs == nil {
		rs = []byteRange{}
	}
	o.todo, o.pos = rs, 0
	for _, r := range rs {
		if err := o.st.noteRead(o.node.Rel.TreeID, r.lo, r.hi); err != nil {
			return err
		}
	}
	return nil
}

func (o *scanOp) Next(want int) (*vec.Batch, error) {
	if b := o.pending(want); b != nil {
		return b, nil
	}
	if o.todo == nil {
		if err := o.plan(); err != nil {
			return nil, err
		}
	}
	for {
		ask := o.ramp.next(want)
		if o.filter != nil && !o.filter.volatile {
			ask = min(o.ramp.n, vec.MaxRows)
		}
		n, err := o.read(ask)
		if err != nil || n == 0 {
			return nil, err
		}
		b := o.batch.set(n)
		if o.filter == nil {
			return b, nil
		}
		sel, err := o.filter.run(&frame{st: o.st, b: b, n: n}, nil)
		if err != nil {
			return nil, err
		}
		o.st.removed(o.node.ID, n, count(n, sel))
		if sel != nil && len(sel) == 0 {
			continue
		}
		b.Sel = sel
		return o.offer(b, want), nil
	}
}

// read fills the batch's rows from the current range and those after it.
func (o *scanOp) read(n int) (int, error) {
	if err := o.st.interrupt(); err != nil {
		return 0, err
	}
	if len(o.batch.rows) < n {
		o.batch.rows = make([][]byte, n)
	}
	var keys *storage.KeyBuf
	if o.withKey {
		keys = &o.keys
		keys.Reset()
	}
	got := 0
	for got < n && (o.pos < len(o.todo) || o.another()) {
		if !o.started {
			r := o.todo[o.pos]
			if o.node.Reverse {
				r = o.todo[len(o.todo)-1-o.pos]
			}
			o.cur.Init(o.st.env.View, o.node.Rel.TreeID, r.lo, r.hi, o.node.Reverse)
			o.started = true
		}
		k := o.cur.NextRows(o.batch.rows[got:n], keys)
		if k == 0 {
			if err := o.cur.Err(); err != nil {
				return 0, err
			}
			o.stop()
			o.pos++
			continue
		}
		got += k
	}
	if o.withKey {
		o.batch.keys = o.batch.keys[:0]
		for i := range got {
			o.batch.keys = append(o.batch.keys, keys.Key(i))
		}
	}
	return got, nil
}

// another gets a range from the exchange that the scan serves.
func (o *scanOp) another() bool {
	if o.more == nil {
		return false
	}
	r, ok := o.more()
	if ok {
		o.todo, o.pos = append(o.todo[:0], r), 0
	}
	return ok
}

// noteRead tells a SERIALIZABLE transaction's conflict detection what is read. 40001 when the transaction cannot commit.
func (s *State) noteRead(t storage.TreeID, lo, hi []byte) error {
	if s.env.Tx == nil {
		return nil
	}
	return s.env.Tx.NoteRead(t, lo, hi)
}

// large returns the reader of rel's large values.
func (s *State) large(rel *catalog.Relation) row.LargeReader {
	return NewLargeReader(s.env.View, rel)
}
