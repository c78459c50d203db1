package ddl

import (
	"slices"

	"herd/engine/lock"
	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/storage"
)

// alterBuild is a table under change. Subcommands change rel, a clone; flush stores it and does what that means for the rows.
type alterBuild struct {
	*tableBuild
	old     *catalog.Relation
	changed bool
	rewrite bool
	// computed are columns whose value of an existing row is computed: over the old row's columns.
	computed map[int16]plan.Expr
	notNull  []int16
	checks   []string   // names of constraints to verify
	indexes  []string   // names of new indexes
	verify   []string   // names of foreign keys to verify
	retyped  []string   // names of foreign keys with a column whose type changes
	children []childKey // foreign keys of other tables that refer to such a column
	refs     []restored // stored texts to write again when the change is stored
}

func (x *executor) alterTable(s *ast.AlterTable) error {
	rel, err := x.locked(s.Table.Name, alterLock(s), s.IfExists, func(rel *catalog.Relation) error { return x.alterable(rel, s.Kind) })
	if rel == nil || err != nil {
		return err
	}
	if err := x.alterable(rel, s.Kind); err != nil {
		return err
	}
	b := x.alterBuild(rel)
	for i := range s.Cmds {
		if err := b.command(&s.Cmds[i]); err != nil {
			return err
		}
	}
	return b.flush()
}

// alterLock is the lock of the strongest subcommand; only those that leave rows and readers alone take less.
func alterLock(s *ast.AlterTable) lock.Mode {
	m := lock.ShareUpdateExclusive
	for i := range s.Cmds {
		m = max(m, commandLock(&s.Cmds[i]))
	}
	return m
}

// commandLock is the lock of one subcommand, as PostgreSQL's manual has it.
func commandLock(c *ast.AlterCmd) lock.Mode {
	switch c.Kind {
	case ast.AlterSetStatistics, ast.AlterValidateConstraint, ast.AlterSetOptions, ast.AlterResetOptions, ast.AlterSetColumnOptions,
		ast.AlterResetColumnOptions, ast.AlterClusterOn, ast.AlterDropCluster:
		return lock.ShareUpdateExclusive
	case ast.AlterTrigger:
		return lock.ShareRowExclusive
	case ast.AlterAddConstraint:
		if c.Constraint != nil && c.Constraint.Kind == ast.ConForeignKey {
			return lock.ShareRowExclusive // readers go on; writers of both tables would miss the new key
		}
	}
	return lock.AccessExclusive
}

// alterable checks that the statement's word fits the relation.
func (x *executor) alterable(rel *catalog.Relation, kind ast.ObjectKind) error {
	wrong := func(what string) error {
		return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not %s", rel.Name, what)
	}
	switch {
	case kind == ast.ObjView && rel.Kind != catalog.KindView:
		return wrong("a view")
	case kind == ast.ObjSequence && rel.Kind != catalog.KindSequence:
		return wrong("a sequence")
	case kind == ast.ObjIndex && rel.Kind != catalog.KindIndex:
		return wrong("an index")
	case kind == ast.ObjMatView && rel.Kind != catalog.KindMatView:
		return wrong("a materialized view")
	case kind == ast.ObjType && rel.Kind != catalog.KindComposite:
		return wrong("a composite type")
	}
	return x.own(rel)
}

func (x *executor) alterBuild(rel *catalog.Relation) *alterBuild {
	b := &alterBuild{tableBuild: &tableBuild{x: x}}
	b.load(rel)
	return b
}

// load starts over from a stored descriptor.
func (b *alterBuild) load(rel *catalog.Relation) {
	b.old, b.rel = rel, rel.Clone()
	b.owned, b.names, b.computed = map[int16]*catalog.Relation{}, map[string]bool{}, map[int16]plan.Expr{}
	b.deps, b.keys, b.notNull, b.checks, b.indexes, b.verify, b.refs = nil, nil, nil, nil, nil, nil, nil
	b.retyped, b.children = nil, nil
	b.changed, b.rewrite = false, false
}

