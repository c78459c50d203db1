package planner

import (
	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// exprKind says where an expression stands; it decides what may occur in it and how messages name the place.
type exprKind uint8

const (
	kindNone exprKind = iota
	kindJoinOn
	kindFromSubselect
	kindFromFunction
	kindWhere
	kindHaving
	kindFilter
	kindWindowPartition
	kindWindowOrder
	kindFrame
	kindTarget
	kindInsertTarget
	kindUpdateSource
	kindUpdateTarget
	kindGroupBy
	kindOrderBy
	kindDistinctOn
	kindLimit
	kindOffset
	kindReturning
	kindValues
	kindValuesSingle
	kindCheck
	kindDefault
	kindIndexExpr
	kindIndexPred
	kindGenerated
	kindCallArg
	kindAlterUsing
	kindUtility
	kindCopyWhere
	kindMergeWhen
)

// scope is the state of one query level: PostgreSQL's ParseState.
type scope struct {
	b      *binder
	parent *scope
	q      *plan.Query
	ns     []*nsItem
	with   []*withItem // WITH items of this level
	// recursive: the level's WITH is RECURSIVE. cteBody: this scope binds that item's query; recursiveOf: it may be a recursive union.
	recursive            bool
	cteBody, recursiveOf *withItem
	inSubLink            bool
	nullable             int // nesting of sides of outer joins that may be missing, while FROM is bound
	kind                 exprKind
	lateral              bool // LATERAL references are allowed now
	windows              []*winDef
	srfOK                bool           // the call being bound may return a set (FROM)
	targetRel            int            // RTE of the table an INSERT or UPDATE writes, -1 none
	domain               *plan.CaseTest // VALUE in a domain check
	view                 *viewTarget    // the updatable view a statement writes through
	asked                plan.Expr      // the WHERE of such a statement, without the view's own conditions
	resolveUnk           bool           // an outer context does not give unknown targets a type
	groupings            []*plan.GroupingFunc
}

// nsItem is a name visible in FROM.
type nsItem struct {
	rte            int
	alias          string
	schema         string // of a relation without alias, for schema.table references
	relOID         types.OID
	cols           []nsColumn // nil: the columns of the RTE
	relVis         bool
	colVis         bool
	latOnly, latOK bool
}

// nsColumn is one visible column.
type nsColumn struct {
	name       string
	rte, attno int
	typ        plan.Typed
}

func (s *scope) newChild() *scope { return &scope{b: s.b, parent: s, targetRel: -1} }

// addRTE appends a range table entry.
func (s *scope) addRTE(r *plan.RTE) int {
	s.q.RTable = append(s.q.RTable, r)
	return len(s.q.RTable) - 1
}

// ncols is the number of visible columns of an item.
func (it *nsItem) ncols(q *plan.Query) int {
	if it.cols != nil {
		return len(it.cols)
	}
	return len(q.RTable[it.rte].Cols)
}

// col returns column i of an item; a dropped one has no name.
func (it *nsItem) col(q *plan.Query, i int) nsColumn {
	if it.cols != nil {
		return it.cols[i]
	}
	c := &q.RTable[it.rte].Cols[i]
	return nsColumn{name: c.Name, rte: it.rte, attno: i + 1, typ: c.Typed}
}

func (c nsColumn) toVar(levels, loc int) *plan.Var {
	t := c.typ
	t.Loc = loc
	return &plan.Var{Typed: t, RTE: c.rte, Attno: c.attno, LevelsUp: levels}
}

// lookupInItem finds a column by name in one item: scanNSItemForColumn.
func (s *scope) lookupInItem(from *scope, it *nsItem, levels int, name string, loc int) (plan.Expr, error) {
	var found plan.Expr
	n := it.ncols(from.q)
	for i := range n {
		c := it.col(from.q, i)
		if c.name != name || name == "" {
			continue
		}
		if found != nil {
			return nil, s.b.errorAt(loc, sqlerr.AmbiguousColumn, "column reference \"%s\" is ambiguous", name)
		}
		found = c.toVar(levels, loc)
	}
	if found != nil {
		return found, nil
	}
	r := from.q.RTable[it.rte]
	if r.Kind == plan.RTERelation && r.Rel.Kind != catalog.KindView && r.Rel.Kind != catalog.KindComposite {
		if sc := systemColumn(name); sc != nil && it.cols == nil {
			if s.kind == kindCheck && name != "tableoid" {
				return nil, s.b.errorAt(loc, sqlerr.InvalidColumnReference, "system column \"%s\" reference in check constraint is invalid", name)
			}
			if s.kind == kindMergeWhen && name != "tableoid" {
				return nil, s.b.errorAt(loc, sqlerr.InvalidColumnReference, "cannot use system column \"%s\" in MERGE WHEN condition", name)
			}
			if s.kind == kindGenerated && name != "tableoid" {
				return nil, s.b.errorAt(loc, sqlerr.InvalidColumnReference, "cannot use system column \"%s\" in column generation expression", name)
			}
			return &plan.Var{Typed: plan.Typed{Type: sc.typ, Typmod: -1, Loc: loc}, RTE: it.rte, Attno: sc.num, LevelsUp: levels}, nil
		}
	}
	return nil, nil
}

const tableOIDAttno = -6

type sysCol struct {
	name string
	num  int
	typ  types.OID
}

var systemColumns = [...]sysCol{
	{"ctid", -1, types.TIDOID}, {"xmin", -2, types.XIDOID}, {"cmin", -3, types.CIDOID},
	{"xmax", -4, types.XIDOID}, {"cmax", -5, types.CIDOID}, {"tableoid", -6, types.OIDOID},
}

func systemColumn(name string) *sysCol {
	for i := range systemColumns {
		if systemColumns[i].name == name {
			return &systemColumns[i]
		}
	}
	return nil
}

// columnByName is colNameToVar; nil when there is none.
func (s *scope) columnByName(name string, loc int) (plan.Expr, error) {
	levels := 0
	for p := s; p != nil; p = p.parent {
		var found plan.Expr
		for _, it := range p.ns {
			if !it.colVis || it.latOnly && !p.lateral {
				continue
			}
			v, err := s.lookupInItem(p, it, levels, name, loc)
			if err != nil {
				return nil, err
			}
			if v == nil {
				continue
			}
			if found != nil {
				return nil, s.b.errorAt(loc, sqlerr.AmbiguousColumn, "column reference \"%s\" is ambiguous", name)
			}
			if err := s.checkLateral(p, it, loc); err != nil {
				return nil, err
			}
			found = v
		}
		if found != nil {
			return found, nil
		}
		levels++
	}
	return nil, nil
}

func (s *scope) checkLateral(p *scope, it *nsItem, loc int) error {
	if it.latOnly && !it.latOK {
		e := s.b.errorAt(loc, sqlerr.InvalidColumnReference, "invalid reference to FROM-clause entry for table \"%s\"", it.alias)
		if it.rte == p.targetRel {
			return e.WithHint("There is an entry for table \"%s\", but it cannot be referenced from this part of the query.", it.alias)
		}
		return e.WithDetail("The combining JOIN type must be INNER or LEFT for a LATERAL reference.")
	}
	return nil
}

// tableByName is refnameNamespaceItem.
func (s *scope) tableByName(schema, name string, loc int) (*scope, *nsItem, int, error) {
	var rel types.OID
	if schema != "" {
		r, err := s.b.cat.LookupRelation(schema, name, s.b.env.Path)
		if err != nil {
			return nil, nil, 0, err
		}
		if r == nil {
			return nil, nil, 0, nil
		}
		rel = r.OID
	}
	levels := 0
	for p := s; p != nil; p = p.parent {
		var found *nsItem
		for _, it := range p.ns {
			if !it.relVis || it.latOnly && !p.lateral {
				continue
			}
			if rel != 0 {
				if it.relOID != rel || it.alias != name {
					continue
				}
			} else if it.alias != name {
				continue
			}
			if found != nil {
				return nil, nil, 0, s.b.errorAt(loc, sqlerr.AmbiguousAlias, "table reference \"%s\" is ambiguous", name)
			}
			if err := s.checkLateral(p, it, loc); err != nil {
				return nil, nil, 0, err
			}
			found = it
		}
		if found != nil {
			return p, found, levels, nil
		}
		levels++
	}
	return nil, nil, 0, nil
}

// columnRef is transformColumnRef.
func (s *scope) columnRef(c *ast.ColumnRef) (plan.Expr, error) {
	loc := int(c.Off)
	if c.Star {
		if len(c.Parts) > 0 {
			return s.rowRef(c)
		}
		return nil, s.b.errorAt(loc, sqlerr.SyntaxError, "row expansion via \"*\" is not supported here")
	}
	parts := c.Parts
	if s.domain != nil && len(parts) == 1 && parts[0] == "value" {
		return s.domain, nil
	}
	if e := s.columnRefBanned(loc); e != nil {
		return nil, e
	}
	if len(parts) == 1 {
		v, err := s.columnByName(parts[0], loc)
		if v != nil || err != nil {
			return v, err
		}
		p, it, levels, err := s.tableByName("", parts[0], loc)
		if err != nil {
			return nil, err
		}
		if it != nil {
			return s.wholeRow(p, it, levels, loc), nil
		}
		if e, err := s.b.argument("", parts[0], loc); e != nil || err != nil {
			return e, err
		}
		return nil, s.missingColumn("", parts[0], loc)
	}
	schema, table, col := "", "", parts[len(parts)-1]
	switch len(parts) {
	case 2:
		table = parts[0]
	case 3:
		schema, table = parts[0], parts[1]
	case 4:
		if parts[0] != s.b.env.DatabaseName {
			return nil, s.b.errorAt(loc, sqlerr.FeatureNotSupported, "cross-database references are not implemented: %s", joinDots(parts))
		}
		schema, table = parts[1], parts[2]
	default:
		return nil, s.b.errorAt(loc, sqlerr.SyntaxError, "improper qualified name (too many dotted names): %s", joinDots(parts))
	}
	p, it, levels, err := s.tableByName(schema, table, loc)
	if err != nil {
		return nil, err
	}
	if it == nil {
		if e, err := s.b.argument(table, col, loc); e != nil || err != nil {
			return e, err
		}
		return nil, s.missingTable(schema, table, loc)
	}
	v, err := s.lookupInItem(p, it, levels, col, loc)
	if v != nil || err != nil {
		return v, err
	}
	// functional notation: t.f means f(t)
	row := s.wholeRow(p, it, levels, loc)
	f, err := s.fieldOrFunc(row, col, loc)
	if f != nil || err != nil {
		return f, err
	}
	return nil, s.missingColumn(table, col, loc)
}

// rowRef is transformWholeRowRef: t.* inside an expression is the row as one value.
func (s *scope) rowRef(c *ast.ColumnRef) (plan.Expr, error) {
	parts, schema := c.Parts, ""
	if len(parts) > 1 {
		schema = parts[len(parts)-2]
	}
	table := parts[len(parts)-1]
	p, it, levels, err := s.tableByName(schema, table, int(c.Off))
	if err != nil {
		return nil, err
	}
	if it == nil {
		return nil, s.missingTable(schema, table, int(c.Off))
	}
	return s.wholeRow(p, it, levels, int(c.Off)), nil
}

// argument finds a parameter of the SQL function whose body is bound: by its name, qualified by the function's name or not.
func (b *binder) argument(fn, name string, loc int) (plan.Expr, error) {
	if b.fn == nil || fn != "" && fn != b.fn.Name {
		return nil, nil
	}
	k := 0
	for i, n := range b.fn.ArgNames {
		if b.fn.ArgModes != nil && (b.fn.ArgModes[i] == 'o' || b.fn.ArgModes[i] == 't') {
			continue
		}
		if k++; n == name && n != "" {
			return b.params.ref(b, k, loc)
		}
	}
	return nil, nil
}

// columnRefBanned rejects column references where there can be none.
func (s *scope) columnRefBanned(loc int) error {
	if s.kind == kindDefault {
		return s.b.errorAt(loc, sqlerr.FeatureNotSupported, "cannot use column reference in DEFAULT expression")
	}
	return nil
}

// wholeRow makes a reference to all columns of an item as one value.
func (s *scope) wholeRow(p *scope, it *nsItem, levels, loc int) plan.Expr {
	r := p.q.RTable[it.rte]
	if it.cols != nil && r.Kind == plan.RTEJoin {
		row := &plan.RowExpr{Typed: plan.Typed{Type: types.RecordOID, Typmod: -1, Loc: loc}, Implicit: true}
		for i := range it.cols {
			row.Args = append(row.Args, it.cols[i].toVar(levels, loc))
			row.Names = append(row.Names, it.cols[i].name)
		}
		return row
	}
	t := plan.Typed{Type: types.RecordOID, Typmod: -1, Loc: loc}
	switch {
	case r.Kind == plan.RTERelation && r.Rel.RowType != 0:
		t.Type = r.Rel.RowType
	case r.Kind == plan.RTEFunction && len(r.Funcs) == 1 && !r.Ordinality:
		ft := r.Funcs[0].T()
		if s.b.isComplex(ft.Type) || len(r.Cols) == 1 && ft.Type != types.RecordOID {
			if len(r.Cols) == 1 && !s.b.isComplex(ft.Type) {
				return nsColumn{rte: it.rte, attno: 1, typ: r.Cols[0].Typed}.toVar(levels, loc)
			}
			t.Type = ft.Type
		}
	}
	return &plan.Var{Typed: t, RTE: it.rte, Attno: 0, LevelsUp: levels}
}

func joinDots(parts []string) string {
	out := parts[0]
	for _, p := range parts[1:] {
		out += "." + p
	}
	return out
}

// missingTable is errorMissingRTE.
func (s *scope) missingTable(schema, name string, loc int) error {
	full := name // without its schema, as PostgreSQL says it
	for p := s; p != nil; p = p.parent {
		for i, r := range p.rtes() {
			if r.Kind == plan.RTEJoin && r.Alias == "" {
				continue
			}
			if r.Rel != nil && r.Rel.Name == name && r.HasAlias && r.Alias != name && s.visibleRTE(p, i) && s.isNamed(r.Rel, schema, name) {
				return s.b.errorAt(loc, sqlerr.UndefinedTable, "invalid reference to FROM-clause entry for table \"%s\"", full).
					WithHint("Perhaps you meant to reference the table alias \"%s\".", r.Alias)
			}
			if r.Alias == name {
				return s.b.errorAt(loc, sqlerr.UndefinedTable, "invalid reference to FROM-clause entry for table \"%s\"", full).
					WithHint("There is an entry for table \"%s\", but it cannot be referenced from this part of the query.", r.Alias)
			}
		}
	}
	return s.b.errorAt(loc, sqlerr.UndefinedTable, "missing FROM-clause entry for table \"%s\"", full)
}

// isNamed says whether a name, with or without its schema, means the relation.
func (s *scope) isNamed(rel *catalog.Relation, schema, name string) bool {
	found, err := s.b.cat.LookupRelation(schema, name, s.b.env.Path)
	return err == nil && found != nil && found.OID == rel.OID
}

func (s *scope) visibleRTE(p *scope, rte int) bool {
	for _, it := range p.ns {
		if it.rte == rte && it.relVis {
			return true
		}
	}
	return false
}
