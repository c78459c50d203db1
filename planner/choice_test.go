package planner

import (
	"testing"

	"herd/planner/plan"
	"herd/sql/types"
)

// planned plans text for the given values; nil makes the generic plan.
func planned(t *testing.T, f *fakeCatalog, text string, params []types.Datum) *plan.Plan {
	t.Helper()
	p, err := f.planWith(text, nil, Options{Params: params})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return p
}

func TestChoice(t *testing.T) {
	f := newFake()
	if err := f.exec("create table t (a int primary key, b int, c text)"); err != nil {
		t.Fatal(err)
	}
	if err := f.exec("create index t_b on t (b)"); err != nil {
		t.Fatal(err)
	}
	if err := f.exec("create table s (b int)"); err != nil {
		t.Fatal(err)
	}
	f.rows["t"], f.rows["s"] = 100000, 100
	null := []types.Datum{types.NullDatum}
	five := []types.Datum{types.Int(5)}
	for _, c := range []struct {
		name, sql string
		params    []types.Datum
		mode      CacheMode
		custom    int // custom plans among ten executions
		same      bool
	}{
		{"same work", "select c from t where b = $1 order by c", five, CacheAuto, 5, true},
		{"custom is cheaper", "select c from t where $1::int is null or b < 5 and c > 'x'", null, CacheAuto, 10, false},
		{"planning costs more", "select b from s where $1::int is null or b < 5", null, CacheAuto, 5, false},
		{"custom plan reads nothing", "select count(*) from t where b = $1", null, CacheAuto, 10, false},
		{"fast path", "select c from t where a = $1", five, CacheAuto, 0, true},
		{"forced generic", "select count(*) from t where b = $1", null, CacheForceGeneric, 0, false},
		{"forced custom", "select c from t where b = $1 order by c", five, CacheForceCustom, 10, true},
	} {
		generic, custom := planned(t, f, c.sql, nil), planned(t, f, c.sql, c.params)
		if same := sameWork(custom, generic); same != c.same {
			t.Errorf("%s: sameWork is %v, want %v\n%s%s", c.name, same, c.same, Explain(f, generic, ExplainOptions{}), Explain(f, custom, ExplainOptions{}))
		}
		var choice Choice
		n := 0
		for range 10 {
			if choice.Custom(c.mode, generic) {
				choice.Made(custom, generic)
				n++
			}
		}
		if n != c.custom {
			t.Errorf("%s: %d custom plans (costs %.2f, generic %.2f), want %d", c.name, n, choice.cost, generic.Root.Base().Total, c.custom)
		}
	}
}
