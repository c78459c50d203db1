package exec

import (
	"errors"
	"fmt"
	"sort"
	"strings"
	"testing"

	"herd/engine"
	"herd/planner/plan"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// shareAll makes every scan of more than a few rows one for workers, until the test ends.
func shareAll(t *testing.T) {
	old := minExchangeRows
	minExchangeRows = 64
	t.Cleanup(func() { minExchangeRows = old })
}

// aggPlans are aggregations over benchTable that workers share.
func aggPlans(d *db) map[string]plan.Node {
	r := benchTable(d)
	filtered := func() *plan.Scan {
		s := scan(r, 2, 3, 4)
		s.Filter = op(">", s4(1), i4(benchRows/2))
		return s
	}
	calls := func() []*plan.Aggref {
		return []*plan.Aggref{aggOf("count", 0), aggOf("sum", 0, s4(1)), aggOf("min", 0, s4(1)), aggOf("max", 0, s4(1)), aggOf("avg", 0, s4(1))}
	}
	join := func(t plan.JoinType, cond plan.Expr) plan.Node {
		right := scan(r, 1, 2)
		right.Filter = op("<", s4(0), i4(benchRows/4))
		return joinOfKind(t, "hash", scan(r, 3, 2), right, cond)
	}
	byText := agg(filtered(), plan.AggHash, []int{0, 2}, calls()...)
	text := slot(2, types.TextOID)
	byText.Keys[1] = plan.HashKey{Left: text, Right: text, Type: types.TextOID}
	return map[string]plan.Node{
		"join":        agg(join(plan.JoinInner, nil), plan.AggHash, []int{3}, aggOf("count", 0), aggOf("sum", 0, s4(2))),
		"left join":   agg(join(plan.JoinLeft, op("<", s4(1), i4(50))), plan.AggHash, []int{3}, aggOf("count", 0), aggOf("sum", 0, s4(0))),
		"semijoin":    agg(join(plan.JoinSemi, nil), plan.AggPlain, nil, aggOf("count", 0), aggOf("sum", 0, s4(0))),
		"antijoin":    agg(join(plan.JoinAnti, nil), plan.AggHash, []int{1}, aggOf("count", 0), aggOf("sum", 0, s4(0))),
		"two columns": agg(filtered(), plan.AggHash, []int{0, 1}, calls()...),
		"plain":       agg(filtered(), plan.AggPlain, nil, calls()...),
		"one integer": agg(filtered(), plan.AggHash, []int{0}, calls()...),
		"text":        byText,
		"many groups": agg(filtered(), plan.AggHash, []int{1}, calls()...),
	}
}

// runShared executes a plan with so many extra workers and returns its sorted rows and whether they were shared.
func runShared(t *testing.T, d *db, n plan.Node, workers int, prepare func(env *Env)) (string, *aggOp, error) {
	t.Helper()
	st, err := Build(&plan.Plan{Root: n})
	must(t, err)
	tx := d.s.Begin(engine.TxOptions{})
	defer tx.Rollback()
	env := d.env(tx, tx.BeginStatement())
	defer env.Acct.Close()
	env.Workers = workers
	if prepare != nil {
		prepare(env)
	}
	o := unwrap(st.root).(*aggOp)
	must(t, st.Open(env))
	out, err := drain(st, n, env)
	if err != nil {
		must(t, st.Close())
		return "", o, err
	}
	rows := strings.Split(out, "\n")
	must(t, st.Close())
	sort.Strings(rows)
	return strings.Join(rows, "\n"), o, nil
}

// Workers give what one gives, and their memory back.
func TestExchange(t *testing.T) {
	shareAll(t)
	d := newDB(t)
	for name, n := range aggPlans(d) {
		want, _, err := runShared(t, d, n, 0, nil)
		must(t, err)
		for range 3 {
			got, o, err := runShared(t, d, n, 1, nil)
			must(t, err)
			if got != want {
				t.Errorf("%s: shared\n%.300s\nwant\n%.300s", name, got, want)
			}
			if o.share == nil || len(o.share.workers) == 0 {
				t.Errorf("%s was not shared", name)
			}
		}
	}
	if n := extraWorkers.Load(); n != 0 {
		t.Errorf("%d workers are still taken", n)
	}
}

// Refused memory sends the groups to files, as without workers; an error of one ends all.
func TestExchangeRefusedAndFailing(t *testing.T) {
	shareAll(t)
	d := newDB(t)
	n := aggPlans(d)["many groups"]
	want, _, err := runShared(t, d, n, 0, nil)
	must(t, err)
	got, _, err := runShared(t, d, n, 1, func(env *Env) { env.Acct.SetLimit(1 << 20) })
	must(t, err)
	if got != want {
		t.Error("other groups with little memory")
	}
	r := d.table("z", 1, "id int4", "v int4")
	_, err = d.run(insert(r, project(many(d, 10_000, 100), s4(1), op("-", s4(1), i4(5_000)))))
	must(t, err)
	s := scan(r, 1, 2)
	s.Filter = op(">", op("/", i4(1), s4(1)), i4(0))
	_, _, err = runShared(t, d, agg(s, plan.AggPlain, nil, aggOf("count", 0)), 1, nil)
	if e := sqlerr.From(err); e == nil || e.Code != sqlerr.DivisionByZero {
		t.Errorf("got %v, want division by zero", err)
	}
	if n := extraWorkers.Load(); n != 0 {
		t.Errorf("%d workers are still taken", n)
	}
}

// What must not be shared is not: functions that are not immutable, aggregates that depend on the order, sums of floats.
func TestExchangeUnsafe(t *testing.T) {
	shareAll(t)
	d := newDB(t)
	r := benchTable(d)
	random := &plan.FuncCall{Typed: typed(types.Float8OID), Func: 1598, Volatile: 'v', Strict: true}
	volatile := scan(r, 2, 3, 4)
	volatile.Filter = op(">=", random, &plan.Const{Typed: typed(types.Float8OID), Value: types.Float(0)})
	toFloat := &plan.FuncCall{Typed: typed(types.Float8OID), Func: 316, Args: []plan.Expr{s4(1)}, Volatile: 'i', Strict: true}
	for name, n := range map[string]plan.Node{
		"volatile":   agg(volatile, plan.AggPlain, nil, aggOf("count", 0)),
		"array":      agg(scan(r, 2, 3), plan.AggPlain, nil, aggOf("array_agg", types.Int4ArrayOID, s4(1))),
		"float":      agg(scan(r, 2, 3), plan.AggPlain, nil, aggOf("sum", types.Float8OID, toFloat)),
		"right join": agg(joinOfKind(plan.JoinRight, "hash", scan(r, 3, 2), scan(r, 1, 2), nil), plan.AggPlain, nil, aggOf("count", 0)),
	} {
		_, o, err := runShared(t, d, n, 1, nil)
		must(t, err)
		if o.share != nil {
			t.Errorf("%s is shared", name)
		}
	}
}

// A cancel ends all workers; a panic of one is the session's, after all have ended.
func TestExchangeCancelAndPanic(t *testing.T) {
	shareAll(t)
	d := newDB(t)
	n := aggPlans(d)["many groups"]
	cancelled := errors.New("cancelled")
	calls := 0
	_, _, err := runShared(t, d, n, 1, func(env *Env) {
		env.Interrupt = func() error {
			if calls++; calls > 5 {
				return cancelled
			}
			return nil
		}
	})
	if !errors.Is(err, cancelled) {
		t.Errorf("got %v, want the cancel", err)
	}
	x := &exchange{}
	team := []*shareWorker{{agg: &aggOp{in: noRows{}}}, {}} // the second has no aggregation
	defer func() {
		if p := recover(); p == nil || !strings.Contains(fmt.Sprint(p), "nil pointer") || !x.stop.Load() {
			t.Errorf("got %v, stopped %v", p, x.stop.Load())
		}
		if n := extraWorkers.Load(); n != 0 {
			t.Errorf("%d workers are still taken", n)
		}
	}()
	t.Error(x.work(team))
}
