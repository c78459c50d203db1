package postgres

import (
	pg "github.com/sqlc-dev/oliphant/ast"

	"herd/sql/ast"
	"herd/sql/scan"
	"herd/sql/sqlerr"
)

// targetRelation returns name and persistence of a relation that is being made.
func (c *converter) targetRelation(r *pg.RangeVar, where string) (ast.Name, ast.Persistence) {
	n := c.relation(r, where)
	if r == nil {
		return n, 0
	}
	c.refuse(!r.Inh, r.Location, "ONLY in "+where)
	p, ok := persistence(r.Relpersistence)
	c.refuse(!ok, r.Location, "persistence "+r.Relpersistence)
	return n, p
}

func (c *converter) onCommit(a pg.OnCommitAction) ast.OnCommit {
	switch a {
	case pg.OnCommitAction_ONCOMMIT_NOOP, pg.OnCommitAction_ON_COMMIT_ACTION_UNDEFINED:
		return ast.OnCommitDefault
	case pg.OnCommitAction_ONCOMMIT_PRESERVE_ROWS:
		return ast.OnCommitPreserve
	case pg.OnCommitAction_ONCOMMIT_DELETE_ROWS:
		return ast.OnCommitDelete
	case pg.OnCommitAction_ONCOMMIT_DROP:
		return ast.OnCommitDrop
	}
	c.unsupported(ast.NoPos, a.String())
	return 0
}

func (c *converter) createTable(s *pg.CreateStmt) *ast.CreateTable {
	out := &ast.CreateTable{
		Loc: ast.At(c.start), IfNotExists: s.IfNotExists, Inherits: c.relations(s.InhRelations, "INHERITS"),
		OfType: c.typeName(s.OfTypename), Options: c.options(s.Options, "WITH"), OnCommit: c.onCommit(s.Oncommit),
		Tablespace: s.Tablespacename, AccessMethod: s.AccessMethod,
	}
	out.Table, out.Persistence = c.targetRelation(s.Relation, "CREATE TABLE")
	c.refuse(len(s.Constraints) > 0 || len(s.Nnconstraints) > 0, ast.NoPos, "constraint list of CREATE TABLE")
	out.PartitionOf = c.partitionBound(s.Partbound)
	out.PartitionBy = c.partitionBy(s.Partspec)
	for _, n := range s.TableElts {
		if c.err != nil {
			return nil
		}
		switch x := n.GetNode().(type) {
		case *pg.Node_ColumnDef:
			out.Elements = append(out.Elements, c.columnDef(x.ColumnDef))
		case *pg.Node_Constraint:
			out.Elements = append(out.Elements, c.constraint(x.Constraint))
		case *pg.Node_TableLikeClause:
			out.Elements = append(out.Elements, c.likeClause(x.TableLikeClause))
		default:
			c.unknown(n, "CREATE TABLE")
		}
	}
	return out
}

func (c *converter) likeClause(l *pg.TableLikeClause) *ast.LikeClause {
	out := &ast.LikeClause{Table: c.plainRelation(l.Relation, "LIKE")}
	out.Loc = out.Table.Loc
	// The parser's bits are in the order of ours; INCLUDING ALL sets 31 of them.
	const known, all = uint32(ast.LikeStorage<<1 - 1), uint32(1<<31 - 1)
	bits := l.Options
	if bits|known == all {
		bits &= known
	}
	c.refuse(bits&^known != 0 || l.RelationOid != 0, out.Off, "LIKE option")
	out.Options = ast.LikeOptions(bits)
	return out
}

func (c *converter) columnDefs(list []*pg.Node, where string) []*ast.ColumnDef {
	var out []*ast.ColumnDef
	for _, n := range list {
		d, ok := n.GetNode().(*pg.Node_ColumnDef)
		if !ok {
			c.unknown(n, where)
			return nil
		}
		out = append(out, c.columnDef(d.ColumnDef))
	}
	return out
}

// columnName is a column's name in its definition, which scan.NameExclude may have changed.
func columnName(d *pg.ColumnDef) string {
	if d.Colname == scan.ExcludeColumn {
		return "exclude"
	}
	return d.Colname
}

