package exec

import (
	"testing"

	"herd/planner/plan"
	"herd/sql/types"
)

func TestScanFilterProjectSortLimit(t *testing.T) {
	eachSize(t, func(t *testing.T) {
		d := newDB(t)
		r := d.table("t", 1, "id int4", "v int4", "s text")
		d.want(insert(r, rows(
			[]plan.Expr{i4(3), i4(30), txt("c")},
			[]plan.Expr{i4(1), i4(10), txt("a")},
			[]plan.Expr{i4(2), null(types.Int4OID), txt("b")},
			[]plan.Expr{i4(7), i4(70), txt("")},
			[]plan.Expr{i4(5), i4(50), null(types.TextOID)},
			[]plan.Expr{i4(6), i4(50), txt("x")},
		)), "")
		d.want(scan(r, 1, 2, 3), "1|10|a\n2|~|b\n3|30|c\n5|50|~\n6|50|x\n7|70|")
		d.want(scan(r, 3), "a\nb\nc\n~\nx\n")
		d.want(filter(scan(r, 1, 2), op(">", s4(1), i4(20))), "3|30\n5|50\n6|50\n7|70")
		s := scan(r, 1, 3)
		s.Filter = op("<", s4(0), i4(6))
		d.want(project(s, slot(1, types.TextOID), op("+", s4(0), i4(1))), "a|2\nb|3\nc|4\n~|6")
		d.want(sorted(scan(r, 1, 2), -2, 0), "2|~\n7|70\n5|50\n6|50\n3|30\n1|10")
		d.want(limit(sorted(scan(r, 1, 2), 1), 2, 1), "3|30\n5|50")
		top := sorted(scan(r, 1, 2), 1)
		top.TopN = true
		d.want(limit(top, 2, 1), "3|30\n5|50")
		d.want(limit(scan(r, 1), 0, 0), "")
		d.want(limit(scan(r, 1), -1, 4), "6\n7")
		ties := limit(sorted(scan(r, 1, 2), 1), 3, 0)
		ties.WithTies, ties.TieKeys = true, []plan.SortKey{{Expr: s4(1)}}
		d.want(ties, "1|10\n3|30\n5|50\n6|50")
		rev := scan(r, 1)
		rev.Reverse = true
		d.want(rev, "7\n6\n5\n3\n2\n1")
	})
}

func TestPrimaryKeyRanges(t *testing.T) {
	eachSize(t, func(t *testing.T) {
		d := newDB(t)
		r := d.table("t", 2, "a int4", "b int4")
		d.want(insert(r, ints("1 1; 1 2; 1 3; 2 1; 2 2; 3 1; -1 5")), "")
		ranged := func(rs ...plan.KeyRange) *plan.Scan {
			s := scan(r, 1, 2)
			s.Ranges = rs
			return s
		}
		eq := func(es ...plan.Expr) plan.KeyRange { return plan.KeyRange{Eq: es, In: -1} }
		d.want(ranged(eq(i4(1))), "1|1\n1|2\n1|3")
		d.want(ranged(eq(i4(1), i4(2))), "1|2")
		d.want(ranged(eq(i4(9))), "")
		d.want(ranged(eq(null(types.Int4OID))), "")
		d.want(ranged(eq(&plan.Const{Typed: typed(types.Int8OID), Value: types.Int(1 << 40)})), "")
		d.want(ranged(plan.KeyRange{In: -1, Lo: &plan.Bound{Exprs: []plan.Expr{i4(1)}}, Hi: &plan.Bound{Exprs: []plan.Expr{i4(3)}}}), "2|1\n2|2")
		d.want(ranged(plan.KeyRange{In: -1, Lo: &plan.Bound{Exprs: []plan.Expr{i4(2)}, Inclusive: true}, Hi: &plan.Bound{Exprs: []plan.Expr{i4(3)}, Inclusive: true}}), "2|1\n2|2\n3|1")
		d.want(ranged(plan.KeyRange{Eq: []plan.Expr{i4(1)}, In: -1, Hi: &plan.Bound{Exprs: []plan.Expr{i4(2)}, Inclusive: true}}), "1|1\n1|2")
		d.want(ranged(eq(i4(2)), eq(i4(1), i4(1)), eq(i4(1))), "1|1\n1|2\n1|3\n2|1\n2|2")
		big := &plan.Const{Typed: typed(types.Int8OID), Value: types.Int(1 << 40)}
		d.want(ranged(plan.KeyRange{In: -1, Hi: &plan.Bound{Exprs: []plan.Expr{big}}}), "-1|5\n1|1\n1|2\n1|3\n2|1\n2|2\n3|1")
		d.want(ranged(plan.KeyRange{In: -1, Lo: &plan.Bound{Exprs: []plan.Expr{big}}}), "")
		list := &plan.Const{Typed: typed(types.Int4ArrayOID), Value: types.Bytes(types.MakeArray(types.Int4OID, []types.Datum{types.Int(3), types.NullDatum, types.Int(1), types.Int(3)}))}
		in := plan.KeyRange{Eq: []plan.Expr{list, i4(1)}, In: 0}
		d.want(ranged(in), "1|1\n3|1")
		s := ranged(in)
		s.Reverse = true
		d.want(s, "3|1\n1|1")
	})
}

