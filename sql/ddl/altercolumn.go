package ddl

import (
	"herd/engine/lock"
	"herd/planner"
	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// addColumnCmd is ADD COLUMN. A default that is not volatile is computed once and kept as the missing value of old rows;
// anything else rewrites the table.
func (b *alterBuild) addColumnCmd(c *ast.AlterCmd) error {
	d, x := c.Column, b.x
	if b.rel.Kind != catalog.KindTable && b.rel.Kind != catalog.KindComposite {
		return b.onlyTable("ADD COLUMN")
	}
	if systemColumns[d.Name] {
		return sqlerr.New(sqlerr.DuplicateColumn, "column name \"%s\" conflicts with a system column name", d.Name)
	}
	if b.rel.ColumnByName(d.Name) != nil {
		if c.IfNotExists {
			x.notice(sqlerr.DuplicateColumn, "column \"%s\" of relation \"%s\" already exists, skipping", d.Name, b.rel.Name)
			return nil
		}
		return sqlerr.New(sqlerr.DuplicateColumn, "column \"%s\" of relation \"%s\" already exists", d.Name, b.rel.Name)
	}
	if len(b.rel.Columns) >= maxColumns {
		return sqlerr.New(sqlerr.TooManyColumns, "tables can have at most %d columns", maxColumns)
	}
	if err := b.addColumn(d); err != nil {
		return err
	}
	if err := x.notItself(b.rel, b.rel.Columns[len(b.rel.Columns)-1].Type); err != nil {
		return err
	}
	b.changed = true
	attno := int16(len(b.rel.Columns))
	var later []*ast.Constraint
	for _, k := range d.Constraints {
		if k.Kind == ast.ConCheck || k.Kind == ast.ConForeignKey || k.Kind == ast.ConPrimaryKey || k.Kind == ast.ConUnique {
			later = append(later, k)
			continue
		}
		if err := b.columnConstraint(d.Name, k); err != nil {
			return err
		}
	}
	if err := b.fillColumn(attno); err != nil {
		return err
	}
	if b.rel.Columns[attno-1].NotNull {
		b.notNull = append(b.notNull, attno)
	}
	for _, k := range later {
		if k.Kind == ast.ConForeignKey {
			k = keyOf(k, d.Name)
		} else if k.Kind != ast.ConCheck {
			k = keyOf(k, d.Name)
		}
		if err := b.addConstraint(&ast.AlterCmd{Constraint: k}); err != nil {
			return err
		}
	}
	return nil
}

// keyOf turns a column's key constraint into a table's.
func keyOf(k *ast.Constraint, column string) *ast.Constraint {
	c := *k
	c.Keys = []string{column}
	return &c
}

// fillColumn decides what existing rows have in a new column.
func (b *alterBuild) fillColumn(attno int16) error {
	x, c := b.x, &b.rel.Columns[attno-1]
	if b.rel.Kind != catalog.KindTable {
		return nil
	}
	if c.Generated != "" {
		b.rewrite = true
		return nil
	}
	if c.Identity != 0 {
		b.rewrite = true
		b.computed[attno] = &plan.NextValue{Typed: plan.Typed{Type: c.Type, Typmod: -1, Loc: -1}, Sequence: c.Sequence}
		return nil
	}
	e, err := b.defaultBound(c)
	if err != nil || e == nil {
		return err
	}
	if isVolatile(e, x) {
		b.rewrite = true
		b.computed[attno] = e
		return nil
	}
	ev, err := x.rowExprs([]plan.Expr{e})
	if err != nil {
		return err
	}
	v, err := ev.row(nil)
	if err != nil {
		return err
	}
	if !v[0].Null {
		d := v[0]
		c.Missing = &d
	}
	return nil
}

// defaultBound binds a column's default, or for a domain column without one a NULL that is checked; nil for none.
func (b *alterBuild) defaultBound(c *catalog.Column) (plan.Expr, error) {
	text := c.Default
	if text == "" {
		t, err := b.x.typeInfo(c.Type)
		if err != nil || t.Type != 'd' {
			return nil, err
		}
		if text = t.Default; text == "" {
			text = "NULL"
		}
	}
	st, err := b.x.Bind.ParseExpr(text)
	if err != nil {
		return nil, err
	}
	env := *b.x.Bind
	env.Text, env.Path = "", storedPath
	return planner.BindExpr(b.x.reader(), &env, nil, st, planner.UseDefault, c)
}

// isVolatile says whether an expression has to be computed for each row.
func isVolatile(e plan.Expr, x *executor) bool {
	volatile := false
	visit(e, func(n plan.Expr) {
		switch v := n.(type) {
		case *plan.FuncCall:
			volatile = volatile || v.Volatile == 'v'
		case *plan.NextValue:
			volatile = true
		}
	})
	return volatile
}

// generatedBound binds a generated column's stored expression, cast to the column's type.
func (x *executor) generatedBound(rel *catalog.Relation, c *catalog.Column) (plan.Expr, error) {
	st, err := x.Bind.ParseExpr(c.Generated)
	if err != nil {
		return nil, err
	}
	env := *x.Bind
	env.Text, env.Path = "", storedPath
	return planner.BindExpr(x.reader(), &env, rel, st, planner.UseGenerated, c)
}

func (b *alterBuild) dropColumn(c *ast.AlterCmd) error {
	if err := b.flush(); err != nil {
		return err
	}
	if systemColumns[c.Name] {
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot drop system column \"%s\"", c.Name)
	}
	col := b.rel.ColumnByName(c.Name)
	if col == nil {
		if c.IfExists {
			b.x.notice(sqlerr.SuccessfulCompletion, "column \"%s\" of relation \"%s\" does not exist, skipping", c.Name, b.rel.Name)
			return nil
		}
		return sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", c.Name, b.rel.Name)
	}
	if b.rel.Kind == catalog.KindView {
		return sqlerr.New(sqlerr.WrongObjectType, "ALTER action DROP COLUMN cannot be performed on relation \"%s\"", b.rel.Name).WithDetail("This operation is not supported for views.")
	}
	if err := b.x.dropObjects([]catalog.Object{{Class: catalog.ClassRelation, OID: b.rel.OID, Sub: int32(col.Num)}}, c.Cascade); err != nil {
		return err
	}
	return b.reload()
}

