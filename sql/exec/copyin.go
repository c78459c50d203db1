package exec

import (
	"herd/planner/plan"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/vec"
)

// copyBytes is the size of the buffered values, in bytes, at which a batch is written although it has room for more rows.
const copyBytes = 1 << 20

// CopyIn runs an INSERT ... VALUES ($1, ..., $n) for many rows of parameters: COPY FROM and bulk INSERT. The expressions of
// the VALUES list are evaluated over batches with the parameters as columns.
type CopyIn struct {
	st    *State
	src   *copySource
	width int
	bytes int
}

// copySource gives the buffered rows to the ModifyTable, once per flush.
type copySource struct {
	st    *State
	exprs []program
	cols  []vec.Vector // parameters
	kinds []types.Kind
	n     int
	in    vec.Batch
	out   vec.Batch
	where *copyWhere // nil without
	rows  int64      // given in earlier batches
	from  int64      // rows that the ModifyTable had written before this batch
}

func (o *copySource) Open(*Env) error { return nil }
func (o *copySource) Rescan() error   { return nil }
func (o *copySource) Close() error    { return nil }

func (o *copySource) Next(int) (*vec.Batch, error) {
	if o.n == 0 {
		return nil, o.where.pending()
	}
	o.in.N, o.in.Sel = o.n, nil
	o.n = 0
	o.from = o.st.modify.count
	f := frame{st: o.st, b: &o.in, n: o.in.N}
	for i, p := range o.exprs {
		v, err := p.eval(&f, nil)
		if err != nil {
			return nil, err
		}
		o.out.Cols[i] = v
	}
	o.out.N, o.out.Sel = o.in.N, nil
	if o.where != nil {
		sel, err := o.where.run(o.st, &o.out)
		if err != nil {
			return nil, err
		}
		o.out.Sel = sel
	}
	return &o.out, nil
}

// row returns the number, from 1, of the row that the ModifyTable is at, within all that were given.
func (o *copySource) row() int64 {
	if o.where != nil && o.where.failed {
		return o.rows + int64(o.where.at) + 1
	}
	k := o.st.modify.count - o.from
	if sel := o.out.Sel; int(k) < len(sel) {
		k = int64(sel[k])
	}
	return o.rows + k + 1
}

// start empties the parameter columns.
func (o *copySource) start() {
	for i := range o.cols {
		o.cols[i].Reset(o.kinds[i], 0)
	}
	o.n = 0
}

// NewCopyIn makes the execution of a plan of INSERT INTO t (...) VALUES ($1, ..., $n). where, over the new row's columns in
// attribute order (Slot index = attno-1), chooses rows; nil takes all.
func NewCopyIn(p *plan.Plan, where plan.Expr) (*CopyIn, error) {
	m, ok := p.Root.(*plan.ModifyTable)
	if !ok || m.Command != plan.CmdInsert {
		return nil, sqlerr.Internal("COPY needs the plan of an INSERT")
	}
	st, err := Build(p)
	if err != nil {
		return nil, err
	}
	src := &copySource{st: st}
	for _, t := range p.Params {
		src.kinds = append(src.kinds, types.KindOf(t.Type))
	}
	c := &compiler{st: st, paramCols: true}
	if src.exprs, err = copyExprs(c, m.Input); err != nil {
		return nil, err
	}
	src.cols = make([]vec.Vector, len(src.kinds))
	for i := range src.cols {
		src.in.Cols = append(src.in.Cols, &src.cols[i])
	}
	src.out.Cols = make([]*vec.Vector, len(src.exprs))
	st.modify.in = src
	if where != nil {
		if src.where, err = newCopyWhere(st, m, where); err != nil {
			return nil, err
		}
	}
	return &CopyIn{st: st, src: src, width: len(src.kinds)}, nil
}

// copyExprs compiles the row that the input of the INSERT makes, with parameters as columns.
func copyExprs(c *compiler, n plan.Node) ([]program, error) {
	switch n := n.(type) {
	case *plan.Result:
		return c.compileAll(n.Exprs)
	case *plan.Values:
		if len(n.Lists) == 1 {
			return c.compileAll(n.Lists[0])
		}
	case *plan.Project:
		below, err := copyExprs(c, n.Input)
		if err != nil {
			return nil, err
		}
		over := &compiler{st: c.st, paramCols: true, slots: below}
		return over.compileAll(n.Exprs)
	}
	return nil, sqlerr.Internal("COPY cannot use the plan node %T", n)
}

// Open starts the execution.
func (c *CopyIn) Open(e *Env) error {
	c.bytes = 0
	if err := c.st.Open(e); err != nil {
		return err
	}
	c.src.rows, c.src.from = 0, 0
	c.src.start()
	return nil
}

// Add takes one row of parameters (copied) and writes a batch when enough are there.
func (c *CopyIn) Add(params []types.Datum) error {
	s := c.src
	i := s.n
	for k := range s.cols {
		s.cols[k].Extend(i + 1)
		s.cols[k].SetDatum(i, params[k])
		c.bytes += len(params[k].B)
	}
	s.n++
	if s.n >= vec.MaxRows || c.bytes >= copyBytes {
		return c.flush()
	}
	return nil
}

func (c *CopyIn) flush() error {
	c.bytes = 0
	n := c.src.n
	b, err := c.st.modify.Next(vec.MaxRows)
	for b != nil && err == nil {
		b, err = c.st.modify.Next(vec.MaxRows)
	}
	if err != nil {
		return errMemory(err)
	}
	c.src.rows += int64(n)
	c.src.from = c.st.modify.count
	c.src.out.Sel = nil
	c.src.start()
	return nil
}

// Finish writes what is buffered, makes the checks of the statement's end and returns the number of rows inserted.
func (c *CopyIn) Finish() (int64, error) {
	if err := c.flush(); err != nil {
		return 0, err
	}
	if _, err := c.st.Next(vec.MaxRows); err != nil {
		return 0, err
	}
	return c.st.RowsAffected(), nil
}

// Row returns the number, from 1, of the row in work within the copy: where an error of Add or Finish belongs.
func (c *CopyIn) Row() int64 { return c.src.row() }

// Close ends the execution.
func (c *CopyIn) Close() error { return c.st.Close() }
