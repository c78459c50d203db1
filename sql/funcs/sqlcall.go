package funcs

import (
	"herd/sql/types"
	"herd/sql/vec"
)

// A function in language SQL that the planner has not replaced by its body is run by the session, statement by statement.

// SQLKernel is the kernel of a function in language SQL: the first column of the first row of its last statement.
func SQLKernel(ci CallInfo) Kernel {
	return lift(func(r *row) error {
		if r.c.Env == nil {
			return unsupported("%s outside a session", Signature(r.ci.Func, r.ci.ArgTypes))
		}
		result := types.NullDatum
		err := r.c.Env.CallSQL(r.c, r.ci, r.datums(), func(vals []types.Datum) error {
			result = vals[0]
			return nil
		})
		if err != nil {
			return err
		}
		return r.RetDatum(result)
	}, &ci)
}

// datums are the arguments of the row.
func (r *row) datums() []types.Datum {
	out := make([]types.Datum, len(r.args))
	for i := range out {
		out[i] = r.Datum(i)
	}
	return out
}

// SQLSet starts a function in language SQL that returns a set, or one row in FROM. All its rows are made at once, as PostgreSQL does in
// FROM.
func SQLSet(ci CallInfo, one bool) func(*Ctx, []types.Datum) (SetFunc, error) {
	return func(c *Ctx, args []types.Datum) (SetFunc, error) {
		if c.Env == nil {
			return nil, unsupported("%s outside a session", Signature(ci.Func, ci.ArgTypes))
		}
		s := &sqlRows{}
		err := c.Env.CallSQL(c, &ci, args, func(vals []types.Datum) error {
			return s.add(c, vals)
		})
		if err != nil {
			s.Close()
			return nil, err
		}
		if one && len(s.rows) == 0 {
			none := make([]types.Datum, max(len(ci.Columns), 1))
			for i := range none {
				none[i] = types.NullDatum
			}
			s.rows = append(s.rows, none)
		}
		return s, nil
	}
}

// sqlRows are the rows of one call.
type sqlRows struct {
	rows [][]types.Datum
	at   int
	held int64
	give func(int64)
}

const datumBytes = 48 // of a types.Datum, its slice header aside

// add keeps a copy of a row.
func (s *sqlRows) add(c *Ctx, vals []types.Datum) error {
	row := make([]types.Datum, len(vals))
	n := int64(24 + datumBytes*len(vals))
	for i, v := range vals {
		row[i] = v
		if !v.Null && v.B != nil {
			row[i].B = append([]byte(nil), v.B...)
			n += int64(len(v.B))
		}
	}
	if c.Acct != nil {
		if err := c.Acct.Grow(n); err != nil {
			return err
		}
		s.held, s.give = s.held+n, c.Acct.Shrink
	}
	s.rows = append(s.rows, row)
	return nil
}

// Next implements SetFunc.
func (s *sqlRows) Next(_ *Ctx, want int, out []*vec.Vector) (int, error) {
	n := min(want, len(s.rows)-s.at)
	for i := range n {
		for k, v := range s.rows[s.at+i] {
			if k < len(out) {
				out[k].SetDatum(i, v)
			}
		}
	}
	s.at += n
	return n, nil
}

// Close implements SetFunc.
func (s *sqlRows) Close() {
	if s.give != nil {
		s.give(s.held)
	}
	s.rows, s.held = nil, 0
}