// reload reads the descriptor again after something else changed it.
func (b *alterBuild) reload() error {
	rel, err := b.x.reader().RelationByOID(b.old.OID)
	if err != nil {
		return err
	}
	if rel == nil {
		return sqlerr.Internal("relation %d is gone", b.old.OID)
	}
	b.load(rel)
	return nil
}

// flush stores what has been gathered and changes or checks the rows.
func (b *alterBuild) flush() error {
	if !b.changed {
		return nil
	}
	x := b.x
	view := x.Tx.Newest()
	release := x.hold(view)
	defer release()
	if b.rewrite {
		newTrees(b.rel)
	}
	if err := x.Writer.UpdateRelation(b.old, b.rel); err != nil {
		return err
	}
	for attno, seq := range b.owned {
		if err := x.ownSequence(seq.OID, b.rel.OID, attno, b.rel.Columns[attno-1].Identity != 0); err != nil {
			return err
		}
	}
	if err := x.writeDeps(b.rel, b.deps); err != nil {
		return err
	}
	stored, err := x.reader().RelationByOID(b.rel.OID)
	if err != nil {
		return err
	}
	if b.rewrite {
		if err := b.checkOld(view); err != nil {
			return err
		}
		change, err := b.rowChange(stored)
		if err != nil {
			return err
		}
		if err := x.rewriteRows(view, b.old, stored, change); err != nil {
			return err
		}
	} else {
		for _, ix := range stored.Indexes {
			if slices.Contains(b.indexes, ix.Name) {
				if err := x.backfill(stored, ix); err != nil {
					return err
				}
			}
		}
	}
	if err := b.verifyRows(stored); err != nil {
		return err
	}
	if err := x.restore(b.refs); err != nil {
		return err
	}
	return b.reload()
}

// checkOld looks for nulls in columns that must have none before the rows are written in the order of a key over them. What it has
// checked need not be checked again.
func (b *alterBuild) checkOld(view storage.View) error {
	var attnos, left []int16
	for _, n := range b.notNull {
		switch {
		case int(n) > len(b.old.Columns) || b.computed[n] != nil || b.rel.Columns[n-1].Generated != "":
			left = append(left, n)
		case !b.old.Columns[n-1].NotNull:
			attnos = append(attnos, n)
		}
	}
	b.notNull = left
	if len(attnos) == 0 {
		return nil
	}
	d := newRowDecoder(view, b.old)
	return b.x.scanRaw(view, b.old, func(_, r []byte) error {
		if err := d.some(r, attnos); err != nil {
			return err
		}
		return b.x.nulls(b.rel, attnos, d.vals)
	})
}

// verifyRows checks constraints that are new for existing rows.
func (b *alterBuild) verifyRows(stored *catalog.Relation) error {
	var checks []*catalog.Constraint
	for _, n := range b.checks {
		if k := stored.ConstraintByName(n); k != nil {
			checks = append(checks, k)
		}
	}
	if err := b.x.checkRows(stored, b.notNull, checks); err != nil {
		return err
	}
	names := b.verify
	if b.rewrite {
		names = append(names[:len(names):len(names)], b.retyped...)
	}
	for _, n := range names {
		if k := stored.ConstraintByName(n); k != nil {
			if err := b.x.checkKey(stored, k); err != nil {
				return err
			}
		}
	}
	return b.verifyChildren(stored)
}

