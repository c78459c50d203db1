package exec

import (
	"fmt"
	"strings"
	"testing"

	"herd/engine"
	"herd/internal/mem"
	"herd/internal/vfs"
	"herd/planner/plan"
	"herd/sql/catalog"
	"herd/sql/catalog/pgdata"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/vec"
	"herd/storage"
)

// db is a database for tests: a real engine on a file system in memory, without catalog and planner.
type db struct {
	t   testing.TB
	e   *engine.Engine
	s   *engine.Session
	fs  *vfs.Mem
	mem *mem.Account
	oid types.OID
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eachSize runs a test with several batch sizes.
func eachSize(t *testing.T, f func(t *testing.T)) {
	old := vec.MaxRows
	defer func() { vec.MaxRows = old }()
	for _, n := range []int{1, 3, 1024} {
		vec.MaxRows = n
		t.Run(fmt.Sprintf("rows=%d", n), f)
	}
}

func newDB(t testing.TB) *db {
	fs := vfs.NewMem()
	e, err := engine.Open(engine.Options{FS: fs, Dir: "/data", CheckpointPeriod: -1, Fatal: func(error) {}})
	must(t, err)
	must(t, fs.MkdirAll("test", "/tmp"))
	d := &db{t: t, e: e, fs: fs, mem: mem.NewRoot(0), oid: 20000}
	d.s = e.System().NewSession(engine.SessionOptions{})
	t.Cleanup(func() {
		d.s.Close()
		must(t, e.Close())
		if n := d.mem.Used(); n != 0 {
			t.Errorf("%d bytes are still accounted for", n)
		}
	})
	return d
}

// table makes a relation of "name type" columns, with a primary key over the first pk columns.
func (d *db) table(name string, pk int, cols ...string) *catalog.Relation {
	tx := d.s.Begin(engine.TxOptions{})
	tree, err := tx.NewTree()
	must(d.t, err)
	large, err := tx.NewTree()
	must(d.t, err)
	must(d.t, tx.Commit())
	d.oid++
	r := &catalog.Relation{OID: d.oid, Name: name, Schema: 2200, Kind: catalog.KindTable, TreeID: tree, LargeTree: large, HiddenRowID: pk == 0}
	for i, c := range cols {
		n, typ, _ := strings.Cut(c, " ")
		notNull := strings.HasSuffix(typ, "!")
		typ = strings.TrimSuffix(typ, "!")
		t := pgdata.TypeByName(11, typ)
		if t == nil {
			d.t.Fatalf("no type %s", typ)
		}
		r.Columns = append(r.Columns, catalog.Column{Num: int16(i + 1), Name: n, Type: t.OID, Typmod: -1, NotNull: notNull || i < pk})
	}
	if pk > 0 {
		d.oid++
		r.PrimaryKey = &catalog.Index{OID: d.oid, Name: name + "_pkey", Rel: r.OID, Tree: tree, Unique: true, Primary: true}
		for i := range pk {
			r.PrimaryKey.Keys = append(r.PrimaryKey.Keys, catalog.IndexKey{Attno: int16(i + 1), Type: r.Columns[i].Type})
		}
	}
	return r.Prepare()
}

// index adds a secondary index over the given attributes; a negative one is descending.
func (d *db) index(r *catalog.Relation, name string, unique bool, attnos ...int16) *catalog.Index {
	tx := d.s.Begin(engine.TxOptions{})
	tree, err := tx.NewTree()
	must(d.t, err)
	must(d.t, tx.Commit())
	d.oid++
	ix := &catalog.Index{OID: d.oid, Name: name, Rel: r.OID, Tree: tree, Unique: unique}
	for _, a := range attnos {
		k := catalog.IndexKey{Attno: a}
		if a < 0 {
			k = catalog.IndexKey{Attno: -a, Desc: true, NullsFirst: true}
		}
		k.Type = r.Columns[k.Attno-1].Type
		ix.Keys = append(ix.Keys, k)
	}
	r.Indexes = append(r.Indexes, ix)
	return ix
}

func (d *db) env(tx *engine.Tx, view storage.View, params ...types.Datum) *Env {
	e := &Env{View: view, Params: params, Acct: d.mem.Child("test"), SpillFS: d.fs, SpillDir: "/tmp"}
	e.Tx = tx
	e.Funcs.IO = types.NewIOContext()
	e.Funcs.Acct = e.Acct
	return e
}

// run executes a plan in a transaction of its own and returns its rows as text: columns separated by |, rows by newlines.
func (d *db) run(n plan.Node, params ...types.Datum) (string, error) {
	return d.runPlan(&plan.Plan{Root: n, ExecParams: 16}, params...)
}

func (d *db) runPlan(p *plan.Plan, params ...types.Datum) (string, error) {
	tx := d.s.Begin(engine.TxOptions{Isolation: engine.ReadCommitted})
	out, err := d.runIn(tx, p, params...)
	if err != nil {
		tx.Rollback()
		return "", err
	}
	if err := tx.Commit(); err != nil {
		return "", err
	}
	return out, d.s.WaitDurable()
}

func (d *db) runIn(tx *engine.Tx, p *plan.Plan, params ...types.Datum) (string, error) {
	st, err := Build(p)
	if err != nil {
		return "", err
	}
	var out string
	for round := range 2 { // a State must give the same again after Close
		if round == 1 && p.Root != nil {
			if _, ok := p.Root.(*plan.ModifyTable); ok || len(p.CTEs) > 0 {
				break
			}
		}
		env := d.env(tx, tx.BeginStatement(), params...)
		must(d.t, st.Open(env))
		text, err := drain(st, p.Root, env)
		cerr := st.Close()
		env.Acct.Close()
		if err != nil {
			return "", err
		}
		if cerr != nil {
			return "", cerr
		}
		if round == 1 && text != out {
			d.t.Errorf("second run differs:\n%s\nfirst:\n%s", text, out)
		}
		out = text
	}
	return out, nil
}

func drain(st *State, root plan.Node, env *Env) (string, error) {
	var sb strings.Builder
	cols := root.Base().Cols
	want := 5 // small and odd, so that operators have to hold rows back
	for {
		b, err := st.Next(want)
		if err != nil {
			return "", err
		}
		if b == nil {
			return sb.String(), nil
		}
		if b.Rows() == 0 || b.Rows() > want {
			return "", fmt.Errorf("batch of %d rows, wanted at most %d", b.Rows(), want)
		}
		vs, err := allCols(b)
		if err != nil {
			return "", err
		}
		each(b.N, b.Sel, func(i int) {
			for k := range cols {
				if k > 0 {
					sb.WriteByte('|')
				}
				if !vs[k].IsNull(i) {
					sb.Write(types.Output(env.Funcs.IO, nil, cols[k].Type, vs[k].Datum(i)))
				} else {
					sb.WriteString("~")
				}
			}
			sb.WriteByte('\n')
		})
	}
}

// want compares the rows of a plan.
func (d *db) want(n plan.Node, want string, params ...types.Datum) {
	d.t.Helper()
	got, err := d.run(n, params...)
	if err != nil {
		d.t.Errorf("error: %v\ndetail: %s", err, sqlerr.From(err).Detail)
		return
	}
	if got := strings.TrimSpace(got); got != strings.TrimSpace(want) {
		d.t.Errorf("got\n%s\nwant\n%s", got, strings.TrimSpace(want))
	}
}

// wantErr expects an error: "SQLSTATE message" and, after " // ", its detail.
func (d *db) wantErr(n plan.Node, want string) {
	d.t.Helper()
	_, err := d.run(n)
	if err == nil {
		d.t.Errorf("no error, want %s", want)
		return
	}
	e := sqlerr.From(err)
	got := string(e.Code) + " " + e.Message
	if e.Detail != "" {
		got += " // " + e.Detail
	}
	if got != want {
		d.t.Errorf("got  %s\nwant %s", got, want)
	}
}

// ---- plans by hand

func typed(t types.OID) plan.Typed { return plan.Typed{Type: t, Typmod: -1, Loc: -1} }

func i4(v int64) plan.Expr { return &plan.Const{Typed: typed(types.Int4OID), Value: types.Int(v)} }
func txt(s string) plan.Expr {
	return &plan.Const{Typed: typed(types.TextOID), Value: types.Text(s)}
}
func null(t types.OID) plan.Expr         { return &plan.Const{Typed: typed(t), Value: types.NullDatum} }
func slot(i int, t types.OID) *plan.Slot { return &plan.Slot{Typed: typed(t), Index: i} }
func s4(i int) *plan.Slot                { return slot(i, types.Int4OID) }

// op calls the operator name with the types of its arguments.
func op(name string, args ...plan.Expr) *plan.FuncCall {
	o := pgdata.OperatorByTypes(name, args[0].T().Type, args[1].T().Type)
	if o == nil {
		panic("no operator " + name)
	}
	f := pgdata.FuncByOID(o.Code)
	return &plan.FuncCall{Typed: typed(o.Result), Func: o.Code, Op: o.OID, Args: args, Volatile: f.Volatile, Strict: f.Strict}
}

func and(args ...plan.Expr) plan.Expr {
	return &plan.BoolExpr{Typed: typed(types.BoolOID), Kind: plan.And, Args: args}
}

func colsOf(ts ...types.OID) (cs []plan.Column) {
	for i, t := range ts {
		cs = append(cs, plan.Column{Name: fmt.Sprint("c", i), Typed: typed(t)})
	}
	return cs
}

func scan(r *catalog.Relation, attnos ...int16) *plan.Scan {
	s := &plan.Scan{Rel: r, Attnos: attnos}
	for _, a := range attnos {
		s.Cols = append(s.Cols, plan.Column{Name: r.Columns[a-1].Name, Typed: typed(r.Columns[a-1].Type)})
	}
	return s
}

func project(in plan.Node, es ...plan.Expr) *plan.Project {
	p := &plan.Project{Exprs: es}
	p.Input = in
	for _, e := range es {
		p.Cols = append(p.Cols, plan.Column{Typed: *e.T()})
	}
	return p
}

func filter(in plan.Node, cond plan.Expr) *plan.Filter {
	f := &plan.Filter{Cond: cond}
	f.Input, f.Cols = in, in.Base().Cols
	return f
}

// rows makes a VALUES list; the types are those of the first row.
func rows(lists ...[]plan.Expr) *plan.Values {
	v := &plan.Values{Lists: lists}
	for _, e := range lists[0] {
		v.Cols = append(v.Cols, plan.Column{Typed: *e.T()})
	}
	return v
}

// ints makes rows of int4 values: "1 2; 3 ~" is two rows of two columns, ~ is NULL.
func ints(s string) *plan.Values {
	var lists [][]plan.Expr
	for _, r := range strings.Split(s, ";") {
		var l []plan.Expr
		for _, f := range strings.Fields(r) {
			if f == "~" {
				l = append(l, null(types.Int4OID))
				continue
			}
			var v int64
			fmt.Sscan(f, &v)
			l = append(l, i4(v))
		}
		lists = append(lists, l)
	}
	return rows(lists...)
}

func sorted(in plan.Node, cols ...int) *plan.Sort {
	s := &plan.Sort{}
	s.Input, s.Cols = in, in.Base().Cols
	for _, c := range cols {
		k := plan.SortKey{}
		if c < 0 {
			c, k.Desc, k.NullsFirst = -c-1, true, true
		}
		k.Expr = slot(c, s.Cols[c].Type)
		s.Keys = append(s.Keys, k)
	}
	return s
}

func limit(in plan.Node, n, off int64) *plan.Limit {
	l := &plan.Limit{Count: i4(n)}
	if n < 0 {
		l.Count = nil
	}
	if off > 0 {
		l.Offset = i4(off)
	}
	l.Input, l.Cols = in, in.Base().Cols
	return l
}

func hashKeys(cols ...int) (ks []plan.HashKey) {
	for _, c := range cols {
		ks = append(ks, plan.HashKey{Left: s4(c), Right: s4(c), Type: types.Int4OID})
	}
	return ks
}

// modify makes a ModifyTable with all that the relation's descriptor says.
func modify(cmd plan.Command, r *catalog.Relation, in plan.Node, set ...int16) *plan.ModifyTable {
	m := &plan.ModifyTable{Command: cmd, Rel: r, SetAttnos: set}
	m.Input = in
	for _, c := range r.Columns {
		if c.NotNull {
			m.NotNull = append(m.NotNull, c.Num)
		}
		if cmd == plan.CmdInsert && set == nil {
			m.SetAttnos = append(m.SetAttnos, c.Num)
		}
	}
	m.RowIDCol = len(in.Base().Cols) - 1
	return m
}

func insert(r *catalog.Relation, in plan.Node) *plan.ModifyTable {
	return modify(plan.CmdInsert, r, in)
}

// withID adds the row identity to a scan.
func withID(s *plan.Scan) *plan.Scan {
	s.RowID = true
	s.Cols = append(s.Cols, plan.Column{Typed: typed(types.ByteaOID)})
	return s
}
