package ddl

import (
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/catalog/pgdata"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// maxColumns is PostgreSQL's limit.
const maxColumns = 1600

// tableBuild is a table under construction: its descriptor and what has to wait until it exists.
type tableBuild struct {
	x   *executor
	rel *catalog.Relation
	// owned are sequences to be tied to their columns, by attnum.
	owned map[int16]*catalog.Relation
	// deps are references of expressions: the object's class and identifier are known only when the table is stored.
	deps []pendingDeps
	// keys are foreign keys, added when the table exists.
	keys []pendingKey
	// names holds constraint names in use.
	names map[string]bool
	// generated are the columns that are or will be generated.
	generatedCols map[string]bool
	// comments are copied when the table exists.
	comments []pendingComment
}

// pendingDeps are references of a column's default (Attno) or of a constraint (Name).
type pendingDeps struct {
	attno int16
	name  string
	list  []catalog.Dependency
}

// pendingKey is a foreign key with the column it was written at ("" for a table constraint).
type pendingKey struct {
	con    *ast.Constraint
	column string
}

func (x *executor) createTable(s *ast.CreateTable) error {
	if err := x.refuseTable(s); err != nil {
		return err
	}
	schema, err := x.creationSchema(s.Table, s.Persistence == ast.Temporary)
	if err != nil {
		return err
	}
	if exists, err := x.notThere(schema, s.Table.Name, s.IfNotExists); exists || err != nil {
		return err
	}
	b, err := x.newTable(schema, s)
	if err != nil {
		return err
	}
	if err := b.elements(s.Elements); err != nil {
		return err
	}
	if err := x.finishTable(b); err != nil {
		return err
	}
	if b.rel.Persistence == 't' && x.OnTemp != nil {
		x.OnTemp(b.rel.OID, s.OnCommit)
	}
	return nil
}

// refuseTable names the parts of CREATE TABLE that do not exist here.
func (x *executor) refuseTable(s *ast.CreateTable) error {
	switch {
	case s.PartitionBy != nil || s.PartitionOf != nil:
		return sqlerr.Unsupported("table partitioning")
	case len(s.Inherits) > 0:
		return sqlerr.Unsupported("table inheritance")
	case s.OfType != nil:
		return sqlerr.Unsupported("CREATE TABLE OF")
	case s.Tablespace != "" && s.Tablespace != "pg_default":
		return sqlerr.New(sqlerr.UndefinedObject, "tablespace \"%s\" does not exist", s.Tablespace)
	case s.AccessMethod != "" && s.AccessMethod != "heap":
		return sqlerr.New(sqlerr.UndefinedObject, "access method \"%s\" does not exist", s.AccessMethod)
	case s.OnCommit != ast.OnCommitDefault && s.Persistence != ast.Temporary && s.Table.Schema != "pg_temp":
		return sqlerr.New(sqlerr.InvalidTableDefinition, "ON COMMIT can only be used on temporary tables")
	}
	return nil
}

func (x *executor) newTable(schema types.OID, s *ast.CreateTable) (*tableBuild, error) {
	opts, err := relOptions(s.Options)
	if err != nil {
		return nil, err
	}
	rel := &catalog.Relation{Name: s.Table.Name, Schema: schema, Kind: catalog.KindTable, Owner: x.User.OID, Options: opts}
	rel.Persistence = x.persistence(s.Persistence, schema)
	return &tableBuild{x: x, rel: rel, owned: map[int16]*catalog.Relation{}, names: map[string]bool{}}, nil
}

func (x *executor) persistence(p ast.Persistence, schema types.OID) byte {
	if p == ast.Temporary || schema == x.reader().TempSchema() && schema != 0 {
		return 't'
	}
	if p == ast.Unlogged {
		return 'u'
	}
	return 'p'
}

// storageOptions are the storage parameters of tables and indexes that are accepted; they are kept and shown, and none has an effect.
var storageOptions = map[string]bool{
	"fillfactor": true, "toast_tuple_target": true, "parallel_workers": true, "autovacuum_enabled": true, "user_catalog_table": true,
	"autovacuum_vacuum_threshold": true, "autovacuum_vacuum_scale_factor": true, "autovacuum_analyze_threshold": true,
	"autovacuum_analyze_scale_factor": true, "autovacuum_vacuum_cost_delay": true, "autovacuum_vacuum_cost_limit": true,
	"autovacuum_freeze_min_age": true, "autovacuum_freeze_max_age": true, "autovacuum_freeze_table_age": true, "log_autovacuum_min_duration": true,
	"autovacuum_vacuum_insert_threshold": true, "autovacuum_vacuum_insert_scale_factor": true, "vacuum_index_cleanup": true,
	"vacuum_truncate": true, "deduplicate_items": true, "security_barrier": true, "security_invoker": true, "check_option": true,
}

// relOptions turns WITH (...) into reloptions.
func relOptions(list []ast.Option) ([]string, error) {
	var out []string
	for _, o := range list {
		if o.Namespace != "" && o.Namespace != "toast" {
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized parameter namespace \"%s\"", o.Namespace)
		}
		if o.Namespace == "toast" {
			continue
		}
		if o.Name == "oids" {
			if o.Value.String() == "false" {
				continue
			}
			return nil, sqlerr.New(sqlerr.FeatureNotSupported, "tables declared WITH OIDS are not supported")
		}
		if !storageOptions[o.Name] {
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized parameter \"%s\"", o.Name)
		}
		v := o.Value.String()
		if o.Value.Kind == ast.ValueNone {
			v = "true"
		}
		out = append(out, o.Name+"="+v)
	}
	return out, nil
}

