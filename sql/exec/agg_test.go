package exec

import (
	"fmt"
	"strings"
	"testing"

	"herd/planner/plan"
	"herd/sql/catalog/pgdata"
	"herd/sql/types"
)

// aggOf resolves an aggregate by name and argument types; polymorphic and "any" arguments match everything.
func aggOf(name string, result types.OID, args ...plan.Expr) *plan.Aggref {
	var best *pgdata.Proc
	for _, p := range pgdata.FuncsByName(name) {
		if p.Kind != 'a' || len(p.ArgTypes) != len(args) {
			continue
		}
		ok := true
		for i, t := range p.ArgTypes {
			at := args[i].T().Type
			ok = ok && (t == at || t == types.AnyOID || t == types.AnyElementOID || t == types.AnyNonArrayOID || t == 2776)
		}
		if ok {
			best = p
		}
	}
	if best == nil {
		panic("no aggregate " + name)
	}
	a := &plan.Aggref{Typed: typed(best.RetType), Agg: best.OID, Args: args, Star: len(args) == 0, Kind: 'n'}
	if result != 0 {
		a.Type = result
	}
	return a
}

func agg(in plan.Node, st plan.AggStrategy, keys []int, aggs ...*plan.Aggref) *plan.Agg {
	a := &plan.Agg{Strategy: st, Keys: hashKeys(keys...), Aggs: aggs}
	a.Input = in
	for _, k := range keys {
		a.Cols = append(a.Cols, in.Base().Cols[k])
	}
	for _, x := range aggs {
		a.Cols = append(a.Cols, plan.Column{Typed: x.Typed})
	}
	return a
}

func TestAggregates(t *testing.T) {
	eachSize(t, func(t *testing.T) {
		d := newDB(t)
		in := ints("1 10; 2 20; 1 30; ~ 5; 2 ~; 3 ~; 1 10")
		calls := []*plan.Aggref{aggOf("count", 0), aggOf("count", 0, s4(1)), aggOf("sum", 0, s4(1)), aggOf("avg", 0, s4(1)), aggOf("min", 0, s4(1)), aggOf("max", 0, s4(1))}
		d.want(agg(in, plan.AggPlain, nil, calls...), "7|5|75|15.0000000000000000|5|30")
		want := "1|3|3|50|16.6666666666666667|10|30\n2|2|1|20|20.0000000000000000|20|20\n3|1|0|~|~|~|~\n~|1|1|5|5.0000000000000000|5|5"
		d.want(sorted(agg(in, plan.AggHash, []int{0}, calls...), 0), want)
		d.want(agg(sorted(in, 0), plan.AggSorted, []int{0}, calls...), want)
		empty := filter(in, op("<", s4(0), i4(0)))
		d.want(agg(empty, plan.AggPlain, nil, calls...), "0|0|~|~|~|~")
		d.want(agg(empty, plan.AggHash, []int{0}, calls...), "")
		d.want(agg(empty, plan.AggSorted, []int{0}, calls...), "")

		dist := aggOf("sum", 0, s4(1))
		dist.Distinct = true
		filt := aggOf("count", 0)
		filt.Filter = op(">", s4(1), i4(15))
		d.want(sorted(agg(in, plan.AggHash, []int{0}, dist, filt), 0), "1|40|1\n2|20|1\n3|~|0\n~|5|0")
		d.want(agg(sorted(in, 0), plan.AggSorted, []int{0}, dist, filt), "1|40|1\n2|20|1\n3|~|0\n~|5|0")

		arr := aggOf("array_agg", types.Int4ArrayOID, s4(1))
		arr.OrderBy = []plan.SortKey{{Expr: s4(1), Desc: true, NullsFirst: true}}
		uniq := aggOf("array_agg", types.Int4ArrayOID, s4(1))
		uniq.Distinct = true
		for _, st := range []plan.AggStrategy{plan.AggHash, plan.AggSorted} {
			d.want(sorted(agg(sorted(in, 0), st, []int{0}, arr, uniq), 0), "1|{30,10,10}|{10,30}\n2|{NULL,20}|{20,NULL}\n3|{NULL}|{NULL}\n~|{5}|{5}")
		}
	})
}

