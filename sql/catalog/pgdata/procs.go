package pgdata

import (
	"sync"

	"herd/sql/types"
)

// Languages of functions.
const (
	LangInternal types.OID = 12
	LangC        types.OID = 13
	LangSQL      types.OID = 14
)

// Proc is one row of pg_proc.
type Proc struct {
	OID          types.OID
	Name         string
	Namespace    types.OID
	Owner        types.OID
	Lang         types.OID
	Cost         float64
	Rows         float64   // expected rows of a set-returning function
	Variadic     types.OID // element type of the last argument of a variadic function, 0 otherwise; "any" = 2276
	Support      types.OID
	Kind         byte // f function, a aggregate, w window function, p procedure
	SecDef       bool
	LeakProof    bool
	Strict       bool
	RetSet       bool
	Volatile     byte // i immutable, s stable, v volatile
	Parallel     byte // s safe, r restricted, u unsafe
	NArgs        int  // input arguments
	NArgDefaults int
	RetType      types.OID
	ArgTypes     []types.OID // input arguments; a variadic function's last one is the array
	AllArgTypes  []types.OID // nil when all arguments are input arguments
	ArgModes     []byte      // i, o, b, v, t for each of AllArgTypes; nil when all are input
	ArgNames     []string    // nil or one for each of AllArgTypes (or ArgTypes)
	ArgDefaults  []string    // SQL text of the defaults of the last NArgDefaults input arguments
	Src          string      // prosrc: C symbol, or SQL text
	SQLBody      string      // text of a SQL-standard body: "RETURN expr" or "BEGIN ATOMIC ... END"
	ACL          string
	Version      uint64 // stamp of a user function's descriptor, 0 for built-in functions
}

// Aggregate is one row of pg_aggregate.
type Aggregate struct {
	Func       types.OID
	Kind       byte // n normal, o ordered-set, h hypothetical-set
	DirectArgs int
	Trans      types.OID
	Final      types.OID
	Combine    types.OID
	MTrans     types.OID // moving-aggregate mode
	MInv       types.OID
	MFinal     types.OID
	FinalExtra bool
	SortOp     types.OID // operator of a min- or max-like aggregate, 0 otherwise
	TransType  types.OID
	InitVal    string
	HasInitVal bool
}

type procIndex struct {
	list   []Proc
	byOID  map[types.OID]*Proc
	byName map[string][]*Proc
}

var loadProcs = sync.OnceValue(func() *procIndex {
	x := &procIndex{list: make([]Proc, 0, 3300)}
	lines("pg_proc", func(f []string) {
		p := Proc{
			OID: oid(f[0]), Name: f[1], Namespace: oid(f[2]), Owner: oid(f[3]), Lang: oid(f[4]), Cost: float(f[5]),
			Rows: float(f[6]), Variadic: oid(f[7]), Support: oid(f[8]), Kind: char(f[9]), SecDef: yes(f[10]),
			LeakProof: yes(f[11]), Strict: yes(f[12]), RetSet: yes(f[13]), Volatile: char(f[14]),
			Parallel: char(f[15]), NArgs: number(f[16]), NArgDefaults: number(f[17]), RetType: oid(f[18]),
			ArgTypes: oids(f[19]), AllArgTypes: oids(f[20]), ArgNames: texts(f[22]), Src: str(f[25]),
			SQLBody: str(f[27]), ACL: str(f[29]),
		}
		for _, m := range texts(f[21]) {
			p.ArgModes = append(p.ArgModes, m[0])
		}
		x.list = append(x.list, p)
	})
	x.byOID = make(map[types.OID]*Proc, len(x.list))
	x.byName = make(map[string][]*Proc, len(x.list))
	for i := range x.list {
		p := &x.list[i]
		x.byOID[p.OID] = p
		x.byName[p.Name] = append(x.byName[p.Name], p)
	}
	lines("proc_defaults", func(f []string) { x.byOID[oid(f[0])].ArgDefaults = texts(f[1]) })
	return x
})

// FuncsByName returns all built-in functions, aggregates, window functions and procedures of
// a name, in all schemas (pg_catalog and information_schema).
func FuncsByName(name string) []*Proc { return loadProcs().byName[name] }

// FuncByOID returns a built-in function, nil when there is none.
func FuncByOID(id types.OID) *Proc {
	if p := loadProcs().byOID[id]; p != nil {
		return p
	}
	return loadMySQL().procOID[id]
}

// Procs returns all built-in functions in order of object identifier.
func Procs() []Proc { return loadProcs().list }

var loadAggregates = sync.OnceValue(func() map[types.OID]*Aggregate {
	m := make(map[types.OID]*Aggregate, 150)
	lines("pg_aggregate", func(f []string) {
		init, has := unescape(f[20])
		m[oid(f[0])] = &Aggregate{
			Func: oid(f[0]), Kind: char(f[1]), DirectArgs: number(f[2]), Trans: oid(f[3]), Final: oid(f[4]),
			Combine: oid(f[5]), MTrans: oid(f[8]), MInv: oid(f[9]), MFinal: oid(f[10]), FinalExtra: yes(f[11]),
			SortOp: oid(f[15]), TransType: oid(f[16]), InitVal: init, HasInitVal: has,
		}
	})
	return m
})

// AggregateByOID returns the aggregate of a function, nil when it is not one.
func AggregateByOID(fn types.OID) *Aggregate { return loadAggregates()[fn] }
