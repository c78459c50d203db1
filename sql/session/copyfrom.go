package session

import (
	"fmt"

	"herd/planner"
	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/exec"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/vec"
)

// copy is COPY.
func (s *Session) copy(st *ast.Copy, text string) (commandTag, error) {
	if st.Program {
		return commandTag{}, sqlerr.Unsupported("COPY with a program of the server").
			WithHint("Use \\copy of psql, or COPY FROM STDIN / TO STDOUT.")
	}
	if st.File != "" {
		if err := s.mayCopyFile(st.From); err != nil {
			return commandTag{}, err
		}
	}
	if st.From {
		return s.copyFrom(st, text)
	}
	return s.copyTo(st, text)
}

// copyFrom is COPY table FROM: the client's rows, or a file's, go to the insert path in batches.
func (s *Session) copyFrom(st *ast.Copy, text string) (commandTag, error) {
	rel, err := s.relation(st.Table.Name)
	if err != nil {
		return commandTag{}, err
	}
	if err := copyTarget(rel); err != nil {
		return commandTag{}, err
	}
	if err := s.claimToken(); err != nil {
		return commandTag{}, err
	}
	if s.modes.readOnly && rel.Persistence != 't' {
		return commandTag{}, sqlerr.New(sqlerr.ReadOnlySqlTransaction, "cannot execute COPY FROM in a read-only transaction")
	}
	cols, err := copyColumns(rel, st)
	if err != nil {
		return commandTag{}, err
	}
	names := make([]string, len(cols))
	for i, c := range cols {
		names[i] = c.Name
	}
	format, err := newCopyFormat(&st.Options, true, names)
	if err != nil {
		return commandTag{}, err
	}
	p := &prepared{text: text, stmt: copyInsert(st, names), class: classQuery, fromSQL: true}
	given := make([]types.OID, len(cols))
	for i, c := range cols {
		given[i] = c.Type
	}
	if err := s.prepare(p, given); err != nil {
		return commandTag{}, err
	}
	po, err := s.openPortal("", p, nil, nil)
	if err != nil {
		return commandTag{}, err
	}
	defer s.closePortal(po)
	if err := po.ready(s); err != nil {
		return commandTag{}, err
	}
	where, err := s.copyWhere(rel, st.Where, text)
	if err != nil {
		return commandTag{}, err
	}
	var file *fileSource
	if st.File != "" {
		f, err := openCopyFile(st.File, true)
		if err != nil {
			return commandTag{}, err
		}
		defer f.Close()
		file = &fileSource{f: f}
	}
	rows, err := s.copyInto(po, rel, cols, format, where, file)
	return commandTag{text: "COPY", count: rows, hasCount: true}, err
}

// copyWhere binds the condition of COPY FROM ... WHERE; nil when there is none.
func (s *Session) copyWhere(rel *catalog.Relation, where ast.Expr, text string) (plan.Expr, error) {
	if where == nil {
		return nil, nil
	}
	cat, err := s.catalog()
	if err != nil {
		return nil, err
	}
	env, err := s.bindEnv(text)
	if err != nil {
		return nil, err
	}
	env.NoParams = true
	return planner.CopyWhere(cat, env, rel, where)
}

