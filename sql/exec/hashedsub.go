package exec

import (
	"herd/planner/plan"
	"herd/sql/types"
	"herd/sql/vec"
)

// hashedSub is the hash table of an uncorrelated x IN (SELECT ...), with SQL's rules for NULL. Keys for which memory was refused
// are in a file, which is read once for every batch of left rows that the table cannot decide.
type hashedSub struct {
	left, right []program
	key         eqKey
	table       keyTable
	file        *spillFile
	probe       keyTable // keys of left rows to look for in the file
	found       []bool   // by key of probe
	nullRows    *tape    // rows with a NULL column, by key column
	rows        *tape    // all rows, kept only for left sides with a NULL among several columns
	tuples      [][]byte
	types       []types.OID
	colls       []types.OID
	built       bool
	moving      bool // the subquery depends on exec params: the table is built anew for every batch
	total       int
	lv, rv      []*vec.Vector
}

func (c *compiler) hashedSub(e *plan.SubPlan) (*hashedSub, error) {
	h := &hashedSub{key: eqKey{cols: eqCols(e.HashKeys)}, moving: c.st.dependent(e.Plan)}
	var kinds []types.Kind
	for _, k := range e.HashKeys {
		l, err := c.compile(k.Left)
		if err != nil {
			return nil, err
		}
		r, err := c.compile(k.Right)
		if err != nil {
			return nil, err
		}
		h.left, h.right = append(h.left, l), append(h.right, r)
		h.types, h.colls = append(h.types, k.Type), append(h.colls, k.Collation)
		kinds = append(kinds, types.KindOf(k.Type))
	}
	h.nullRows, h.rows = newTape(kinds), newTape(kinds)
	h.tuples = make([][]byte, 64)
	h.lv, h.rv = make([]*vec.Vector, len(h.left)), make([]*vec.Vector, len(h.right))
	return h, nil
}

func (h *hashedSub) reset() {
	h.table.close()
	h.probe.close()
	h.file.close()
	h.file = nil
	h.nullRows.close()
	h.rows.close()
	h.built, h.total = false, 0
}

func (h *hashedSub) build(f *frame, p *subPlanProg) error {
	env := f.st.env
	h.table.open(env)
	h.probe.open(env)
	h.probe.must()
	h.nullRows.open(env)
	h.rows.open(env)
	if err := p.start(f, 0); err != nil {
		return err
	}
	for {
		b, err := p.op.Next(vec.MaxRows)
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		if err := f.st.interrupt(); err != nil {
			return err
		}
		cols, err := allCols(b)
		if err != nil {
			return err
		}
		inner := frame{st: f.st, b: b, n: b.N, subOut: cols}
		for k, r := range h.right {
			if h.rv[k], err = r.eval(&inner, b.Sel); err != nil {
				return err
			}
		}
		each(b.N, b.Sel, func(i int) {
			if err == nil {
				err = h.add(env, i)
			}
		})
		if err != nil {
			return errMemory(err)
		}
	}
	h.built = true
	return nil
}

func (h *hashedSub) add(env *Env, i int) error {
	h.total++
	k, null := h.key.row(h.rv, i)
	if null {
		if len(h.right) == 1 && h.nullRows.len() > 0 {
			return nil
		}
		return h.nullRows.add(h.rv, i)
	}
	hash := hashKey(k)
	added := true
	if h.file == nil {
		var err error
		if _, added, err = h.table.insert(hash, k); err != nil {
			if !env.canSpill(err) {
				return err
			}
			if h.file, err = newSpill(env); err != nil {
				return err
			}
		}
	}
	if h.file != nil {
		if added = h.table.find(hash, k) < 0; added {
			if err := h.file.write(k); err != nil {
				return err
			}
		}
	}
	if added && len(h.right) > 1 {
		return h.rows.add(h.rv, i)
	}
	return nil
}

func (h *hashedSub) eval(f *frame, sel []uint16, p *subPlanProg) (*vec.Vector, error) {
	if h.moving {
		h.reset()
	}
	if !h.built {
		if err := h.build(f, p); err != nil {
			return nil, err
		}
	}
	for k, l := range h.left {
		v, err := l.eval(f, sel)
		if err != nil {
			return nil, err
		}
		h.lv[k] = v
	}
	if err := h.probeFile(f, sel); err != nil {
		return nil, errMemory(err)
	}
	p.out.Reset(types.KindBool, f.n)
	var err error
	each(f.n, sel, func(i int) {
		if err != nil {
			return
		}
		var d types.Datum
		d, err = h.test(i)
		p.out.SetDatum(i, d)
	})
	return &p.out, err
}

// probeFile looks for the keys of the left rows that are not in the table.
func (h *hashedSub) probeFile(f *frame, sel []uint16) error {
	h.probe.reset()
	if h.file == nil {
		return nil
	}
	var err error
	each(f.n, sel, func(i int) {
		if err != nil {
			return
		}
		k, null := h.key.row(h.lv, i)
		if hash := hashKey(k); !null && h.table.find(hash, k) < 0 {
			_, _, err = h.probe.insert(hash, k)
		}
	})
	if err != nil || h.probe.len() == 0 {
		return err
	}
	h.found = append(h.found[:0], make([]bool, h.probe.len())...)
	r, err := h.file.reader()
	if err != nil {
		return err
	}
	for n, left := 0, h.probe.len(); left > 0; n++ {
		if n%vec.MaxRows == 0 {
			if err := f.st.interrupt(); err != nil {
				return err
			}
		}
		k, err := r.next()
		if err != nil || k == nil {
			return err
		}
		if i := h.probe.find(hashKey(k), k); i >= 0 && !h.found[i] {
			h.found[i] = true
			left--
		}
	}
	return nil
}

// test is IN for left row i.
func (h *hashedSub) test(i int) (types.Datum, error) {
	if h.total == 0 {
		return types.Bool(false), nil
	}
	k, null := h.key.row(h.lv, i)
	if !null {
		hash := hashKey(k)
		if h.table.find(hash, k) >= 0 {
			return types.Bool(true), nil
		}
		if n := h.probe.find(hash, k); n >= 0 && h.found[n] {
			return types.Bool(true), nil
		}
	}
	maybe := null && len(h.left) == 1
	var err error
	if !maybe {
		maybe, err = h.maybe(h.nullRows, i)
	}
	if !maybe && null && err == nil {
		maybe, err = h.maybe(h.rows, i)
	}
	if maybe {
		return types.NullDatum, err
	}
	return types.Bool(false), err
}

// maybe says whether a row of t equals left row i as far as non-NULL columns tell.
func (h *hashedSub) maybe(t *tape, i int) (bool, error) {
	r := tapeReader{t: t}
	for {
		n, err := r.next(h.tuples)
		if err != nil || n == 0 {
			return false, err
		}
		for _, row := range h.tuples[:n] {
			if h.equal(t.codec, row, i) {
				return true, nil
			}
		}
	}
}

func (h *hashedSub) equal(c *tupleCodec, row []byte, i int) bool {
	for k := range h.left {
		r := c.datum(row, k)
		if r.Null || h.lv[k].IsNull(i) {
			continue
		}
		if types.Compare(h.types[k], h.colls[k], h.lv[k].Datum(i), r) != 0 {
			return false
		}
	}
	return true
}