func (c *converter) columnDef(d *pg.ColumnDef) *ast.ColumnDef {
	out := &ast.ColumnDef{
		Loc: ast.At(d.Location), Name: columnName(d), Type: c.typeName(d.TypeName), Storage: d.StorageName, Compression: d.Compression,
	}
	c.refuse(d.Inhcount != 0 || d.IsNotNull || d.IsFromType || d.Storage != "" || d.RawDefault != nil || d.CookedDefault != nil ||
		d.Identity != "" || d.IdentitySequence != nil || d.Generated != "" || d.CollOid != 0, d.Location, "column property")
	c.refuse(len(d.Fdwoptions) > 0, d.Location, "OPTIONS of a column")
	if d.CollClause != nil {
		c.refuse(d.CollClause.Arg != nil, d.CollClause.Location, "collation argument")
		out.Collation = c.name(d.CollClause.Collname, d.CollClause.Location, "COLLATE")
	}
	out.Constraints = c.constraints(d.Constraints)
	return out
}

// constraints converts a column's or domain's constraints and attaches DEFERRABLE and its like to what precedes them.
func (c *converter) constraints(list []*pg.Node) []*ast.Constraint {
	var out []*ast.Constraint
	var last *ast.Constraint // the constraint that attributes go to
	var sawDeferrability, sawInitially bool
	for _, n := range list {
		x, ok := n.GetNode().(*pg.Node_Constraint)
		if !ok {
			c.unknown(n, "column constraints")
			return nil
		}
		if c.err != nil {
			return nil
		}
		k := x.Constraint
		switch k.Contype {
		case pg.ConstrType_CONSTR_ATTR_DEFERRABLE, pg.ConstrType_CONSTR_ATTR_NOT_DEFERRABLE:
			yes := k.Contype == pg.ConstrType_CONSTR_ATTR_DEFERRABLE
			c.attribute(last, sawDeferrability, k.Location, map[bool]string{true: "DEFERRABLE", false: "NOT DEFERRABLE"}[yes])
			if c.err == nil {
				sawDeferrability, last.Deferrable = true, yes
				if !yes && sawInitially && last.InitiallyDeferred {
					c.failAt(k.Location, sqlerr.SyntaxError, "constraint declared INITIALLY DEFERRED must be DEFERRABLE")
				}
			}
		case pg.ConstrType_CONSTR_ATTR_DEFERRED, pg.ConstrType_CONSTR_ATTR_IMMEDIATE:
			deferred := k.Contype == pg.ConstrType_CONSTR_ATTR_DEFERRED
			c.attribute(last, sawInitially, k.Location, map[bool]string{true: "INITIALLY DEFERRED", false: "INITIALLY IMMEDIATE"}[deferred])
			if c.err == nil {
				sawInitially, last.InitiallyDeferred = true, deferred
				if deferred && !sawDeferrability {
					last.Deferrable = true
				} else if deferred && !last.Deferrable {
					c.failAt(k.Location, sqlerr.SyntaxError, "constraint declared INITIALLY DEFERRED must be DEFERRABLE")
				}
			}
		default:
			a := c.constraint(k)
			out = append(out, a)
			last, sawDeferrability, sawInitially = nil, false, false
			switch k.Contype {
			case pg.ConstrType_CONSTR_PRIMARY, pg.ConstrType_CONSTR_UNIQUE, pg.ConstrType_CONSTR_EXCLUSION, pg.ConstrType_CONSTR_FOREIGN:
				last = a
			}
		}
	}
	return out
}

// attribute fails when a constraint attribute has nothing to belong to or is repeated.
func (c *converter) attribute(last *ast.Constraint, seen bool, loc int32, what string) {
	word := what
	if what == "NOT DEFERRABLE" || what == "DEFERRABLE" {
		word = "DEFERRABLE/NOT DEFERRABLE"
	} else {
		word = "INITIALLY IMMEDIATE/DEFERRED"
	}
	switch {
	case last == nil:
		c.failAt(loc, sqlerr.SyntaxError, "misplaced %s clause", what)
	case seen:
		c.failAt(loc, sqlerr.SyntaxError, "multiple %s clauses not allowed", word)
	}
}

