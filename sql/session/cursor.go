package session

import (
	"sort"

	"herd/planner"
	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/exec"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/vec"
)

// declareCursor is DECLARE: a named portal over a query.
func (s *Session) declareCursor(st *ast.DeclareCursor, text string, params []types.Datum) (commandTag, error) {
	tag := commandTag{text: "DECLARE CURSOR"}
	if !st.Hold && !s.block && !s.implicitBlock {
		return tag, sqlerr.New(sqlerr.NoActiveSqlTransaction, "DECLARE CURSOR can only be used in transaction blocks")
	}
	if s.portals.get(st.Name) != nil {
		return tag, sqlerr.New(sqlerr.DuplicateCursor, "cursor \"%s\" already exists", st.Name)
	}
	p := &prepared{text: text, stmt: st.Query, class: classQuery, fromSQL: true, cursor: true, noParams: len(params) == 0}
	if err := s.prepare(p, paramTypes(params)); err != nil {
		return tag, err
	}
	var formats []int16
	if st.Binary {
		formats = []int16{1}
	}
	po, err := s.openPortal(st.Name, p, params, formats)
	if err != nil {
		return tag, err
	}
	if err := po.ready(s); err != nil { // its tables are locked from here on
		s.recycle(po)
		return tag, err
	}
	if po.plan.Modifies() {
		s.recycle(po)
		return tag, sqlerr.New(sqlerr.FeatureNotSupported, "DECLARE CURSOR must not contain data-modifying statements in WITH")
	}
	po.cursor, po.hold, po.binary, po.text, po.created = true, st.Hold, st.Binary, text, s.now()
	po.scroll = st.Scroll != nil && *st.Scroll
	po.noScroll = st.Scroll != nil && !*st.Scroll || st.Scroll == nil && (len(p.query.Locks) > 0 || !planner.ScansBackward(po.plan.Root))
	s.suspend(po)
	s.portals.put(po)
	return tag, nil
}

// paramTypes makes untyped parameter declarations for values that are already datums; DECLARE takes none of its own.
func paramTypes(params []types.Datum) []types.OID { return make([]types.OID, len(params)) }

func (s *Session) cursorByName(name string) (*portal, error) {
	if po := s.portals.get(name); po != nil {
		return po, nil
	}
	return nil, sqlerr.New(sqlerr.InvalidCursorName, "cursor \"%s\" does not exist", name)
}

// fetch is FETCH and MOVE.
func (s *Session) fetch(st *ast.Fetch, sink rowSink) (commandTag, error) {
	word := "FETCH"
	if st.Move {
		word, sink = "MOVE", discard{}
	}
	po, err := s.cursorByName(st.Cursor)
	if err != nil {
		return commandTag{}, err
	}
	if w, ok := sink.(*wireSink); ok {
		w.cols, w.formats = nil, po.formats
	}
	late := &lateSink{s: s, cols: po.cols, sink: sink}
	n, err := po.fetchRows(s, st.Direction, st.Count, late)
	if err == nil {
		late.start()
	}
	return commandTag{text: word, count: n, hasCount: true}, err
}

// fetchRows moves a cursor and hands the rows passed to the sink. The position is between rows, or on the row last
// returned: fetched counts rows up to and including it.
func (p *portal) fetchRows(s *Session, dir ast.FetchDirection, count int64, sink rowSink) (int64, error) {
	if dir == ast.FetchBackward && count < 0 {
		dir, count = ast.FetchForward, -count
	} else if dir == ast.FetchForward && count < 0 && count != -ast.FetchAll {
		dir, count = ast.FetchBackward, -count
	}
	if dir == ast.FetchForward && count > 0 && p.store == nil && !p.scroll {
		return p.forward(s, count, sink)
	}
	if p.noScroll || !p.cursor { // a portal of Bind has no SCROLL
		return p.onward(s, dir, count, sink)
	}
	if err := p.materialize(s); err != nil {
		return 0, err
	}
	return p.scrollTo(dir, count, sink)
}

