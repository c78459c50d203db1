package funcs

import (
	"strings"

	"herd/sql/catalog/pgdata"
	"herd/sql/types"
	"herd/sql/vec"
)

// Kernel computes out[i] for the selected rows (sel nil = rows 0..n-1) of a batch. The caller has reset out to the kind of
// the result. Constant arguments have their value at index 0.
type Kernel func(c *Ctx, n int, sel []uint16, args []*vec.Vector, out *vec.Vector) error

// CallInfo describes a call site: polymorphic functions look at the types.
type CallInfo struct {
	Func      types.OID
	ArgTypes  []types.OID
	Result    types.OID
	Typmod    types.Typmod
	Collation types.OID
	Variadic  bool        // called with VARIADIC
	Columns   []types.OID // column types of a FROM function with a column list or composite result
	// ArgFields has, for an argument that is ROW(...) or a whole row, its field names (nil elements and nil: unknown).
	ArgFields [][]string
	// ColumnNames belong to Columns.
	ColumnNames []string
	ColumnMods  []types.Typmod
}

// Maker makes the kernel of a call site; nil when the argument types are not supported.
type Maker func(ci *CallInfo) Kernel

// registry maps a C symbol (prosrc), or the signature "name(type,type)" of a function written in SQL, to its kernel.
var registry = map[string]Maker{}

// reg registers a kernel that does not depend on the call site under one or more symbols.
func reg(k Kernel, symbols ...string) {
	m := func(*CallInfo) Kernel { return k }
	for _, s := range symbols {
		register(s, m)
	}
}

// register registers a Maker.
func register(symbol string, m Maker) {
	if _, dup := registry[symbol]; dup {
		panic("funcs: two kernels for " + symbol)
	}
	registry[symbol] = m
}

// Lookup returns the kernel of a call site, false when the function has none. Called when a plan is compiled.
func Lookup(ci CallInfo) (Kernel, bool) {
	m := makerOf(ci.Func)
	if m == nil {
		return nil, false
	}
	k := m(&ci)
	return k, k != nil
}

// Exists says whether a function has a kernel; the planner asks before folding, the tests to compare with pg_proc.
func Exists(fn types.OID) bool { return makerOf(fn) != nil }

func makerOf(fn types.OID) Maker {
	p := pgdata.FuncByOID(fn)
	if p == nil {
		return nil
	}
	if m := registry[symbolOf(p)]; m != nil {
		return m
	}
	return nil
}

// symbolOf is the registry's key of a function.
func symbolOf(p *pgdata.Proc) string {
	if p.Lang == pgdata.LangInternal {
		return p.Src
	}
	var b strings.Builder
	b.WriteString(p.Name)
	b.WriteByte('(')
	for i, t := range p.ArgTypes {
		if i > 0 {
			b.WriteByte(',')
		}
		if bt := types.BuiltinByOID(t); bt != nil {
			b.WriteString(bt.Name)
		}
	}
	b.WriteByte(')')
	return b.String()
}

// Signature returns "name(type, type)" with the given argument types, for error messages.
func Signature(fn types.OID, args []types.OID) string {
	var b strings.Builder
	if p := pgdata.FuncByOID(fn); p != nil {
		b.WriteString(p.Name)
		if args == nil {
			args = p.ArgTypes
		}
	}
	b.WriteByte('(')
	for i, t := range args {
		if i > 0 {
			b.WriteString(", ")
		}
		if s := types.FormatType(t, -1, false); s != "" {
			b.WriteString(s)
		} else {
			b.WriteString("???")
		}
	}
	b.WriteByte(')')
	return b.String()
}
