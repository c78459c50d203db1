package ddl

import (
	"herd/engine/lock"
	"herd/planner"
	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/catalog/pgdata"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// maxIndexKeys is PostgreSQL's limit, INCLUDE columns counted.
const maxIndexKeys = 32

func (x *executor) createIndex(s *ast.CreateIndex) error {
	rel, ix, err := x.defineIndex(s, lock.TableShare, catalog.IndexValid)
	if ix == nil || err != nil {
		return err
	}
	return x.backfill(rel, ix)
}

// defineIndex stores the definition of a new index, without entries, and returns it with its table; nil when it exists
// and need not be made. The table is locked in mode m.
func (x *executor) defineIndex(s *ast.CreateIndex, m lock.Mode, state catalog.IndexState) (*catalog.Relation, *catalog.Index, error) {
	rel, err := x.indexTable(s, m)
	if err != nil {
		return nil, nil, err
	}
	if s.Name != "" {
		if exists, err := x.notThere(rel.Schema, s.Name, s.IfNotExists); exists || err != nil {
			return nil, nil, err
		}
	}
	ix, deps, err := x.newIndex(rel, s)
	if err != nil {
		return nil, nil, err
	}
	ix.State = state
	now := rel.Clone()
	now.Indexes = append(now.Indexes, ix)
	if err := x.Writer.UpdateRelation(rel, now); err != nil {
		return nil, nil, err
	}
	for _, d := range deps {
		// An index goes with the columns of its table that its expressions use.
		if d.RefClass == catalog.ClassRelation && d.RefOID == rel.OID {
			d.Type = 'a'
		}
		d.Class, d.OID = catalog.ClassRelation, ix.OID
		if err := x.Writer.AddDependencies(d); err != nil {
			return nil, nil, err
		}
	}
	stored, ix, err := x.reader().IndexByOID(ix.OID)
	if err == nil && ix == nil {
		err = sqlerr.Internal("index \"%s\" was not stored", s.Name)
	}
	return stored, ix, err
}

// indexTable locks the table of CREATE INDEX and checks that it may have indexes.
func (x *executor) indexTable(s *ast.CreateIndex, m lock.Mode) (*catalog.Relation, error) {
	if s.Tablespace != "" && s.Tablespace != "pg_default" {
		return nil, sqlerr.New(sqlerr.UndefinedObject, "tablespace \"%s\" does not exist", s.Tablespace)
	}
	rel, err := x.locked(s.Table.Name, m, false)
	if err != nil {
		return nil, err
	}
	if rel.Kind != catalog.KindTable && rel.Kind != catalog.KindMatView {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "cannot create index on relation \"%s\"", rel.Name).
			WithDetail("This operation is not supported for %s.", kindPlural(rel.Kind))
	}
	return rel, x.own(rel)
}

func kindPlural(k catalog.RelKind) string {
	switch k {
	case catalog.KindView:
		return "views"
	case catalog.KindSequence:
		return "sequences"
	case catalog.KindIndex:
		return "indexes"
	case catalog.KindComposite:
		return "composite types"
	case catalog.KindMatView:
		return "materialized views"
	}
	return "tables"
}

// newIndex makes the descriptor of CREATE INDEX.
func (x *executor) newIndex(rel *catalog.Relation, s *ast.CreateIndex) (*catalog.Index, []catalog.Dependency, error) {
	switch s.Method {
	case "btree", "":
	case "hash", "gist", "gin", "spgist", "brin":
		return nil, nil, sqlerr.Unsupported("access method \"%s\"", s.Method).WithHint("Use btree.")
	default:
		return nil, nil, sqlerr.New(sqlerr.UndefinedObject, "access method \"%s\" does not exist", s.Method)
	}
	if len(s.Elems)+len(s.Include) > maxIndexKeys {
		return nil, nil, sqlerr.New(sqlerr.TooManyColumns, "cannot use more than %d columns in an index", maxIndexKeys)
	}
	opts, err := relOptions(s.Options)
	if err != nil {
		return nil, nil, err
	}
	ix := &catalog.Index{Name: s.Name, Unique: s.Unique, NullsNotDistinct: s.NullsNotDistinct, Method: "btree", Options: opts}
	var deps []catalog.Dependency
	var parts []string
	for i := range s.Elems {
		k, part, d, err := x.indexKey(rel, &s.Elems[i])
		if err != nil {
			return nil, nil, err
		}
		ix.Keys = append(ix.Keys, k)
		parts = append(parts, part)
		deps = append(deps, d...)
	}
	for i := range s.Include {
		e := &s.Include[i]
		if e.Expr != nil {
			return nil, nil, sqlerr.New(sqlerr.FeatureNotSupported, "expressions are not supported in included columns")
		}
		c := rel.ColumnByName(e.Column)
		if c == nil {
			return nil, nil, sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" does not exist", e.Column)
		}
		ix.Include = append(ix.Include, c.Num)
		parts = append(parts, e.Column)
	}
	if s.Where != nil {
		e, err := x.bindExpr(rel, s.Where, planner.UseIndexPred, nil)
		if err != nil {
			return nil, nil, err
		}
		if err := noSystemColumns(e); err != nil {
			return nil, nil, err
		}
		if ix.Pred, err = x.store(rel, e); err != nil {
			return nil, nil, err
		}
		deps = append(deps, x.dependencies(rel, e)...)
	}
	if ix.Name == "" {
		ix.Name, err = x.chooseName(rel, parts, "idx", map[string]bool{})
	}
	return ix, deps, err
}

