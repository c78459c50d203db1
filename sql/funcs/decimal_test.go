package funcs

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"herd/sql/catalog/pgdata"
	"herd/sql/types"
	"herd/sql/types/numeric"
	"herd/sql/vec"
)

// decimalColumn makes n numerics of one scale as a vector of decimals and as one of stored values, some of them NULL.
func decimalColumn(r *rand.Rand, n, scale int, coef func() int64) (dec, plain *vec.Vector) {
	dec, plain = vec.New(types.KindBytes, 0), vec.New(types.KindBytes, n)
	o := dec.ResetDecimal(n, scale)
	for i := range n {
		o[i] = coef()
		plain.SetVar(i, numeric.AppendSmall(nil, o[i], scale))
		if r.IntN(10) == 0 {
			dec.SetNull(i)
			plain.SetNull(i)
		}
	}
	return dec, plain
}

func numericKernel(t *testing.T, name string) Kernel {
	t.Helper()
	for _, p := range pgdata.FuncsByName(name) {
		if len(p.ArgTypes) == 2 && p.ArgTypes[0] == types.NumericOID {
			if k, ok := Lookup(CallInfo{Func: p.OID, ArgTypes: p.ArgTypes, Result: p.RetType}); ok {
				return k
			}
		}
	}
	t.Fatalf("no kernel %s", name)
	return nil
}

// Columns of decimals give what stored values give, byte for byte, also where a value leaves 64 bits.
func TestDecimals(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	small := func() int64 { return r.Int64N(2_000_000) - 1_000_000 }
	large := func() int64 { return int64(r.Uint64()) }
	mixed := func() int64 {
		switch r.IntN(4) {
		case 0:
			return math.MaxInt64 - r.Int64N(3)
		case 1:
			return r.Int64N(5) - 2
		}
		return r.Int64() >> r.IntN(60)
	}
	for _, name := range []string{"numeric_add", "numeric_sub", "numeric_mul", "numeric_lt", "numeric_eq", "numeric_ge"} {
		k := numericKernel(t, name)
		kind := types.KindBytes
		if slices.Contains([]string{"numeric_lt", "numeric_eq", "numeric_ge"}, name) {
			kind = types.KindBool
		}
		for round, coef := range []func() int64{small, large, mixed} {
			for _, scales := range [][2]int{{2, 2}, {2, 4}, {0, 18}, {200, 100}} {
				compareDecimals(t, fmt.Sprint(name, round, scales), k, kind, r, scales, coef)
			}
		}
	}
}

func compareDecimals(t *testing.T, name string, k Kernel, kind types.Kind, r *rand.Rand, scales [2]int, coef func() int64) {
	t.Helper()
	const n = 200
	a, pa := decimalColumn(r, n, scales[0], coef)
	b, pb := decimalColumn(r, n, scales[1], coef)
	c := vec.NewConst(types.NumericOID, types.Datum{B: numeric.AppendSmall(nil, coef(), scales[1])})
	var sel []uint16
	for i := range n {
		if !a.IsNull(i) && !b.IsNull(i) && r.IntN(3) > 0 {
			sel = append(sel, uint16(i))
		}
	}
	pc := vec.New(types.KindBytes, n)
	for i := range n {
		pc.SetVar(i, c.Bytes(0))
	}
	for _, pair := range [][4]*vec.Vector{{a, b, pa, pb}, {a, c, pa, pc}, {c, a, pc, pa}} {
		got, want := vec.New(kind, n), vec.New(kind, n)
		if err := k(&Ctx{}, n, sel, pair[:2], got); err != nil {
			t.Fatal(name, err)
		}
		if err := k(&Ctx{}, n, sel, pair[2:], want); err != nil {
			t.Fatal(name, err)
		}
		for _, i := range sel {
			x, y := got.Datum(int(i)), want.Datum(int(i))
			if x.I != y.I || string(x.B) != string(y.B) {
				t.Fatalf("%s row %d: %v, want %v", name, i, x, y)
			}
		}
	}
}

// Sums and averages of decimals are those of the stored values.
func TestDecimalSums(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, avg := range []bool{false, true} {
		got, want := &sumNum{avg: avg}, &sumNum{avg: avg}
		groups := make([]uint32, 300)
		for i := range groups {
			groups[i] = uint32(r.IntN(3))
		}
		for _, a := range []*sumNum{got, want} {
			if err := a.Grow(4); err != nil {
				t.Fatal(err)
			}
		}
		for _, scale := range []int{2, 4, 1} {
			dec, plain := decimalColumn(r, len(groups), scale, func() int64 { return int64(r.Uint64()) })
			if err := got.Update(&Ctx{}, groups, len(groups), nil, []*vec.Vector{dec}); err != nil {
				t.Fatal(err)
			}
			if err := want.Update(&Ctx{}, groups, len(groups), nil, []*vec.Vector{plain}); err != nil {
				t.Fatal(err)
			}
		}
		x, y := vec.New(types.KindBytes, 4), vec.New(types.KindBytes, 4)
		if err := got.Final(&Ctx{}, 0, 4, x); err != nil {
			t.Fatal(err)
		}
		if err := want.Final(&Ctx{}, 0, 4, y); err != nil {
			t.Fatal(err)
		}
		for i := range 4 {
			if string(x.Bytes(i)) != string(y.Bytes(i)) || x.IsNull(i) != y.IsNull(i) {
				t.Errorf("avg %v group %d: %s, want %s", avg, i, numeric.Decode(x.Bytes(i)), numeric.Decode(y.Bytes(i)))
			}
		}
	}
}
