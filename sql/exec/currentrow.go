package exec

import (
	"herd/planner/plan"
	"herd/sql/sqlerr"
	"herd/sql/vec"
)

// currentRowOp is plan.CurrentRow: the row that a cursor is on, as the statement's view has it. A row that was updated meanwhile is
// followed to its new key; one that was deleted is none.
type currentRowOp struct {
	st     *State
	node   *plan.CurrentRow
	filter *filterProg
	rows   *rowBatch
	done   bool
}

func (s *State) buildCurrentRow(n *plan.CurrentRow) (Operator, error) {
	f, err := s.compiler().filter(n.Filter)
	if err != nil {
		return nil, err
	}
	return &currentRowOp{st: s, node: n, filter: f, rows: newRowBatch(s, n.Rel, n.Attnos, n.RowID)}, nil
}

func (o *currentRowOp) Open(*Env) error { o.done = false; return nil }
func (o *currentRowOp) Rescan() error   { o.done = false; return nil }
func (o *currentRowOp) Close() error    { return nil }

func (o *currentRowOp) Next(int) (*vec.Batch, error) {
	if o.done {
		return nil, nil
	}
	o.done = true
	env := o.st.env
	if env.CursorRow == nil {
		return nil, sqlerr.Internal("WHERE CURRENT OF outside of a session")
	}
	key, err := env.CursorRow(o.node.Cursor, o.node.Rel)
	if err != nil || key == nil {
		return nil, err
	}
	tree := o.node.Rel.TreeID
	val, ok, err := env.View.Get(tree, key)
	if err != nil {
		return nil, err
	}
	if !ok {
		now, moved := env.Tx.MovedTo(tree, key)
		if !moved {
			return nil, nil
		}
		key = append([]byte(nil), now...)
		if val, ok, err = env.View.Get(tree, key); err != nil || !ok {
			return nil, err
		}
	}
	o.rows.rows, o.rows.keys = [][]byte{val}, [][]byte{key}
	b := o.rows.set(1)
	if o.filter == nil {
		return b, nil
	}
	sel, err := o.filter.run(&frame{st: o.st, b: b, n: 1}, nil)
	if err != nil || sel != nil && len(sel) == 0 {
		return nil, err
	}
	return b, nil
}

// RowKey returns the key in a row identity.
func RowKey(id []byte) []byte {
	_, key := splitRowID(id)
	return key
}