// noSystemColumns refuses system columns in an index.
func noSystemColumns(e plan.Expr) error {
	bad := false
	visit(e, func(n plan.Expr) {
		v, ok := n.(*plan.Var)
		bad = bad || ok && v.Attno < 0
	})
	if bad {
		return sqlerr.New(sqlerr.FeatureNotSupported, "index creation on system columns is not supported")
	}
	return nil
}

// indexKey makes one key; part is its share of the index's automatic name.
func (x *executor) indexKey(rel *catalog.Relation, e *ast.IndexElem) (k catalog.IndexKey, part string, deps []catalog.Dependency, err error) {
	if e.Column != "" {
		c := rel.ColumnByName(e.Column)
		if c == nil {
			if systemColumns[e.Column] {
				return k, "", nil, sqlerr.New(sqlerr.FeatureNotSupported, "index creation on system columns is not supported")
			}
			return k, "", nil, sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" does not exist", e.Column)
		}
		k, part = catalog.IndexKey{Attno: c.Num, Type: c.Type, Collation: c.Collation}, c.Name
	} else {
		b, err := x.bindExpr(rel, e.Expr, planner.UseIndexExpr, nil)
		if err != nil {
			return k, "", nil, err
		}
		if err := noSystemColumns(b); err != nil {
			return k, "", nil, err
		}
		if k.Expr, err = x.store(rel, b); err != nil {
			return k, "", nil, err
		}
		k.Type, k.Collation, k.ExprCollation = b.T().Type, b.T().Collation, b.T().Collation
		deps = x.dependencies(rel, b)
		part = expressionName(e.Expr)
	}
	if !e.Collation.IsZero() {
		if k.Collation, err = x.collationOf(e.Collation, k.Type); err != nil {
			return k, "", nil, err
		}
	}
	k.Desc = e.Dir == ast.SortDesc
	k.NullsFirst = e.Nulls == ast.NullsFirst || e.Nulls == ast.NullsDefault && k.Desc
	k.OpClass, err = x.opclass(e.OpClass, k.Type)
	return k, part, deps, err
}

// expressionName is what an index expression contributes to the index's name: a function's name, or "expr".
func expressionName(e ast.Expr) string {
	switch v := e.(type) {
	case *ast.FuncCall:
		return v.Name.Name
	case *ast.Coalesce:
		return "coalesce"
	case *ast.Cast:
		if n := expressionName(v.Arg); n != "expr" {
			return n
		}
		return v.Type.Name.Name
	case *ast.ColumnRef:
		return v.Parts[len(v.Parts)-1]
	case *ast.Collate:
		return expressionName(v.Arg)
	}
	return "expr"
}

// opclass resolves an operator class, the default one for a zero name.
func (x *executor) opclass(n ast.Name, t types.OID) (types.OID, error) {
	if n.IsZero() {
		return x.defaultOpclass(t)
	}
	oc := pgdata.OpclassByName(pgdata.BTree, n.Name)
	if oc == nil {
		return 0, sqlerr.New(sqlerr.UndefinedObject, "operator class \"%s\" does not exist for access method \"btree\"", n.String())
	}
	base := x.baseType(t)
	if oc.InType != base && !pgdata.IsBinaryCoercible(base, oc.InType, x.pgLookup) {
		return 0, sqlerr.New(sqlerr.DatatypeMismatch, "operator class \"%s\" does not accept data type %s", n.String(), x.typeText(t))
	}
	return oc.OID, nil
}