// constraint converts a column's or table's constraint.
func (c *converter) constraint(k *pg.Constraint) *ast.Constraint {
	out := &ast.Constraint{
		Loc: ast.At(k.Location), Name: k.Conname, Expr: c.exprOrNil(k.RawExpr), Keys: c.strs(k.Keys, "constraint"),
		Including: c.strs(k.Including, "INCLUDE"), NullsNotDistinct: k.NullsNotDistinct, Deferrable: k.Deferrable,
		InitiallyDeferred: k.Initdeferred, NoInherit: k.IsNoInherit, IndexName: k.Indexname, Where: c.exprOrNil(k.WhereClause),
		Tablespace: k.Indexspace, AccessMethod: k.AccessMethod,
	}
	c.refuse(k.CookedExpr != "" || k.ResetDefaultTblspc || len(k.OldConpfeqop) > 0 || k.OldPktableOid != 0, k.Location, "constraint property")
	c.refuse(k.WithoutOverlaps, k.Location, "WITHOUT OVERLAPS")
	c.refuse(k.FkWithPeriod || k.PkWithPeriod, k.Location, "PERIOD")
	switch k.Contype {
	case pg.ConstrType_CONSTR_NULL:
		out.Kind = ast.ConNull
	case pg.ConstrType_CONSTR_NOTNULL:
		out.Kind = ast.ConNotNull
		c.refuse(len(k.Keys) > 0, k.Location, "NOT NULL as a table constraint")
		c.refuse(k.IsNoInherit, k.Location, "NOT NULL NO INHERIT")
	case pg.ConstrType_CONSTR_DEFAULT:
		out.Kind = ast.ConDefault
	case pg.ConstrType_CONSTR_IDENTITY:
		out.Kind = ast.ConIdentity
		seq := c.sequenceOptions(k.Options)
		out.Sequence = &seq
	case pg.ConstrType_CONSTR_GENERATED:
		out.Kind = ast.ConGenerated
		if k.GeneratedKind != "s" {
			c.failAt(k.Location, sqlerr.FeatureNotSupported, "virtual generated columns are not supported")
		}
		if k.GeneratedWhen != "a" {
			c.failAt(k.Location, sqlerr.SyntaxError, "for a generated column, GENERATED ALWAYS must be specified")
		}
	case pg.ConstrType_CONSTR_CHECK:
		out.Kind = ast.ConCheck
	case pg.ConstrType_CONSTR_PRIMARY:
		out.Kind = ast.ConPrimaryKey
	case pg.ConstrType_CONSTR_UNIQUE:
		out.Kind = ast.ConUnique
	case pg.ConstrType_CONSTR_EXCLUSION:
		out.Kind = ast.ConExclude
		c.exclusions(out, k.Exclusions)
	case pg.ConstrType_CONSTR_FOREIGN:
		out.Kind = ast.ConForeignKey
		c.foreignKey(out, k)
	default:
		c.unsupported(k.Location, "constraint "+k.Contype.String())
	}
	c.constraintFlags(out, k)
	return out
}