func TestGroupingSets(t *testing.T) {
	eachSize(t, func(t *testing.T) {
		d := newDB(t)
		a := agg(ints("1 1; 1 2; 2 1"), plan.AggHash, []int{0, 1}, aggOf("count", 0))
		a.Sets = [][]int{{0, 1}, {0}, {}}
		a.Groupings = []*plan.GroupingFunc{{Typed: typed(types.Int4OID), Refs: []int{0, 1}}}
		a.Cols = append(a.Cols, plan.Column{Typed: typed(types.Int4OID)})
		d.want(sorted(a, 3, 0, 1), "1|1|1|0\n1|2|1|0\n2|1|1|0\n1|~|2|1\n2|~|1|1\n~|~|3|3")
		a.Input = filter(ints("1 1"), op("<", s4(0), i4(0)))
		d.want(a, "~|~|0|3")
	})
}

// many makes rows 0..n-1 of (i % mod, i) with a text column wide enough to need memory.
func many(d *db, n, mod int) plan.Node {
	call := &plan.FuncCall{Typed: typed(types.Int4OID), RetSet: true, Func: funcOID("generate_series", types.Int4OID, types.Int4OID), Args: []plan.Expr{i4(0), i4(int64(n - 1))}, Strict: true}
	f := &plan.FunctionScan{Calls: []plan.Expr{call}, CallCols: []int{1}}
	f.Cols = colsOf(types.Int4OID)
	return project(f, op("%", s4(0), i4(int64(mod))), s4(0))
}

func funcOID(name string, args ...types.OID) types.OID {
	for _, p := range pgdata.FuncsByName(name) {
		if len(p.ArgTypes) != len(args) {
			continue
		}
		ok := true
		for i := range args {
			ok = ok && p.ArgTypes[i] == args[i]
		}
		if ok {
			return p.OID
		}
	}
	panic("no function " + name)
}

// TestSpill runs operators with a memory limit far below their input: the same rows come out.
func TestSpill(t *testing.T) {
	const n = 30_000
	d := newDB(t)
	plans := map[string]func() plan.Node{
		"sort": func() plan.Node { return sorted(many(d, n, 97), 0, -2) },
		"hash agg": func() plan.Node {
			return sorted(agg(agg(many(d, n, n/2), plan.AggHash, []int{0}, aggOf("sum", 0, s4(1)), aggOf("count", 0)), plan.AggPlain, nil, aggOf("count", 0), aggOf("sum", 0, s4(0))), 0)
		},
		"distinct": func() plan.Node {
			x := &plan.Distinct{Keys: hashKeys(0)}
			x.Input = many(d, n, n/2)
			x.Cols = x.Input.Base().Cols
			return agg(x, plan.AggPlain, nil, aggOf("count", 0), aggOf("sum", 0, s4(0)))
		},
		"materialize": func() plan.Node {
			m := &plan.Materialize{}
			m.Input = many(d, n, 7)
			m.Cols = m.Input.Base().Cols
			return agg(m, plan.AggPlain, nil, aggOf("count", 0), aggOf("sum", 0, s4(1)))
		},
	}
	for jt, name := range map[plan.JoinType]string{plan.JoinInner: "inner", plan.JoinLeft: "left", plan.JoinFull: "full", plan.JoinRight: "right", plan.JoinSemi: "semi", plan.JoinAnti: "anti"} {
		plans["hash join "+name] = func() plan.Node {
			left, right := many(d, n, n), project(many(d, n, n/3), op("+", s4(0), i4(100)), s4(1))
			j := joinOfKind(jt, "hash", left, right, nil)
			return agg(j, plan.AggPlain, nil, aggOf("count", 0), aggOf("sum", 0, s4(0)), aggOf("sum", 0, s4(len(j.Base().Cols)-1)))
		}
	}
	for name, p := range plans {
		t.Run(name, func(t *testing.T) {
			d.t = t
			want, err := d.run(p())
			must(t, err)
			d.mem.SetLimit(400 << 10)
			got, err := d.run(p())
			d.mem.SetLimit(0)
			must(t, err)
			if got != want {
				t.Errorf("with spilling: %.200s\nwithout: %.200s", got, want)
			}
			names, err := d.fs.ReadDir("test", "/tmp")
			must(t, err)
			if len(names) > 0 {
				t.Errorf("temporary files are left: %v", names)
			}
		})
	}
	d.t = t
}

