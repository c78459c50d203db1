package session

import (
	"herd/pgwire/wire"
	"herd/sql/ast"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// Parse makes a prepared statement. An empty name replaces the unnamed one, which is gone even when this Parse fails.
func (s *Session) Parse(name, query []byte, oids []uint32) error {
	if s.info.Replication {
		return sqlerr.New(sqlerr.ProtocolViolation, "extended query protocol not supported in a replication connection")
	}
	if len(name) == 0 {
		s.dropStatement(s.unnamed)
		s.unnamed = nil
	}
	if err := types.ValidText(query); err != nil {
		return err
	}
	if err := types.ValidText(name); err != nil {
		return err
	}
	text := string(query)
	s.begunStatement(text)
	given := make([]types.OID, len(oids))
	for i, o := range oids {
		given[i] = types.OID(o)
	}
	p := s.cachedStatement(text, given)
	if p == nil {
		var err error
		if p, err = s.analyzeText(text, given); err != nil {
			return err
		}
	}
	p.name, p.created = string(name), s.now()
	if err := s.store(p); err != nil {
		return err
	}
	s.out.Empty('1')
	return nil
}

// analyzeText parses and binds the text of a Parse message.
func (s *Session) analyzeText(text string, given []types.OID) (*prepared, error) {
	list, err := s.parseText(text)
	if err != nil {
		return nil, err
	}
	if len(list) > 1 {
		return nil, sqlerr.New(sqlerr.SyntaxError, "cannot insert multiple commands into a prepared statement")
	}
	p := &prepared{text: text, described: true, parsed: true}
	if len(list) == 1 {
		p.stmt = list[0].Stmt
	}
	p.class = classify(p.stmt)
	if s.aborted && p.stmt != nil && !allowedInAborted(p.stmt) {
		return nil, errAborted()
	}
	if p.class == classQuery || p.class == classUtility {
		s.ensureTx()
	}
	return p, s.prepare(p, given)
}

// store puts a prepared statement under its name.
func (s *Session) store(p *prepared) error {
	if p.name == "" {
		s.unnamed = p
		return nil
	}
	if s.statements[p.name] != nil {
		return sqlerr.New(sqlerr.DuplicatePstatement, "prepared statement \"%s\" already exists", p.name)
	}
	if s.statements == nil {
		s.statements = make(map[string]*prepared)
	}
	s.statements[p.name] = p
	return nil
}

func (s *Session) dropStatement(p *prepared) {
	if p != nil {
		p.forget()
	}
}

// Bind makes a portal from a prepared statement and values.
func (s *Session) Bind(m *wire.Bind) error {
	p, err := s.statement(m.Statement)
	if err != nil {
		return err
	}
	if s.aborted && p.stmt != nil && !allowedInAborted(p.stmt) {
		return errAborted()
	}
	if err := s.checkBind(p, m); err != nil {
		return err
	}
	if len(m.Portal) == 0 {
		s.dropUnnamedPortal()
	} else if s.portals.getBytes(m.Portal) != nil {
		return sqlerr.New(sqlerr.DuplicateCursor, "cursor \"%s\" already exists", m.Portal)
	}
	if p.class == classQuery || p.class == classUtility {
		s.ensureTx()
	}
	if err := s.stmtBegin(); err != nil {
		return err
	}
	po := s.newPortal()
	if err := s.decodeParams(po, p, m); err != nil {
		s.recycle(po)
		return err
	}
	po.name = string(m.Portal)
	if err := s.startPortal(po, p, m.ResultFormats); err != nil {
		return err
	}
	po.text = p.text
	s.portals.put(po)
	s.out.Empty('2')
	return nil
}

// checkBind compares a Bind message with its statement.
func (s *Session) checkBind(p *prepared, m *wire.Bind) error {
	if n := len(m.ParamFormats); n > 1 && n != len(m.Params) {
		return sqlerr.New(sqlerr.ProtocolViolation, "bind message has %d parameter formats but %d parameters", n, len(m.Params))
	}
	if len(m.Params) != len(p.params) {
		return sqlerr.New(sqlerr.ProtocolViolation, "bind message supplies %d parameters, but prepared statement \"%s\" requires %d",
			len(m.Params), p.name, len(p.params))
	}
	if n := len(m.ResultFormats); n > 1 && n != len(p.cols) && p.cols != nil { // formats for a statement without rows are for nothing
		return sqlerr.New(sqlerr.ProtocolViolation, "bind message has %d result formats but query has %d columns", n, len(p.cols))
	}
	for _, f := range m.ResultFormats {
		if f != 0 && f != 1 {
			return sqlerr.New(sqlerr.InvalidParameterValue, "unsupported format code: %d", f)
		}
	}
	return nil
}

// decodeParams turns the values of a Bind message into datums of the portal that no longer alias the message.
func (s *Session) decodeParams(po *portal, p *prepared, m *wire.Bind) error {
	if len(m.Params) == 0 {
		po.params = nil
		return nil
	}
	size := 0
	for _, v := range m.Params {
		size += len(v)
	}
	if cap(po.arena) < size {
		po.arena = make([]byte, 0, max(size, 64))
	}
	arena, out := po.arena[:0], po.paramBuf[:0]
	for i, v := range m.Params {
		if v == nil {
			out = append(out, types.NullDatum)
			continue
		}
		from := len(arena)
		arena = append(arena, v...)
		d, err := s.decodeParam(p.params[i], arena[from:len(arena):len(arena)], wire.FormatOf(m.ParamFormats, i))
		if err != nil {
			return err
		}
		out = append(out, d)
	}
	po.arena, po.paramBuf, po.params = arena, out, out
	return nil
}

func (s *Session) decodeParam(t types.OID, v []byte, format int16) (types.Datum, error) {
	switch format {
	case 0:
		if err := types.ValidText(v); err != nil {
			return types.Datum{}, err
		}
		return types.Input(&s.io, t, -1, v)
	case 1:
		return types.Recv(&s.io, t, -1, v)
	}
	return types.Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, "unsupported format code: %d", format)
}