// rowChange makes the function that computes new rows of old ones.
func (b *alterBuild) rowChange(stored *catalog.Relation) (func([]types.Datum) ([]types.Datum, error), error) {
	x := b.x
	var attnos []int16
	var list []plan.Expr
	for n := range stored.Columns {
		if e := b.computed[int16(n+1)]; e != nil {
			attnos, list = append(attnos, int16(n+1)), append(list, e)
		}
	}
	first, err := x.rowExprs(list)
	if err != nil {
		return nil, err
	}
	genAttnos, gens, err := x.generatedExprs(stored)
	if err != nil {
		return nil, err
	}
	second, err := x.rowExprs(gens)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 && len(gens) == 0 {
		return nil, nil
	}
	out := make([]types.Datum, len(stored.Columns))
	return func(vals []types.Datum) ([]types.Datum, error) {
		copy(out, vals)
		if len(list) > 0 {
			v, err := first.row(vals)
			if err != nil {
				return nil, err
			}
			for i, n := range attnos {
				out[n-1] = v[i]
			}
		}
		if len(gens) > 0 {
			v, err := second.row(out)
			if err != nil {
				return nil, err
			}
			for i, n := range genAttnos {
				out[n-1] = v[i]
			}
		}
		return out, nil
	}, nil
}

// generatedExprs binds a table's generated columns.
func (x *executor) generatedExprs(rel *catalog.Relation) (attnos []int16, list []plan.Expr, err error) {
	for i := range rel.Columns {
		c := &rel.Columns[i]
		if c.Generated == "" || c.Dropped {
			continue
		}
		e, err := x.generatedBound(rel, c)
		if err != nil {
			return nil, nil, err
		}
		attnos, list = append(attnos, c.Num), append(list, e)
	}
	return attnos, list, nil
}

// command applies one subcommand.
func (b *alterBuild) command(c *ast.AlterCmd) error {
	switch c.Kind {
	case ast.AlterAddColumn:
		return b.addColumnCmd(c)
	case ast.AlterDropColumn:
		return b.dropColumn(c)
	case ast.AlterSetDefault, ast.AlterDropDefault:
		return b.columnDefault(c)
	case ast.AlterSetNotNull, ast.AlterDropNotNull:
		return b.columnNotNull(c)
	case ast.AlterColumnType:
		return b.columnType(c)
	case ast.AlterAddIdentity, ast.AlterSetIdentity, ast.AlterDropIdentity:
		return b.columnIdentity(c)
	case ast.AlterDropExpression:
		return b.dropExpression(c)
	case ast.AlterAddConstraint:
		return b.addConstraint(c)
	case ast.AlterDropConstraint:
		return b.dropConstraint(c)
	case ast.AlterValidateConstraint:
		return b.validateConstraint(c)
	case ast.AlterAlterConstraint:
		return b.alterConstraint(c)
	case ast.AlterChangeOwner:
		return b.changeOwner(c)
	case ast.AlterSetOptions, ast.AlterResetOptions:
		return b.setOptions(c)
	}
	return b.otherCommand(c)
}

// otherCommand handles subcommands that have no effect here, or none at all.
func (b *alterBuild) otherCommand(c *ast.AlterCmd) error {
	switch c.Kind {
	case ast.AlterSetStatistics, ast.AlterSetStorage, ast.AlterSetCompression, ast.AlterSetColumnOptions, ast.AlterResetColumnOptions:
		if c.Name == "" {
			return nil
		}
		_, err := b.column(c.Name)
		return err
	case ast.AlterSetLogged, ast.AlterSetUnlogged:
		b.rel.Persistence, b.changed = 'p', true
		if c.Kind == ast.AlterSetUnlogged {
			b.rel.Persistence = 'u'
		}
		return nil
	case ast.AlterClusterOn, ast.AlterDropCluster, ast.AlterReplicaIdentity, ast.AlterDisableRowSecurity, ast.AlterNoForceRowSecurity:
		return nil
	case ast.AlterTrigger:
		if c.Name == "" {
			return nil // there are no triggers to enable or disable
		}
		return sqlerr.New(sqlerr.UndefinedObject, "trigger \"%s\" for table \"%s\" does not exist", c.Name, b.rel.Name)
	case ast.AlterRule:
		return sqlerr.New(sqlerr.UndefinedObject, "rule \"%s\" for relation \"%s\" does not exist", c.Name, b.rel.Name)
	case ast.AlterSetTablespace:
		if c.Name == "pg_default" {
			return nil
		}
		return sqlerr.New(sqlerr.UndefinedObject, "tablespace \"%s\" does not exist", c.Name)
	case ast.AlterSetAccessMethod:
		if c.Name == "heap" {
			return nil
		}
		return sqlerr.New(sqlerr.UndefinedObject, "access method \"%s\" does not exist", c.Name)
	case ast.AlterInherit, ast.AlterNoInherit:
		return sqlerr.Unsupported("table inheritance")
	case ast.AlterAttachPartition, ast.AlterDetachPartition:
		return sqlerr.Unsupported("table partitioning")
	case ast.AlterEnableRowSecurity, ast.AlterForceRowSecurity:
		return sqlerr.Unsupported("row-level security")
	}
	return sqlerr.Unsupported("this ALTER TABLE subcommand")
}

