package exec

import (
	"bytes"

	"herd/sql/catalog/pgdata"
	"herd/sql/funcs"
	"herd/sql/types"
	"herd/sql/vec"
)

// hypothetical makes the state of a hypothetical-set aggregate: rank, dense_rank, percent_rank and cume_dist of a row that is
// thought to be added to the group.
func hypothetical(ci funcs.CallInfo) (func() funcs.Agg, bool) {
	p := pgdata.FuncByOID(ci.Func)
	if p == nil {
		return nil, false
	}
	switch p.Name {
	case "rank", "dense_rank", "percent_rank", "cume_dist":
		return func() funcs.Agg { return &hypoAgg{name: p.Name} }, true
	}
	return nil, false
}

// hypoAgg holds results only: the group's rows are in the call's aggSort.
type hypoAgg struct {
	name string
	g    []hypoCount
	key  []byte
}

// hypoCount counts a group's rows: all, those before the hypothetical row, those before or equal, distinct keys before.
type hypoCount struct{ rows, before, upTo, distinct int64 }

// count counts the rows of group g, the next in s, against the direct arguments.
func (a *hypoAgg) count(s *aggSort, direct []types.Datum, g int) error {
	vs := make([]*vec.Vector, len(s.cols))
	for i, c := range s.cols {
		vs[i] = vec.NewConst(c.typ, direct[i])
	}
	a.key = appendSortKey(a.key[:0], s.cols, vs, 0)
	x := &a.g[g]
	var last []byte
	for it := s.ofGroup(g); it != nil; it = s.ofGroup(g) {
		k := it.key()
		x.rows++
		c := bytes.Compare(k[4:], a.key)
		if c <= 0 {
			x.upTo++
		}
		if c < 0 {
			x.before++
			if !bytes.Equal(k, last) {
				x.distinct++
			}
		}
		last = k
		if err := s.advance(); err != nil {
			return err
		}
	}
	return nil
}

func (a *hypoAgg) Grow(g int) error {
	for len(a.g) < g {
		a.g = append(a.g, hypoCount{})
	}
	return nil
}
func (a *hypoAgg) Size() int64 { return int64(32 * cap(a.g)) }
func (a *hypoAgg) Reset()      { a.g = a.g[:0] }

// Update is never called: rows go to the aggSort.
func (a *hypoAgg) Update(*funcs.Ctx, []uint32, int, []uint16, []*vec.Vector) error { return nil }

// Combine has nothing to take over: a group is counted when all of its rows are there.
func (a *hypoAgg) Combine(funcs.Agg, []uint32) error { return nil }

func (a *hypoAgg) Final(_ *funcs.Ctx, from, to int, out *vec.Vector) error {
	for g := from; g < to; g++ {
		x, i := a.g[g], g-from
		switch a.name {
		case "rank":
			out.Int[i] = x.before + 1
		case "dense_rank":
			out.Int[i] = x.distinct + 1
		case "percent_rank":
			out.Float[i] = 0
			if x.rows > 0 {
				out.Float[i] = float64(x.before) / float64(x.rows)
			}
		default:
			out.Float[i] = float64(x.upTo+1) / float64(x.rows+1)
		}
	}
	return nil
}