func (b *alterBuild) columnDefault(c *ast.AlterCmd) error {
	col, err := b.column(c.Name)
	if err != nil {
		return err
	}
	if col.Identity != 0 {
		e := sqlerr.New(sqlerr.SyntaxError, "column \"%s\" of relation \"%s\" is an identity column", col.Name, b.rel.Name)
		if c.Kind == ast.AlterDropDefault {
			e = e.WithHint("Use ALTER TABLE ... ALTER COLUMN ... DROP IDENTITY instead.")
		}
		return e
	}
	if col.Generated != "" {
		e := sqlerr.New(sqlerr.SyntaxError, "column \"%s\" of relation \"%s\" is a generated column", col.Name, b.rel.Name)
		if c.Kind == ast.AlterDropDefault {
			e = e.WithHint("Use ALTER TABLE ... ALTER COLUMN ... DROP EXPRESSION instead.")
		}
		return e
	}
	b.changed = true
	if c.Kind == ast.AlterDropDefault {
		col.Default, col.DefaultOID = "", 0
		return b.dropDefaultDeps(col.Num)
	}
	if err := b.setDefault(col, c.Expr); err != nil {
		return err
	}
	if col.Default == "" {
		col.DefaultOID = 0
		return b.dropDefaultDeps(col.Num)
	}
	return nil
}

// dropDefaultDeps forgets what a default referred to.
func (b *alterBuild) dropDefaultDeps(attno int16) error {
	if id := b.old.Columns[attno-1].DefaultOID; id != 0 {
		return b.x.Writer.ReplaceDependencies(catalog.ClassAttrDef, id, nil)
	}
	return nil
}

