package funcs

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"herd/sql/catalog/pgdata"
	"herd/sql/types"
	"herd/sql/vec"
)

// aggCase is an aggregate with a generator of its arguments.
type aggCase struct {
	name  string
	args  []types.OID
	exact bool // Combine gives the same bytes; floats may differ in the last digit
}

func aggFunc(t *testing.T, name string, args []types.OID) CallInfo {
	t.Helper()
	for _, p := range pgdata.FuncsByName(name) {
		if p.Kind != 'a' || len(p.ArgTypes) != len(args) {
			continue
		}
		ok := true
		for i, a := range p.ArgTypes {
			ok = ok && (a == args[i] || a == types.AnyElementOID || a == types.AnyNonArrayOID || a == types.AnyOID)
		}
		if !ok {
			continue
		}
		r := p.RetType
		if r == types.AnyArrayOID {
			r = types.ArrayOf(args[0])
		} else if r == types.AnyElementOID {
			r = args[0]
		}
		return CallInfo{Func: p.OID, ArgTypes: args, Result: r, Typmod: -1}
	}
	t.Fatalf("no aggregate %s%v", name, args)
	return CallInfo{}
}

func randomDatum(r *rand.Rand, t types.OID) types.Datum {
	if r.IntN(5) == 0 {
		return types.NullDatum
	}
	switch types.KindOf(t) {
	case types.KindInt:
		return types.Int(int64(r.IntN(100)) - 50)
	case types.KindFloat:
		return types.Float(float64(r.IntN(1000)) / 8)
	case types.KindBool:
		return types.Bool(r.IntN(2) == 0)
	}
	switch t {
	case types.NumericOID:
		d, _ := types.Input(types.NewIOContext(), t, -1, fmt.Appendf(nil, "%d.%d", r.IntN(1000)-500, r.IntN(100)))
		return d
	case types.IntervalOID:
		d, _ := types.Input(types.NewIOContext(), t, -1, fmt.Appendf(nil, "%d hours", r.IntN(100)))
		return d
	}
	return types.Text(string(rune('a' + r.IntN(5))))
}

// TestCombine feeds the same rows to one state and to two that are then combined.
func TestCombine(t *testing.T) {
	i4, i8, f8, num, txt := types.Int4OID, types.Int8OID, types.Float8OID, types.NumericOID, types.TextOID
	one := func(t types.OID) []types.OID { return []types.OID{t} }
	cases := []aggCase{
		{"count", one(i4), true}, {"sum", one(i4), true}, {"sum", one(i8), true}, {"sum", one(num), true}, {"sum", one(f8), true},
		{"sum", one(types.IntervalOID), true}, {"avg", one(i4), true}, {"avg", one(num), true}, {"avg", one(f8), true},
		{"min", one(i4), true}, {"max", one(txt), true}, {"min", one(num), true}, {"max", one(f8), true},
		{"bool_and", one(types.BoolOID), true}, {"bool_or", one(types.BoolOID), true}, {"bit_and", one(i4), true}, {"bit_xor", one(i4), true},
		{"string_agg", []types.OID{txt, txt}, true}, {"array_agg", one(i4), true},
		{"variance", one(i4), true}, {"stddev", one(num), true}, {"var_pop", one(f8), false},
		{"corr", []types.OID{f8, f8}, false}, {"regr_slope", []types.OID{f8, f8}, false}, {"regr_count", []types.OID{f8, f8}, true},
	}
	c := &Ctx{IO: types.NewIOContext()}
	for _, tc := range cases {
		ci := aggFunc(t, tc.name, tc.args)
		mk, ok := LookupAgg(ci)
		if !ok {
			t.Errorf("%s%v has no implementation", tc.name, tc.args)
			continue
		}
		r := rand.New(rand.NewPCG(1, 2))
		const groups, rows = 5, 200
		whole, a, b := mk(), mk(), mk()
		for _, x := range []Agg{whole, a, b} {
			if err := x.Grow(groups); err != nil {
				t.Fatal(err)
			}
		}
		g := make([]uint32, rows)
		var args []*vec.Vector
		for _, at := range tc.args {
			v := vec.New(types.KindOf(at), rows)
			for i := range rows {
				v.SetDatum(i, randomDatum(r, at))
			}
			args = append(args, v)
		}
		var first, second []uint16
		for i := range rows {
			g[i] = uint32(r.IntN(groups))
			if i < rows/3 {
				first = append(first, uint16(i))
			} else {
				second = append(second, uint16(i))
			}
		}
		for _, err := range []error{whole.Update(c, g, rows, nil, args), a.Update(c, g, rows, first, args), b.Update(c, g, rows, second, args), a.Combine(b, []uint32{0, 1, 2, 3, 4})} {
			if err != nil {
				t.Fatalf("%s: %v", tc.name, err)
			}
		}
		x, y := vec.New(types.KindOf(ci.Result), groups), vec.New(types.KindOf(ci.Result), groups)
		if err := whole.Final(c, 0, groups, x); err != nil {
			t.Fatal(err)
		}
		if err := a.Final(c, 0, groups, y); err != nil {
			t.Fatal(err)
		}
		for i := range groups {
			p, q := types.Output(c.IO, nil, ci.Result, x.Datum(i)), types.Output(c.IO, nil, ci.Result, y.Datum(i))
			if !tc.exact && !x.IsNull(i) && !y.IsNull(i) {
				if a, b := x.Float[i], y.Float[i]; math.Abs(a-b) <= 1e-9*math.Abs(a) {
					continue
				}
			}
			if string(p) != string(q) || x.IsNull(i) != y.IsNull(i) {
				t.Errorf("%s%v group %d: %s in one, %s combined", tc.name, tc.args, i, p, q)
			}
		}
		if whole.Size() <= 0 {
			t.Errorf("%s: size %d", tc.name, whole.Size())
		}
		whole.Reset()
		if err := whole.Grow(1); err != nil {
			t.Fatal(err)
		}
		z := vec.New(types.KindOf(ci.Result), 1)
		if err := whole.Final(c, 0, 1, z); err != nil {
			t.Fatal(err)
		}
		if !z.IsNull(0) && !(types.KindOf(ci.Result) == types.KindInt && z.Int[0] == 0) {
			t.Errorf("%s: group is not empty after Reset: %v", tc.name, z.Datum(0))
		}
	}
}
