package exec

import (
	"fmt"
	"strings"
	"testing"

	"herd/engine"
	"herd/planner/plan"
	"herd/sql/catalog"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

func p4(i int) plan.Expr { return &plan.Param{Typed: typed(types.Int4OID), Index: i} }

// pointPlans are the statements of TestPointPaths: each with a fast path and the general plan.
func pointPlans(r *catalog.Relation, tail *plan.ModifyTable) map[string]*plan.Plan {
	key := []plan.KeyRange{{Eq: []plan.Expr{p4(0)}, In: -1}}
	s := scan(r, 1, 2, 3)
	s.Ranges = key
	with := func(m *plan.ModifyTable) *plan.ModifyTable {
		m.Checks, m.ReferencedBy = tail.Checks, tail.ReferencedBy
		return m
	}
	ins := with(insert(r, rows([]plan.Expr{p4(0), p4(1), slot(0, types.TextOID)})))
	ins.Input.(*plan.Values).Lists[0][2] = &plan.Const{Typed: typed(types.TextOID), Value: types.Text("new")}
	upd := with(update(r, nil, 2, op("+", s4(1), p4(1))))
	upd.Input.(*plan.Project).Input.(*plan.Scan).Ranges = key
	del := with(deleteFrom(r, nil))
	del.Input.(*plan.Scan).Ranges = key
	k := []plan.Expr{p4(0)}
	return map[string]*plan.Plan{
		"get":    {Root: s, Fast: &plan.FastPath{Kind: plan.FastGet, Rel: r, Key: k, Attnos: []int16{1, 2, 3}}},
		"insert": {Root: ins, Fast: &plan.FastPath{Kind: plan.FastInsert, Rel: r, Row: ins.Input.(*plan.Values).Lists[0], Modify: ins}},
		"update": {Root: upd, Fast: &plan.FastPath{Kind: plan.FastUpdate, Rel: r, Key: k, SetAttnos: []int16{2}, Set: []plan.Expr{op("+", s4(1), p4(1))}, Modify: upd}},
		"delete": {Root: del, Fast: &plan.FastPath{Kind: plan.FastDelete, Rel: r, Key: k, Modify: del}},
	}
}

// script runs the same statements by fast path or by general plan and returns everything that a client could see.
func pointScript(t *testing.T, fast bool, iso engine.Isolation) string {
	d := newDB(t)
	r := d.table("t", 1, "id int4", "a int4!", "s text")
	d.index(r, "t_a_key", true, 2)
	d.want(insert(r, rows([]plan.Expr{i4(1), i4(10), txt("one")}, []plan.Expr{i4(2), i4(20), txt("two")}, []plan.Expr{i4(3), i4(30), txt("three")})), "")
	plans := pointPlans(r, &plan.ModifyTable{Checks: []plan.CheckExpr{{Name: "t_a_check", Expr: op("<", s4(1), i4(1000))}}})
	var sb strings.Builder
	for _, step := range []struct {
		op   string
		args []types.Datum
	}{
		{"get", []types.Datum{types.Int(2)}},
		{"get", []types.Datum{types.Int(99)}},
		{"get", []types.Datum{types.NullDatum}},
		{"insert", []types.Datum{types.Int(4), types.Int(40)}},
		{"insert", []types.Datum{types.Int(4), types.Int(41)}},
		{"insert", []types.Datum{types.Int(5), types.Int(40)}},
		{"insert", []types.Datum{types.Int(5), types.NullDatum}},
		{"insert", []types.Datum{types.Int(5), types.Int(5000)}},
		{"update", []types.Datum{types.Int(1), types.Int(5)}},
		{"update", []types.Datum{types.Int(1), types.Int(5)}},
		{"update", []types.Datum{types.Int(1), types.NullDatum}},
		{"update", []types.Datum{types.Int(99), types.Int(5)}},
		{"update", []types.Datum{types.NullDatum, types.Int(5)}},
		{"delete", []types.Datum{types.Int(3)}},
		{"delete", []types.Datum{types.Int(3)}},
		{"get", []types.Datum{types.Int(1)}},
	} {
		p := plans[step.op]
		pt := NewPoint(p)
		if pt == nil {
			t.Fatalf("no fast path for %s", step.op)
		}
		fmt.Fprint(&sb, step.op, step.args, ": ")
		tx := d.s.Begin(engine.TxOptions{Isolation: iso})
		env := d.env(tx, tx.BeginStatement(), step.args...)
		n, text, err := int64(0), "", error(nil)
		if fast {
			n, text, err = runPoint(pt, env, step.args)
		} else {
			st, berr := Build(p)
			must(t, berr)
			must(t, st.Open(env))
			text, err = drain(st, p.Root, env)
			n = st.RowsAffected()
			must(t, st.Close())
		}
		env.Acct.Close()
		if err != nil {
			e := sqlerr.From(err)
			fmt.Fprintln(&sb, e.Code, e.Message, e.Detail, e.Constraint)
			tx.Rollback()
			continue
		}
		fmt.Fprintln(&sb, n, text)
		must(t, tx.Commit())
	}
	out, err := d.run(scan(r, 1, 2, 3))
	must(t, err)
	return sb.String() + out
}

func runPoint(pt *Point, env *Env, params []types.Datum) (int64, string, error) {
	if pt.Kind() != plan.FastGet {
		n, err := pt.Write(env, params)
		return n, "", err
	}
	r, l, attnos, err := pt.Get(env, params)
	if err != nil || r == nil {
		return 0, "", err
	}
	var parts []string
	for _, a := range attnos {
		b, err := l.AppendText(nil, r, int(a)-1, env.Funcs.IO, nil)
		if err != nil {
			return 0, "", err
		}
		parts = append(parts, string(b[4:]))
	}
	return 0, strings.Join(parts, "|") + "\n", nil
}

func TestPointPathsEqualGeneralPlans(t *testing.T) {
	for _, iso := range []engine.Isolation{engine.ReadCommitted, engine.RepeatableRead} {
		fast, general := pointScript(t, true, iso), pointScript(t, false, iso)
		if fast != general {
			t.Errorf("fast path:\n%s\ngeneral plan:\n%s", fast, general)
		}
		if !strings.Contains(fast, "23505") || !strings.Contains(fast, "23514") || !strings.Contains(fast, "23502") {
			t.Errorf("the script misses errors:\n%s", fast)
		}
	}
}

func TestPointGetDoesNotAllocate(t *testing.T) {
	d := newDB(t)
	r := d.table("t", 1, "id int4", "a int4", "s text")
	d.want(insert(r, rows([]plan.Expr{i4(1), i4(10), txt("one")})), "")
	pt := NewPoint(pointPlans(r, &plan.ModifyTable{})["get"])
	tx := d.s.Begin(engine.TxOptions{})
	defer tx.Rollback()
	env := d.env(tx, tx.BeginStatement())
	defer env.Acct.Close()
	params := []types.Datum{types.Int(1)}
	buf := make([]byte, 0, 100)
	if n := testing.AllocsPerRun(100, func() {
		r, l, attnos, err := pt.Get(env, params)
		if err != nil || r == nil {
			t.Fatal("no row", err)
		}
		buf = buf[:0]
		for _, a := range attnos {
			buf, _ = l.AppendText(buf, r, int(a)-1, env.Funcs.IO, nil)
		}
	}); n != 0 {
		t.Errorf("%v allocations a get", n)
	}
}

// TestScanAllocations: a scan with a filter must not allocate per row.
func TestScanAllocations(t *testing.T) {
	d := newDB(t)
	r := d.table("t", 1, "id int4", "a int4")
	d.want(insert(r, many2(d, 5000)), "")
	s := scan(r, 1, 2)
	s.Filter = op(">", s4(1), i4(10))
	st, err := Build(&plan.Plan{Root: s})
	must(t, err)
	tx := d.s.Begin(engine.TxOptions{})
	defer tx.Rollback()
	env := d.env(tx, tx.BeginStatement())
	defer env.Acct.Close()
	n := testing.AllocsPerRun(5, func() {
		must(t, st.Open(env))
		for {
			b, err := st.Next(1024)
			must(t, err)
			if b == nil {
				break
			}
		}
		must(t, st.Close())
	})
	if n > 60 {
		t.Errorf("%v allocations for 5000 rows", n)
	}
}

// many2 is n rows (i, i).
func many2(d *db, n int) plan.Node {
	return project(many(d, n, n), s4(1), s4(1))
}
