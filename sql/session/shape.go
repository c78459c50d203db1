package session

import (
	"strings"
	"unsafe"

	"herd/sql/ast"
	"herd/sql/scan"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// Limits of the per-session store of statement shapes.
const (
	maxShapes        = 512 // shapes; the store starts anew beyond
	maxShapeVariants = 8   // variants of one shape that differ in literals which must stay in the text
)

// shapeVariant is a statement of some shape whose literals are parameters, but for those that had to stay constants.
type shapeVariant struct {
	slots []int // for each literal: its parameter index, or -1 = fixed
	fixed []string
	stmt  *prepared
}

// shapes holds what simple-protocol texts have in common across executions.
type shapes struct {
	byShape map[string][]*shapeVariant
	buf     []byte
	lits    []scan.Literal
	params  []types.Datum
	arena   []byte
}

// queryByShape runs a text whose shape was seen before without parsing or planning it. done is false when the text has to go
// the long way.
func (s *Session) queryByShape(text []byte) (done bool, err error) {
	if s.aborted {
		return false, nil
	}
	sh := &s.shapes
	sql := unsafe.String(unsafe.SliceData(text), len(text)) // valid for this message only
	var ok bool
	sh.buf, sh.lits, ok = scan.Shape(sh.buf[:0], sh.lits[:0], sql)
	if !ok {
		return false, nil
	}
	variants, seen := sh.byShape[string(sh.buf)]
	for _, v := range variants {
		if v.matches(sql, sh.lits) {
			return s.runShape(v, sql)
		}
	}
	if !seen {
		if sh.byShape == nil || len(sh.byShape) >= maxShapes {
			sh.byShape = make(map[string][]*shapeVariant)
		}
		sh.byShape[string(sh.buf)] = nil
		return false, nil
	}
	if len(variants) >= maxShapeVariants {
		return false, nil
	}
	v, err := s.compileShape(sql)
	if v == nil {
		return false, nil // an error too: the long way reports it in PostgreSQL's order
	}
	sh.byShape[string(sh.buf)] = append(variants, v)
	return s.runShape(v, sql)
}

func (v *shapeVariant) matches(sql string, lits []scan.Literal) bool {
	k := 0
	for i, slot := range v.slots {
		if slot < 0 {
			if sql[lits[i].Start:lits[i].End] != v.fixed[k] {
				return false
			}
			k++
		}
	}
	return true
}

// compileShape parses a text, turns the literals that may vary into parameters and binds the result.
func (s *Session) compileShape(sql string) (*shapeVariant, error) {
	sql = strings.Clone(sql)
	list, err := s.parseText(sql)
	if err != nil || len(list) != 1 || classify(list[0].Stmt) != classQuery {
		return nil, err
	}
	lits := s.shapes.lits
	v := &shapeVariant{slots: make([]int, len(lits))}
	at := make(map[int32]int, len(lits))
	for i, l := range lits {
		v.slots[i] = -1
		at[l.Start] = i
	}
	x := &slotter{at: at, lits: lits, slots: v.slots}
	x.statement(list[0].Stmt)
	for i, l := range lits {
		if v.slots[i] < 0 {
			v.fixed = append(v.fixed, sql[l.Start:l.End])
		}
	}
	p := &prepared{text: sql, stmt: list[0].Stmt, class: classQuery, created: s.now()}
	s.ensureTx()
	if err := s.prepare(p, x.types); err != nil {
		return nil, err
	}
	v.stmt = p
	return v, nil
}

// runShape executes a variant with the literals of this text. done is false when it cannot be planned any more: the long way
// knows the places in this text.
func (s *Session) runShape(v *shapeVariant, sql string) (done bool, err error) {
	s.begunStatement(sql)
	s.ensureTx()
	if err := s.stmtBegin(); err != nil {
		return true, err
	}
	params, err := s.shapeParams(v, sql)
	if err != nil {
		return true, err
	}
	po, err := s.openPortal("", v.stmt, params, nil)
	if err != nil {
		return false, nil
	}
	tag, err := s.runSimple(po)
	if err != nil {
		return true, err
	}
	s.stmtEnd()
	if err := s.finishImplicit(); err != nil {
		return true, err
	}
	s.complete(tag)
	return true, nil
}

// runSimple sends a portal's description and rows, closes it and returns its tag.
func (s *Session) runSimple(po *portal) (commandTag, error) {
	defer s.closePortal(po)
	if po.cols != nil {
		if err := po.ready(s); err != nil { // until then the columns may change
			return commandTag{}, err
		}
		if !po.streaming() { // an error before the first row has no description in front of it
			if err := po.fill(s); err != nil {
				return commandTag{}, err
			}
		}
		if po.stmt.desc != nil {
			s.out.RowDescription(po.stmt.desc, func(int) int16 { return 0 })
		} else {
			s.describeColumns(po.cols, nil)
		}
	}
	if _, err := po.run(s, 0, s.wireSink(po)); err != nil {
		return commandTag{}, err
	}
	return po.tag(), nil
}

// shapeParams reads the values of the literals that are parameters.
func (s *Session) shapeParams(v *shapeVariant, sql string) ([]types.Datum, error) {
	sh := &s.shapes
	sh.arena = sh.arena[:0]
	if n := len(v.stmt.params); cap(sh.params) < n {
		sh.params = make([]types.Datum, n)
	} else {
		sh.params = sh.params[:n]
	}
	for i, slot := range v.slots {
		if slot < 0 {
			continue
		}
		l := sh.lits[i]
		from := len(sh.arena)
		sh.arena = l.AppendText(sh.arena, sql)
		own := sh.arena[from:len(sh.arena):len(sh.arena)]
		d, err := types.Input(&s.io, v.stmt.params[slot], -1, own)
		if err != nil {
			e := sqlerr.From(err)
			e.Position = ast.CharPosition(sql, l.Start)
			return nil, e
		}
		sh.params[slot] = d
	}
	return sh.params, nil
}

// slotter replaces constants by parameters where the binder treats both alike: operands of operators in conditions and
// assignments, and the single row of INSERT ... VALUES. Everything else stays a constant of the text.
type slotter struct {
	at    map[int32]int // literal by text offset
	lits  []scan.Literal
	slots []int
	types []types.OID
}

func (x *slotter) statement(st ast.Stmt) {
	switch q := st.(type) {
	case *ast.Select:
		if core, ok := q.Body.(*ast.SelectCore); ok && q.With == nil {
			core.Where = x.condition(core.Where)
		}
	case *ast.Insert:
		if q.With == nil && q.Source != nil {
			if vals, ok := q.Source.Body.(*ast.Values); ok && len(vals.Rows) == 1 {
				for i, e := range vals.Rows[0] {
					vals.Rows[0][i] = x.operand(e)
				}
			}
		}
	case *ast.Update:
		if q.With == nil {
			for i := range q.Set {
				if !q.Set[i].Multi {
					q.Set[i].Value = x.operand(q.Set[i].Value)
				}
			}
			q.Where = x.condition(q.Where)
		}
	case *ast.Delete:
		if q.With == nil {
			q.Where = x.condition(q.Where)
		}
	}
}

// condition walks a search condition.
func (x *slotter) condition(e ast.Expr) ast.Expr {
	switch c := e.(type) {
	case *ast.BoolExpr:
		for i, a := range c.Args {
			c.Args[i] = x.condition(a)
		}
	case *ast.Not:
		c.Arg = x.condition(c.Arg)
	case *ast.Op:
		x.operator(c)
	case *ast.Between:
		if _, ok := c.Arg.(*ast.ColumnRef); ok {
			c.Low, c.High = x.operand(c.Low), x.operand(c.High)
		}
	}
	return e
}

// operator turns the constant side of column op constant, or of nested arithmetic, into a parameter.
func (x *slotter) operator(c *ast.Op) {
	if c.Left == nil || c.Right == nil {
		return
	}
	if hasColumn(c.Left) {
		c.Right = x.operand(c.Right)
	}
	if hasColumn(c.Right) {
		c.Left = x.operand(c.Left)
	}
}

func hasColumn(e ast.Expr) bool {
	switch c := e.(type) {
	case *ast.ColumnRef:
		return true
	case *ast.Op:
		return c.Left != nil && hasColumn(c.Left) || c.Right != nil && hasColumn(c.Right)
	}
	return false
}

// operand replaces a constant, or the constants inside an operator expression over columns.
func (x *slotter) operand(e ast.Expr) ast.Expr {
	switch c := e.(type) {
	case *ast.Op:
		x.operator(c)
		return e
	case *ast.Const:
		return x.constant(c)
	}
	return e
}

func (x *slotter) constant(c *ast.Const) ast.Expr {
	i, ok := x.at[c.Off]
	if !ok || x.slots[i] >= 0 {
		return c
	}
	var t types.OID
	switch x.lits[i].Class {
	case scan.Int4:
		t = types.Int4OID
	case scan.Int8:
		t = types.Int8OID
	case scan.Numeric:
		t = types.NumericOID
	case scan.String: // unknown: the context gives it a type, as it does to a literal
	default:
		return c
	}
	x.slots[i] = len(x.types)
	x.types = append(x.types, t)
	return &ast.Param{Loc: c.Loc, Number: len(x.types)}
}