// column finds a column of the table under change.
func (b *alterBuild) column(name string) (*catalog.Column, error) {
	if c := b.rel.ColumnByName(name); c != nil {
		return c, nil
	}
	if systemColumns[name] {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "cannot alter system column \"%s\"", name)
	}
	return nil, sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", name, b.rel.Name)
}

// onlyTable fails for what only tables can have.
func (b *alterBuild) onlyTable(what string) error {
	if b.rel.Kind == catalog.KindTable {
		return nil
	}
	return sqlerr.New(sqlerr.WrongObjectType, "ALTER action %s cannot be performed on relation \"%s\"", what, b.rel.Name).
		WithDetail("This operation is not supported for %s.", kindPlural(b.rel.Kind))
}

func (b *alterBuild) addConstraint(c *ast.AlterCmd) error {
	if err := b.onlyTable("ADD CONSTRAINT"); err != nil {
		return err
	}
	k := c.Constraint
	switch k.Kind {
	case ast.ConCheck:
		con, deps, err := b.x.check(b.rel, k, "", b.names)
		if err != nil {
			return err
		}
		b.rel.Constraints = append(b.rel.Constraints, con)
		b.deps = append(b.deps, pendingDeps{name: con.Name, list: deps})
		if con.Validated {
			b.checks = append(b.checks, con.Name)
		}
		b.changed = true
		return nil
	case ast.ConPrimaryKey, ast.ConUnique:
		ix, err := b.x.keyConstraint(b.rel, k, "", b.names)
		if err != nil {
			return err
		}
		b.newKey(ix)
		return nil
	case ast.ConForeignKey:
		if err := b.flush(); err != nil {
			return err
		}
		con, err := b.x.foreignKey(b.rel, k, "", b.names)
		if err != nil {
			return err
		}
		b.changed = true
		if con.Validated {
			b.verify = append(b.verify, con.Name)
		}
		return nil
	}
	return sqlerr.Unsupported("EXCLUDE constraint")
}

// newKey notes what a new key means for the rows: a primary key is the order in which they are stored.
func (b *alterBuild) newKey(ix *catalog.Index) {
	b.changed = true
	if !ix.Primary {
		if ix.OID == 0 {
			b.indexes = append(b.indexes, ix.Name)
		}
		return
	}
	b.rewrite = true
	ix.Tree = 0
	for _, k := range ix.Keys {
		b.notNull = append(b.notNull, k.Attno)
	}
}

func (b *alterBuild) dropConstraint(c *ast.AlterCmd) error {
	if err := b.flush(); err != nil {
		return err
	}
	k := b.rel.ConstraintByName(c.Name)
	if k == nil {
		if c.IfExists {
			b.x.notice(sqlerr.SuccessfulCompletion, "constraint \"%s\" of relation \"%s\" does not exist, skipping", c.Name, b.rel.Name)
			return nil
		}
		return sqlerr.New(sqlerr.UndefinedObject, "constraint \"%s\" of relation \"%s\" does not exist", c.Name, b.rel.Name)
	}
	if err := b.x.dropObjects([]catalog.Object{{Class: catalog.ClassConstraint, OID: k.OID}}, c.Cascade); err != nil {
		return err
	}
	return b.reload()
}