// elements adds columns first, then constraints in the order in which they were written, so that they may name any column.
func (b *tableBuild) elements(list []ast.TableElement) error {
	for _, e := range list {
		var err error
		switch d := e.(type) {
		case *ast.ColumnDef:
			err = b.addColumn(d)
		case *ast.LikeClause:
			err = b.like(d)
		}
		if err != nil {
			return err
		}
	}
	if len(b.rel.Columns) > maxColumns {
		return sqlerr.New(sqlerr.TooManyColumns, "tables can have at most %d columns", maxColumns)
	}
	b.generatedCols = map[string]bool{}
	for _, e := range list {
		if d, ok := e.(*ast.ColumnDef); ok {
			for _, k := range d.Constraints {
				b.generatedCols[d.Name] = b.generatedCols[d.Name] || k.Kind == ast.ConGenerated
			}
		}
	}
	for _, e := range list {
		switch d := e.(type) {
		case *ast.ColumnDef:
			for _, k := range d.Constraints {
				if err := b.columnConstraint(d.Name, k); err != nil {
					return err
				}
			}
		case *ast.Constraint:
			if err := b.tableConstraint(d, ""); err != nil {
				return err
			}
		}
	}
	return nil
}

// finishTable stores the table and then what needs it to exist.
func (x *executor) finishTable(b *tableBuild) error {
	if err := x.Writer.CreateRelation(b.rel); err != nil {
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
	if err := x.addComments(b); err != nil {
		return err
	}
	return x.addKeys(b)
}

// addKeys adds the foreign keys of a new table.
func (x *executor) addKeys(b *tableBuild) error {
	for _, k := range b.keys {
		old, err := x.reader().RelationByOID(b.rel.OID)
		if err != nil {
			return err
		}
		rel := old.Clone()
		if _, err := x.foreignKey(rel, k.con, k.column, b.names); err != nil {
			return err
		}
		if err := x.Writer.UpdateRelation(old, rel); err != nil {
			return err
		}
	}
	return nil
}

// writeDeps stores the references of expressions of a relation that has been stored.
func (x *executor) writeDeps(rel *catalog.Relation, list []pendingDeps) error {
	for _, p := range list {
		class, id := catalog.ClassConstraint, types.OID(0)
		if p.attno != 0 {
			class, id = catalog.ClassAttrDef, rel.Columns[p.attno-1].DefaultOID
		} else if k := rel.ConstraintByName(p.name); k != nil {
			id = k.OID
		}
		deps := make([]catalog.Dependency, 0, len(p.list))
		for _, d := range p.list {
			if d.RefClass == catalog.ClassRelation && d.RefOID == 0 {
				d.RefOID = rel.OID
			}
			// A default belongs to its own column, and a constraint to its columns, by structure; only others are references.
			own := d.RefClass == catalog.ClassRelation && d.RefOID == rel.OID
			if own && (class == catalog.ClassConstraint || d.RefSub == int32(p.attno)) {
				continue
			}
			deps = append(deps, d)
		}
		if err := x.Writer.ReplaceDependencies(class, id, deps); err != nil {
			return err
		}
	}
	return nil
}

// systemColumns are names that no column may have.
var systemColumns = map[string]bool{"ctid": true, "xmin": true, "cmin": true, "xmax": true, "cmax": true, "tableoid": true}

// freeColumn checks a new column's name.
func (b *tableBuild) freeColumn(name string) error {
	if systemColumns[name] {
		return sqlerr.New(sqlerr.DuplicateColumn, "column name \"%s\" conflicts with a system column name", name)
	}
	if b.rel.ColumnByName(name) != nil {
		return sqlerr.New(sqlerr.DuplicateColumn, "column \"%s\" specified more than once", name)
	}
	return nil
}

const firstUser = pgdata.FirstUserOID