func (b *alterBuild) columnNotNull(c *ast.AlterCmd) error {
	col, err := b.column(c.Name)
	if err != nil {
		return err
	}
	if c.Kind == ast.AlterSetNotNull {
		if !col.NotNull {
			col.NotNull, b.changed = true, true
			b.notNull = append(b.notNull, col.Num)
		}
		return nil
	}
	if col.Identity != 0 {
		return sqlerr.New(sqlerr.SyntaxError, "column \"%s\" of relation \"%s\" is an identity column", col.Name, b.rel.Name)
	}
	if b.rel.PrimaryKey != nil {
		for _, k := range b.rel.PrimaryKey.Keys {
			if k.Attno == col.Num {
				return sqlerr.New(sqlerr.InvalidTableDefinition, "column \"%s\" is in a primary key", col.Name)
			}
		}
	}
	if col.NotNull {
		col.NotNull, b.changed = false, true
	}
	return nil
}

func (b *alterBuild) columnIdentity(c *ast.AlterCmd) error {
	col, err := b.column(c.Name)
	if err != nil {
		return err
	}
	switch c.Kind {
	case ast.AlterAddIdentity:
		return b.addIdentity(col, c)
	case ast.AlterSetIdentity:
		if col.Identity == 0 {
			return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "column \"%s\" of relation \"%s\" is not an identity column", col.Name, b.rel.Name)
		}
		if c.SetAlways {
			col.Identity, b.changed = 'd', true
			if c.Always {
				col.Identity = 'a'
			}
		}
		return b.x.changeOwned(col.Sequence, c.Sequence)
	}
	if col.Identity == 0 {
		if c.IfExists {
			b.x.notice(sqlerr.SuccessfulCompletion, "column \"%s\" of relation \"%s\" is not an identity column, skipping", col.Name, b.rel.Name)
			return nil
		}
		return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "column \"%s\" of relation \"%s\" is not an identity column", col.Name, b.rel.Name)
	}
	seq := col.Sequence
	col.Identity, col.Sequence, b.changed = 0, 0, true
	if err := b.flush(); err != nil {
		return err
	}
	// The sequence is no longer a part of the column; then it can be dropped.
	if err := b.x.ownSequence(seq, 0, 0, false); err != nil {
		return err
	}
	if err := b.x.dropObjects([]catalog.Object{{Class: catalog.ClassRelation, OID: seq}}, false); err != nil {
		return err
	}
	return b.reload()
}

func (b *alterBuild) addIdentity(col *catalog.Column, c *ast.AlterCmd) error {
	name := col.Name
	switch {
	case !col.NotNull:
		return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "column \"%s\" of relation \"%s\" must be declared NOT NULL before identity can be added", name, b.rel.Name)
	case col.Identity != 0:
		return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "column \"%s\" of relation \"%s\" is already an identity column", name, b.rel.Name)
	case col.Default != "":
		return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "column \"%s\" of relation \"%s\" already has a default value", name, b.rel.Name)
	}
	b.changed = true
	return b.identity(col, c.Constraint)
}

// changeOwned applies sequence options to the sequence of an identity column.
func (x *executor) changeOwned(seq types.OID, o *ast.SequenceOptions) error {
	old, err := x.reader().RelationByOID(seq)
	if old == nil || err != nil || o == nil {
		return err
	}
	now := old.Clone()
	if err := x.changeSequence(now, o); err != nil {
		return err
	}
	return x.Writer.UpdateRelation(old, now)
}

func (b *alterBuild) dropExpression(c *ast.AlterCmd) error {
	col, err := b.column(c.Name)
	if err != nil {
		return err
	}
	if col.Generated == "" {
		if c.IfExists {
			b.x.notice(sqlerr.SuccessfulCompletion, "column \"%s\" of relation \"%s\" is not a stored generated column, skipping", col.Name, b.rel.Name)
			return nil
		}
		return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "column \"%s\" of relation \"%s\" is not a stored generated column", col.Name, b.rel.Name)
	}
	col.Generated, col.DefaultOID, b.changed = "", 0, true
	return b.dropDefaultDeps(col.Num)
}