func TestIndexScan(t *testing.T) {
	eachSize(t, func(t *testing.T) {
		d := newDB(t)
		r := d.table("t", 1, "id int4", "a int4", "b text")
		up := d.index(r, "t_a", false, 2)
		down := d.index(r, "t_a_desc", false, -2)
		d.want(insert(r, rows(
			[]plan.Expr{i4(1), i4(10), txt("x")},
			[]plan.Expr{i4(2), i4(20), txt("y")},
			[]plan.Expr{i4(3), null(types.Int4OID), txt("n")},
			[]plan.Expr{i4(4), i4(10), txt("z")},
		)), "")
		for _, ix := range []struct {
			name string
			s    *plan.IndexScan
			want string
		}{
			{"all up", &plan.IndexScan{Index: up}, "1|10|x\n4|10|z\n2|20|y\n3|~|n"},
			{"all down", &plan.IndexScan{Index: down}, "3|~|n\n2|20|y\n1|10|x\n4|10|z"},
			{"reverse", &plan.IndexScan{Index: up, Reverse: true}, "3|~|n\n2|20|y\n4|10|z\n1|10|x"},
			{"equal", &plan.IndexScan{Index: up, Ranges: []plan.KeyRange{{Eq: []plan.Expr{i4(10)}, In: -1}}}, "1|10|x\n4|10|z"},
			{"is null", &plan.IndexScan{Index: up, Ranges: []plan.KeyRange{{Eq: []plan.Expr{nil}, In: -1}}}, "3|~|n"},
			{"from", &plan.IndexScan{Index: up, Ranges: []plan.KeyRange{{In: -1, Lo: &plan.Bound{Exprs: []plan.Expr{i4(10)}}}}}, "2|20|y"},
			{"from desc", &plan.IndexScan{Index: down, Ranges: []plan.KeyRange{{In: -1, Lo: &plan.Bound{Exprs: []plan.Expr{i4(10)}, Inclusive: true}}}}, "2|20|y\n1|10|x\n4|10|z"},
			{"below desc", &plan.IndexScan{Index: down, Ranges: []plan.KeyRange{{In: -1, Hi: &plan.Bound{Exprs: []plan.Expr{i4(20)}}}}}, "1|10|x\n4|10|z"},
		} {
			ix.s.Rel, ix.s.Attnos, ix.s.Cols = r, []int16{1, 2, 3}, colsOf(types.Int4OID, types.Int4OID, types.TextOID)
			t.Run(ix.name, func(t *testing.T) { d.t = t; d.want(ix.s, ix.want) })
		}
		d.t = t
		only := &plan.IndexScan{Rel: r, Index: up, Attnos: []int16{2}, IndexOnly: true}
		only.Cols = colsOf(types.Int4OID)
		d.want(only, "10\n10\n20\n~")
	})
}

func joinOfKind(jt plan.JoinType, how string, l, r plan.Node, cond plan.Expr) plan.Node {
	cols := append(append([]plan.Column{}, l.Base().Cols...), r.Base().Cols...)
	if jt == plan.JoinSemi || jt == plan.JoinAnti {
		cols = l.Base().Cols
	}
	j := plan.Join{Type: jt, Left: l, Right: r, Cond: cond}
	j.Cols = cols
	eq := plan.Expr(op("=", s4(0), s4(len(l.Base().Cols))))
	switch how {
	case "hash":
		return &plan.HashJoin{Join: j, Keys: hashKeys(0)}
	case "merge":
		j.Left, j.Right = sorted(l, 0), sorted(r, 0)
		return &plan.MergeJoin{Join: j, Keys: hashKeys(0), Desc: []bool{false}, NullsFirst: []bool{false}}
	}
	j.Cond = eq
	if cond != nil {
		j.Cond = and(eq, cond)
	}
	return &plan.NestLoop{Join: j}
}

func TestJoins(t *testing.T) {
	d := newDB(t)
	left, right := "1 10; 2 20; 2 21; 3 30; ~ 40", "2 200; 2 201; 3 300; 4 400; ~ 500"
	odd := op("<>", op("%", s4(3), i4(2)), i4(0))
	for _, c := range []struct {
		name string
		jt   plan.JoinType
		cond plan.Expr
		want string
	}{
		{"inner", plan.JoinInner, nil, "2|20|2|200\n2|20|2|201\n2|21|2|200\n2|21|2|201\n3|30|3|300"},
		{"inner cond", plan.JoinInner, odd, "2|20|2|201\n2|21|2|201"},
		{"left", plan.JoinLeft, nil, "1|10|~|~\n2|20|2|200\n2|20|2|201\n2|21|2|200\n2|21|2|201\n3|30|3|300\n~|40|~|~"},
		{"left cond", plan.JoinLeft, odd, "1|10|~|~\n2|20|2|201\n2|21|2|201\n3|30|~|~\n~|40|~|~"},
		{"right", plan.JoinRight, odd, "2|20|2|201\n2|21|2|201\n~|~|2|200\n~|~|3|300\n~|~|4|400\n~|~|~|500"},
		{"full", plan.JoinFull, odd, "1|10|~|~\n2|20|2|201\n2|21|2|201\n3|30|~|~\n~|40|~|~\n~|~|2|200\n~|~|3|300\n~|~|4|400\n~|~|~|500"},
		{"semi", plan.JoinSemi, nil, "2|20\n2|21\n3|30"},
		{"semi cond", plan.JoinSemi, odd, "2|20\n2|21"},
		{"anti", plan.JoinAnti, nil, "1|10\n~|40"},
		{"anti cond", plan.JoinAnti, odd, "1|10\n3|30\n~|40"},
	} {
		for _, how := range []string{"nest", "hash", "merge"} {
			t.Run(c.name+" "+how, func(t *testing.T) {
				eachSize(t, func(t *testing.T) {
					d.t = t
					j := joinOfKind(c.jt, how, ints(left), ints(right), c.cond)
					keys := []int{0, 1, 2, 3}[:len(j.Base().Cols)]
					d.want(sorted(j, keys...), c.want)
				})
			})
		}
	}
	d.t = t
}
