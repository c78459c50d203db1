package exec

import (
	"herd/planner/plan"
	"herd/sql/types"
)

// Evaluate computes an expression without columns: settings' values, EXECUTE arguments, LIMIT of cursors. Bytes of the result
// are the caller's.
func Evaluate(e *Env, x plan.Expr) (types.Datum, error) {
	ev, err := NewEvaluator([]plan.Expr{x})
	if err != nil {
		return types.NullDatum, err
	}
	row, err := ev.Row(e, nil)
	if err != nil {
		return types.NullDatum, err
	}
	return row[0], nil
}

// EvalConst is Evaluate for the planner's constant folding: immutable expressions over constants.
func EvalConst(e *Env, x plan.Expr) (types.Datum, error) { return Evaluate(e, x) }

// Evaluator computes expressions over single rows of datums: index expressions and predicates of a backfill, defaults, checks
// of ALTER TABLE. It is not safe for concurrent use.
type Evaluator struct {
	st    *State
	progs []program
	kinds []types.Kind // by slot, of the input row
	batch *outRows
	out   []types.Datum
}

// NewEvaluator compiles expressions whose Slots are columns of the rows given to Row; the slots' types come from the
// expressions themselves.
func NewEvaluator(es []plan.Expr) (*Evaluator, error) {
	ev := &Evaluator{st: &State{plan: &plan.Plan{}, works: map[*plan.RecursiveUnion]*recursiveOp{}}}
	progs, err := ev.st.compiler().compileAll(es)
	if err != nil {
		return nil, err
	}
	ev.progs = progs
	ev.out = make([]types.Datum, len(es))
	for _, e := range es {
		walk(e, func(x plan.Expr) {
			s, ok := x.(*plan.Slot)
			if !ok {
				return
			}
			for len(ev.kinds) <= s.Index {
				ev.kinds = append(ev.kinds, types.KindBytes)
			}
			ev.kinds[s.Index] = types.KindOf(s.Type)
		})
	}
	ev.batch = newOutRows(ev.kinds)
	return ev, nil
}

// Row evaluates all expressions over one row. The result slice is reused by the next call; the bytes are not.
func (ev *Evaluator) Row(e *Env, row []types.Datum) ([]types.Datum, error) {
	ev.st.env = e
	ev.batch.start(1)
	ev.batch.grow()
	for i := range ev.kinds {
		ev.batch.cols[i].SetDatum(0, row[i])
	}
	f := frame{st: ev.st, b: &ev.batch.out, n: 1}
	for i, p := range ev.progs {
		v, err := p.eval(&f, nil)
		if err != nil {
			return nil, errMemory(err)
		}
		ev.out[i] = cloneDatum(v.Datum(0))
	}
	return ev.out, nil
}
