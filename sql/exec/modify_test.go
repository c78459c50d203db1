package exec

import (
	"strings"
	"testing"

	"herd/engine"
	"herd/planner/plan"
	"herd/sql/catalog"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/storage"
)

// update makes UPDATE r SET col = expr (over the row's columns) with an optional filter.
func update(r *catalog.Relation, cond plan.Expr, attno int16, e plan.Expr) *plan.ModifyTable {
	var all []int16
	for i := range r.Columns {
		all = append(all, int16(i+1))
	}
	s := withID(scan(r, all...))
	s.Filter = cond
	m := modify(plan.CmdUpdate, r, project(s, e, slot(len(all), types.ByteaOID)), attno)
	// The recheck plan is the same over a single row.
	rs := &plan.RecheckScan{Rel: r, Attnos: all, Filter: cond, RowID: true}
	rs.Cols = s.Cols
	m.Recheck = &plan.Recheck{Root: project(rs, e, slot(len(all), types.ByteaOID))}
	return m
}

func deleteFrom(r *catalog.Relation, cond plan.Expr) *plan.ModifyTable {
	var all []int16
	for i := range r.Columns {
		all = append(all, int16(i+1))
	}
	s := withID(scan(r, all...))
	s.Filter = cond
	m := modify(plan.CmdDelete, r, s)
	rs := &plan.RecheckScan{Rel: r, Attnos: all, Filter: cond, RowID: true}
	rs.Cols = s.Cols
	m.Recheck = &plan.Recheck{Root: rs}
	return m
}

func TestInsertConstraints(t *testing.T) {
	eachSize(t, func(t *testing.T) {
		d := newDB(t)
		r := d.table("t", 1, "id int4", "a int4!", "b text")
		d.index(r, "t_b_key", true, 3)
		row := func(id, a, b plan.Expr) plan.Node { return insert(r, rows([]plan.Expr{id, a, b})) }
		d.want(row(i4(1), i4(10), txt("x")), "")
		d.want(row(i4(2), i4(20), null(types.TextOID)), "")
		d.want(row(i4(3), i4(20), null(types.TextOID)), "") // NULLs are distinct
		d.wantErr(row(i4(1), i4(5), txt("y")), `23505 duplicate key value violates unique constraint "t_pkey" // Key (id)=(1) already exists.`)
		d.wantErr(row(i4(9), i4(5), txt("x")), `23505 duplicate key value violates unique constraint "t_b_key" // Key (b)=(x) already exists.`)
		d.wantErr(row(i4(9), null(types.Int4OID), txt("z")), `23502 null value in column "a" of relation "t" violates not-null constraint // Failing row contains (9, null, z).`)
		m := row(i4(9), i4(-5), txt("z")).(*plan.ModifyTable)
		m.Checks = []plan.CheckExpr{{Name: "t_a_check", Expr: op(">", s4(1), i4(0))}}
		d.wantErr(m, `23514 new row for relation "t" violates check constraint "t_a_check" // Failing row contains (9, -5, z).`)
		// The error of the first bad row wins, and nothing of the statement stays.
		d.wantErr(insert(r, rows([]plan.Expr{i4(8), i4(1), txt("q")}, []plan.Expr{i4(8), i4(1), txt("r")}, []plan.Expr{i4(9), null(types.Int4OID), txt("s")})),
			`23505 duplicate key value violates unique constraint "t_pkey" // Key (id)=(8) already exists.`)
		d.want(scan(r, 1, 2, 3), "1|10|x\n2|20|~\n3|20|~")
		ret := row(i4(4), i4(40), txt("w")).(*plan.ModifyTable)
		ret.Returning = []plan.Expr{op("+", s4(0), s4(1)), slot(2, types.TextOID), s4(3)}
		ret.Cols = colsOf(types.Int4OID, types.TextOID, types.Int4OID)
		d.want(ret, "44|w|4")
	})
}

func TestHiddenRowIDs(t *testing.T) {
	d := newDB(t)
	r := d.table("h", 0, "a int4")
	d.want(insert(r, ints("5; 5; 6")), "")
	d.want(scan(r, 1), "5\n5\n6")
	d.want(update(r, op("=", s4(0), i4(5)), 1, op("+", s4(0), i4(10))), "")
	d.want(scan(r, 1), "15\n15\n6")
	d.want(deleteFrom(r, op("=", s4(0), i4(15))), "")
	d.want(scan(r, 1), "6")
}