// DescribeStatement sends ParameterDescription and RowDescription or NoData.
func (s *Session) DescribeStatement(name []byte) error {
	p, err := s.statement(name)
	if err != nil {
		return err
	}
	if s.aborted && p.cols != nil {
		return errAborted()
	}
	s.out.Begin('t')
	s.out.Int16(int16(len(p.params)))
	for _, t := range p.params {
		s.out.Int32(int32(t))
	}
	s.out.End()
	if p.cols == nil {
		s.out.Empty('n')
		return nil
	}
	s.out.RowDescription(p.desc, func(int) int16 { return 0 })
	return nil
}

func (s *Session) portal(name []byte) (*portal, error) {
	if po := s.portals.getBytes(name); po != nil {
		return po, nil
	}
	return nil, sqlerr.New(sqlerr.InvalidCursorName, "portal \"%s\" does not exist", name)
}

// DescribePortal sends RowDescription or NoData.
func (s *Session) DescribePortal(name []byte) error {
	po, err := s.portal(name)
	if err != nil {
		return err
	}
	if s.aborted && po.cols != nil {
		return errAborted()
	}
	if po.cols == nil {
		s.out.Empty('n')
		return nil
	}
	if po.stmt != nil && po.stmt.desc != nil {
		s.out.RowDescription(po.stmt.desc, func(i int) int16 { return wire.FormatOf(po.formats, i) })
		return nil
	}
	s.describeColumns(po.cols, po.formats)
	return nil
}

// Execute runs a portal for at most limit rows (0 = all).
func (s *Session) Execute(name []byte, limit int32) error {
	po, err := s.portal(name)
	if err != nil {
		return err
	}
	if limit < 0 {
		limit = 0
	}
	switch class := po.class(); {
	case class == classEmpty:
		s.out.Empty('I')
		return nil
	case s.aborted && (po.stmt == nil || !allowedInAborted(po.stmt.stmt)):
		return errAborted()
	case class == classTx:
		return s.executeTx(po)
	}
	if err := s.stmtBegin(); err != nil {
		return err
	}
	if po.class() == classUtility && po.store == nil && po.status == portalReady {
		if err := s.executeUtility(po); err != nil {
			return err
		}
		if po.cols == nil {
			s.stmtEnd()
			return nil
		}
	}
	if s.portals.get(po.name) != po {
		return nil // the utility ended its own transaction
	}
	s.begunPortal(po)
	done, err := po.run(s, int64(limit), s.wireSink(po))
	if err != nil {
		return err
	}
	if !done {
		s.suspend(po)
		s.out.Empty('s')
		return nil
	}
	s.stmtEnd()
	s.complete(po.tag())
	return nil
}

// class is the class of the portal's statement; a cursor's portal is a query.
func (p *portal) class() class {
	if p.stmt == nil {
		return classQuery
	}
	return p.stmt.class
}

// suspend keeps the view of a portal that will be asked again.
func (s *Session) suspend(po *portal) {
	if !po.pinned && po.store == nil && s.tx != nil {
		po.pin = s.tx.PinView(po.env.View)
		po.pinned = true
	}
}

func (s *Session) executeTx(po *portal) error {
	if po.status == portalDone {
		return nil
	}
	st := po.stmt.stmt.(*ast.Transaction)
	po.status = portalDone
	tag, err := s.transaction(st)
	if err != nil {
		return err
	}
	s.observe(tag)
	s.out.Complete(tag)
	return nil
}

// executeUtility runs a utility statement; one that returns rows leaves them in the portal's store.
func (s *Session) executeUtility(po *portal) error {
	s.begunPortal(po)
	p := po.stmt
	var sink rowSink = discard{}
	if po.cols != nil {
		po.store = s.newRowStore(po.cols)
		sink = po.store
	}
	cols, level := po.cols, po.level
	po.level = 0 // it outlives the transactions that the statement makes
	tag, err := s.utility(p, po.params, sink)
	if s.portals.get(po.name) == po {
		po.level = level
	}
	if err != nil {
		po.status = portalFailed
		return err
	}
	if cols == nil {
		if s.portals.get(po.name) == po {
			po.status = portalDone
		}
		s.complete(tag)
		return nil
	}
	po.ctag = tag
	return nil
}

// CloseStatement drops a prepared statement; an unknown name is no error.
func (s *Session) CloseStatement(name []byte) {
	if len(name) == 0 {
		s.dropStatement(s.unnamed)
		s.unnamed = nil
		return
	}
	if p := s.statements[string(name)]; p != nil {
		s.dropStatement(p)
		delete(s.statements, string(name))
	}
}

// ClosePortal drops a portal; an unknown name is no error.
func (s *Session) ClosePortal(name []byte) {
	if po := s.portals.getBytes(name); po != nil {
		s.closePortal(po)
	}
}

// Sync ends the implicit transaction of an extended-protocol cycle.
func (s *Session) Sync() error {
	s.stmtEnd()
	return s.finishImplicit()
}

// complete sends CommandComplete.
func (s *Session) complete(t commandTag) {
	s.observe(t.text)
	switch {
	case t.text == "":
	case t.hasCount:
		s.out.CompleteCount(t.text, t.count)
	default:
		s.out.Complete(t.text)
	}
}
