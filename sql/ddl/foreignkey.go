package ddl

import (
	"herd/engine/lock"
	"herd/planner"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/catalog/pgdata"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// foreignKey adds a FOREIGN KEY to rel, which is stored already.
func (x *executor) foreignKey(rel *catalog.Relation, k *ast.Constraint, column string, names map[string]bool) (*catalog.Constraint, error) {
	f := k.Ref
	if f.Match == ast.MatchPartial {
		return nil, x.at(k.Off, sqlerr.FeatureNotSupported, "MATCH PARTIAL not yet implemented")
	}
	ref, err := x.referenced(rel, f)
	if err != nil {
		return nil, err
	}
	con := &catalog.Constraint{Name: k.Name, Type: 'f', Ref: ref.OID, Match: 's', OnDelete: fkActions[f.OnDelete], OnUpdate: fkActions[f.OnUpdate],
		Deferrable: k.Deferrable, InitiallyDeferred: k.InitiallyDeferred, Validated: !k.NotValid}
	if f.Match == ast.MatchFull {
		con.Match = 'f'
	}
	keys := k.Keys
	if column != "" {
		keys = []string{column}
	}
	if con.Cols, err = fkColumns(rel, keys); err != nil {
		return nil, err
	}
	if con.OnDeleteCols, err = fkColumns(rel, f.DeleteSet); err != nil {
		return nil, err
	}
	for i, n := range con.OnDeleteCols {
		if !contains(con.Cols, n) {
			return nil, sqlerr.New(sqlerr.InvalidColumnReference, "column \"%s\" referenced in ON DELETE SET action must be part of foreign key", f.DeleteSet[i])
		}
	}
	if err := x.referencedKey(ref, con, f); err != nil {
		return nil, err
	}
	if con.Name == "" {
		con.Name, err = x.chooseName(rel, keys, "fkey", names)
	} else {
		err = x.freeConstraint(rel, con.Name, nil)
	}
	if err != nil {
		return nil, err
	}
	if err := x.matchTypes(rel, ref, con); err != nil {
		return nil, err
	}
	names[con.Name] = true
	rel.Constraints = append(rel.Constraints, con)
	return con, nil
}

var fkActions = map[ast.FKAction]byte{ast.FKNoAction: 'a', ast.FKRestrict: 'r', ast.FKCascade: 'c', ast.FKSetNull: 'n', ast.FKSetDefault: 'd'}

func contains(list []int16, n int16) bool {
	for _, v := range list {
		if v == n {
			return true
		}
	}
	return false
}

// referenced finds, locks and checks the table that a foreign key refers to.
func (x *executor) referenced(rel *catalog.Relation, f *ast.ForeignKey) (*catalog.Relation, error) {
	if rel.Persistence == 't' && f.Table.Schema == "" && f.Table.Name == rel.Name {
		return rel, nil // temporary tables come first, and the session's first one is not in the statement's path yet
	}
	ref, err := x.find(f.Table)
	if err != nil {
		return nil, err
	}
	if ref == nil {
		return nil, x.missing(f.Table)
	}
	if ref.Kind != catalog.KindTable {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "referenced relation \"%s\" is not a table", ref.Name)
	}
	if ref.OID < firstUser {
		return nil, sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied: \"%s\" is a system catalog", ref.Name)
	}
	if ref.OID == rel.OID {
		return rel, nil
	}
	if ref, err = x.lockOID(ref.OID, lock.ShareRowExclusive); err != nil {
		return nil, err
	}
	switch {
	case rel.Persistence == 'p' && ref.Persistence != 'p':
		return nil, sqlerr.New(sqlerr.InvalidTableDefinition, "constraints on permanent tables may reference only permanent tables")
	case rel.Persistence == 'u' && ref.Persistence == 't':
		return nil, sqlerr.New(sqlerr.InvalidTableDefinition, "constraints on unlogged tables may reference only permanent or unlogged tables")
	case rel.Persistence == 't' && ref.Persistence != 't':
		return nil, sqlerr.New(sqlerr.InvalidTableDefinition, "constraints on temporary tables may reference only temporary tables")
	}
	return ref, x.mayReference(ref)
}

// mayReference checks the right to refer to a table.
func (x *executor) mayReference(ref *catalog.Relation) error {
	if x.User.Super {
		return nil
	}
	set, err := catalog.MembersOf(x.reader(), x.User.OID)
	if err != nil {
		return err
	}
	privs, _ := catalog.Granted(catalog.EffectiveACL(ref.ACL, 'r', ref.Owner), ref.Owner, set)
	if set[ref.Owner] || privs&catalog.PrivReferences != 0 {
		return nil
	}
	return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied for table %s", ref.Name)
}

