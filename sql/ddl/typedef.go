package ddl

import (
	"slices"

	"herd/planner"
	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/catalog/pgdata"
	"herd/sql/deparse"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// newType checks that a type's name is free in its schema.
func (x *executor) newType(n ast.Name) (types.OID, error) {
	schema, err := x.creationSchema(n, false)
	if err != nil {
		return 0, err
	}
	t, err := x.reader().TypeByName(schema, n.Name)
	if err == nil && t != nil {
		err = sqlerr.New(sqlerr.DuplicateObject, "type \"%s\" already exists", n.Name)
	}
	return schema, err
}

func (x *executor) createEnum(s *ast.CreateEnum) error {
	schema, err := x.newType(s.Name)
	if err != nil {
		return err
	}
	for i, l := range s.Labels {
		if err := enumLabel(l); err != nil {
			return err
		}
		if slices.Contains(s.Labels[:i], l) {
			return sqlerr.New(sqlerr.UniqueViolation, "duplicate key value violates unique constraint \"pg_enum_typid_label_index\"")
		}
	}
	return x.Writer.CreateType(catalog.NewEnum(schema, x.User.OID, s.Name.Name, s.Labels))
}

func enumLabel(l string) error {
	if len(l) > 63 {
		return sqlerr.New(sqlerr.InvalidName, "invalid enum label \"%s\"", l).WithDetail("Labels must be 63 bytes or less.")
	}
	return nil
}

// userType finds a type that the user owns.
func (x *executor) userType(n ast.Name) (*catalog.Type, error) {
	t, err := x.reader().LookupType(n.Schema, n.Name, x.Bind.Path)
	if err != nil {
		return nil, err
	}
	if t == nil {
		return nil, sqlerr.New(sqlerr.UndefinedObject, "type \"%s\" does not exist", n.String())
	}
	if t.OID < firstUser {
		return nil, sqlerr.New(sqlerr.InsufficientPrivilege, "must be owner of type %s", x.typeText(t.OID))
	}
	return t, x.ownerOf(t.Owner, "type", t.Name)
}

func (x *executor) alterEnum(s *ast.AlterEnum) error {
	old, err := x.userType(s.Name)
	if err != nil {
		return err
	}
	if old.Type != 'e' {
		return sqlerr.New(sqlerr.WrongObjectType, "%s is not an enum", s.Name.String())
	}
	now := *old
	now.Labels = slices.Clone(old.Labels)
	at := func(name string) int {
		return slices.IndexFunc(now.Labels, func(l pgdata.EnumLabel) bool { return l.Name == name })
	}
	if s.Old != "" {
		i := at(s.Old)
		if i < 0 {
			return sqlerr.New(sqlerr.InvalidParameterValue, "\"%s\" is not an existing enum label", s.Old)
		}
		if at(s.New) >= 0 {
			return sqlerr.New(sqlerr.DuplicateObject, "enum label \"%s\" already exists", s.New)
		}
		now.Labels[i].Name = s.New
		return x.Writer.UpdateType(old, &now)
	}
	if err := enumLabel(s.New); err != nil {
		return err
	}
	if at(s.New) >= 0 {
		if s.IfNotExists {
			x.notice(sqlerr.DuplicateObject, "enum label \"%s\" already exists, skipping", s.New)
			return nil
		}
		return sqlerr.New(sqlerr.DuplicateObject, "enum label \"%s\" already exists", s.New)
	}
	i := len(now.Labels)
	if s.Neighbor != "" {
		if i = at(s.Neighbor); i < 0 {
			return sqlerr.New(sqlerr.InvalidParameterValue, "\"%s\" is not an existing enum label", s.Neighbor)
		}
		if s.After {
			i++
		}
	}
	now.Labels = slices.Insert(now.Labels, i, pgdata.EnumLabel{Name: s.New, Sort: labelOrder(now.Labels, i)})
	if err := x.Writer.UpdateType(old, &now); err != nil {
		return err
	}
	if x.OnLabel != nil {
		x.OnLabel(now.Labels[i].OID)
	}
	return nil
}

// labelOrder is a sort position for a label inserted at i.
func labelOrder(labels []pgdata.EnumLabel, i int) float64 {
	switch {
	case len(labels) == 0:
		return 1
	case i == 0:
		return labels[0].Sort - 1
	case i == len(labels):
		return labels[i-1].Sort + 1
	}
	return (labels[i-1].Sort + labels[i].Sort) / 2
}

func (x *executor) createComposite(s *ast.CreateComposite) error {
	schema, err := x.newType(s.Name)
	if err != nil {
		return err
	}
	rel := &catalog.Relation{Name: s.Name.Name, Schema: schema, Kind: catalog.KindComposite, Owner: x.User.OID, Persistence: 'p'}
	for _, d := range s.Columns {
		if rel.ColumnByName(d.Name) != nil {
			return sqlerr.New(sqlerr.DuplicateColumn, "column \"%s\" specified more than once", d.Name)
		}
		c, serial, err := x.column(d)
		if err != nil {
			return err
		}
		if serial != 0 {
			return x.at(d.Type.Off, sqlerr.UndefinedObject, "type \"%s\" does not exist", d.Type.Name.Name)
		}
		c.Num = int16(len(rel.Columns) + 1)
		rel.Columns = append(rel.Columns, c)
	}
	return x.Writer.CreateRelation(rel)
}

func (x *executor) createDomain(s *ast.CreateDomain) error {
	schema, err := x.newType(s.Name)
	if err != nil {
		return err
	}
	id, mod, err := x.typeOf(s.Type)
	if err != nil {
		return err
	}
	base, err := x.typeInfo(id)
	if err != nil {
		return err
	}
	if base.Type == 'p' {
		return sqlerr.New(sqlerr.DatatypeMismatch, "\"%s\" is not a valid base type for a domain", x.typeText(id))
	}
	coll, err := x.collationOf(s.Collation, id)
	if err != nil {
		return err
	}
	t := catalog.NewDomain(schema, x.User.OID, s.Name.Name, base, mod, coll)
	seenNull := false
	for _, k := range s.Constraints {
		switch k.Kind {
		case ast.ConNotNull, ast.ConNull:
			notNull := k.Kind == ast.ConNotNull
			if seenNull && t.NotNull != notNull {
				return sqlerr.New(sqlerr.SyntaxError, "conflicting NULL/NOT NULL constraints")
			}
			seenNull, t.NotNull = true, notNull
		case ast.ConDefault:
			if t.Default != "" {
				return sqlerr.New(sqlerr.SyntaxError, "multiple default expressions")
			}
			if t.Default, err = x.domainDefault(id, mod, coll, k.Expr); err != nil {
				return err
			}
		case ast.ConCheck:
			if err := x.domainCheck(t, k); err != nil {
				return err
			}
		default:
			return sqlerr.New(sqlerr.SyntaxError, "%s constraints not possible for domains", conWord(k.Kind))
		}
	}
	return x.Writer.CreateType(t)
}

func conWord(k ast.ConstraintKind) string {
	switch k {
	case ast.ConPrimaryKey:
		return "primary key"
	case ast.ConUnique:
		return "unique"
	case ast.ConForeignKey:
		return "foreign key"
	}
	return "exclusion"
}

func (x *executor) domainDefault(base types.OID, mod types.Typmod, coll types.OID, e ast.Expr) (string, error) {
	c := &catalog.Column{Name: "value", Type: base, Typmod: mod, Collation: coll}
	_, text, err := x.defaultText(c, e)
	return text, err
}

// domainCheck adds a CHECK to a domain. VALUE is bound as the only column of a relation.
func (x *executor) domainCheck(t *catalog.Type, k *ast.Constraint) error {
	rel := &catalog.Relation{Name: t.Name, Kind: catalog.KindComposite, Columns: []catalog.Column{{Num: 1, Name: "value", Type: t.BaseType, Typmod: t.Typmod, Collation: t.Collation}}}
	e, err := x.bindExpr(rel, k.Expr, planner.UseCheck, nil)
	if err != nil {
		return err
	}
	text, err := deparse.Expr(&deparse.Env{Cat: x.reader(), Path: deparse.StoredPath, Store: true, Database: x.Database}, domainValue(rel), e)
	if err != nil {
		return err
	}
	name := k.Name
	taken := func(n string) bool {
		return slices.ContainsFunc(t.Checks, func(c pgdata.TypeCheck) bool { return c.Name == n })
	}
	if name == "" {
		base := &catalog.Relation{Name: t.Name}
		used := map[string]bool{}
		for _, c := range t.Checks {
			used[c.Name] = true
		}
		if name, err = x.chooseConstraintName(base, "", "check", used); err != nil {
			return err
		}
	} else if taken(name) {
		return sqlerr.New(sqlerr.DuplicateObject, "constraint \"%s\" for domain \"%s\" already exists", name, t.Name)
	}
	t.Checks = append(t.Checks, pgdata.TypeCheck{Name: name, Expr: text, Validated: !k.NotValid})
	return nil
}

// domainValue is a relation whose column prints as VALUE.
func domainValue(rel *catalog.Relation) *catalog.Relation {
	c := rel.Clone()
	c.Columns[0].Name = deparse.DomainValue
	return c
}

func (x *executor) alterDomain(s *ast.AlterDomain) error {
	old, err := x.userType(s.Name)
	if err != nil {
		return err
	}
	if old.Type != 'd' {
		return sqlerr.New(sqlerr.WrongObjectType, "%s is not a domain", s.Name.String())
	}
	now := *old
	now.Checks = slices.Clone(old.Checks)
	verify := false
	switch s.Kind {
	case ast.DomainSetDefault:
		if now.Default, err = x.domainDefault(old.BaseType, old.Typmod, old.Collation, s.Expr); err != nil {
			return err
		}
	case ast.DomainDropDefault:
		now.Default = ""
	case ast.DomainSetNotNull:
		verify, now.NotNull = !old.NotNull, true
	case ast.DomainDropNotNull:
		now.NotNull = false
	case ast.DomainAddConstraint:
		if s.Constraint.Kind != ast.ConCheck {
			return sqlerr.New(sqlerr.SyntaxError, "%s constraints not possible for domains", conWord(s.Constraint.Kind))
		}
		verify = !s.Constraint.NotValid
		if err := x.domainCheck(&now, s.Constraint); err != nil {
			return err
		}
	case ast.DomainDropConstraint:
		i := slices.IndexFunc(now.Checks, func(c pgdata.TypeCheck) bool { return c.Name == s.Sub })
		if i < 0 {
			if s.IfExists {
				x.notice(sqlerr.SuccessfulCompletion, "constraint \"%s\" of domain \"%s\" does not exist, skipping", s.Sub, now.Name)
				return nil
			}
			return sqlerr.New(sqlerr.UndefinedObject, "constraint \"%s\" of domain \"%s\" does not exist", s.Sub, now.Name)
		}
		now.Checks = slices.Delete(now.Checks, i, i+1)
	case ast.DomainValidateConstraint:
		i := slices.IndexFunc(now.Checks, func(c pgdata.TypeCheck) bool { return c.Name == s.Sub })
		if i < 0 {
			return sqlerr.New(sqlerr.UndefinedObject, "constraint \"%s\" of domain \"%s\" does not exist", s.Sub, now.Name)
		}
		verify, now.Checks[i].Validated = true, true
	}
	if err := x.Writer.UpdateType(old, &now); err != nil {
		return err
	}
	if verify {
		return x.domainUsers(&now)
	}
	return nil
}

// domainUsers verifies the values that tables have in columns of a domain.
func (x *executor) domainUsers(t *catalog.Type) error {
	if err := x.domainUnnested(t); err != nil {
		return err
	}
	var rels []*catalog.Relation
	err := x.reader().Relations(func(r *catalog.Relation) bool {
		if r.Kind == catalog.KindTable {
			for i := range r.Columns {
				if r.Columns[i].Type == t.OID && !r.Columns[i].Dropped {
					rels = append(rels, r)
					return true
				}
			}
		}
		return true
	})
	if err != nil {
		return err
	}
	for _, rel := range rels {
		if err := x.domainColumn(rel, t); err != nil {
			return err
		}
	}
	return nil
}

func (x *executor) domainColumn(rel *catalog.Relation, t *catalog.Type) error {
	value := &catalog.Relation{Name: t.Name, Kind: catalog.KindComposite, Columns: []catalog.Column{{Num: 1, Name: "value", Type: t.BaseType, Typmod: t.Typmod, Collation: t.Collation}}}
	var list []plan.Expr
	for _, k := range t.Checks {
		st, err := x.Bind.ParseExpr(k.Expr)
		if err != nil {
			return err
		}
		env := *x.Bind
		env.Text, env.Path = "", storedPath
		e, err := planner.BindExpr(x.reader(), &env, value, st, planner.UseCheck, nil)
		if err != nil {
			return err
		}
		list = append(list, e)
	}
	ev, err := x.rowExprs(list)
	if err != nil {
		return err
	}
	return x.scan(rel, func(_ []byte, vals []types.Datum) error {
		for i := range rel.Columns {
			if rel.Columns[i].Type != t.OID || rel.Columns[i].Dropped {
				continue
			}
			if t.NotNull && vals[i].Null {
				return sqlerr.New(sqlerr.NotNullViolation, "column \"%s\" of table \"%s\" contains null values", rel.Columns[i].Name, rel.Name).
					WithTable(x.schemaName(rel.Schema), rel.Name).WithColumn(rel.Columns[i].Name)
			}
			if len(list) == 0 {
				continue
			}
			out, err := ev.row(vals[i : i+1])
			if err != nil {
				return err
			}
			for _, v := range out {
				if !v.Null && !v.Bool() {
					return sqlerr.New(sqlerr.CheckViolation, "column \"%s\" of table \"%s\" contains values that violate the new constraint", rel.Columns[i].Name, rel.Name).
						WithTable(x.schemaName(rel.Schema), rel.Name).WithColumn(rel.Columns[i].Name)
				}
			}
		}
		return nil
	})
}

func (x *executor) renameType(s *ast.Rename) error {
	old, err := x.userType(s.Object.Name)
	if err != nil {
		return err
	}
	if old.Relid != 0 {
		rel, err := x.reader().RelationByOID(old.Relid)
		if err != nil {
			return err
		}
		if rel.Kind != catalog.KindComposite {
			return sqlerr.New(sqlerr.WrongObjectType, "%s is a table's row type", old.Name).WithHint("Use ALTER TABLE instead.")
		}
		now := rel.Clone()
		now.Name = s.New
		return x.Writer.UpdateRelation(rel, now)
	}
	now := *old
	now.Name = s.New
	refs, err := x.typeRefs(old.OID)
	if err != nil {
		return err
	}
	if err := x.Writer.UpdateType(old, &now); err != nil {
		return err
	}
	return x.restore(refs)
}

// typeRefs lists texts that mention a type.
func (x *executor) typeRefs(id types.OID) ([]restored, error) {
	return x.dependentsOf(catalog.ClassType, id, 0)
}

func (x *executor) renameDomainConstraint(s *ast.Rename) error {
	old, err := x.userType(s.Object.Name)
	if err != nil {
		return err
	}
	now := *old
	now.Checks = slices.Clone(old.Checks)
	i := slices.IndexFunc(now.Checks, func(c pgdata.TypeCheck) bool { return c.Name == s.Old })
	if i < 0 {
		return sqlerr.New(sqlerr.UndefinedObject, "constraint \"%s\" for domain %s does not exist", s.Old, old.Name)
	}
	now.Checks[i].Name = s.New
	return x.Writer.UpdateType(old, &now)
}

func (x *executor) typeToSchema(s *ast.AlterObjectSchema, to *catalog.Schema) error {
	old, err := x.userType(s.Object.Name)
	if err != nil {
		return err
	}
	if to == nil {
		return sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", s.Schema)
	}
	if old.Relid != 0 {
		rel, err := x.reader().RelationByOID(old.Relid)
		if err != nil {
			return err
		}
		return x.moveRelation(rel, to)
	}
	refs, err := x.typeRefs(old.OID)
	if err != nil {
		return err
	}
	now := *old
	now.Namespace = to.OID
	if err := x.Writer.UpdateType(old, &now); err != nil {
		return err
	}
	return x.restore(refs)
}