func TestUpdateDelete(t *testing.T) {
	eachSize(t, func(t *testing.T) {
		d := newDB(t)
		r := d.table("t", 1, "id int4", "a int4", "b int4")
		ix := d.index(r, "t_a", false, 2)
		d.index(r, "t_b_key", true, 3)
		d.want(insert(r, ints("1 10 100; 2 20 200; 3 30 300; 4 40 ~")), "")
		byA := &plan.IndexScan{Rel: r, Index: ix, Attnos: []int16{2, 1}}
		byA.Cols = colsOf(types.Int4OID, types.Int4OID)
		d.want(update(r, op(">", s4(0), i4(1)), 2, op("-", i4(0), s4(1))), "")
		d.want(byA, "-40|4\n-30|3\n-20|2\n10|1")
		// The key moves; the index entries follow.
		d.want(update(r, op("=", s4(0), i4(2)), 1, i4(22)), "")
		d.want(byA, "-40|4\n-30|3\n-20|22\n10|1")
		d.wantErr(update(r, op("=", s4(0), i4(1)), 1, i4(3)), `23505 duplicate key value violates unique constraint "t_pkey" // Key (id)=(3) already exists.`)
		d.wantErr(update(r, op("=", s4(0), i4(1)), 3, i4(300)), `23505 duplicate key value violates unique constraint "t_b_key" // Key (b)=(300) already exists.`)
		d.wantErr(update(r, nil, 1, op("+", s4(0), i4(1))), `23505 duplicate key value violates unique constraint "t_pkey" // Key (id)=(4) already exists.`)
		d.want(update(r, op("=", s4(0), i4(1)), 3, i4(100)), "") // to the same value
		d.want(deleteFrom(r, op("<", s4(1), i4(-25))), "")
		d.want(scan(r, 1, 2, 3), "1|10|100\n22|-20|200")
		d.want(byA, "-20|22\n10|1")
		d.want(insert(r, ints("3 7 300")), "") // the unique entry went with its row
		ret := deleteFrom(r, op("=", s4(0), i4(3)))
		ret.Returning, ret.Cols = []plan.Expr{s4(0), s4(2)}, colsOf(types.Int4OID, types.Int4OID)
		d.want(ret, "3|300")
	})
}

func TestJoinedUpdateTouchesARowOnce(t *testing.T) {
	d := newDB(t)
	r := d.table("t", 1, "id int4", "a int4")
	d.want(insert(r, ints("1 0; 2 0")), "")
	j := joinOfKind(plan.JoinInner, "nest", withID(scan(r, 1, 2)), ints("1 5; 1 6; 2 7"), nil)
	// join columns: id, a, rowid, k, v
	nl := j.(*plan.NestLoop)
	nl.Cond = op("=", s4(0), s4(3))
	m := modify(plan.CmdUpdate, r, project(j, op("+", s4(1), s4(4)), slot(2, types.ByteaOID)), 2)
	st, err := Build(&plan.Plan{Root: m})
	must(t, err)
	tx := d.s.Begin(engine.TxOptions{})
	env := d.env(tx, tx.BeginStatement())
	must(t, st.Open(env))
	_, err = st.Next(10)
	must(t, err)
	if st.RowsAffected() != 2 {
		t.Errorf("%d rows affected, want 2", st.RowsAffected())
	}
	must(t, st.Close())
	env.Acct.Close()
	must(t, tx.Commit())
	d.want(scan(r, 1, 2), "1|5\n2|7")
}