func TestSetOperationsDistinctAppend(t *testing.T) {
	eachSize(t, func(t *testing.T) {
		d := newDB(t)
		l, r := "1; 1; 1; 2; ~; ~; 3", "1; 1; ~; 4"
		for _, c := range []struct {
			kind plan.SetOpKind
			all  bool
			want string
		}{
			{plan.Intersect, false, "1\n~"}, {plan.Intersect, true, "1\n1\n~"},
			{plan.Except, false, "2\n3"}, {plan.Except, true, "1\n2\n3\n~"},
		} {
			s := &plan.SetOperation{Kind: c.kind, All: c.all, Left: ints(l), Right: ints(r), Keys: hashKeys(0)}
			s.Cols = colsOf(types.Int4OID)
			d.want(sorted(s, 0), c.want)
		}
		a := &plan.Append{Inputs: []plan.Node{ints("1; 2"), ints("2; 3")}}
		a.Cols = colsOf(types.Int4OID)
		d.want(a, "1\n2\n2\n3")
		for _, s := range []bool{false, true} {
			x := &plan.Distinct{Keys: hashKeys(0), Sorted: s}
			x.Input, x.Cols = sorted(a, 0), a.Cols
			d.want(x, "1\n2\n3")
		}
	})
}

func TestRecursiveUnion(t *testing.T) {
	eachSize(t, func(t *testing.T) {
		d := newDB(t)
		u := &plan.RecursiveUnion{Init: ints("1")}
		u.Cols = colsOf(types.Int4OID)
		w := &plan.WorkTableScan{Union: u, Filter: op("<", s4(0), i4(6))}
		w.Cols = u.Cols
		u.Step = project(w, op("+", s4(0), i4(1)))
		d.want(u, "1\n2\n3\n4\n5\n6")
		// UNION drops what was there: 1 -> 2 -> 3 -> 1 ends.
		u.Step = project(w, op("+", op("%", s4(0), i4(3)), i4(1)))
		u.Distinct, u.Keys = true, hashKeys(0)
		d.want(u, "1\n2\n3")
		// As a CTE read twice.
		c1, c2 := &plan.CTEScan{}, &plan.CTEScan{}
		c1.Cols, c2.Cols = u.Cols, u.Cols
		j := joinOfKind(plan.JoinInner, "hash", c1, c2, nil)
		got, err := d.runPlan(&plan.Plan{Root: sorted(j, 0), CTEs: []*plan.CTEPlan{{Name: "r", Plan: u}}})
		must(t, err)
		if got != "1|1\n2|2\n3|3\n" {
			t.Errorf("got %s", got)
		}
	})
}