// copyInto reads the client's rows, or those of a file, into a copy-in execution.
func (s *Session) copyInto(po *portal, rel *catalog.Relation, cols []*catalog.Column, format *copyFormat, where plan.Expr, file *fileSource) (int64, error) {
	in, err := exec.NewCopyIn(po.plan, where)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	if err := in.Open(&po.env); err != nil {
		return 0, err
	}
	r := &copyReader{src: file, format: format}
	if file == nil {
		s.copyResponse('G', format, len(cols))
		if err := s.out.Flush(); err != nil {
			return 0, errClientGone()
		}
		r.src = s.client.Copy
	}
	row := make([]types.Datum, len(cols))
	var lines copyLines
	if format.header != ast.HeaderOff && format.kind != ast.CopyBinary {
		if err := r.header(cols); err != nil {
			return 0, r.context(err, rel, "", nil)
		}
	}
	for {
		if err := s.interrupt(); err != nil {
			return 0, err
		}
		ok, err := r.next(len(cols))
		if err != nil {
			return 0, r.context(err, rel, "", nil)
		}
		if !ok {
			break
		}
		if err := s.copyRow(r, cols, row, rel); err != nil {
			return 0, err
		}
		lines.note(r)
		if err := in.Add(row); err != nil {
			return 0, lines.failed(r, err, in.Row(), rel)
		}
	}
	n, err := in.Finish()
	if err != nil {
		return 0, lines.failed(r, err, in.Row(), rel)
	}
	return n, nil
}

// copyContext is how many bytes of a line an error shows.
const copyContext = 100

// copyLines remembers where the rows that exec has buffered came from: it reports an error after it has read further.
type copyLines struct {
	rows  int64
	lines []copyLine // ring of the last vec.MaxRows rows
}

type copyLine struct {
	line int64
	raw  []byte
}

// note records the row just read, and as much of its text as an error shows.
func (l *copyLines) note(r *copyReader) {
	if l.lines == nil {
		l.lines = make([]copyLine, vec.MaxRows)
	}
	x := &l.lines[l.rows%int64(len(l.lines))]
	x.line, x.raw = r.line, append(x.raw[:0], r.raw[:min(len(r.raw), copyContext+1)]...)
	l.rows++
}

// failed gives the error of row number n (from 1) its place in the input. PostgreSQL inserts in batches as well and shows no
// text for what it finds only then: duplicate keys.
func (l *copyLines) failed(r *copyReader, err error, n int64, rel *catalog.Relation) error {
	if sqlerr.CodeOf(err) == sqlerr.ForeignKeyViolation { // found at the end of the statement
		return err
	}
	if n < 1 || n > l.rows || l.rows-n >= int64(len(l.lines)) {
		return r.context(err, rel, "", nil)
	}
	x := &l.lines[(n-1)%int64(len(l.lines))]
	r.line, r.raw = x.line, x.raw
	if sqlerr.CodeOf(err) == sqlerr.UniqueViolation {
		r.raw = nil
	}
	return r.context(err, rel, "", nil)
}

// copyRow converts the fields of a row.
func (s *Session) copyRow(r *copyReader, cols []*catalog.Column, row []types.Datum, rel *catalog.Relation) error {
	if len(r.fields) > len(cols) {
		return r.context(sqlerr.New(sqlerr.BadCopyFileFormat, "extra data after last expected column"), rel, "", nil)
	}
	for i, c := range cols {
		if i >= len(r.fields) {
			return r.context(sqlerr.New(sqlerr.BadCopyFileFormat, "missing data for column \"%s\"", c.Name), rel, "", nil)
		}
		if r.fields[i] == nil {
			row[i] = types.NullDatum
			continue
		}
		var err error
		if r.format.kind == ast.CopyBinary {
			row[i], err = types.Recv(&s.io, c.Type, c.Typmod, r.fields[i])
		} else {
			row[i], err = types.Input(&s.io, c.Type, c.Typmod, r.fields[i])
		}
		if err != nil {
			return r.context(err, rel, c.Name, r.fields[i])
		}
	}
	return nil
}

// context says where in the data an error was found: in which line, or in which column's value there.
func (r *copyReader) context(err error, rel *catalog.Relation, column string, value []byte) error {
	e := sqlerr.From(err)
	if e.Severity == sqlerr.SeverityFatal || r.line == 0 {
		return e
	}
	where := fmt.Sprintf("COPY %s, line %d", rel.Name, r.line)
	if column != "" {
		where += ", column " + column
		if r.format.kind != ast.CopyBinary {
			where += ": \"" + clip(string(value), copyContext) + "\""
		}
	} else if r.format.kind != ast.CopyBinary && len(r.raw) > 0 {
		where += ": \"" + clip(string(r.raw), copyContext) + "\""
	}
	if e.Where == "" {
		e.Where = where
	}
	return e
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:n] + "..."
}

