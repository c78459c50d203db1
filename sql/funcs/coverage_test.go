package funcs

import (
	"os"
	"sort"
	"strings"
	"testing"

	"herd/sql/catalog/pgdata"
	"herd/sql/types"
)

// testdata/uncovered.txt lists the functions of pg_proc that resolve and have no implementation: their calls are 0A000.
// HERD_TEST_REWRITE=1 go test -run TestCoverage rewrites it, so that a change of coverage shows in review.

// internalOnly says whether no SQL text can call the function in a way that gives a value: it takes or gives internal state.
func internalOnly(p *pgdata.Proc) bool {
	pseudo := func(t types.OID) bool {
		switch t {
		case types.InternalOID, types.CStringOID, types.TriggerOID:
			return true
		}
		b := types.BuiltinByOID(t)
		return b != nil && b.Type == 'p' && (strings.HasSuffix(b.Name, "_handler") || b.Name == "event_trigger" || b.Name == "pg_ddl_command")
	}
	if pseudo(p.RetType) {
		return true
	}
	for _, a := range p.ArgTypes {
		if pseudo(a) {
			return true
		}
	}
	return false
}

func uncovered() []string {
	var out []string
	procs := pgdata.Procs()
	for i := range procs {
		p := &procs[i]
		if internalOnly(p) || p.Lang == pgdata.LangSQL {
			continue
		}
		have := Exists(p.OID)
		kind := "function"
		switch {
		case p.Kind == 'a':
			args := append([]types.OID(nil), p.ArgTypes...)
			_, have = LookupAgg(CallInfo{Func: p.OID, ArgTypes: args, Result: p.RetType, Typmod: -1})
			kind = "aggregate"
		case p.Kind == 'w':
			continue
		case p.RetSet:
			_, have = setFuncs[p.Src]
			if !have {
				_, have = setFuncs[p.Name]
			}
			kind = "set"
		}
		if !have {
			out = append(out, kind+"\t"+Signature(p.OID, nil)+"\t"+p.Src)
		}
	}
	sort.Strings(out)
	return out
}

func TestCoverage(t *testing.T) {
	const file = "testdata/uncovered.txt"
	got := strings.Join(uncovered(), "\n") + "\n"
	if os.Getenv("HERD_TEST_REWRITE") != "" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{}
	for _, l := range strings.Split(string(want), "\n") {
		have[l] = true
	}
	now := map[string]bool{}
	for _, l := range strings.Split(got, "\n") {
		now[l] = true
		if !have[l] {
			t.Errorf("lost: %s", l)
		}
	}
	for l := range have {
		if !now[l] {
			t.Errorf("now covered, rewrite the list: %s", l)
		}
	}
}