func TestOnConflict(t *testing.T) {
	eachSize(t, func(t *testing.T) {
		d := newDB(t)
		r := d.table("t", 1, "id int4", "a int4", "u int4")
		u := d.index(r, "t_u_key", true, 3)
		d.want(insert(r, ints("1 10 100; 2 20 200")), "")
		with := func(in plan.Node, c *plan.ConflictAction) plan.Node {
			m := insert(r, in)
			m.OnConflict = c
			return m
		}
		d.want(with(ints("1 11 300; 3 30 200; 4 40 400; 4 41 401"), &plan.ConflictAction{}), "")
		d.want(scan(r, 1, 2, 3), "1|10|100\n2|20|200\n4|40|400")
		// DO UPDATE SET a = t.a + excluded.a
		add := &plan.ConflictAction{Update: true, ArbiterPK: true, SetAttnos: []int16{2}, Set: []plan.Expr{op("+", s4(1), s4(4))}}
		d.want(with(ints("1 5 999; 5 50 500"), add), "")
		d.want(scan(r, 1, 2, 3), "1|15|100\n2|20|200\n4|40|400\n5|50|500")
		add.Where = op("<", s4(1), i4(20))
		d.want(with(ints("1 1 0; 2 1 0"), add), "")
		d.want(scan(r, 1, 2), "1|16\n2|20\n4|40\n5|50")
		add.Where = nil
		d.wantErr(with(ints("1 1 0; 1 2 0"), add), "21000 ON CONFLICT DO UPDATE command cannot affect row a second time")
		byU := &plan.ConflictAction{Update: true, Arbiters: []*catalog.Index{u}, SetAttnos: []int16{1}, Set: []plan.Expr{s4(3)}}
		d.want(with(ints("77 0 200"), byU), "")
		d.want(scan(r, 1, 2, 3), "1|16|100\n4|40|400\n5|50|500\n77|20|200")
		d.wantErr(with(ints("4 0 900"), byU), `23505 duplicate key value violates unique constraint "t_pkey" // Key (id)=(4) already exists.`)
	})
}

// family makes parent p(id, x) and child c(id, pid) with a foreign key.
func family(d *db, onDelete, onUpdate byte, index bool) (p, c *catalog.Relation, fk *plan.ForeignKey) {
	p = d.table("p", 1, "id int4", "x int4")
	c = d.table("c", 1, "id int4", "pid int4")
	con := &catalog.Constraint{OID: 777, Name: "c_pid_fkey", Type: 'f', Rel: c.OID, Ref: p.OID, Cols: []int16{2}, RefCols: []int16{1}, OnDelete: onDelete, OnUpdate: onUpdate, Match: 's'}
	fk = &plan.ForeignKey{Constraint: con, Child: c, Parent: p}
	if index {
		fk.ChildIndex = d.index(c, "c_pid", false, 2)
	}
	fk.ChildTable = &plan.ModifyTable{Rel: c, ForeignKeys: []plan.ForeignKey{*fk}}
	fk.Defaults = []plan.Expr{i4(1)}
	return p, c, fk
}

func TestForeignKeys(t *testing.T) {
	for _, index := range []bool{false, true} {
		d := newDB(t)
		p, c, fk := family(d, 'a', 'a', index)
		child := func(m *plan.ModifyTable) *plan.ModifyTable {
			m.ForeignKeys = []plan.ForeignKey{*fk}
			return m
		}
		parent := func(m *plan.ModifyTable) *plan.ModifyTable {
			m.ReferencedBy = []plan.ForeignKey{*fk}
			return m
		}
		d.want(insert(p, ints("1 0; 2 0; 3 0")), "")
		d.want(child(insert(c, ints("10 1; 11 2; 12 ~"))), "")
		d.wantErr(child(insert(c, ints("13 9"))), `23503 insert or update on table "c" violates foreign key constraint "c_pid_fkey" // Key (pid)=(9) is not present in table "p".`)
		d.wantErr(child(update(c, nil, 2, i4(7))), `23503 insert or update on table "c" violates foreign key constraint "c_pid_fkey" // Key (pid)=(7) is not present in table "p".`)
		d.wantErr(parent(deleteFrom(p, nil)), `23503 update or delete on table "p" violates foreign key constraint "c_pid_fkey" on table "c" // Key (id)=(1) is still referenced from table "c".`)
		d.wantErr(parent(update(p, op("=", s4(0), i4(2)), 1, i4(22))), `23503 update or delete on table "p" violates foreign key constraint "c_pid_fkey" on table "c" // Key (id)=(2) is still referenced from table "c".`)
		d.want(parent(deleteFrom(p, op("=", s4(0), i4(3)))), "")
		d.want(parent(update(p, nil, 2, i4(5))), "")
	}
}

