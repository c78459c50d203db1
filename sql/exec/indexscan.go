package exec

import (
	"herd/planner/plan"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/types/key"
	"herd/sql/vec"
	"herd/storage"
)

// indexScanOp is plan.IndexScan: rows in the order of a secondary index. The value of an entry is the row's key.
type indexScanOp struct {
	st      *State
	node    *plan.IndexScan
	cols    []keyCol
	ranges  *rangeSet
	todo    []byteRange
	pos     int
	cur     storage.Cursor
	started bool
	filter  *filterProg
	batch   *rowBatch
	entries [][]byte       // row keys
	note    []byte         // end of the range of one row key
	keys    storage.KeyBuf // index keys, for index-only scans
	only    *keyBatch
	ramp    ramp
	readAhead
}

func (s *State) buildIndexScan(n *plan.IndexScan) (Operator, error) {
	c := s.compiler()
	cols := indexCols(n.Rel, n.Index)
	rs, err := c.ranges(cols, n.Ranges)
	if err != nil {
		return nil, err
	}
	f, err := c.filter(n.Filter)
	if err != nil {
		return nil, err
	}
	o := &indexScanOp{st: s, node: n, cols: cols, ranges: rs, filter: f, batch: newRowBatch(s, n.Rel, n.Attnos, n.RowID)}
	if n.IndexOnly && !n.RowID {
		o.only = newKeyBatch(cols, n.Attnos)
	}
	return o, nil
}

func (o *indexScanOp) Open(*Env) error { return o.start() }
func (o *indexScanOp) Rescan() error   { return o.start() }

func (o *indexScanOp) start() error {
	o.stop()
	o.reset()
	o.ramp.reset()
	o.todo = nil
	return nil
}

func (o *indexScanOp) stop() {
	if o.started {
		o.cur.Close()
		o.started = false
	}
}

func (o *indexScanOp) Close() error {
	o.stop()
	o.reset()
	clear(o.batch.rows)
	clear(o.entries)
	return nil
}

func (o *indexScanOp) plan() error {
	rs, err := o.ranges.eval(o.st)
	if err != nil {
		return err
	}
	if rs == nil {
		rs = []byteRange{}
	}
	o.todo, o.pos = rs, 0
	for _, r := range rs {
		if err := o.st.noteRead(o.node.Index.Tree, r.lo, r.hi); err != nil {
			return err
		}
	}
	return nil
}

func (o *indexScanOp) Next(want int) (*vec.Batch, error) {
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
		var b *vec.Batch
		if o.only != nil {
			b = o.only.set(n, &o.keys)
		} else {
			if err := o.fetch(n); err != nil {
				return nil, err
			}
			b = o.batch.set(n)
		}
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

// read collects up to n index entries.
func (o *indexScanOp) read(n int) (int, error) {
	if err := o.st.interrupt(); err != nil {
		return 0, err
	}
	if len(o.entries) < n {
		o.entries = make([][]byte, n)
	}
	var keys *storage.KeyBuf
	if o.only != nil {
		keys = &o.keys
		keys.Reset()
	}
	got := 0
	for got < n && o.pos < len(o.todo) {
		if !o.started {
			r := o.todo[o.pos]
			if o.node.Reverse {
				r = o.todo[len(o.todo)-1-o.pos]
			}
			o.cur.Init(o.st.env.View, o.node.Index.Tree, r.lo, r.hi, o.node.Reverse)
			o.started = true
		}
		k := o.cur.NextRows(o.entries[got:n], keys)
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
	return got, nil
}

// fetch reads the rows that the entries name.
func (o *indexScanOp) fetch(n int) error {
	if len(o.batch.rows) < n {
		o.batch.rows = make([][]byte, n)
	}
	serial := o.st.env.Tx != nil && o.st.env.Tx.IsolationLevel() == Serializable
	for i, k := range o.entries[:n] {
		if serial { // the index's entries say nothing of the other columns
			o.note = append(append(o.note[:0], k...), 0)
			if err := o.st.noteRead(o.node.Rel.TreeID, k, o.note); err != nil {
				return err
			}
		}
		val, ok, err := o.st.env.View.Get(o.node.Rel.TreeID, k)
		if err != nil {
			return err
		}
		if !ok {
			return sqlerr.New(sqlerr.IndexCorrupted, "index \"%s\" names a row that table \"%s\" does not have", o.node.Index.Name, o.node.Rel.Name)
		}
		o.batch.rows[i] = val
	}
	o.batch.keys = o.entries[:n]
	return nil
}

// keyBatch decodes columns from index keys: index-only scans over reversible key columns.
type keyBatch struct {
	vec.Batch
	cols []keyCol
	at   []int // key position of each output column
	keys *storage.KeyBuf
	out  []vec.Vector
}

func newKeyBatch(cols []keyCol, attnos []int16) *keyBatch {
	k := &keyBatch{cols: cols, out: make([]vec.Vector, len(attnos))}
	for _, a := range attnos {
		for i := range cols {
			if cols[i].attno == a {
				k.at = append(k.at, i)
				break
			}
		}
	}
	k.Cols = make([]*vec.Vector, len(attnos))
	k.Src = k
	return k
}

func (k *keyBatch) set(n int, keys *storage.KeyBuf) *vec.Batch {
	k.N, k.Sel, k.keys = n, nil, keys
	clear(k.Cols)
	return &k.Batch
}

// DecodeColumn implements vec.Source.
func (k *keyBatch) DecodeColumn(b *vec.Batch, col int) (*vec.Vector, error) {
	v := &k.out[col]
	v.Reset(types.KindOf(k.cols[k.at[col]].typ), k.N)
	var err error
	each(k.N, b.Sel, func(i int) {
		if err != nil {
			return
		}
		rest := k.keys.Key(i)
		var d types.Datum
		at := k.at[col]
		for p := 0; p < at && err == nil; p++ {
			rest, err = key.Skip(rest, k.cols[p].typ, k.cols[p].desc) // it need not be reversible
		}
		if err != nil {
			return
		}
		c := &k.cols[at]
		if d, _, err = key.DecodeKey(rest, c.typ, c.coll, c.desc, c.nullsFirst); err == nil {
			v.SetDatum(i, d)
		}
	})
	return v, err
}
