package session

import (
	"strings"

	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/exec"
	"herd/sql/scan"
	"herd/sql/types"
)

// bulkInsert is an INSERT of many literal tuples. The parser saw its head, its first tuple and its tail; the tuples are read
// by sql/scan and go to the row builder that COPY has, as values of the columns' types.
type bulkInsert struct {
	text []byte
	sql  string // text again
	scan.Bulk
	cols  []*catalog.Column
	lits  []scan.Literal
	row   []types.Datum
	arena []byte // strings with doubled quotes, of one row
}

// queryBulk runs a text that is one INSERT of literal tuples. done is false, and nothing has happened, when the text has to go
// the long way: it is something else, or some value needs more than its column's input function. A value that is wrong goes
// that way too, so that it is reported as ever, and before any row is inserted.
func (s *Session) queryBulk(text []byte, sql string) (done bool, err error) {
	if s.aborted || !s.bulkInserts {
		return false, nil
	}
	k, ok := scan.FindBulk(sql)
	if !ok {
		return false, nil
	}
	x := &bulkInsert{text: text, sql: sql, Bulk: k}
	st := x.parse(s)
	if st == nil {
		return false, nil
	}
	s.ensureTx()
	if err := s.stmtBegin(); err != nil {
		return true, err
	}
	po := x.open(s, st)
	if po == nil {
		return false, nil
	}
	defer s.closePortal(po)
	if ok, err := x.check(s); !ok {
		return err != nil, err
	}
	n, err := x.run(s, po)
	if err != nil {
		return true, err
	}
	s.stmtEnd()
	if err := s.finishImplicit(); err != nil {
		return true, err
	}
	s.complete(commandTag{text: "INSERT 0", count: n, hasCount: true})
	return true, nil
}

// parse reads the statement as one of a single row; nil when it is not a plain INSERT of rows.
func (x *bulkInsert) parse(s *Session) *ast.Insert {
	if strings.IndexByte(x.sql[x.TuplesEnd:], '$') >= 0 {
		return nil // $n would be one of the row's values
	}
	list, err := s.parseText(x.sql[:x.HeadEnd] + x.sql[x.TuplesEnd:])
	if err != nil || len(list) != 1 {
		return nil
	}
	st, ok := list[0].Stmt.(*ast.Insert)
	if !ok || st.Source == nil || len(st.Returning) > 0 {
		return nil
	}
	src := st.Source
	vals, ok := src.Body.(*ast.Values)
	if !ok || len(vals.Rows) != 1 || src.With != nil || src.OrderBy != nil || src.Limit != nil || src.Offset != nil || src.Locking != nil {
		return nil
	}
	for i, e := range vals.Rows[0] {
		vals.Rows[0][i] = &ast.Param{Loc: ast.At(e.Pos()), Number: i + 1}
	}
	return st
}

// open plans the statement with a parameter a column and takes its locks; nil when the rows cannot be built from literals.
func (x *bulkInsert) open(s *Session, st *ast.Insert) *portal {
	rel, err := s.relation(st.Table.Name)
	if err != nil || !x.columns(rel, st) {
		return nil
	}
	given := make([]types.OID, len(x.cols))
	for i, c := range x.cols {
		given[i] = c.Type
	}
	p := &prepared{text: x.sql, stmt: st, class: classQuery, fromSQL: true}
	if err := s.prepare(p, given); err != nil {
		return nil
	}
	po, err := s.openPortal("", p, nil, nil)
	if err != nil {
		return nil
	}
	if err := po.ready(s); err != nil {
		s.closePortal(po)
		return nil
	}
	if now, err := s.relation(st.Table.Name); err != nil || now.OID != rel.OID || now.Version != rel.Version {
		s.closePortal(po)
		return nil
	}
	return po
}

// columns finds the columns that the tuples fill.
func (x *bulkInsert) columns(rel *catalog.Relation, st *ast.Insert) bool {
	if rel.Kind != catalog.KindTable {
		return false
	}
	if len(st.Columns) == 0 {
		for i := range rel.Columns {
			if c := &rel.Columns[i]; !c.Dropped && len(x.cols) < x.Bulk.Columns {
				x.cols = append(x.cols, c)
			}
		}
	}
	for _, t := range st.Columns {
		for i := range rel.Columns {
			if c := &rel.Columns[i]; !c.Dropped && c.Name == t.Name && len(t.Steps) == 0 {
				x.cols = append(x.cols, c)
			}
		}
	}
	if len(x.cols) != x.Bulk.Columns {
		return false
	}
	for _, c := range x.cols {
		if b := types.BuiltinByOID(c.Type); b == nil || b.Type != 'b' {
			return false // a domain has checks
		}
	}
	x.row = make([]types.Datum, len(x.cols))
	return true
}

// check converts all tuples for nothing; ok is false when one has to go the long way, err is that of an interrupt.
func (x *bulkInsert) check(s *Session) (ok bool, err error) {
	tuples, n := x.Tuples(x.sql), 0
	for x.lits = tuples.Next(x.lits); x.lits != nil; x.lits = tuples.Next(x.lits) {
		if !x.convert(s) {
			return false, nil
		}
		if n++; n%1024 == 0 {
			if err := s.interrupt(); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// run inserts the tuples.
func (x *bulkInsert) run(s *Session, po *portal) (int64, error) {
	in, err := exec.NewCopyIn(po.plan, nil)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	if err := in.Open(&po.env); err != nil {
		return 0, err
	}
	tuples, n := x.Tuples(x.sql), 0
	for x.lits = tuples.Next(x.lits); x.lits != nil; x.lits = tuples.Next(x.lits) {
		x.convert(s)
		if err := in.Add(x.row); err != nil {
			return 0, err
		}
		if n++; n%1024 == 0 {
			if err := s.interrupt(); err != nil {
				return 0, err
			}
		}
	}
	return in.Finish()
}

// convert makes the row of a tuple's literals; false when one needs more than its column's input function.
func (x *bulkInsert) convert(s *Session) bool {
	x.arena = x.arena[:0]
	for i, l := range x.lits {
		d, ok := x.value(s, x.cols[i], l)
		if !ok {
			return false
		}
		x.row[i] = d
	}
	return true
}

// value converts one literal as an assignment of it to the column does.
func (x *bulkInsert) value(s *Session, c *catalog.Column, l scan.Literal) (types.Datum, bool) {
	switch l.Class {
	case scan.Null:
		return types.NullDatum, true
	case scan.True, scan.False:
		return types.Bool(l.Class == scan.True), c.Type == types.BoolOID
	case scan.String:
		text := x.text[l.Start+1 : l.End-1]
		if _, doubled := l.Raw(x.sql); doubled {
			from := len(x.arena)
			x.arena = l.AppendText(x.arena, x.sql)
			text = x.arena[from:]
		}
		d, err := types.Input(&s.io, c.Type, c.Typmod, text)
		return d, err == nil
	case scan.Int4, scan.Int8, scan.Numeric:
		switch c.Type {
		case types.Int2OID, types.Int4OID, types.Int8OID, types.NumericOID, types.Float4OID, types.Float8OID:
		default:
			return types.Datum{}, false // 007 as text is '7'
		}
		d, err := types.Input(&s.io, c.Type, c.Typmod, x.text[l.Start:l.End])
		if x.text[l.Start] == '-' && types.KindOf(c.Type) == types.KindFloat && d.Float() == 0 {
			return types.Datum{}, false // -0.0 is minus applied to 0, which has no sign
		}
		return d, err == nil
	}
	return types.Datum{}, false // DEFAULT
}
