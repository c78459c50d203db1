package funcs

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"herd/sql/catalog/pgdata"
	"herd/sql/types"
	"herd/sql/vec"
)

// goldenCall is a call of the golden files that succeeds.
type goldenCall struct {
	args []types.Datum
	want string // result's text, "NULL" for NULL
	line string
}

type goldenGroup struct {
	p        *pgdata.Proc
	argTypes []types.OID
	result   types.OID
	calls    []goldenCall
}

// readGroups collects the successful calls by function and types.
func readGroups(t *testing.T) map[string]*goldenGroup {
	c := goldenContext()
	groups := map[string]*goldenGroup{}
	files, _ := filepath.Glob("testdata/calls*.golden")
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		in := bufio.NewScanner(f)
		in.Buffer(nil, 1<<20)
	lines:
		for in.Scan() {
			call, want, ok := strings.Cut(in.Text(), "\t=\t")
			if !ok {
				continue
			}
			resultName, text, _ := strings.Cut(want, "\t")
			fs := strings.Split(call, "\t")
			g := groups[fs[0]+resultName]
			if g == nil {
				g = &goldenGroup{result: typeByName(resultName)}
				fn, list, _ := strings.Cut(fs[0], "(")
				for _, s := range strings.Split(strings.TrimSuffix(list, ")"), ",") {
					if s != "" {
						g.argTypes = append(g.argTypes, typeByName(s))
					}
				}
				g.p = resolve(fn, g.argTypes)
				groups[fs[0]+resultName] = g
			}
			gc := goldenCall{want: text, line: in.Text()}
			for i, s := range fs[1:] {
				d := types.NullDatum
				if s != "NULL" {
					text, err := strconv.Unquote(s)
					if err != nil {
						t.Fatal(err)
					}
					if d, err = types.Input(c.IO, g.argTypes[i], -1, []byte(text)); err != nil {
						continue lines
					}
				}
				gc.args = append(gc.args, d)
			}
			g.calls = append(g.calls, gc)
		}
	}
	return groups
}

// TestBatches runs the golden calls of each function as one batch: all rows, and a selection of them with different values
// in the others. The answers must be those of single calls.
func TestBatches(t *testing.T) {
	for name, g := range readGroups(t) {
		if g.p == nil || len(g.argTypes) == 0 {
			continue
		}
		for _, half := range []bool{false, true} {
			k, ok := Lookup(CallInfo{Func: g.p.OID, ArgTypes: g.argTypes, Result: g.result, Typmod: -1, Collation: types.DefaultCollationOID})
			if !ok {
				continue
			}
			n := len(g.calls)
			var args []*vec.Vector
			for a, at := range g.argTypes {
				v := vec.New(types.KindOf(at), n)
				for i := range g.calls {
					v.SetDatum(i, g.calls[i].args[a])
				}
				args = append(args, v)
			}
			var sel []uint16
			for i := range g.calls {
				null := false
				for _, d := range g.calls[i].args {
					null = null || d.Null
				}
				if (!half || i%2 == 1) && !(null && g.p.Strict) {
					sel = append(sel, uint16(i))
				}
			}
			if len(sel) == n {
				sel = nil
			} else if len(sel) == 0 {
				continue
			}
			out := vec.New(types.KindOf(g.result), n)
			c := goldenContext()
			if err := k(c, n, sel, args, out); err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			check := func(i int) {
				got := "NULL"
				if !out.IsNull(i) {
					got = strconv.Quote(string(types.Output(c.IO, nil, g.result, out.Datum(i))))
				}
				if want := g.calls[i].want; got != want && !sameFloat("=\tfloat8\t"+got, "=\tfloat8\t"+want) {
					t.Errorf("%s\n  in a batch: %s", g.calls[i].line, got)
				}
			}
			if sel == nil {
				for i := range n {
					check(i)
				}
			}
			for _, i := range sel {
				check(int(i))
			}
		}
	}
}