// header reads the first line and, with HEADER MATCH, compares it with the columns.
func (r *copyReader) header(cols []*catalog.Column) error {
	ok, err := r.next(len(cols))
	if err != nil || !ok || r.format.header != ast.HeaderMatch {
		return err
	}
	if len(r.fields) != len(cols) {
		return sqlerr.New(sqlerr.BadCopyFileFormat, "wrong number of fields in header line: got %d, expected %d", len(r.fields), len(cols))
	}
	for i, c := range cols {
		switch {
		case r.fields[i] == nil:
			return sqlerr.New(sqlerr.BadCopyFileFormat, "column name mismatch in header line field %d: got null value (\"%s\"), expected \"%s\"", i+1, r.format.null, c.Name)
		case string(r.fields[i]) != c.Name:
			return sqlerr.New(sqlerr.BadCopyFileFormat, "column name mismatch in header line field %d: got \"%s\", expected \"%s\"", i+1, r.fields[i], c.Name)
		}
	}
	return nil
}

func copyTarget(rel *catalog.Relation) error {
	switch rel.Kind {
	case catalog.KindTable:
		return nil
	case catalog.KindView:
		return sqlerr.New(sqlerr.WrongObjectType, "cannot copy to view \"%s\"", rel.Name).
			WithHint("To enable copying to a view, provide an INSTEAD OF INSERT trigger.")
	case catalog.KindMatView:
		return sqlerr.New(sqlerr.WrongObjectType, "cannot copy to materialized view \"%s\"", rel.Name)
	case catalog.KindSequence:
		return sqlerr.New(sqlerr.WrongObjectType, "cannot copy to sequence \"%s\"", rel.Name)
	}
	return sqlerr.New(sqlerr.WrongObjectType, "cannot copy to non-table relation \"%s\"", rel.Name)
}

// copyColumns are the named columns, or all that COPY fills.
func copyColumns(rel *catalog.Relation, st *ast.Copy) ([]*catalog.Column, error) {
	var out []*catalog.Column
	if len(st.Columns) == 0 {
		for i := range rel.Columns {
			if c := &rel.Columns[i]; !c.Dropped && c.Generated == "" {
				out = append(out, c)
			}
		}
		return out, nil
	}
	for _, name := range st.Columns {
		var col *catalog.Column
		for i := range rel.Columns {
			if c := &rel.Columns[i]; !c.Dropped && c.Name == name {
				col = c
			}
		}
		if col == nil {
			return nil, sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", name, rel.Name)
		}
		if col.Generated != "" {
			return nil, sqlerr.New(sqlerr.InvalidColumnReference, "column \"%s\" is a generated column", name).
				WithDetail("Generated columns cannot be used in COPY.")
		}
		for _, c := range out {
			if c == col {
				return nil, sqlerr.New(sqlerr.DuplicateColumn, "column \"%s\" specified more than once", name)
			}
		}
		out = append(out, col)
	}
	return out, nil
}

// copyInsert is the INSERT that a COPY FROM amounts to: one parameter a column. Values for identity columns count.
func copyInsert(st *ast.Copy, names []string) ast.Stmt {
	none := ast.At(ast.NoPos)
	ins := &ast.Insert{Loc: none, Table: st.Table, Overriding: ast.OverridingSystem}
	row := make([]ast.Expr, len(names))
	for i, n := range names {
		ins.Columns = append(ins.Columns, ast.ColumnTarget{Loc: none, Name: n})
		row[i] = &ast.Param{Loc: none, Number: i + 1}
	}
	ins.Source = &ast.Select{Loc: none, Body: &ast.Values{Loc: none, Rows: [][]ast.Expr{row}}}
	return ins
}