func TestSubPlans(t *testing.T) {
	eachSize(t, func(t *testing.T) {
		d := newDB(t)
		param := &plan.ExecParam{Typed: typed(types.Int4OID), ID: 0}
		boolT := typed(types.BoolOID)
		// Correlated: EXISTS, scalar, ANY.
		inner := filter(ints("2 20; 3 30; 3 31"), op("=", s4(0), param))
		exists := &plan.SubPlan{Typed: boolT, Kind: plan.SubExists, Plan: inner, ParamIDs: []int{0}, Args: []plan.Expr{s4(0)}}
		scalar := &plan.SubPlan{Typed: typed(types.Int8OID), Kind: plan.SubScalar, Plan: agg(inner, plan.AggPlain, nil, aggOf("sum", 0, s4(1))), ParamIDs: []int{0}, Args: []plan.Expr{s4(0)}}
		d.want(project(ints("1; 2; 3; ~"), exists, scalar), "f|~\nt|20\nt|61\nf|~")
		two := &plan.SubPlan{Typed: typed(types.Int4OID), Kind: plan.SubScalar, Plan: inner, ParamIDs: []int{0}, Args: []plan.Expr{s4(0)}}
		d.wantErr(project(ints("3"), two), "21000 more than one row returned by a subquery used as an expression")
		arr := &plan.SubPlan{Typed: typed(types.Int4ArrayOID), Kind: plan.SubArray, Plan: project(inner, s4(1)), ParamIDs: []int{0}, Args: []plan.Expr{s4(0)}}
		d.want(project(ints("1; 3"), arr), "{}\n{30,31}")
		// x IN (list) with and without NULLs, hashed and not.
		for _, c := range []struct{ list, want string }{
			{"1; 2", "t\nf\n~"}, {"1; ~", "t\n~\n~"}, {"~", "~\n~\n~"},
		} {
			out := &plan.SubOut{Typed: typed(types.Int4OID)}
			in := &plan.SubPlan{Typed: boolT, Kind: plan.SubAny, Plan: ints(c.list), Test: op("=", s4(0), out)}
			d.want(project(ints("1; 5; ~"), in), c.want)
			hashed := &plan.SubPlan{Typed: boolT, Kind: plan.SubAny, Plan: ints(c.list), Test: in.Test, Hashed: true,
				HashKeys: []plan.HashKey{{Left: s4(0), Right: out, Type: types.Int4OID}}}
			d.want(project(ints("1; 5; ~"), hashed), c.want)
		}
		all := &plan.SubPlan{Typed: boolT, Kind: plan.SubAll, Plan: ints("1; 2"), Test: op(">", s4(0), &plan.SubOut{Typed: typed(types.Int4OID)})}
		d.want(project(ints("1; 3; ~"), all), "f\nt\n~")
		nothing := filter(ints("1"), op("<", s4(0), i4(0)))
		all.Plan = nothing
		d.want(project(ints("1; ~"), all), "t\nt")
	})
}

func TestDependentJoin(t *testing.T) {
	eachSize(t, func(t *testing.T) {
		d := newDB(t)
		r := d.table("t", 2, "a int4", "b int4")
		d.want(insert(r, ints("1 1; 1 2; 2 5; 3 7")), "")
		s := scan(r, 2)
		s.Ranges = []plan.KeyRange{{Eq: []plan.Expr{&plan.ExecParam{Typed: typed(types.Int4OID), ID: 3}}, In: -1}}
		for _, c := range []struct {
			jt   plan.JoinType
			want string
		}{{plan.JoinInner, "3|7\n1|1\n1|2"}, {plan.JoinLeft, "3|7\n9|~\n1|1\n1|2\n~|~"}} {
			j := &plan.NestLoop{ParamIDs: []int{3}, Args: []plan.Expr{s4(0)}}
			j.Type, j.Left, j.Right = c.jt, ints("3; 9; 1; ~"), s
			j.Cols = colsOf(types.Int4OID, types.Int4OID)
			d.want(j, c.want)
		}
	})
}

