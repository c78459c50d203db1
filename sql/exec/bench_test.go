package exec

import (
	"testing"

	"herd/engine"
	"herd/planner/plan"
	"herd/sql/catalog"
	"herd/sql/types"
)

const benchRows = 100_000

// benchTable is a table of benchRows rows (id, id % 100, id, text).
func benchTable(d *db) *catalog.Relation {
	r := d.table("t", 1, "id int4", "g int4", "v int4", "s text")
	m := many(d, benchRows, 100)
	p := project(m, s4(1), s4(0), s4(1), txt("some text of a row"))
	_, err := d.run(insert(r, p))
	must(d.t, err)
	return r
}

func benchPlan(b *testing.B, mk func(d *db, r *catalog.Relation) plan.Node) {
	d := newDB(b)
	r := benchTable(d)
	st, err := Build(&plan.Plan{Root: mk(d, r)})
	must(b, err)
	tx := d.s.Begin(engine.TxOptions{})
	defer tx.Rollback()
	env := d.env(tx, tx.BeginStatement())
	defer env.Acct.Close()
	b.ResetTimer()
	for range b.N {
		must(b, st.Open(env))
		for {
			x, err := st.Next(1024)
			must(b, err)
			if x == nil {
				break
			}
		}
		must(b, st.Close())
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
}

func BenchmarkScanFilter(b *testing.B) {
	benchPlan(b, func(d *db, r *catalog.Relation) plan.Node {
		s := scan(r, 2, 3)
		s.Filter = op(">", s4(1), i4(benchRows/2))
		return agg(s, plan.AggPlain, nil, aggOf("count", 0), aggOf("sum", 0, s4(1)))
	})
}

func BenchmarkHashAgg(b *testing.B) {
	benchPlan(b, func(d *db, r *catalog.Relation) plan.Node {
		return agg(scan(r, 2, 3), plan.AggHash, []int{0}, aggOf("count", 0), aggOf("sum", 0, s4(1)))
	})
}

func BenchmarkHashAggManyGroups(b *testing.B) {
	benchPlan(b, func(d *db, r *catalog.Relation) plan.Node {
		return agg(scan(r, 1, 3), plan.AggHash, []int{0}, aggOf("count", 0))
	})
}

func BenchmarkHashJoin(b *testing.B) {
	benchPlan(b, func(d *db, r *catalog.Relation) plan.Node {
		return agg(joinOfKind(plan.JoinInner, "hash", scan(r, 1, 2), scan(r, 3, 2), nil), plan.AggPlain, nil, aggOf("count", 0))
	})
}

func BenchmarkSort(b *testing.B) {
	benchPlan(b, func(d *db, r *catalog.Relation) plan.Node { return sorted(scan(r, 1, 2, 4), 1, -1) })
}

func BenchmarkTextFilter(b *testing.B) {
	benchPlan(b, func(d *db, r *catalog.Relation) plan.Node {
		s := scan(r, 1, 4)
		s.Filter = op("=", slot(1, types.TextOID), txt("some text of a row"))
		return agg(s, plan.AggPlain, nil, aggOf("count", 0))
	})
}

func BenchmarkPointUpdate(b *testing.B) {
	d := newDB(b)
	r := benchTable(d)
	pt := NewPoint(pointPlans(r, &plan.ModifyTable{})["update"])
	tx := d.s.Begin(engine.TxOptions{})
	defer tx.Rollback()
	params := []types.Datum{types.Int(1), types.Int(1)}
	env := d.env(tx, tx.BeginStatement())
	defer env.Acct.Close()
	b.ReportAllocs()
	for i := range b.N {
		params[0].I = int64(i % benchRows)
		_, err := pt.Write(env, params)
		must(b, err)
	}
}
