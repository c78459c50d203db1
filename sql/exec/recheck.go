package exec

import (
	"herd/planner/plan"
	"herd/sql/vec"
)

// recheckState is what RecheckScans read: the newest rows of locked relations, and the original joined row for the others.
type recheckState struct {
	rows map[int]recheckRow // by range table entry
	orig *vec.Batch
	row  int
}

type recheckRow struct{ key, val []byte }

// recheck re-evaluates a query over one row per relation (PostgreSQL's EvalPlanQual). Its operators are built when a row has
// changed for the first time: most statements never need them.
type recheck struct {
	st     *State
	node   plan.Node
	root   Operator
	state  *recheckState
	opened bool
}

func (s *State) recheck(r *plan.Recheck) *recheck {
	if r == nil || r.Root == nil {
		return nil
	}
	return &recheck{st: s, node: r.Root, state: &recheckState{rows: map[int]recheckRow{}}}
}

// build makes the operators; their RecheckScans read r.state.
func (r *recheck) build() (err error) {
	s := r.st
	outer := s.rechecking
	s.rechecking = r.state
	r.root, err = s.build(r.node)
	s.rechecking = outer
	return err
}

// run returns the row that the query has now, nil when it has none any more. rows must have been put into state.rows.
func (r *recheck) run(orig *vec.Batch, row int) (*vec.Batch, error) {
	r.state.orig, r.state.row = orig, row
	var err error
	if r.root == nil {
		if err = r.build(); err != nil {
			return nil, err
		}
	}
	if r.opened {
		err = r.root.Rescan()
	} else {
		r.opened = true
		err = r.root.Open(r.st.env)
	}
	if err != nil {
		return nil, err
	}
	b, err := r.root.Next(1)
	if err != nil || b == nil {
		return nil, err
	}
	_, err = allCols(b)
	return b, err
}

func (r *recheck) close() {
	if r != nil && r.opened {
		r.opened = false
		r.root.Close()
	}
}

// recheckScanOp is plan.RecheckScan.
type recheckScanOp struct {
	st     *State
	node   *plan.RecheckScan
	from   *recheckState
	filter *filterProg
	done   bool
	rows   *rowBatch
	copied *outRows
}

func (s *State) buildRecheckScan(n *plan.RecheckScan) (Operator, error) {
	f, err := s.compiler().filter(n.Filter)
	if err != nil {
		return nil, err
	}
	o := &recheckScanOp{st: s, node: n, from: s.rechecking, filter: f, copied: newOutRows(kindsOf(n))}
	if n.Rel != nil && n.Rel.Layout() != nil {
		o.rows = newRowBatch(s, n.Rel, n.Attnos, n.RowID).fromNewest()
	}
	return o, nil
}

func (o *recheckScanOp) Open(*Env) error { o.done = false; return nil }
func (o *recheckScanOp) Rescan() error   { o.done = false; return nil }
func (o *recheckScanOp) Close() error    { return nil }

func (o *recheckScanOp) Next(int) (*vec.Batch, error) {
	if o.done {
		return nil, nil
	}
	o.done = true
	b, err := o.row()
	if err != nil || b == nil || o.filter == nil {
		return b, err
	}
	sel, err := o.filter.run(&frame{st: o.st, b: b, n: 1}, nil)
	if err != nil || sel != nil && len(sel) == 0 {
		return nil, err
	}
	return b, nil
}

// row is the newest row of a locked relation, or the columns of another one as the original row has them.
func (o *recheckScanOp) row() (*vec.Batch, error) {
	if r, ok := o.from.rows[o.node.RTE]; ok {
		if r.val == nil {
			return nil, nil
		}
		o.rows.rows, o.rows.keys = [][]byte{r.val}, [][]byte{r.key}
		return o.rows.set(1), nil
	}
	o.copied.start(1)
	o.copied.grow()
	for i := range o.copied.cols {
		v, err := o.from.orig.Col(o.node.Col + i)
		if err != nil {
			return nil, err
		}
		o.copied.cols[i].Copy(0, v, o.from.row)
	}
	return o.copied.batch(), nil
}