// onward is fetchRows for a cursor that only goes forward.
func (p *portal) onward(s *Session, dir ast.FetchDirection, count int64, sink rowSink) (int64, error) {
	onRow := p.fetched > 0 && p.status == portalActive && (p.store == nil || p.fetched <= p.store.len())
	skip := int64(0)
	switch {
	case dir == ast.FetchAbsolute && count > p.fetched && p.status != portalDone:
		skip = count - p.fetched - 1
	case dir == ast.FetchRelative && count > 0:
		skip = count - 1
	case dir == ast.FetchForward && count > 0:
		if err := p.materialize(s); err != nil {
			return 0, err
		}
		return p.scrollTo(dir, count, sink)
	case dir != ast.FetchBackward && dir != ast.FetchAbsolute && count == 0 && !onRow: // FETCH FORWARD 0, RELATIVE 0
		return 0, nil
	default:
		return 0, errForwardOnly()
	}
	if skip > 0 {
		if _, err := p.fetchRows(s, ast.FetchForward, skip, discard{}); err != nil {
			return 0, err
		}
	}
	return p.fetchRows(s, ast.FetchForward, 1, sink)
}

// cursorSink notes the row that a streaming cursor comes to be on.
type cursorSink struct {
	rowSink
	po *portal
}

func (c *cursorSink) writeBatch(b *vec.Batch) error {
	c.po.at = c.po.at[:0]
	if n := b.Rows(); n > 0 {
		r := n - 1
		if b.Sel != nil {
			r = int(b.Sel[r])
		}
		for i := range c.po.stmt.query.RowIDs {
			v, err := b.Col(len(c.po.cols) + i)
			if err != nil {
				return err
			}
			var id []byte
			if !v.IsNull(r) {
				id = append(id, v.Bytes(r)...)
			}
			c.po.at = append(c.po.at, id)
		}
	}
	return c.rowSink.writeBatch(b)
}

// cursorRow implements exec.Env's CursorRow: execCurrentOf.
func (s *Session) cursorRow(name string, rel *catalog.Relation) ([]byte, error) {
	po, err := s.cursorByName(name)
	if err != nil {
		return nil, err
	}
	fail := func(format string, args ...any) ([]byte, error) {
		return nil, sqlerr.New(sqlerr.InvalidCursorState, format, args...)
	}
	if po.plan == nil || po.plan.Command != plan.CmdSelect {
		return fail("cursor \"%s\" is not a SELECT query", name)
	}
	if po.level == 0 {
		return fail("cursor \"%s\" is held from a previous transaction", name)
	}
	at, q := -1, po.stmt.query
	for i, rte := range q.RowIDs {
		if q.RTable[rte].Rel.OID != rel.OID {
			continue
		}
		if at >= 0 {
			return fail("cursor \"%s\" has multiple FOR UPDATE/SHARE references to table \"%s\"", name, rel.Name)
		}
		at = i
	}
	switch {
	case at < 0 && len(q.Locks) > 0:
		return fail("cursor \"%s\" does not have a FOR UPDATE/SHARE reference to table \"%s\"", name, rel.Name)
	case at < 0:
		return fail("cursor \"%s\" is not a simply updatable scan of table \"%s\"", name, rel.Name)
	case !po.onRow():
		return fail("cursor \"%s\" is not positioned on a row", name)
	case po.store == nil && po.at[at] == nil:
		return nil, nil
	case po.store == nil:
		return exec.RowKey(po.at[at]), nil
	}
	b, err := po.store.rows.Batch(po.fetched-1, po.fetched)
	if err != nil || b == nil {
		return nil, err
	}
	v, err := b.Col(len(po.cols) + at)
	if err != nil || v.IsNull(0) {
		return nil, err
	}
	return append([]byte(nil), exec.RowKey(v.Bytes(0))...), nil
}

// onRow says whether a cursor is on a row.
func (p *portal) onRow() bool {
	if p.store != nil {
		return p.fetched > 0 && p.fetched <= p.store.len()
	}
	return p.fetched > 0 && p.status == portalActive && len(p.at) > 0
}

func errForwardOnly() error {
	return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "cursor can only scan forward").
		WithHint("Declare it with SCROLL option to enable backward scan.")
}

// forward streams the next rows.
func (p *portal) forward(s *Session, count int64, sink rowSink) (int64, error) {
	if p.status == portalDone {
		return 0, nil
	}
	if count == ast.FetchAll {
		count = 0
	}
	if len(p.stmt.query.RowIDs) > 0 {
		sink = &cursorSink{sink, p}
	}
	if _, err := p.run(s, count, sink); err != nil {
		return 0, err
	}
	return p.affected, nil
}

