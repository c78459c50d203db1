package exec

import (
	"bytes"
	"encoding/binary"
	"slices"

	"herd/planner/plan"
	"herd/sql/funcs"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/vec"
)

func errNoAggregate(ci funcs.CallInfo) error {
	return sqlerr.Unsupported("aggregate function %s", funcs.Signature(ci.Func, ci.ArgTypes))
}

// aggSort collects the arguments of an aggregate with DISTINCT or ORDER BY and feeds them in order, group by group.
type aggSort struct {
	distinct bool
	progs    []program
	vs       []*vec.Vector
	cols     []sortCol
	nArgs    int
	codec    *tupleCodec
	bytes    arena
	items    []sortItem
	itemsM   account
	seq      uint64
	tmp      []byte
	batch    *tupleBatch
	rows     [][]byte
	groups   []uint32
}

// aggSort compiles the order: ORDER BY, then (for DISTINCT) all arguments.
func (c *compiler) aggSort(a *plan.Aggref) (*aggSort, error) {
	s := &aggSort{distinct: a.Distinct, nArgs: len(a.Args)}
	keys := append([]plan.SortKey{}, a.OrderBy...)
	if a.Distinct {
		for _, x := range a.Args {
			keys = append(keys, plan.SortKey{Expr: x, Collation: x.T().Collation})
		}
	}
	s.cols = sortCols(keys)
	for _, k := range keys {
		p, err := c.compile(k.Expr)
		if err != nil {
			return nil, err
		}
		s.progs = append(s.progs, p)
	}
	s.vs = make([]*vec.Vector, len(s.progs))
	var kinds []types.Kind
	for _, x := range a.Args {
		kinds = append(kinds, types.KindOf(x.T().Type))
	}
	s.codec = newTupleCodec(kinds)
	s.batch = newTupleBatch(s.codec)
	return s, nil
}

func (s *aggSort) open(env *Env) {
	s.reset()
	s.bytes.mem.acct, s.itemsM.acct = env.Acct, env.Acct
}

func (s *aggSort) reset() {
	s.bytes.reset()
	s.itemsM.release()
	s.items, s.seq = nil, 0
}

func (s *aggSort) close() {
	s.reset()
	s.bytes.mem.release()
	s.bytes.chunks = nil
}

// add stores the arguments (already evaluated in c.argv) of rows sel.
func (s *aggSort) add(f *frame, groups []uint32, sel []uint16, c *aggCall) error {
	var err error
	for i, p := range s.progs {
		if s.vs[i], err = p.eval(f, sel); err != nil {
			return err
		}
	}
	each(f.n, sel, func(i int) {
		if err == nil {
			err = s.addRow(groups[i], c.argv, i)
		}
	})
	return err
}

func (s *aggSort) addRow(group uint32, args []*vec.Vector, i int) error {
	rec := binary.BigEndian.AppendUint32(append(s.tmp[:0], 0, 0, 0, 0), group)
	rec = appendSortKey(rec, s.cols, s.vs, i)
	binary.LittleEndian.PutUint32(rec, uint32(len(rec)-4))
	it := sortItem{prefix: keyPrefix(rec[4:]), seq: s.seq}
	s.seq++
	rec = s.codec.encode(rec, args, i)
	s.tmp = rec
	var err error
	if it.rec, err = s.bytes.save(rec); err != nil {
		return err
	}
	if len(s.items) == cap(s.items) {
		if err := s.itemsM.grow(int64(40 * max(16, cap(s.items)))); err != nil {
			return err
		}
	}
	s.items = append(s.items, it)
	return nil
}

// feed updates the aggregate with the arguments of groups below n; group n, if it has any, becomes group 0.
func (s *aggSort) feed(st *State, c *aggCall, n int) error {
	slices.SortFunc(s.items, func(a, b sortItem) int { return compareItems(&a, &b) })
	if err := c.agg.Grow(n); err != nil {
		return err
	}
	var last []byte
	i := 0
	for i < len(s.items) {
		s.rows, s.groups = s.rows[:0], s.groups[:0]
		for ; i < len(s.items) && len(s.rows) < vec.MaxRows; i++ {
			k := s.items[i].key()
			g := binary.BigEndian.Uint32(k)
			if int(g) >= n {
				break
			}
			if s.distinct && last != nil && bytes.Equal(k, last) {
				continue
			}
			last = k
			s.rows, s.groups = append(s.rows, s.items[i].tuple()), append(s.groups, g)
		}
		if len(s.rows) == 0 {
			break
		}
		b := s.batch.set(s.rows)
		cols, err := allCols(b)
		if err != nil {
			return err
		}
		if err := c.agg.Update(&st.env.Funcs, s.groups, b.N, nil, cols); err != nil {
			return err
		}
	}
	s.keep(i)
	return nil
}

// keep forgets the first n items; those left are of one group, which becomes group 0.
func (s *aggSort) keep(n int) {
	rest := s.items[n:]
	for k := range rest {
		binary.BigEndian.PutUint32(rest[k].rec[4:], 0)
		rest[k].prefix = keyPrefix(rest[k].key())
	}
	s.items = append([]sortItem(nil), rest...)
	if len(rest) == 0 {
		s.reset()
	}
}