// constraintFlags converts what only some kinds of constraint may have.
func (c *converter) constraintFlags(out *ast.Constraint, k *pg.Constraint) {
	switch out.Kind {
	case ast.ConCheck, ast.ConForeignKey:
		c.refuse(!k.IsEnforced, k.Location, "NOT ENFORCED")
		out.NotValid = k.SkipValidation
		c.refuse(k.InitiallyValid == k.SkipValidation, k.Location, "constraint validity")
	case ast.ConNotNull:
		c.refuse(k.SkipValidation || !k.InitiallyValid || !k.IsEnforced, k.Location, "NOT NULL NOT VALID")
	default:
		c.refuse(k.SkipValidation, k.Location, "NOT VALID constraint")
	}
	if out.Kind == ast.ConIdentity {
		out.Always = k.GeneratedWhen == "a"
		c.refuse(k.GeneratedWhen != "a" && k.GeneratedWhen != "d", k.Location, "identity "+k.GeneratedWhen)
	} else {
		out.Options = c.options(k.Options, "constraint options")
		c.refuse(k.GeneratedWhen != "" && out.Kind != ast.ConGenerated, k.Location, "GENERATED")
	}
	c.refuse(k.GeneratedKind != "" && out.Kind != ast.ConGenerated, k.Location, "generated kind")
	if out.Kind != ast.ConForeignKey {
		c.refuse(k.Pktable != nil || len(k.FkAttrs) > 0 || len(k.PkAttrs) > 0 || k.FkMatchtype != "" || k.FkUpdAction != "" ||
			k.FkDelAction != "" || len(k.FkDelSetCols) > 0, k.Location, "foreign key property")
	}
	if out.Kind != ast.ConExclude {
		c.refuse(len(k.Exclusions) > 0, k.Location, "exclusion property")
	}
}

func (c *converter) exclusions(out *ast.Constraint, list []*pg.Node) {
	for _, n := range list {
		pair := c.items(n, "EXCLUDE")
		if c.err == nil && len(pair) != 2 {
			c.unknown(n, "EXCLUDE")
		}
		if c.err != nil {
			return
		}
		elems := c.indexElems(pair[:1], "EXCLUDE")
		if c.err != nil {
			return
		}
		op := pair[1]
		out.Exclusions = append(out.Exclusions, ast.Exclusion{Elem: elems[0], Op: c.name(c.items(op, "EXCLUDE"), ast.NoPos, "EXCLUDE")})
	}
}

func (c *converter) foreignKey(out *ast.Constraint, k *pg.Constraint) {
	f := &ast.ForeignKey{Table: c.plainRelation(k.Pktable, "REFERENCES"), Columns: c.strs(k.PkAttrs, "REFERENCES"), DeleteSet: c.strs(k.FkDelSetCols, "REFERENCES")}
	out.Keys = c.strs(k.FkAttrs, "FOREIGN KEY")
	c.refuse(len(k.Keys) > 0, k.Location, "keys of a foreign key")
	switch k.FkMatchtype {
	case "s":
	case "f":
		f.Match = ast.MatchFull
	case "p":
		f.Match = ast.MatchPartial
	default:
		c.unsupported(k.Location, "foreign key match "+k.FkMatchtype)
	}
	f.OnUpdate, f.OnDelete = c.fkAction(k.FkUpdAction, k.Location), c.fkAction(k.FkDelAction, k.Location)
	out.Ref = f
}

func (c *converter) fkAction(a string, loc int32) ast.FKAction {
	switch a {
	case "a":
		return ast.FKNoAction
	case "r":
		return ast.FKRestrict
	case "c":
		return ast.FKCascade
	case "n":
		return ast.FKSetNull
	case "d":
		return ast.FKSetDefault
	}
	c.unsupported(loc, "foreign key action "+a)
	return 0
}

func (c *converter) indexElems(list []*pg.Node, where string) []ast.IndexElem {
	var out []ast.IndexElem
	for _, n := range list {
		x, ok := n.GetNode().(*pg.Node_IndexElem)
		if !ok {
			c.unknown(n, where)
			return nil
		}
		e := x.IndexElem
		c.refuse(e.Indexcolname != "", ast.NoPos, "index column name")
		item := ast.IndexElem{
			Loc: ast.At(ast.NoPos), Column: e.Name, Expr: c.exprOrNil(e.Expr), Collation: c.name(e.Collation, ast.NoPos, "COLLATE"),
			OpClass: c.name(e.Opclass, ast.NoPos, "operator class"), OpOptions: c.options(e.Opclassopts, "operator class"),
			Dir: c.sortDir(e.Ordering, ast.NoPos), Nulls: c.nulls(e.NullsOrdering, ast.NoPos),
		}
		if item.Expr != nil {
			item.Off = item.Expr.Pos()
			c.refuse(e.Name != "", item.Off, "name of an index expression")
		}
		out = append(out, item)
	}
	return out
}