// materialize runs the cursor's query to the end and keeps its rows. Rows that went by were not kept: when they can be wanted
// again the query is run anew, in the same view.
func (p *portal) materialize(s *Session) error {
	if p.store != nil {
		return nil
	}
	atEnd := false
	if p.status != portalReady && !p.noScroll {
		if p.plan.Volatile {
			return errForwardOnly()
		}
		atEnd = p.status == portalDone
		s.finishState(p)
		p.status = portalReady
	}
	if err := p.open(s); err != nil {
		return err
	}
	cols := p.cols
	for range p.stmt.query.RowIDs {
		cols = append(cols[:len(cols):len(cols)], plan.Column{Typed: plan.Typed{Type: types.ByteaOID, Typmod: -1}})
	}
	p.store = s.newRowStore(cols)
	if _, _, err := pull(p.state, 0, p.store); err != nil {
		p.status = portalFailed
		return err
	}
	s.finishState(p)
	p.status = portalActive
	if atEnd {
		p.fetched = p.store.len() + 1
	}
	return nil
}

// scrollTo serves any direction from the kept rows. Position fetched: 0 before the first row, len+1 after the last.
func (p *portal) scrollTo(dir ast.FetchDirection, count int64, sink rowSink) (int64, error) {
	size := p.store.len()
	switch dir {
	case ast.FetchAbsolute:
		pos := count
		if count < 0 {
			pos = size + 1 + count
		}
		return p.single(pos, sink)
	case ast.FetchRelative:
		return p.single(p.fetched+count, sink)
	case ast.FetchForward:
		if count == 0 {
			return p.single(p.fetched, sink)
		}
		from := min(p.fetched, size)
		to := size
		if count < size-from {
			to = from + count
		}
		if err := p.store.send(from, to, sink); err != nil {
			return 0, err
		}
		p.fetched = to
		if to-from < count {
			p.fetched = size + 1
		}
		return to - from, nil
	}
	if count == 0 {
		return p.single(p.fetched, sink)
	}
	n := int64(0)
	for n < count && p.fetched > 1 {
		p.fetched--
		if p.fetched > size {
			p.fetched = size
		}
		if err := p.store.send(p.fetched-1, p.fetched, sink); err != nil {
			return n, err
		}
		n++
	}
	if n < count {
		p.fetched = 0
	}
	return n, nil
}

// single goes to one row and sends it if it exists.
func (p *portal) single(pos int64, sink rowSink) (int64, error) {
	size := p.store.len()
	p.fetched = max(0, min(pos, size+1))
	if p.fetched == 0 || p.fetched > size {
		return 0, nil
	}
	return 1, p.store.send(p.fetched-1, p.fetched, sink)
}

func (s *Session) closeCursor(st *ast.CloseCursor) (commandTag, error) {
	if st.All {
		s.closeCursors()
		return commandTag{text: "CLOSE CURSOR ALL"}, nil
	}
	po, err := s.cursorByName(st.Name)
	if err != nil {
		return commandTag{}, err
	}
	s.closePortal(po)
	return commandTag{text: "CLOSE CURSOR"}, nil
}

func (s *Session) closeCursors() {
	s.portals.each(func(po *portal) {
		if po.cursor {
			s.closePortal(po)
		}
	})
}

// holdCursors reads WITH HOLD cursors to their end before the transaction that made them commits.
func (s *Session) holdCursors() error {
	var names []string
	for name, po := range s.portals.named {
		if po.hold && po.level > 0 {
			names = append(names, name)
		}
	}
	if len(names) > 1 {
		sort.Strings(names)
	}
	for _, name := range names {
		po := s.portals.get(name)
		if po.status == portalFailed {
			continue
		}
		streamed := po.store == nil && po.fetched > 0 && po.noScroll
		if po.status == portalDone && po.store == nil && po.noScroll {
			po.store = s.newRowStore(po.cols)
		} else if err := po.materialize(s); err != nil {
			return err
		}
		if streamed {
			po.fetched = 0 // only the rest was kept: positions start anew at the first row not yet fetched
		}
		if po.pinned {
			po.pin.Release()
			po.pinned = false
		}
		po.level = 0
	}
	return nil
}
