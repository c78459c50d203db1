package session

import (
	"encoding/binary"

	"herd/pgwire/wire"
	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/vec"
)

// binarySignature begins a binary COPY stream; flags and header extension follow, both zero.
const binarySignature = "PGCOPY\n\xff\r\n\x00"

// copySink formats rows as CopyData messages, one a row as PostgreSQL sends them, or writes them to a file.
type copySink struct {
	out    *wire.Writer
	file   *fileTarget // nil: the client
	line   []byte      // a row on its way to the file
	io     *types.IOContext
	cols   []plan.Column
	format *copyFormat
	row    []types.Datum
	text   []byte
	rows   int64
	begun  bool // the binary signature was sent
}

func (c *copySink) writeBatch(b *vec.Batch) error { return eachRow(b, c.row, c.writeRow) }

func (c *copySink) writeRow(row []types.Datum) error {
	c.rows++
	if c.file != nil {
		c.line = c.appendRow(c.line[:0], row)
		return c.file.write(c.line)
	}
	c.out.Begin('d')
	c.out.SetBuf(c.appendRow(c.out.Buf(), row))
	c.out.End()
	if c.out.Err() != nil {
		return errClientGone()
	}
	return nil
}

// appendRow appends a row, with the signature in front of the first one of a binary COPY.
func (c *copySink) appendRow(buf []byte, row []types.Datum) []byte {
	if c.format.kind != ast.CopyBinary {
		return c.appendLine(buf, row)
	}
	buf = binary.BigEndian.AppendUint16(c.signature(buf), uint16(len(row)))
	for i, d := range row {
		if d.Null {
			buf = binary.BigEndian.AppendUint32(buf, ^uint32(0))
			continue
		}
		buf = append(buf, 0, 0, 0, 0)
		at := len(buf)
		buf = types.Send(c.io, buf, c.cols[i].Type, d)
		binary.BigEndian.PutUint32(buf[at-4:], uint32(len(buf)-at))
	}
	return buf
}

// appendEnd appends the end of a binary COPY.
func (c *copySink) appendEnd(buf []byte) []byte {
	return binary.BigEndian.AppendUint16(c.signature(buf), 0xffff)
}

// signature begins a binary COPY: signature, flags and header extension length.
func (c *copySink) signature(buf []byte) []byte {
	if c.begun {
		return buf
	}
	c.begun = true
	return append(append(buf, binarySignature...), 0, 0, 0, 0, 0, 0, 0, 0)
}

func (c *copySink) appendLine(buf []byte, row []types.Datum) []byte {
	for i, d := range row {
		if i > 0 {
			buf = append(buf, c.format.delim)
		}
		if d.Null {
			buf = append(buf, c.format.null...)
			continue
		}
		c.text = types.Output(c.io, c.text[:0], c.cols[i].Type, d)
		if c.format.kind == ast.CopyCSV {
			buf = c.format.appendCSV(buf, c.text, c.format.forceQuote[i], len(row) == 1)
		} else {
			buf = c.format.appendText(buf, c.text)
		}
	}
	return append(buf, '\n')
}

// appendText writes a field of the text format with its backslash escapes.
func (f *copyFormat) appendText(buf, text []byte) []byte {
	for _, ch := range text {
		switch ch {
		case '\b':
			buf = append(buf, '\\', 'b')
		case '\f':
			buf = append(buf, '\\', 'f')
		case '\n':
			buf = append(buf, '\\', 'n')
		case '\r':
			buf = append(buf, '\\', 'r')
		case '\t':
			buf = append(buf, '\\', 't')
		case '\v':
			buf = append(buf, '\\', 'v')
		case '\\':
			buf = append(buf, '\\', '\\')
		case f.delim:
			buf = append(buf, '\\', ch)
		default:
			buf = append(buf, ch)
		}
	}
	return buf
}

// appendCSV writes a CSV field, quoted when it must be.
func (f *copyFormat) appendCSV(buf, text []byte, force, single bool) []byte {
	quote := force || string(text) == f.null || single && string(text) == "\\."
	for _, ch := range text {
		if ch == f.delim || ch == f.quote || ch == '\n' || ch == '\r' {
			quote = true
			break
		}
	}
	if !quote {
		return append(buf, text...)
	}
	buf = append(buf, f.quote)
	for _, ch := range text {
		if ch == f.quote || ch == f.escape {
			buf = append(buf, f.escape)
		}
		buf = append(buf, ch)
	}
	return append(buf, f.quote)
}

