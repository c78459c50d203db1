package funcs

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"herd/sql/catalog/pgdata"
	"herd/sql/types"
	"herd/sql/vec"
)

// TestRandomCalls calls every kernel whose argument types have sample values with random ones, NULL included for functions
// that are not strict: no panic, and no call without end.
func TestRandomCalls(t *testing.T) {
	rounds := 30
	if testing.Short() {
		rounds = 3
	}
	io := goldenContext().IO
	values := map[types.OID][]types.Datum{}
	for name, texts := range pools {
		typ := typeByName(name)
		for _, s := range texts {
			d, err := types.Input(io, typ, -1, []byte(s))
			if err != nil {
				t.Fatal(err)
			}
			values[typ] = append(values[typ], d)
		}
	}
	procs := pgdata.Procs()
	for i := range procs {
		p := &procs[i]
		if p.Kind != 'f' || p.RetSet || !Exists(p.OID) || strings.HasPrefix(p.Name, "pg_sleep") {
			continue
		}
		argTypes := append([]types.OID(nil), p.ArgTypes...)
		ok := true
		for k, a := range argTypes {
			switch a {
			case types.AnyOID, types.AnyElementOID, types.AnyNonArrayOID, types.AnyCompatibleOID, types.AnyCompatibleNonArrayOID:
				argTypes[k] = types.Int4OID
			case types.AnyArrayOID, types.AnyCompatibleArrayOID:
				argTypes[k] = types.Int4ArrayOID
			}
			ok = ok && values[argTypes[k]] != nil
		}
		result := p.RetType
		switch result {
		case types.AnyElementOID, types.AnyCompatibleOID:
			result = types.Int4OID
		case types.AnyArrayOID, types.AnyCompatibleArrayOID:
			result = types.Int4ArrayOID
		}
		if !ok {
			continue
		}
		rng := rand.New(rand.NewPCG(uint64(p.OID), 11))
		for range rounds {
			args := make([]*vec.Vector, len(argTypes))
			var shown []string
			for k, a := range argTypes {
				d := types.NullDatum
				if p.Strict || rng.IntN(5) > 0 {
					d = values[a][rng.IntN(len(values[a]))]
				}
				args[k] = vec.NewConst(a, d)
				if d.Null {
					shown = append(shown, "NULL")
				} else {
					shown = append(shown, string(types.Output(io, nil, a, d)))
				}
			}
			callOnce(t, p, argTypes, result, args, fmt.Sprintf("%s(%s)", p.Name, strings.Join(shown, ", ")))
		}
	}
}

func callOnce(t *testing.T, p *pgdata.Proc, argTypes []types.OID, result types.OID, args []*vec.Vector, what string) {
	defer func() {
		if x := recover(); x != nil {
			t.Errorf("%s: panic: %v", what, x)
		}
	}()
	k, ok := Lookup(CallInfo{Func: p.OID, ArgTypes: argTypes, Result: result, Typmod: -1, Collation: types.DefaultCollationOID})
	if !ok {
		return
	}
	c := goldenContext()
	out := vec.New(types.KindOf(result), 1)
	start := time.Now()
	if err := k(c, 1, nil, args, out); err == nil && !out.IsNull(0) {
		types.Output(c.IO, nil, result, out.Datum(0))
	}
	if d := time.Since(start); d > 3*time.Second {
		t.Errorf("%s took %v", what, d)
	}
}