func (c *converter) createIndex(s *pg.IndexStmt) *ast.CreateIndex {
	c.refuse(s.Idxcomment != "" || s.IndexOid != 0 || s.OldNumber != 0 || s.OldCreateSubid != 0 || s.OldFirstRelfilelocatorSubid != 0 ||
		s.Primary || s.Isconstraint || s.Iswithoutoverlaps || s.Deferrable || s.Initdeferred || s.Transformed || s.ResetDefaultTblspc ||
		len(s.ExcludeOpNames) > 0, ast.NoPos, "index property")
	return &ast.CreateIndex{
		Loc: ast.At(c.start), Name: s.Idxname, Table: c.tableRef(s.Relation, "CREATE INDEX"), Method: s.AccessMethod,
		Elems: c.indexElems(s.IndexParams, "CREATE INDEX"), Include: c.indexElems(s.IndexIncludingParams, "INCLUDE"),
		Options: c.options(s.Options, "WITH"), Where: c.exprOrNil(s.WhereClause), Unique: s.Unique,
		NullsNotDistinct: s.NullsNotDistinct, Concurrently: s.Concurrent, IfNotExists: s.IfNotExists, Tablespace: s.TableSpace,
	}
}

func (c *converter) partitionBy(p *pg.PartitionSpec) *ast.PartitionBy {
	if p == nil {
		return nil
	}
	out := &ast.PartitionBy{Loc: ast.At(p.Location)}
	switch p.Strategy {
	case pg.PartitionStrategy_PARTITION_STRATEGY_LIST:
		out.Strategy = "list"
	case pg.PartitionStrategy_PARTITION_STRATEGY_RANGE:
		out.Strategy = "range"
	case pg.PartitionStrategy_PARTITION_STRATEGY_HASH:
		out.Strategy = "hash"
	default:
		c.unsupported(p.Location, p.Strategy.String())
	}
	for _, n := range p.PartParams {
		x, ok := n.GetNode().(*pg.Node_PartitionElem)
		if !ok {
			c.unknown(n, "PARTITION BY")
			return nil
		}
		e := x.PartitionElem
		out.Elems = append(out.Elems, ast.IndexElem{
			Loc: ast.At(e.Location), Column: e.Name, Expr: c.exprOrNil(e.Expr),
			Collation: c.name(e.Collation, e.Location, "COLLATE"), OpClass: c.name(e.Opclass, e.Location, "operator class"),
		})
	}
	return out
}

func (c *converter) partitionBound(p *pg.PartitionBoundSpec) *ast.PartitionBound {
	if p == nil {
		return nil
	}
	out := &ast.PartitionBound{
		Loc: ast.At(p.Location), Default: p.IsDefault, Modulus: p.Modulus, Remainder: p.Remainder, List: c.exprs(p.Listdatums),
		Lower: c.partitionData(p.Lowerdatums), Upper: c.partitionData(p.Upperdatums),
	}
	switch p.Strategy {
	case "l", "r", "h":
		out.Strategy = p.Strategy[0]
	case "", "\x00":
		c.refuse(!p.IsDefault, p.Location, "partition strategy")
	default:
		c.unsupported(p.Location, "partition strategy "+p.Strategy)
	}
	return out
}

// partitionData converts a range bound; MINVALUE and MAXVALUE are column references until bound.
func (c *converter) partitionData(list []*pg.Node) []ast.PartitionDatum {
	var out []ast.PartitionDatum
	for _, n := range list {
		e := c.expr(n)
		d := ast.PartitionDatum{Value: e}
		if r, ok := e.(*ast.ColumnRef); ok && len(r.Parts) == 1 {
			switch r.Parts[0] {
			case "minvalue":
				d = ast.PartitionDatum{Infinite: -1}
			case "maxvalue":
				d = ast.PartitionDatum{Infinite: 1}
			}
		}
		out = append(out, d)
	}
	return out
}
