package ddl

import (
	"strconv"
	"strings"

	"herd/planner"
	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/catalog/pgdata"
	"herd/sql/deparse"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

var storedPath = deparse.StoredPath

func literal(s string) string { return deparse.Literal(s) }

// tableConstraint adds a constraint to a table under construction; column is the column it was written at, or "".
func (b *tableBuild) tableConstraint(k *ast.Constraint, column string) error {
	switch k.Kind {
	case ast.ConCheck:
		con, deps, err := b.x.check(b.rel, k, column, b.names)
		if err != nil {
			return err
		}
		con.Validated = true // there are no rows
		b.rel.Constraints = append(b.rel.Constraints, con)
		b.deps = append(b.deps, pendingDeps{name: con.Name, list: deps})
		return nil
	case ast.ConPrimaryKey, ast.ConUnique:
		_, err := b.x.keyConstraint(b.rel, k, column, b.names)
		return err
	case ast.ConForeignKey:
		b.keys = append(b.keys, pendingKey{k, column})
		return nil
	case ast.ConExclude:
		return sqlerr.Unsupported("EXCLUDE constraint")
	}
	return sqlerr.Unsupported("constraint kind %d", k.Kind)
}

// check makes a CHECK constraint of rel; its references have relation 0 while rel has no identifier.
func (x *executor) check(rel *catalog.Relation, k *ast.Constraint, column string, names map[string]bool) (*catalog.Constraint, []catalog.Dependency, error) {
	bound, err := x.bindExpr(rel, k.Expr, planner.UseCheck, nil)
	if err != nil {
		return nil, nil, err
	}
	text, err := x.store(rel, bound)
	if err != nil {
		return nil, nil, err
	}
	con := &catalog.Constraint{Name: k.Name, Type: 'c', Expr: text, NoInherit: k.NoInherit, Cols: columnsOf(bound), Validated: !k.NotValid}
	if con.Name == "" {
		part := column
		if part == "" && len(con.Cols) == 1 {
			part = rel.Columns[con.Cols[0]-1].Name
		}
		con.Name, err = x.chooseConstraintName(rel, part, "check", names)
	} else {
		if old := rel.ConstraintByName(con.Name); old != nil && old.Type == 'c' && old.OID == 0 {
			return nil, nil, sqlerr.New(sqlerr.DuplicateObject, "check constraint \"%s\" already exists", con.Name)
		}
		err = x.freeConstraint(rel, con.Name, names)
	}
	if err != nil {
		return nil, nil, err
	}
	names[con.Name] = true
	return con, x.dependencies(rel, bound), nil
}

// storedCheck copies a check of another table with the same column names.
func (b *tableBuild) storedCheck(k *catalog.Constraint) error {
	st, err := b.x.Bind.ParseExpr(k.Expr)
	if err != nil {
		return err
	}
	env := *b.x.Bind
	env.Text, env.Path = "", storedPath
	e, err := planner.BindExpr(b.x.reader(), &env, b.rel, st, planner.UseCheck, nil)
	if err != nil {
		return err
	}
	if err := b.x.freeConstraint(b.rel, k.Name, b.names); err != nil {
		return err
	}
	b.names[k.Name] = true
	b.rel.Constraints = append(b.rel.Constraints, &catalog.Constraint{Name: k.Name, Type: 'c', Expr: k.Expr, NoInherit: k.NoInherit, Cols: columnsOf(e), Validated: true})
	b.deps = append(b.deps, pendingDeps{name: k.Name, list: b.x.dependencies(b.rel, e)})
	return nil
}

// columnsOf lists the columns that an expression over one relation uses, in order of number.
func columnsOf(e plan.Expr) []int16 {
	seen := map[int16]bool{}
	last := int16(0)
	visit(e, func(n plan.Expr) {
		if v, ok := n.(*plan.Var); ok && v.Attno > 0 {
			seen[int16(v.Attno)] = true
			last = max(last, int16(v.Attno))
		}
	})
	var out []int16
	for n := int16(1); n <= last; n++ {
		if seen[n] {
			out = append(out, n)
		}
	}
	return out
}

// freeConstraint checks that a table has no constraint of the name.
func (x *executor) freeConstraint(rel *catalog.Relation, name string, names map[string]bool) error {
	if names[name] || rel.ConstraintByName(name) != nil {
		return sqlerr.New(sqlerr.DuplicateObject, "constraint \"%s\" for relation \"%s\" already exists", name, rel.Name)
	}
	return nil
}

// keyConstraint adds PRIMARY KEY or UNIQUE: constraint and index. For a primary key the columns become NOT NULL.
func (x *executor) keyConstraint(rel *catalog.Relation, k *ast.Constraint, column string, names map[string]bool) (*catalog.Index, error) {
	primary := k.Kind == ast.ConPrimaryKey
	if primary && rel.PrimaryKey != nil {
		at := k.Off
		if rel.OID != 0 {
			at = ast.NoPos // PostgreSQL finds this later for a table that exists
		}
		return nil, x.at(at, sqlerr.InvalidTableDefinition, "multiple primary keys for table \"%s\" are not allowed", rel.Name)
	}
	if primary && k.Deferrable {
		return nil, sqlerr.Unsupported("a deferrable primary key")
	}
	if k.IndexName != "" {
		return x.keyUsingIndex(rel, k, names)
	}
	opts, err := relOptions(k.Options)
	if err != nil {
		return nil, err
	}
	ix := &catalog.Index{Unique: true, Primary: primary, NullsNotDistinct: k.NullsNotDistinct, Deferrable: k.Deferrable,
		InitiallyDeferred: k.InitiallyDeferred, Method: "btree", Options: opts, Name: k.Name}
	keys := k.Keys
	if column != "" {
		keys = []string{column}
	}
	if err := x.keyColumns(rel, ix, k, keys); err != nil {
		return nil, err
	}
	if err := x.nameKey(rel, ix, keys, names); err != nil {
		return nil, err
	}
	x.attachKey(rel, ix)
	return ix, nil
}

// attachKey puts an index and its constraint into the descriptor.
func (x *executor) attachKey(rel *catalog.Relation, ix *catalog.Index) {
	con := &catalog.Constraint{Name: ix.Name, Type: 'u', Deferrable: ix.Deferrable, InitiallyDeferred: ix.InitiallyDeferred, Validated: true, Index: ix.OID}
	if ix.Primary {
		con.Type = 'p'
		rel.PrimaryKey = ix
	} else {
		rel.Indexes = append(rel.Indexes, ix)
	}
	for _, key := range ix.Keys {
		con.Cols = append(con.Cols, key.Attno)
	}
	rel.Constraints = append(rel.Constraints, con)
}

// keyColumns fills an index of a constraint with its columns.
func (x *executor) keyColumns(rel *catalog.Relation, ix *catalog.Index, k *ast.Constraint, keys []string) error {
	what := "unique constraint"
	if ix.Primary {
		what = "primary key constraint"
	}
	for _, name := range keys {
		c := rel.ColumnByName(name)
		if c == nil {
			return x.at(k.Off, sqlerr.UndefinedColumn, "column \"%s\" named in key does not exist", name)
		}
		for _, other := range ix.Keys {
			if other.Attno == c.Num {
				return x.at(k.Off, sqlerr.DuplicateColumn, "column \"%s\" appears twice in %s", name, what)
			}
		}
		if ix.Primary {
			c.NotNull = true
		}
		key := catalog.IndexKey{Attno: c.Num, Type: c.Type, Collation: c.Collation}
		var err error
		if key.OpClass, err = x.defaultOpclass(c.Type); err != nil {
			return err
		}
		ix.Keys = append(ix.Keys, key)
	}
	for _, name := range k.Including {
		c := rel.ColumnByName(name)
		if c == nil {
			return x.at(k.Off, sqlerr.UndefinedColumn, "column \"%s\" named in key does not exist", name)
		}
		ix.Include = append(ix.Include, c.Num)
	}
	return nil
}

// defaultOpclass finds the btree operator class of a type.
func (x *executor) defaultOpclass(t types.OID) (types.OID, error) {
	oc := pgdata.DefaultOpclass(t, pgdata.BTree, x.pgLookup)
	if oc == nil {
		return 0, sqlerr.New(sqlerr.UndefinedObject, "data type %s has no default operator class for access method \"btree\"", x.typeText(t)).
			WithHint("You must specify an operator class for the index or define a default operator class for the data type.")
	}
	return oc.OID, nil
}

// nameKey names the index of a constraint, which has the constraint's name.
func (x *executor) nameKey(rel *catalog.Relation, ix *catalog.Index, keys []string, names map[string]bool) error {
	if ix.Name != "" {
		if err := x.freeConstraint(rel, ix.Name, names); err != nil {
			return err
		}
		if _, err := x.notThere(rel.Schema, ix.Name, false); err != nil {
			return err
		}
	} else {
		label, parts := "key", keys
		if ix.Primary {
			label, parts = "pkey", nil
		}
		var err error
		if ix.Name, err = x.chooseName(rel, parts, label, names); err != nil {
			return err
		}
	}
	names[ix.Name] = true
	return nil
}

// keyUsingIndex makes a unique index the index of a constraint.
func (x *executor) keyUsingIndex(rel *catalog.Relation, k *ast.Constraint, names map[string]bool) (*catalog.Index, error) {
	for i, ix := range rel.Indexes {
		if ix.Name != k.IndexName {
			continue
		}
		switch {
		case ix.Constraint != 0:
			return nil, x.at(k.Off, sqlerr.ObjectNotInPrerequisiteState, "index \"%s\" is already associated with a constraint", ix.Name)
		case !ix.Unique:
			return nil, x.at(k.Off, sqlerr.WrongObjectType, "\"%s\" is not a unique index", ix.Name).WithDetail("Cannot create a primary key or unique constraint using such an index.")
		case ix.Pred != "":
			return nil, x.at(k.Off, sqlerr.WrongObjectType, "\"%s\" is a partial index", ix.Name).WithDetail("Cannot create a primary key or unique constraint using such an index.")
		}
		for _, key := range ix.Keys {
			if key.Attno == 0 {
				return nil, x.at(k.Off, sqlerr.WrongObjectType, "index \"%s\" contains expressions", ix.Name).WithDetail("Cannot create a primary key or unique constraint using such an index.")
			}
		}
		if k.Name != "" && k.Name != ix.Name {
			x.notice(sqlerr.SuccessfulCompletion, "ALTER TABLE / ADD CONSTRAINT USING INDEX will rename index \"%s\" to \"%s\"", ix.Name, k.Name)
			ix.Name = k.Name
		}
		ix.Deferrable, ix.InitiallyDeferred = k.Deferrable, k.InitiallyDeferred
		if k.Kind == ast.ConPrimaryKey {
			ix.Primary = true
			rel.Indexes = append(rel.Indexes[:i], rel.Indexes[i+1:]...)
			for _, key := range ix.Keys {
				rel.Columns[key.Attno-1].NotNull = true
			}
			x.attachKey(rel, ix)
			return ix, nil
		}
		rel.Indexes = append(rel.Indexes[:i], rel.Indexes[i+1:]...)
		x.attachKey(rel, ix)
		names[ix.Name] = true
		return ix, nil
	}
	return nil, x.at(k.Off, sqlerr.UndefinedObject, "index \"%s\" does not exist", k.IndexName)
}

// makeName joins name1, name2 and label with underscores within 63 bytes, shortening the longer name.
func makeName(name1, name2, label string) string {
	const limit = 63
	extra := len(label) + 1
	if label == "" {
		extra = 0
	}
	if name2 != "" {
		extra++
	}
	n1, n2 := len(name1), len(name2)
	for n1+n2 > limit-extra {
		if n1 > n2 {
			n1--
		} else {
			n2--
		}
	}
	out := clipName(name1, n1)
	if name2 != "" {
		out += "_" + clipName(name2, n2)
	}
	if label != "" {
		out += "_" + label
	}
	return out
}

// clipName cuts a name to n bytes without splitting a character.
func clipName(s string, n int) string {
	if n >= len(s) {
		return s
	}
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:n]
}

// chooseName finds a free name for an index or key of a relation: no relation and no constraint in use has it.
func (x *executor) chooseName(rel *catalog.Relation, parts []string, label string, names map[string]bool) (string, error) {
	return x.choose(rel, strings.Join(parts, "_"), label, names, true)
}

// chooseConstraintName finds a free name for a constraint without index.
func (x *executor) chooseConstraintName(rel *catalog.Relation, part, label string, names map[string]bool) (string, error) {
	return x.choose(rel, part, label, names, false)
}

func (x *executor) choose(rel *catalog.Relation, part, label string, names map[string]bool, relations bool) (string, error) {
	if len(part) > 63 {
		part = clipName(part, 63)
	}
	for pass := 0; ; pass++ {
		l := label
		if pass > 0 {
			l += strconv.Itoa(pass)
		}
		name := makeName(rel.Name, part, l)
		if names[name] || rel.ConstraintByName(name) != nil {
			continue
		}
		if relations {
			other, err := x.reader().RelationByName(rel.Schema, name)
			if err != nil {
				return "", err
			}
			if other != nil {
				continue
			}
		}
		return name, nil
	}
}