func TestReferentialActions(t *testing.T) {
	for _, x := range []struct {
		del, upd byte
		deleted  string
		updated  string
	}{
		{'c', 'c', "11|2", "10|100\n11|2\n12|100"},
		{'n', 'n', "10|~\n11|2\n12|~", "10|~\n11|2\n12|~"},
		{'d', 'd', "", "10|1\n11|2\n12|1"},
	} {
		t.Run(string(x.del), func(t *testing.T) {
			setup := func() (*db, *catalog.Relation, *catalog.Relation, *plan.ForeignKey) {
				d := newDB(t)
				p, c, fk := family(d, x.del, x.upd, true)
				d.want(insert(p, ints("1 0; 2 0; 3 0")), "")
				d.want(insert(c, ints("10 3; 11 2; 12 3")), "")
				return d, p, c, fk
			}
			d, p, c, fk := setup()
			m := deleteFrom(p, op("=", s4(0), i4(3)))
			m.ReferencedBy = []plan.ForeignKey{*fk}
			d.want(m, "")
			want := x.deleted
			if x.del == 'd' {
				want = "10|1\n11|2\n12|1"
			}
			d.want(scan(c, 1, 2), want)
			d, p, c, fk = setup()
			m = update(p, op("=", s4(0), i4(3)), 1, i4(100))
			m.ReferencedBy = []plan.ForeignKey{*fk}
			d.want(m, "")
			d.want(scan(c, 1, 2), x.updated)
		})
	}
}

// second opens another session on d's engine.
func (d *db) second() *db {
	o := *d
	o.s = d.e.System().NewSession(engine.SessionOptions{})
	d.t.Cleanup(o.s.Close)
	return &o
}

func TestConcurrentUpdateIsRechecked(t *testing.T) {
	d := newDB(t)
	r := d.table("t", 1, "id int4", "a int4")
	d.want(insert(r, ints("1 10; 2 10; 3 10; 4 10")), "")
	m := update(r, op("=", s4(1), i4(10)), 2, op("+", s4(1), i4(1)))
	for _, iso := range []engine.Isolation{engine.ReadCommitted, engine.RepeatableRead} {
		d.want(update(r, nil, 2, i4(10)), "")
		tx := d.s.Begin(engine.TxOptions{Isolation: iso})
		view := tx.BeginStatement()
		other := d.second()
		// Between the snapshot and the update: row 2 no longer qualifies, row 3 changes and still does, row 4 goes.
		other.want(update(r, op("=", s4(0), i4(2)), 2, i4(99)), "")
		other.want(deleteFrom(r, op("=", s4(0), i4(4))), "")
		st, err := Build(&plan.Plan{Root: m})
		must(t, err)
		env := d.env(tx, view)
		must(t, st.Open(env))
		_, err = st.Next(10)
		must(t, st.Close())
		env.Acct.Close()
		if iso == engine.RepeatableRead {
			if e := sqlerr.From(err); err == nil || e.Code != sqlerr.SerializationFailure || e.Message != "could not serialize access due to concurrent update" {
				t.Errorf("repeatable read: %v", err)
			}
			tx.Rollback()
			continue
		}
		must(t, err)
		if st.RowsAffected() != 2 {
			t.Errorf("%d rows affected, want 2", st.RowsAffected())
		}
		must(t, tx.Commit())
		must(t, d.s.WaitDurable())
		d.want(scan(r, 1, 2), "1|11\n2|99\n3|11")
		d.want(insert(r, ints("4 10")), "")
	}
}

func TestGeneratedAndLargeValues(t *testing.T) {
	d := newDB(t)
	r := d.table("t", 1, "id int4", "a int4", "g int4", "s text")
	gen := []plan.GeneratedExpr{{Attno: 3, Expr: op("*", s4(1), i4(2))}}
	big := strings.Repeat("large ", 100_000)
	m := insert(r, rows([]plan.Expr{i4(1), i4(21), null(types.Int4OID), txt(big)}))
	m.Generated = gen
	d.want(m, "")
	u := update(r, nil, 2, i4(5))
	u.Generated = gen
	d.want(u, "")
	d.want(scan(r, 1, 2, 3), "1|5|10")
	out, err := d.run(scan(r, 4))
	must(t, err)
	if out != big+"\n" {
		t.Errorf("large value came back with %d bytes, want %d", len(out), len(big)+1)
	}
	d.want(deleteFrom(r, nil), "")
	left := 0
	must(t, d.e.System().ReadTip(func(v storage.View) error { left = int(v.Count(r.LargeTree)); return nil }))
	if left != 0 {
		t.Errorf("%d chunks of large values are left", left)
	}
}
