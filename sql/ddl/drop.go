package ddl

import (
	"herd/engine/lock"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/catalog/pgdata"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// relationKinds are the kinds that DROP words mean.
var relationKinds = map[ast.ObjectKind]catalog.RelKind{
	ast.ObjTable: catalog.KindTable, ast.ObjView: catalog.KindView, ast.ObjSequence: catalog.KindSequence, ast.ObjIndex: catalog.KindIndex,
	ast.ObjMatView: catalog.KindMatView,
}

func (x *executor) drop(s *ast.Drop) error {
	var list []catalog.Object
	for i := range s.Objects {
		o, ok, err := x.dropTarget(s, &s.Objects[i])
		if err != nil {
			return err
		}
		if ok {
			list = append(list, o)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return x.dropObjects(list, s.Cascade)
}

// dropTarget finds an object to drop; ok is false when it does not exist and need not.
func (x *executor) dropTarget(s *ast.Drop, n *ast.ObjectName) (o catalog.Object, ok bool, err error) {
	if kind := relationKinds[s.Kind]; kind != 0 {
		return x.dropRelation(s, n, kind)
	}
	switch s.Kind {
	case ast.ObjSchema:
		sc, err := x.reader().SchemaByName(n.Name.Name)
		if err != nil {
			return o, false, err
		}
		if sc == nil {
			return o, false, x.absent(s, sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", n.Name.Name)
		}
		if sc.OID < firstUser && sc.OID != pgdata.PublicSchema {
			return o, false, sqlerr.New(sqlerr.DependentObjectsStillExist, "cannot drop schema %s because it is required by the database system", sc.Name)
		}
		return catalog.Object{Class: catalog.ClassNamespace, OID: sc.OID}, true, x.ownerOf(sc.Owner, "schema", sc.Name)
	case ast.ObjType, ast.ObjDomain:
		return x.dropType(s, n)
	case ast.ObjFunction, ast.ObjProcedure, ast.ObjRoutine, ast.ObjAggregate:
		return x.dropFunction(s, n)
	case ast.ObjExtension:
		if n.Name.Name == "plpgsql" {
			return o, false, sqlerr.Unsupported("DROP EXTENSION plpgsql")
		}
		return o, false, x.absent(s, sqlerr.UndefinedObject, "extension \"%s\" does not exist", n.Name.Name)
	case ast.ObjTrigger, ast.ObjRule, ast.ObjPolicy:
		return o, false, x.dropPart(s, n)
	case ast.ObjCollation, ast.ObjConversion, ast.ObjStatistics, ast.ObjOperator, ast.ObjCast, ast.ObjLanguage, ast.ObjForeignServer, ast.ObjFDW:
		if s.IfExists {
			return o, false, nil
		}
	}
	return o, false, sqlerr.Unsupported("DROP %s", string(s.Kind))
}

// absent is the error about an object that does not exist, or with IF EXISTS the notice.
func (x *executor) absent(s *ast.Drop, code sqlerr.Code, format string, args ...any) error {
	if s.IfExists {
		x.notice(sqlerr.SuccessfulCompletion, format+", skipping", args...)
		return nil
	}
	return sqlerr.New(code, format, args...)
}

func (x *executor) dropRelation(s *ast.Drop, n *ast.ObjectName, kind catalog.RelKind) (o catalog.Object, ok bool, err error) {
	return x.dropRelationIn(s, n, kind, lock.AccessExclusive)
}

// dropRelationIn is dropRelation with the mode in which the relation, or the table of the index, is locked.
func (x *executor) dropRelationIn(s *ast.Drop, n *ast.ObjectName, kind catalog.RelKind, m lock.Mode) (o catalog.Object, ok bool, err error) {
	word := catalog.RelationWord(kind)
	if n.Name.Schema != "" {
		sc, err := x.reader().SchemaByName(n.Name.Schema)
		if err != nil {
			return o, false, err
		}
		if sc == nil {
			return o, false, x.absent(s, sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", n.Name.Schema)
		}
	}
	rel, err := x.find(n.Name)
	if err != nil {
		return o, false, err
	}
	if rel == nil {
		code := sqlerr.UndefinedTable
		if kind == catalog.KindIndex {
			code = sqlerr.UndefinedObject
		}
		return o, false, x.absent(s, code, "%s \"%s\" does not exist", word, nameText(n.Name, s.IfExists))
	}
	if rel.Kind != kind {
		return o, false, wrongDrop(rel, kind)
	}
	if rel.Kind == catalog.KindIndex {
		return x.dropIndex(rel, m)
	}
	if err := x.own(rel); err != nil { // before the lock: who may not drop it must not wait for it either
		return o, false, err
	}
	if rel, err = x.lockOID(rel.OID, m); err != nil {
		return o, false, err
	}
	return catalog.Object{Class: catalog.ClassRelation, OID: rel.OID}, true, x.own(rel)
}

// nameText is how DROP's messages show a name: the notice of IF EXISTS leaves the schema out.
func nameText(n ast.Name, ifExists bool) string {
	if ifExists {
		return n.Name
	}
	return n.String()
}

func wrongDrop(rel *catalog.Relation, want catalog.RelKind) error {
	article := func(k catalog.RelKind) string {
		if k == catalog.KindIndex {
			return "an index"
		}
		return "a " + catalog.RelationWord(k)
	}
	commands := map[catalog.RelKind]string{catalog.KindTable: "TABLE", catalog.KindView: "VIEW", catalog.KindSequence: "SEQUENCE",
		catalog.KindIndex: "INDEX", catalog.KindMatView: "MATERIALIZED VIEW", catalog.KindComposite: "TYPE"}
	return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not %s", rel.Name, article(want)).
		WithHint("Use DROP %s to remove %s.", commands[rel.Kind], article(rel.Kind))
}

func (x *executor) dropIndex(index *catalog.Relation, m lock.Mode) (o catalog.Object, ok bool, err error) {
	table, _, err := x.reader().IndexByOID(index.OID)
	if err != nil || table == nil {
		return o, false, err
	}
	if _, err := x.lockOID(table.OID, m); err != nil {
		return o, false, err
	}
	if table.OID < firstUser {
		return o, false, sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied: \"%s\" is a system catalog", index.Name)
	}
	return catalog.Object{Class: catalog.ClassRelation, OID: index.OID}, true, x.ownerOf(table.Owner, "index", index.Name)
}

func (x *executor) dropType(s *ast.Drop, n *ast.ObjectName) (o catalog.Object, ok bool, err error) {
	t, err := x.reader().LookupType(n.Name.Schema, n.Name.Name, x.Bind.Path)
	if err != nil {
		return o, false, err
	}
	if t == nil {
		return o, false, x.absent(s, sqlerr.UndefinedObject, "type \"%s\" does not exist", n.Name.String())
	}
	if s.Kind == ast.ObjDomain && t.Type != 'd' {
		return o, false, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a domain", n.Name.String())
	}
	if t.OID < firstUser {
		return o, false, sqlerr.New(sqlerr.DependentObjectsStillExist, "cannot drop type %s because it is required by the database system", x.typeText(t.OID))
	}
	return catalog.Object{Class: catalog.ClassType, OID: t.OID}, true, x.ownerOf(t.Owner, "type", t.Name)
}

// dropPart: triggers, rules and policies do not exist, but their table may.
func (x *executor) dropPart(s *ast.Drop, n *ast.ObjectName) error {
	rel, err := x.find(n.Name)
	if err != nil {
		return err
	}
	if rel == nil {
		return x.absent(s, sqlerr.UndefinedTable, "relation \"%s\" does not exist", n.Name.String())
	}
	word := map[ast.ObjectKind]string{ast.ObjTrigger: "trigger", ast.ObjRule: "rule", ast.ObjPolicy: "policy"}[s.Kind]
	on := "table"
	if s.Kind == ast.ObjRule {
		on = "relation"
	}
	return x.absent(s, sqlerr.UndefinedObject, "%s \"%s\" for %s \"%s\" does not exist", word, n.Sub, on, rel.Name)
}

// dropObjects drops objects with what depends on them, and finishes what the catalog leaves to others: notices, sequences'
// state, tables that lost their primary key.
func (x *executor) dropObjects(list []catalog.Object, cascade bool) error {
	before, err := x.tables(list)
	if err != nil {
		return err
	}
	view := x.Tx.Newest()
	defer x.hold(view)()
	d, err := x.Writer.Drop(x.names(), list, cascade)
	if err != nil {
		return err
	}
	if d.Notice != "" && x.Notice != nil {
		n := sqlerr.Notice(sqlerr.SuccessfulCompletion, "%s", d.Notice)
		n.Detail = d.Detail
		x.Notice(n)
	}
	for _, rel := range d.Relations {
		if rel.Kind == catalog.KindSequence && x.Sequences != nil {
			id := uint32(rel.OID)
			x.Tx.OnCommit(func() { x.Sequences.DropSequence(id) })
		}
	}
	for _, id := range d.Rekey {
		if err := x.rekey(id, before[id]); err != nil {
			return err
		}
	}
	return nil
}

// tables returns the tables that objects belong to, as they are before a DROP.
func (x *executor) tables(list []catalog.Object) (map[types.OID]*catalog.Relation, error) {
	out := map[types.OID]*catalog.Relation{}
	for _, o := range list {
		var rel *catalog.Relation
		var err error
		switch o.Class {
		case catalog.ClassConstraint:
			rel, _, err = x.reader().ConstraintByOID(o.OID)
		case catalog.ClassRelation:
			rel, err = x.reader().RelationByOID(o.OID)
		}
		if err != nil {
			return nil, err
		}
		if rel != nil {
			out[rel.OID] = rel
		}
	}
	return out, nil
}

// rekey moves the rows of a table that lost its primary key to a tree with row numbers. Its tree still has the rows.
func (x *executor) rekey(id types.OID, _ *catalog.Relation) error {
	old, err := x.reader().RelationByOID(id)
	if old == nil || err != nil {
		return err
	}
	view := x.Tx.Newest()
	defer x.hold(view)()
	now := old.Clone()
	newTrees(now)
	if err := x.Writer.UpdateRelation(old, now); err != nil {
		return err
	}
	stored, err := x.reader().RelationByOID(id)
	if err != nil {
		return err
	}
	return x.rewriteRows(view, old, stored, nil)
}