func fkColumns(rel *catalog.Relation, names []string) ([]int16, error) {
	var out []int16
	for _, n := range names {
		c := rel.ColumnByName(n)
		if c == nil {
			return nil, sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" referenced in foreign key constraint does not exist", n)
		}
		out = append(out, c.Num)
	}
	return out, nil
}

// referencedKey finds the unique key that a foreign key refers to.
func (x *executor) referencedKey(ref *catalog.Relation, con *catalog.Constraint, f *ast.ForeignKey) error {
	if len(f.Columns) == 0 {
		if ref.PrimaryKey == nil {
			return sqlerr.New(sqlerr.UndefinedObject, "there is no primary key for referenced table \"%s\"", ref.Name)
		}
		for _, k := range ref.PrimaryKey.Keys {
			con.RefCols = append(con.RefCols, k.Attno)
		}
		con.Index = ref.PrimaryKey.OID
	} else {
		var err error
		if con.RefCols, err = fkColumns(ref, f.Columns); err != nil {
			return err
		}
		for i, n := range con.RefCols {
			if contains(con.RefCols[:i], n) {
				return sqlerr.New(sqlerr.InvalidForeignKey, "foreign key referenced-columns list must not contain duplicates")
			}
		}
		deferrable := false
		for _, ix := range ref.AllIndexes() {
			if ix.State != catalog.IndexValid || !uniqueOver(ix, con.RefCols) {
				continue
			}
			if ix.Deferrable {
				deferrable = true
				continue
			}
			con.Index = ix.OID
			break
		}
		if con.Index == 0 {
			if deferrable {
				return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "cannot use a deferrable unique constraint for referenced table \"%s\"", ref.Name)
			}
			return sqlerr.New(sqlerr.InvalidForeignKey, "there is no unique constraint matching given keys for referenced table \"%s\"", ref.Name)
		}
	}
	if len(con.RefCols) != len(con.Cols) {
		return sqlerr.New(sqlerr.InvalidForeignKey, "number of referencing and referenced columns for foreign key disagree")
	}
	return nil
}

// uniqueOver says whether an index makes exactly the given columns unique, in any order.
func uniqueOver(ix *catalog.Index, cols []int16) bool {
	if !ix.Unique || ix.Pred != "" || len(ix.Keys) != len(cols) {
		return false
	}
	for _, k := range ix.Keys {
		if k.Attno == 0 || !contains(cols, k.Attno) {
			return false
		}
	}
	return true
}

// matchTypes finds the equality operator, parent = child, of each pair of columns.
func (x *executor) matchTypes(rel, ref *catalog.Relation, con *catalog.Constraint) error {
	for i := range con.Cols {
		c, r := rel.Column(con.Cols[i]), ref.Column(con.RefCols[i])
		op := x.equality(r.Type, c.Type)
		if op == 0 {
			return sqlerr.New(sqlerr.DatatypeMismatch, "foreign key constraint \"%s\" cannot be implemented", con.Name).
				WithDetail("Key columns \"%s\" and \"%s\" are of incompatible types: %s and %s.", c.Name, r.Name, x.typeText(c.Type), x.typeText(r.Type))
		}
		con.EqOps = append(con.EqOps, op)
	}
	_, err := planner.ForeignKeyCasts(x.reader(), x.Bind, con, rel, ref)
	return err
}

// equality finds the btree equality of parent and child types, through binary-coercible casts if need be.
func (x *executor) equality(parent, child types.OID) types.OID {
	parent, child = x.baseType(parent), x.baseType(child)
	oc := pgdata.DefaultOpclass(parent, pgdata.BTree, x.pgLookup)
	if oc == nil {
		return 0
	}
	if op := pgdata.AmopMember(oc.Family, parent, child, 3); op != 0 {
		return op
	}
	if t := pgdata.TypeByOID(oc.InType); t != nil && t.Type == 'p' && parent != child {
		return 0 // two enum, array or row types
	}
	if pgdata.IsBinaryCoercible(child, oc.InType, x.pgLookup) || parent == child {
		return pgdata.AmopMember(oc.Family, oc.InType, oc.InType, 3)
	}
	// An implicit cast of the child's type to the parent's will do.
	if cast := pgdata.CastByTypes(child, parent); cast != nil && cast.Context == 'i' {
		return pgdata.AmopMember(oc.Family, oc.InType, oc.InType, 3)
	}
	return 0
}

// baseType looks through domains.
func (x *executor) baseType(id types.OID) types.OID {
	for range 64 {
		t, err := x.reader().TypeByOID(id)
		if err != nil || t == nil || t.Type != 'd' {
			return id
		}
		id = t.BaseType
	}
	return id
}