// copyTo is COPY table|(query) TO STDOUT.
func (s *Session) copyTo(st *ast.Copy, text string) (commandTag, error) {
	query, err := s.copyQuery(st)
	if err != nil {
		return commandTag{}, err
	}
	if _, ok := query.(*ast.Merge); ok {
		return commandTag{}, sqlerr.New(sqlerr.FeatureNotSupported, "MERGE not supported in COPY")
	}
	p := &prepared{text: text, stmt: query, class: classQuery, fromSQL: true, noParams: true}
	if err := s.prepare(p, nil); err != nil {
		return commandTag{}, err
	}
	if p.cols == nil {
		return commandTag{}, sqlerr.New(sqlerr.FeatureNotSupported, "COPY query must have a RETURNING clause")
	}
	names := make([]string, len(p.cols))
	for i, c := range p.cols {
		names[i] = c.Name
	}
	format, err := newCopyFormat(&st.Options, false, names)
	if err != nil {
		return commandTag{}, err
	}
	po, err := s.openPortal("", p, nil, nil)
	if err != nil {
		return commandTag{}, err
	}
	defer s.closePortal(po)
	if err := po.ready(s); err != nil { // what is refused is refused before the answer begins
		return commandTag{}, err
	}
	sink := &copySink{out: s.out, io: &s.io, cols: p.cols, format: format, row: make([]types.Datum, len(p.cols))}
	if st.File != "" {
		err := s.copyToFile(st.File, po, sink, names)
		return commandTag{text: "COPY", count: sink.rows, hasCount: true}, err
	}
	s.copyResponse('H', format, len(p.cols))
	if err := s.copyRows(po, sink, names); err != nil {
		return commandTag{}, err
	}
	s.out.Empty('c')
	return commandTag{text: "COPY", count: sink.rows, hasCount: true}, nil
}

// copyToFile is COPY TO with a file of the server.
func (s *Session) copyToFile(name string, po *portal, sink *copySink, names []string) (err error) {
	if sink.file, err = newFileTarget(name); err != nil {
		return err
	}
	defer func() {
		if closing := sink.file.finish(); err == nil {
			err = closing
		}
	}()
	if sink.format.kind != ast.CopyBinary && sink.format.header != ast.HeaderOff {
		if err := sink.file.write(sink.headerLine(nil, names)); err != nil {
			return err
		}
	}
	if _, err := po.run(s, 0, sink); err != nil {
		return err
	}
	if sink.format.kind == ast.CopyBinary {
		return sink.file.write(sink.appendEnd(nil))
	}
	return nil
}

// headerLine appends the line of the columns' names.
func (c *copySink) headerLine(buf []byte, names []string) []byte {
	for i, n := range names {
		if i > 0 {
			buf = append(buf, c.format.delim)
		}
		if c.format.kind == ast.CopyCSV {
			buf = c.format.appendCSV(buf, []byte(n), false, len(names) == 1)
		} else {
			buf = c.format.appendText(buf, []byte(n))
		}
	}
	return append(buf, '\n')
}

func (s *Session) copyRows(po *portal, sink *copySink, names []string) error {
	if sink.format.kind != ast.CopyBinary && sink.format.header != ast.HeaderOff {
		s.out.Begin('d')
		s.out.SetBuf(sink.headerLine(s.out.Buf(), names))
		s.out.End()
	}
	if _, err := po.run(s, 0, sink); err != nil {
		return err
	}
	if sink.format.kind == ast.CopyBinary {
		s.out.Begin('d')
		s.out.SetBuf(sink.appendEnd(s.out.Buf()))
		s.out.End()
	}
	return nil
}

// copyResponse sends CopyInResponse (G) or CopyOutResponse (H).
func (s *Session) copyResponse(typ byte, f *copyFormat, columns int) {
	code := byte(0)
	if f.kind == ast.CopyBinary {
		code = 1
	}
	s.out.Begin(typ)
	s.out.Byte(code)
	s.out.Int16(int16(columns))
	for range columns {
		s.out.Int16(int16(code))
	}
	s.out.End()
}

// copyQuery is the query whose rows COPY TO sends: its own, or a plain SELECT of the table's columns.
func (s *Session) copyQuery(st *ast.Copy) (ast.Stmt, error) {
	if st.Query != nil {
		if _, ok := st.Query.(*ast.CreateTableAs); ok {
			return nil, sqlerr.Unsupported("COPY (SELECT INTO)")
		}
		return st.Query, nil
	}
	rel, err := s.relation(st.Table.Name)
	if err != nil {
		return nil, err
	}
	if err := copySource(rel); err != nil {
		return nil, err
	}
	cols, err := copyColumns(rel, st)
	if err != nil {
		return nil, err
	}
	core := &ast.SelectCore{Loc: st.Loc, From: []ast.FromItem{st.Table}}
	for _, c := range cols {
		core.Targets = append(core.Targets, ast.Target{Loc: ast.At(ast.NoPos), Expr: &ast.ColumnRef{Loc: ast.At(ast.NoPos), Parts: []string{c.Name}}})
	}
	return &ast.Select{Loc: st.Loc, Body: core}, nil
}

// copySource refuses what has no rows of its own.
func copySource(rel *catalog.Relation) error {
	kind := "non-table relation"
	switch rel.Kind {
	case catalog.KindTable:
		return nil
	case catalog.KindView:
		kind = "view"
	case catalog.KindMatView:
		kind = "materialized view"
	case catalog.KindSequence:
		kind = "sequence"
	}
	err := sqlerr.New(sqlerr.WrongObjectType, "cannot copy from %s \"%s\"", kind, rel.Name)
	if kind == "view" || kind == "materialized view" {
		return err.WithHint("Try the COPY (SELECT ...) TO variant.")
	}
	return err
}