func TestWindowFunctions(t *testing.T) {
	eachSize(t, func(t *testing.T) {
		d := newDB(t)
		in := sorted(ints("1 10; 1 20; 1 20; 1 40; 2 5; 2 ~"), 0, 1)
		win := func(f plan.Frame, fs ...*plan.WindowFunc) plan.Node {
			w := &plan.WindowAgg{Window: &plan.Window{PartitionBy: []plan.SortKey{{Expr: s4(0)}}, OrderBy: []plan.SortKey{{Expr: s4(1)}}, Frame: f}, Funcs: fs}
			w.Input, w.Cols = in, append([]plan.Column{}, in.Cols...)
			for _, x := range fs {
				w.Cols = append(w.Cols, plan.Column{Typed: x.Typed})
			}
			return w
		}
		wf := func(name string, ret types.OID, args ...plan.Expr) *plan.WindowFunc {
			for _, p := range pgdata.FuncsByName(name) {
				if p.Kind == 'w' && len(p.ArgTypes) == len(args) {
					return &plan.WindowFunc{Typed: typed(ret), Func: p.OID, Args: args}
				}
			}
			panic(name)
		}
		sum := func() *plan.WindowFunc {
			return &plan.WindowFunc{Typed: typed(types.Int8OID), Func: aggOf("sum", 0, s4(1)).Agg, Args: []plan.Expr{s4(1)}, IsAgg: true}
		}
		std := plan.Frame{Mode: 'r', Start: 'u', End: 'c', Default: true}
		d.want(win(std, wf("row_number", types.Int8OID), wf("rank", types.Int8OID), wf("dense_rank", types.Int8OID), sum(), wf("lag", types.Int4OID, s4(1))),
			"1|10|1|1|1|10|~\n1|20|2|2|2|50|10\n1|20|3|2|2|50|20\n1|40|4|4|3|90|20\n2|5|1|1|1|5|~\n2|~|2|2|2|5|5")
		rows := plan.Frame{Mode: 'o', Start: 'p', StartOffset: i4(1), End: 'f', EndOffset: i4(1)}
		d.want(win(rows, sum(), wf("first_value", types.Int4OID, s4(1)), wf("last_value", types.Int4OID, s4(1))),
			"1|10|30|10|20\n1|20|50|10|20\n1|20|80|20|40\n1|40|60|20|40\n2|5|5|5|~\n2|~|5|5|~")
		rng := plan.Frame{Mode: 'r', Start: 'p', StartOffset: i4(10), End: 'c'}
		d.want(win(rng, sum()), "1|10|10\n1|20|50\n1|20|50\n1|40|40\n2|5|5\n2|~|~")
		grp := plan.Frame{Mode: 'g', Start: 'p', StartOffset: i4(1), End: 'c', Exclude: 'c'}
		d.want(win(grp, sum()), "1|10|~\n1|20|30\n1|20|30\n1|40|40\n2|5|~\n2|~|5")
		d.want(win(std, wf("ntile", types.Int4OID, i4(3)), wf("nth_value", types.Int4OID, s4(1), i4(2)), wf("cume_dist", types.Float8OID)),
			"1|10|1|~|0.25\n1|20|1|20|0.75\n1|20|2|20|0.75\n1|40|3|20|1\n2|5|1|~|0.5\n2|~|2|~|1")
	})
}

func TestProjectSetAndFunctionScan(t *testing.T) {
	eachSize(t, func(t *testing.T) {
		d := newDB(t)
		series := func(a, b plan.Expr) plan.Expr {
			return &plan.FuncCall{Typed: typed(types.Int4OID), RetSet: true, Strict: true, Func: funcOID("generate_series", types.Int4OID, types.Int4OID), Args: []plan.Expr{a, b}}
		}
		p := &plan.ProjectSet{Exprs: []plan.Expr{s4(0), series(i4(1), s4(0)), series(i4(7), i4(8))}}
		p.Input, p.Cols = ints("1; 0; 3"), colsOf(types.Int4OID, types.Int4OID, types.Int4OID)
		d.want(p, "1|1|7\n1|~|8\n0|~|7\n0|~|8\n3|1|7\n3|2|8\n3|3|~")
		f := &plan.FunctionScan{Calls: []plan.Expr{series(i4(1), i4(3)), series(i4(5), i4(6))}, CallCols: []int{1, 1}, Ordinality: true}
		f.Cols = colsOf(types.Int4OID, types.Int4OID, types.Int8OID)
		d.want(f, "1|5|1\n2|6|2\n3|~|3")
		var sb strings.Builder
		for i := range 3000 {
			fmt.Fprintln(&sb, i)
		}
		g := &plan.FunctionScan{Calls: []plan.Expr{series(i4(0), i4(2999))}, CallCols: []int{1}}
		g.Cols = colsOf(types.Int4OID)
		d.want(g, sb.String())
	})
}
