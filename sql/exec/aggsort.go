package exec

import (
	"bytes"
	"encoding/binary"

	"herd/internal/mem"
	"herd/planner/plan"
	"herd/sql/funcs"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/vec"
)

func errNoAggregate(ci funcs.CallInfo) error {
	return sqlerr.Unsupported("aggregate function %s", funcs.Signature(ci.Func, ci.ArgTypes))
}

// aggSort collects rows of arguments by group and feeds them to their aggregate group by group when the groups are given:
// those of an aggregate with DISTINCT or ORDER BY in order, others as they came. It moves to files when memory is refused.
type aggSort struct {
	distinct bool
	progs    []program
	vs       []*vec.Vector
	cols     []sortCol
	codec    *tupleCodec
	sorter
	base   uint32  // number that group 0 has in the sorter: sorted input moves on without renumbering rows
	counts []int64 // by group: rows whose first argument is not NULL
	countM account
	tmp    []byte
	batch  *tupleBatch
	rows   [][]byte
	groups []uint32
}

// aggSort compiles the order: ORDER BY, then (for DISTINCT) all arguments.
func (c *compiler) aggSort(a *plan.Aggref) (*aggSort, error) {
	s := &aggSort{distinct: a.Distinct}
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

func (s *aggSort) begin(env *Env) {
	s.start(env)
	s.countM.release()
	s.countM.open(env, mem.UseSort)
	s.base, s.counts = 0, s.counts[:0]
}

func (s *aggSort) forget() {
	s.reset()
	s.countM.release()
	s.base, s.counts = 0, s.counts[:0]
}

func (s *aggSort) end() {
	s.close()
	s.countM.release()
	s.counts = nil
}

// collect stores the arguments (already evaluated in c.argv) of rows sel.
func (s *aggSort) collect(f *frame, groups []uint32, sel []uint16, c *aggCall) error {
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
	if n := int(group) + 1; n > len(s.counts) {
		if n > cap(s.counts) {
			if err := s.countM.grow(int64(16*n - 8*cap(s.counts))); err != nil {
				return err
			}
			s.counts = append(make([]int64, 0, 2*n), s.counts...)
		}
		old := len(s.counts)
		s.counts = s.counts[:n]
		clear(s.counts[old:])
	}
	if len(args) > 0 && !args[0].IsNull(i) {
		s.counts[group]++
	}
	rec := binary.BigEndian.AppendUint32(append(s.tmp[:0], 0, 0, 0, 0), s.base+group)
	rec = appendSortKey(rec, s.cols, s.vs, i)
	it := s.item(rec, len(rec)-4)
	it.rec = s.codec.encode(rec, args, i)
	s.tmp = it.rec
	return s.add(it)
}

// ofGroup returns the next row, nil when it is not of the group.
func (s *aggSort) ofGroup(g int) *sortItem {
	it := s.peek()
	if it == nil || binary.BigEndian.Uint32(it.key()) != s.base+uint32(g) {
		return nil
	}
	return it
}

// feed updates the aggregate with the rows of group g, which must be the next in the sorter.
func (s *aggSort) feed(o *aggOp, c *aggCall, g int) error {
	if a, ok := c.agg.(funcs.CountedAgg); ok && g < len(s.counts) {
		a.Expect(g, s.counts[g])
	}
	var last []byte
	for {
		s.rows, s.groups = s.rows[:0], s.groups[:0]
		for len(s.rows) < vec.MaxRows {
			it := s.ofGroup(g)
			if it == nil {
				break
			}
			if k := it.key(); !s.distinct || last == nil || !bytes.Equal(k, last) {
				last = k
				s.rows, s.groups = append(s.rows, it.tuple()), append(s.groups, uint32(g))
			}
			if err := s.advance(); err != nil {
				return err
			}
		}
		if len(s.rows) == 0 {
			return nil
		}
		if err := o.st.interrupt(); err != nil {
			return err
		}
		b := s.batch.set(s.rows)
		cols, err := allCols(b)
		if err != nil {
			return err
		}
		if err := c.agg.Update(&o.st.env.Funcs, s.groups, b.N, nil, cols); err != nil {
			return err
		}
		if err := o.growValue(c); err != nil {
			return err
		}
	}
}

// shift forgets groups below n, all of whose rows were fed; group n becomes group 0.
func (s *aggSort) shift(n int) {
	s.base += uint32(n)
	s.counts = s.counts[:copy(s.counts, s.counts[min(n, len(s.counts)):])]
	s.compact()
	if s.spilled() {
		return
	}
	s.base = 0 // what is left is of one group
	for i := s.at; i < len(s.items); i++ {
		it := &s.items[i]
		binary.BigEndian.PutUint32(it.rec[4:], 0)
		it.prefix = keyPrefix(it.key())
	}
}