// columnType is ALTER COLUMN TYPE.
func (b *alterBuild) columnType(c *ast.AlterCmd) error {
	if err := b.flush(); err != nil {
		return err
	}
	x := b.x
	col, err := b.column(c.Name)
	if err != nil {
		return err
	}
	if b.rel.Kind == catalog.KindView {
		return b.onlyTable("ALTER COLUMN ... SET DATA TYPE")
	}
	def := *c.Column
	def.Name = c.Name
	to, serial, err := x.column(&def)
	if err != nil {
		return err
	}
	if serial != 0 {
		return x.at(def.Type.Off, sqlerr.UndefinedObject, "type \"%s\" does not exist", def.Type.Name.Name)
	}
	to.Num = col.Num
	if err := x.notItself(b.rel, to.Type); err != nil {
		return err
	}
	if err := b.typeUsers(col); err != nil {
		return err
	}
	if err := x.rowUnused(b.rel); err != nil {
		return err
	}
	e, err := b.transform(c, col, &to)
	if err != nil {
		return err
	}
	refs, err := x.storedOf(b.old, col.Num)
	if err != nil {
		return err
	}
	col.Type, col.Typmod, col.Collation, col.Dims = to.Type, to.Typmod, to.Collation, to.Dims
	if err := b.retype(col); err != nil {
		return err
	}
	b.changed = true
	b.refs = append(b.refs, rebind(refs)...)
	if sameBytes(e, col.Num) || b.rel.Kind == catalog.KindComposite {
		return nil
	}
	b.rewrite = true
	b.computed[col.Num] = e
	return b.flush()
}

// sameBytes says whether a transformation leaves the stored value as it is.
func sameBytes(e plan.Expr, attno int16) bool {
	switch v := e.(type) {
	case *plan.Var:
		return v.Attno == int(attno)
	case *plan.Relabel:
		return types.KindOf(v.Type) == types.KindBytes && textual(v.Type) && textual(v.Arg.T().Type) && sameBytes(v.Arg, attno)
	}
	return false
}

// textual types are stored alike: variable bytes.
func textual(t types.OID) bool {
	return t == types.TextOID || t == types.VarcharOID || t == types.BPCharOID
}

// typeUsers refuses a change of type under views and generated columns.
func (b *alterBuild) typeUsers(col *catalog.Column) error {
	x := b.x
	var deps []catalog.Dependency
	err := x.reader().Dependents(catalog.ClassRelation, b.rel.OID, int32(col.Num), func(d catalog.Dependency) bool {
		deps = append(deps, d)
		return true
	})
	if err != nil {
		return err
	}
	for _, d := range deps {
		switch d.Class {
		case catalog.ClassRewrite:
			n := x.names()
			what, err := n.Describe(catalog.Object{Class: d.Class, OID: d.OID})
			if err != nil {
				return err
			}
			return sqlerr.New(sqlerr.FeatureNotSupported, "cannot alter type of a column used by a view or rule").
				WithDetail("%s depends on column \"%s\"", what, col.Name)
		case catalog.ClassAttrDef:
			for i := range b.rel.Columns {
				if g := &b.rel.Columns[i]; g.DefaultOID == d.OID && g.Generated != "" && g.Num != col.Num {
					return sqlerr.New(sqlerr.FeatureNotSupported, "cannot alter type of a column used by a generated column").
						WithDetail("Column \"%s\" is used by generated column \"%s\".", col.Name, g.Name)
				}
			}
		}
	}
	return nil
}

