package ddl

import (
	"herd/planner"
	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// serialTypes are the pseudo-types that stand for an integer with a sequence.
var serialTypes = map[string]types.OID{
	"serial": types.Int4OID, "serial4": types.Int4OID, "bigserial": types.Int8OID, "serial8": types.Int8OID,
	"smallserial": types.Int2OID, "serial2": types.Int2OID,
}

// addColumn adds a column without its constraints.
func (b *tableBuild) addColumn(d *ast.ColumnDef) error {
	if err := b.freeColumn(d.Name); err != nil {
		return err
	}
	c, serial, err := b.x.column(d)
	if err != nil {
		return err
	}
	c.Num = int16(len(b.rel.Columns) + 1)
	b.rel.Columns = append(b.rel.Columns, c)
	if serial == 0 {
		return nil
	}
	return b.x.serial(b, c.Num, serial)
}

// column makes a column of its definition, without constraints. serial is the integer type of a serial column, else 0.
func (x *executor) column(d *ast.ColumnDef) (c catalog.Column, serial types.OID, err error) {
	c = catalog.Column{Name: d.Name}
	if d.Type == nil {
		return c, 0, sqlerr.Unsupported("a column without type")
	}
	if d.Type.SetOf {
		return c, 0, x.at(d.Type.Off, sqlerr.InvalidTableDefinition, "column \"%s\" cannot be declared SETOF", d.Name)
	}
	if t := serialTypes[d.Type.Name.Name]; t != 0 && d.Type.Name.Schema == "" && len(d.Type.Mods) == 0 {
		if len(d.Type.ArrayDims) > 0 {
			return c, 0, x.at(d.Type.Off, sqlerr.FeatureNotSupported, "array of serial is not implemented")
		}
		c.Type, c.Typmod, c.NotNull = t, -1, true
		return c, t, nil
	}
	if c.Type, c.Typmod, err = x.typeOf(d.Type); err != nil {
		return c, 0, err
	}
	c.Dims = len(d.Type.ArrayDims)
	if c.Collation, err = x.collationOf(d.Collation, c.Type); err != nil {
		return c, 0, err
	}
	t, err := x.typeInfo(c.Type)
	if err != nil {
		return c, 0, err
	}
	if t.Type == 'p' {
		return c, 0, sqlerr.New(sqlerr.InvalidTableDefinition, "column \"%s\" has pseudo-type %s", d.Name, x.typeText(c.Type))
	}
	return c, 0, nil
}

// serial gives a column its sequence and default. The sequence exists before the table does.
func (x *executor) serial(b *tableBuild, attno int16, typ types.OID) error {
	seq, err := x.ownedSequence(b.rel, attno, typ, &ast.SequenceOptions{})
	if err != nil {
		return err
	}
	c := &b.rel.Columns[attno-1]
	c.Sequence = seq.OID
	c.Default = "nextval(" + literal(x.qualified(seq)) + "::regclass)"
	b.owned[attno] = seq
	b.deps = append(b.deps, pendingDeps{attno: attno, list: []catalog.Dependency{{RefClass: catalog.ClassRelation, RefOID: seq.OID, Type: 'n'}}})
	return nil
}

// columnConstraint applies a constraint written at a column.
func (b *tableBuild) columnConstraint(name string, k *ast.Constraint) error {
	c := b.rel.ColumnByName(name)
	x := b.x
	switch k.Kind {
	case ast.ConNull:
		if c.NotNull {
			return x.at(k.Off, sqlerr.SyntaxError, "conflicting NULL/NOT NULL declarations for column \"%s\" of table \"%s\"", c.Name, b.rel.Name)
		}
		return nil
	case ast.ConNotNull:
		c.NotNull = true
		return nil
	case ast.ConDefault:
		if c.Default != "" {
			return x.at(k.Off, sqlerr.SyntaxError, "multiple default values specified for column \"%s\" of table \"%s\"", c.Name, b.rel.Name)
		}
		return b.conflicts(c, k, b.setDefault(c, k.Expr))
	case ast.ConIdentity:
		if c.Identity != 0 {
			return x.at(k.Off, sqlerr.SyntaxError, "multiple identity specifications for column \"%s\" of table \"%s\"", c.Name, b.rel.Name)
		}
		if err := b.identity(c, k); err != nil {
			return err
		}
		return b.conflicts(c, k, nil)
	case ast.ConGenerated:
		if c.Generated != "" {
			return x.at(k.Off, sqlerr.SyntaxError, "multiple generation clauses specified for column \"%s\" of table \"%s\"", c.Name, b.rel.Name)
		}
		return b.conflicts(c, k, b.generated(c, k.Expr))
	case ast.ConOnUpdate:
		if c.Type != types.TimestampOID && c.Type != types.TimestampTZOID {
			return x.at(k.Off, sqlerr.DatatypeMismatch, "column \"%s\" with ON UPDATE CURRENT_TIMESTAMP is not of a timestamp type", c.Name)
		}
		c.UpdateNow = true
		return nil
	}
	return b.tableConstraint(k, name)
}

// conflicts checks that a column has at most one of default, identity and generation.
func (b *tableBuild) conflicts(c *catalog.Column, k *ast.Constraint, err error) error {
	hasDefault := c.Default != ""
	switch {
	case err != nil:
		return err
	case hasDefault && c.Identity != 0:
		return b.x.at(k.Off, sqlerr.SyntaxError, "both default and identity specified for column \"%s\" of table \"%s\"", c.Name, b.rel.Name)
	case hasDefault && c.Generated != "":
		return b.x.at(k.Off, sqlerr.SyntaxError, "both default and generation expression specified for column \"%s\" of table \"%s\"", c.Name, b.rel.Name)
	case c.Identity != 0 && c.Generated != "":
		return b.x.at(k.Off, sqlerr.SyntaxError, "both identity and generation expression specified for column \"%s\" of table \"%s\"", c.Name, b.rel.Name)
	}
	return nil
}

// setDefault binds and stores a DEFAULT. A plain NULL is the same as none.
func (b *tableBuild) setDefault(c *catalog.Column, e ast.Expr) error {
	bound, text, err := b.x.defaultText(c, e)
	if err != nil {
		return err
	}
	c.Default = text
	if text != "" {
		b.deps = append(b.deps, pendingDeps{attno: c.Num, list: b.x.dependencies(nil, bound)})
	}
	return nil
}

// defaultText binds a default for a column; text is "" for a constant NULL.
func (x *executor) defaultText(c *catalog.Column, e ast.Expr) (plan.Expr, string, error) {
	bound, err := x.bindExpr(nil, e, planner.UseDefault, c)
	if err != nil {
		return nil, "", err
	}
	if k, ok := bound.(*plan.Const); ok && k.Value.Null {
		return bound, "", nil
	}
	text, err := x.store(nil, bound)
	return bound, text, err
}

// generated binds and stores GENERATED ALWAYS AS (...) STORED.
func (b *tableBuild) generated(c *catalog.Column, e ast.Expr) error {
	bound, text, err := b.x.generatedText(b.rel, c, e, b.generatedCols)
	if err != nil {
		return err
	}
	c.Generated = text
	b.deps = append(b.deps, pendingDeps{attno: c.Num, list: b.x.dependencies(b.rel, bound)})
	return nil
}

// generatedText binds a generation expression; others are columns that will be generated too.
func (x *executor) generatedText(rel *catalog.Relation, c *catalog.Column, e ast.Expr, others map[string]bool) (plan.Expr, string, error) {
	bound, err := x.bindExpr(rel, e, planner.UseGenerated, c)
	if err != nil {
		return nil, "", err
	}
	var bad *sqlerr.Error
	visit(bound, func(n plan.Expr) {
		v, ok := n.(*plan.Var)
		if !ok || bad != nil {
			return
		}
		if v.Attno == 0 {
			bad = x.at(int32(v.Loc), sqlerr.InvalidObjectDefinition, "cannot use whole-row variable in column generation expression").
				WithDetail("This would cause the generated column to depend on its own value.")
		} else if v.Attno == int(c.Num) || v.Attno > 0 && (rel.Columns[v.Attno-1].Generated != "" || others[rel.Columns[v.Attno-1].Name]) {
			bad = x.at(int32(v.Loc), sqlerr.InvalidObjectDefinition, "cannot use generated column \"%s\" in column generation expression", rel.Columns[v.Attno-1].Name).
				WithDetail("A generated column cannot reference another generated column.")
		}
	})
	if bad != nil {
		return nil, "", bad
	}
	text, err := x.store(rel, bound)
	return bound, text, err
}

// identity makes a column GENERATED AS IDENTITY.
func (b *tableBuild) identity(c *catalog.Column, k *ast.Constraint) error {
	switch c.Type {
	case types.Int2OID, types.Int4OID, types.Int8OID:
	default:
		return sqlerr.New(sqlerr.InvalidParameterValue, "identity column type must be smallint, integer, or bigint")
	}
	attno := c.Num
	seq, err := b.x.ownedSequence(b.rel, attno, c.Type, k.Sequence)
	if err != nil {
		return err
	}
	c.Identity, c.NotNull, c.Sequence = 'd', true, seq.OID
	if k.Always {
		c.Identity = 'a'
	}
	b.owned[attno] = seq
	return nil
}

// storedDeps notes the references of a copied default or generation expression.
func (b *tableBuild) storedDeps(attno int16) error {
	c := &b.rel.Columns[attno-1]
	text, rel, use := c.Default, (*catalog.Relation)(nil), planner.UseDefault
	if c.Generated != "" {
		text, rel, use = c.Generated, b.rel, planner.UseGenerated
	}
	st, err := b.x.Bind.ParseExpr(text)
	if err != nil {
		return err
	}
	env := *b.x.Bind
	env.Text, env.Path = "", storedPath
	e, err := planner.BindExpr(b.x.reader(), &env, rel, st, use, c)
	if err != nil {
		return err
	}
	b.deps = append(b.deps, pendingDeps{attno: attno, list: b.x.dependencies(rel, e)})
	return nil
}