func (b *alterBuild) validateConstraint(c *ast.AlterCmd) error {
	k := b.rel.ConstraintByName(c.Name)
	if k == nil {
		return sqlerr.New(sqlerr.UndefinedObject, "constraint \"%s\" of relation \"%s\" does not exist", c.Name, b.rel.Name)
	}
	if k.Type != 'f' && k.Type != 'c' {
		return sqlerr.New(sqlerr.WrongObjectType, "constraint \"%s\" of relation \"%s\" is not a foreign key or check constraint", c.Name, b.rel.Name)
	}
	if k.Validated {
		return nil
	}
	k.Validated, b.changed = true, true
	if k.Type == 'c' {
		b.checks = append(b.checks, k.Name)
	} else {
		b.verify = append(b.verify, k.Name)
	}
	return nil
}

func (b *alterBuild) alterConstraint(c *ast.AlterCmd) error {
	k := b.rel.ConstraintByName(c.Name)
	if k == nil {
		return sqlerr.New(sqlerr.UndefinedObject, "constraint \"%s\" of relation \"%s\" does not exist", c.Name, b.rel.Name)
	}
	if k.Type != 'f' {
		return sqlerr.New(sqlerr.WrongObjectType, "constraint \"%s\" of relation \"%s\" is not a foreign key constraint", c.Name, b.rel.Name)
	}
	k.Deferrable, k.InitiallyDeferred, b.changed = c.Constraint.Deferrable, c.Constraint.InitiallyDeferred, true
	return nil
}

func (b *alterBuild) changeOwner(c *ast.AlterCmd) error {
	role, err := b.x.role(c.Role)
	if err != nil {
		return err
	}
	if role.OID == b.rel.Owner {
		return nil
	}
	if err := b.x.mayBecome(role); err != nil {
		return err
	}
	if q := b.rel.Sequence; q != nil && q.OwnerRel != 0 {
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot change owner of sequence \"%s\"", b.rel.Name).
			WithDetail("Sequence \"%s\" is linked to table \"%s\".", b.rel.Name, b.x.relationName(q.OwnerRel))
	}
	b.rel.ACL = changeACLOwner(b.rel.ACL, b.rel.Owner, role.OID)
	b.rel.Owner, b.changed = role.OID, true
	if err := b.flush(); err != nil {
		return err
	}
	// Sequences of columns follow their table.
	for i := range b.rel.Columns {
		if id := b.rel.Columns[i].Sequence; id != 0 && !b.rel.Columns[i].Dropped {
			if err := b.x.setOwner(id, role.OID); err != nil {
				return err
			}
		}
	}
	return b.reload()
}

func (x *executor) setOwner(id, owner types.OID) error {
	old, err := x.reader().RelationByOID(id)
	if old == nil || err != nil {
		return err
	}
	now := old.Clone()
	now.ACL, now.Owner = changeACLOwner(now.ACL, now.Owner, owner), owner
	return x.Writer.UpdateRelation(old, now)
}

// changeACLOwner rewrites an access list for a new owner.
func changeACLOwner(acl []string, from, to types.OID) []string {
	if acl == nil {
		return nil
	}
	list := catalog.ParseACL(acl)
	for i := range list {
		if list[i].Grantee == from {
			list[i].Grantee = to
		}
		if list[i].Grantor == from {
			list[i].Grantor = to
		}
	}
	return catalog.FormatACL(list)
}

func (b *alterBuild) setOptions(c *ast.AlterCmd) error {
	names := map[string]bool{}
	for _, o := range c.Options {
		names[o.Name] = true
	}
	kept := b.rel.Options[:0:0]
	for _, o := range b.rel.Options {
		if n := optionName(o); !names[n] {
			kept = append(kept, o)
		}
	}
	if c.Kind == ast.AlterSetOptions {
		added, err := relOptions(c.Options)
		if err != nil {
			return err
		}
		kept = append(kept, added...)
	}
	b.rel.Options, b.changed = kept, true
	return nil
}

func optionName(o string) string {
	for i := range len(o) {
		if o[i] == '=' {
			return o[:i]
		}
	}
	return o
}