// transform binds what computes the new value of an old row.
func (b *alterBuild) transform(c *ast.AlterCmd, col, to *catalog.Column) (plan.Expr, error) {
	x := b.x
	if c.Expr != nil {
		if col.Generated != "" {
			return nil, sqlerr.New(sqlerr.InvalidColumnDefinition, "cannot specify USING when altering type of generated column").WithDetail("Column \"%s\" is a generated column.", col.Name)
		}
		return x.bindExpr(b.old, c.Expr, planner.UseTransform, to)
	}
	ref := &ast.ColumnRef{Loc: ast.At(ast.NoPos), Parts: []string{col.Name}}
	e, err := x.bindExpr(b.old, ref, planner.UseTransform, to)
	if sqlerr.CodeOf(err) == sqlerr.DatatypeMismatch {
		name, _ := catalog.FormatType(x.reader(), to.Type, to.Typmod, true, x.Bind.Path)
		return nil, sqlerr.New(sqlerr.DatatypeMismatch, "column \"%s\" cannot be cast automatically to type %s", col.Name, x.typeText(to.Type)).
			WithHint("You might need to specify \"USING %s::%s\".", catalog.QuoteIdent(col.Name), name)
	}
	return e, err
}

// retype adapts default, keys and foreign keys to a column's new type.
func (b *alterBuild) retype(col *catalog.Column) error {
	x := b.x
	if col.Default != "" && col.Identity == 0 {
		st, err := x.Bind.ParseExpr(col.Default)
		if err != nil {
			return err
		}
		env := *x.Bind
		env.Text, env.Path = "", storedPath
		e, err := planner.BindExpr(x.reader(), &env, nil, st, planner.UseDefault, col)
		if err != nil {
			if sqlerr.CodeOf(err) == sqlerr.DatatypeMismatch {
				return sqlerr.New(sqlerr.DatatypeMismatch, "default for column \"%s\" cannot be cast automatically to type %s", col.Name, x.typeText(col.Type))
			}
			return err
		}
		if col.Default, err = x.store(nil, e); err != nil {
			return err
		}
	}
	for _, ix := range b.rel.AllIndexes() {
		for i := range ix.Keys {
			k := &ix.Keys[i]
			if k.Attno != col.Num {
				continue
			}
			k.Type, k.Collation = col.Type, col.Collation
			var err error
			if k.OpClass, err = x.defaultOpclass(col.Type); err != nil {
				return err
			}
		}
	}
	return b.retypeKeys(col)
}

// retypeKeys finds new operators for the foreign keys on both sides of a column; flush looks for the parents of their rows again.
func (b *alterBuild) retypeKeys(col *catalog.Column) error {
	x := b.x
	for i, id := range b.rel.ReferencedByRel {
		if id != b.rel.OID {
			b.children = append(b.children, childKey{rel: id, con: b.rel.ReferencedBy[i], attno: col.Num})
		}
	}
	for _, k := range b.rel.Constraints {
		own := k.Ref == b.rel.OID && contains(k.RefCols, col.Num)
		if k.Type != 'f' || !own && !contains(k.Cols, col.Num) {
			continue
		}
		if k.Validated {
			b.retyped = append(b.retyped, k.Name)
		}
		ref := b.rel
		if k.Ref != b.rel.OID {
			var err error
			if ref, err = x.reader().RelationByOID(k.Ref); err != nil {
				return err
			}
		}
		k.EqOps = nil
		if err := x.matchTypes(b.rel, ref, k); err != nil {
			return err
		}
	}
	return nil
}

// childKey is a foreign key of another table that refers to a column whose type changes.
type childKey struct {
	rel, con types.OID
	attno    int16
}

// verifyChildren adapts the foreign keys that refer to retyped columns, and looks for the parents of their rows if the rows here
// have changed.
func (b *alterBuild) verifyChildren(stored *catalog.Relation) error {
	for _, c := range b.children {
		child, err := b.x.lockOID(c.rel, lock.AccessExclusive)
		if err != nil {
			return err
		}
		now := child.Clone()
		for _, k := range now.Constraints {
			if k.OID != c.con || !contains(k.RefCols, c.attno) {
				continue
			}
			k.EqOps = nil
			if err := b.x.matchTypes(now, stored, k); err != nil {
				return err
			}
			if err := b.x.Writer.UpdateRelation(child, now); err != nil {
				return err
			}
			if b.rewrite && k.Validated {
				if err := b.x.checkKey(child, k); err != nil { // its rows are as they were
					return err
				}
			}
		}
	}
	return nil
}