// TestKernelAllocs holds the hot kernels to no allocation a batch.
func TestKernelAllocs(t *testing.T) {
	const n = 1024
	ints, floats, texts, nums := vec.New(types.KindInt, n), vec.New(types.KindFloat, n), vec.New(types.KindBytes, n), vec.New(types.KindBytes, n)
	for i := range n {
		ints.Int[i], floats.Float[i] = int64(i), float64(i)
		texts.SetString(i, "text "+strconv.Itoa(i))
		d, _ := types.Input(types.NewIOContext(), types.NumericOID, -1, []byte(strconv.Itoa(i)+".25"))
		nums.SetDatum(i, d)
	}
	seven := vec.NewConst(types.Int4OID, types.Int(7))
	prefix := vec.NewConst(types.TextOID, types.Text("text 1%"))
	for _, tc := range []struct {
		fn   types.OID
		args []*vec.Vector
		typs []types.OID
		res  types.OID
	}{
		{177, []*vec.Vector{ints, seven}, []types.OID{types.Int4OID, types.Int4OID}, types.Int4OID},          // int4pl
		{66, []*vec.Vector{ints, seven}, []types.OID{types.Int4OID, types.Int4OID}, types.BoolOID},           // int4lt
		{216, []*vec.Vector{floats, floats}, []types.OID{types.Float8OID, types.Float8OID}, types.Float8OID}, // float8mul
		{67, []*vec.Vector{texts, prefix}, []types.OID{types.TextOID, types.TextOID}, types.BoolOID},         // texteq
		{850, []*vec.Vector{texts, prefix}, []types.OID{types.TextOID, types.TextOID}, types.BoolOID},        // textlike
		{1724, []*vec.Vector{nums, nums}, []types.OID{types.NumericOID, types.NumericOID}, types.NumericOID}, // numeric_add
		{1726, []*vec.Vector{nums, nums}, []types.OID{types.NumericOID, types.NumericOID}, types.NumericOID}, // numeric_mul
		{870, []*vec.Vector{texts}, []types.OID{types.TextOID}, types.TextOID},                               // lower
		{1317, []*vec.Vector{texts}, []types.OID{types.TextOID}, types.Int4OID},                              // length
	} {
		k, ok := Lookup(CallInfo{Func: tc.fn, ArgTypes: tc.typs, Result: tc.res, Typmod: -1})
		if !ok {
			t.Fatalf("function %d has no kernel", tc.fn)
		}
		out := vec.New(types.KindOf(tc.res), n)
		c := goldenContext()
		run := func() {
			out.Reset(types.KindOf(tc.res), n)
			if err := k(c, n, nil, tc.args, out); err != nil {
				t.Fatal(err)
			}
		}
		run()
		run()
		if a := testing.AllocsPerRun(20, run); a != 0 {
			t.Errorf("%s: %v allocations a batch, want 0", Signature(tc.fn, nil), a)
		}
	}
}

func BenchmarkKernels(b *testing.B) {
	const n = 1024
	x, y, o := vec.New(types.KindInt, n), vec.New(types.KindInt, n), vec.New(types.KindInt, n)
	nums, no := vec.New(types.KindBytes, n), vec.New(types.KindBytes, n)
	for i := range n {
		x.Int[i], y.Int[i] = int64(i), int64(i*3)
		d, _ := types.Input(types.NewIOContext(), types.NumericOID, -1, []byte(strconv.Itoa(i)+".25"))
		nums.SetDatum(i, d)
	}
	c := goldenContext()
	for _, bc := range []struct {
		name string
		fn   types.OID
		args []*vec.Vector
		out  *vec.Vector
	}{{"int4pl", 177, []*vec.Vector{x, y}, o}, {"int8mul", 465, []*vec.Vector{x, y}, o}, {"numeric_add", 1724, []*vec.Vector{nums, nums}, no}} {
		k, _ := Lookup(CallInfo{Func: bc.fn, ArgTypes: []types.OID{0, 0}})
		b.Run(bc.name, func(b *testing.B) {
			for range b.N {
				bc.out.Reset(bc.out.Kind, n)
				if err := k(c, n, nil, bc.args, bc.out); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
		})
	}
}
