package pgdata

import (
	"sync"

	"herd/sql/types"
)

// MySQLName is the schema of the functions and operators by which trees of the MySQL front end say what PostgreSQL's of the same
// name do not mean. A look-up in it finds PostgreSQL's where it has none for the argument types. It is in no catalog table.
const MySQLName = "mysql"

// MySQLSchema is the identifier of that schema, in the range that PostgreSQL keeps for development.
const MySQLSchema types.OID = 9500

const firstMySQL types.OID = 9501

type mysqlIndex struct {
	procs   map[string][]*Proc
	procOID map[types.OID]*Proc
	ops     map[string][]*Operator
	opOID   map[types.OID]*Operator
}

// loadMySQL makes the tables. Identifiers count up: new entries go to the end, because stored expressions may have them.
var loadMySQL = sync.OnceValue(func() *mysqlIndex {
	x := &mysqlIndex{procs: map[string][]*Proc{}, procOID: map[types.OID]*Proc{}, ops: map[string][]*Operator{}, opOID: map[types.OID]*Operator{}}
	next := firstMySQL
	proc := func(name, src string, ret types.OID, args ...types.OID) *Proc {
		p := &Proc{OID: next, Name: name, Namespace: MySQLSchema, Owner: 10, Lang: LangInternal, Cost: 1, Kind: 'f', Strict: true, Volatile: 'i', Parallel: 's',
			NArgs: len(args), RetType: ret, ArgTypes: args, Src: src}
		next++
		x.procs[name], x.procOID[p.OID] = append(x.procs[name], p), p
		return p
	}
	op := func(name, src string, ret, arg types.OID) *Operator {
		p := proc("op_"+src, src, ret, arg, arg)
		o := &Operator{OID: next, Name: name, Namespace: MySQLSchema, Owner: 10, Kind: 'b', Left: arg, Right: arg, Result: ret, Code: p.OID}
		next++
		x.ops[name], x.opOID[o.OID] = append(x.ops[name], o), o
		return o
	}
	const boolean, int2, int4, int8, num, flt, txt = types.BoolOID, types.Int2OID, types.Int4OID, types.Int8OID, types.NumericOID, types.Float8OID, types.TextOID
	pair := func(a, b *Operator) { a.Negate, b.Negate = b.OID, a.OID }
	eq, ne := op("=", "mysql_texteq", boolean, txt), op("<>", "mysql_textne", boolean, txt)
	lt, le := op("<", "mysql_textlt", boolean, txt), op("<=", "mysql_textle", boolean, txt)
	gt, ge := op(">", "mysql_textgt", boolean, txt), op(">=", "mysql_textge", boolean, txt)
	pair(eq, ne)
	pair(lt, ge)
	pair(le, gt)
	eq.Com, ne.Com, lt.Com, gt.Com, le.Com, ge.Com = eq.OID, ne.OID, gt.OID, lt.OID, ge.OID, le.OID
	pair(op("~~", "mysql_textlike", boolean, txt), op("!~~", "mysql_textnlike", boolean, txt))
	for _, t := range []types.OID{int2, int4, int8} {
		op("/", "mysql_int_div", num, t)
		op("%", "mysql_int_mod", int8, t)
		if t != int8 {
			op("+", "int8pl", int8, t)
			op("-", "int8mi", int8, t)
			op("*", "int8mul", int8, t)
		}
		proc("div", "mysql_int_divtrunc", int8, t, t)
		for _, f := range []string{"ceil", "floor", "round"} {
			proc(f, "SELECT $1", t, t).Lang = LangSQL
		}
	}
	op("/", "mysql_num_div", num, num)
	op("/", "mysql_float_div", flt, flt)
	op("%", "mysql_num_mod", num, num)
	proc("div", "mysql_num_divtrunc", int8, num, num)
	proc("truth", "mysql_truth_float", boolean, flt)
	proc("truth", "mysql_truth_numeric", boolean, num)
	proc("truth", "mysql_truth_int", boolean, int8)
	proc("truth", "mysql_truth_text", boolean, txt)
	proc("truth", "SELECT $1", boolean, boolean).Lang = LangSQL
	proc("fold", "mysql_fold", txt, txt)
	proc("weight", "mysql_weight", txt, txt)
	proc("weight", "SELECT $1", types.AnyElementOID, types.AnyElementOID).Lang = LangSQL
	// Aggregates over strings would have to compare them: there are none yet, and their names keep PostgreSQL's from standing in.
	for _, name := range []string{"min", "max"} {
		proc(name, "mysql_text_"+name, txt, txt)
	}
	return x
})

// MySQLFuncs returns the functions of a name in schema mysql: its own, and PostgreSQL's for other arguments.
func MySQLFuncs(name string) []*Proc {
	own := loadMySQL().procs[name]
	var out []*Proc
	for _, p := range FuncsByName(name) {
		if p.Namespace == CatalogSchema && !sameArgs(own, p.ArgTypes) {
			out = append(out, p)
		}
	}
	return append(out, own...)
}

func sameArgs(list []*Proc, args []types.OID) bool {
	for _, p := range list {
		same := len(p.ArgTypes) == len(args)
		for i := range p.ArgTypes {
			same = same && p.ArgTypes[i] == args[i]
		}
		if same {
			return true
		}
	}
	return false
}

// MySQLOperators returns the operators of a name in schema mysql: its own, and PostgreSQL's for other operands.
func MySQLOperators(name string) []*Operator {
	own := loadMySQL().ops[name]
	out := append([]*Operator(nil), own...)
	for _, o := range OperatorsByName(name) {
		if !replaced(own, o) {
			out = append(out, o)
		}
	}
	return out
}

// replaced says whether one of list is for the operands of o.
func replaced(list []*Operator, o *Operator) bool {
	for _, m := range list {
		if m.Kind == o.Kind && m.Left == o.Left && m.Right == o.Right {
			return true
		}
	}
	return false
}
