package planner

import (
	"slices"

	"herd/planner/plan"
	"herd/sql/catalog"
	"herd/sql/catalog/pgdata"
	"herd/sql/types"
)

// recorder is a catalog that keeps what it was asked and what it answered: a plan is right for as long as the catalog answers
// the same. Built-in objects never change, and are not kept.
type recorder struct {
	catalog.Reader
	deps []plan.Dependency
	seen map[plan.Dependency]struct{} // of deps, once they are many
}

// manyDependencies is from how many dependencies on equal ones are looked for in a table.
const manyDependencies = 32

// record makes a recorder over what cat itself reads.
func record(cat catalog.Reader) *recorder {
	if r, ok := cat.(*recorder); ok {
		cat = r.Reader
	}
	return &recorder{Reader: cat}
}

func (r *recorder) add(d plan.Dependency) {
	if r.seen == nil {
		if slices.Contains(r.deps, d) {
			return
		}
		if len(r.deps) < manyDependencies {
			r.deps = append(r.deps, d)
			return
		}
		r.seen = make(map[plan.Dependency]struct{}, 2*manyDependencies)
		for _, o := range r.deps {
			r.seen[o] = struct{}{}
		}
	}
	if _, ok := r.seen[d]; !ok {
		r.seen[d] = struct{}{}
		r.deps = append(r.deps, d)
	}
}

func (r *recorder) addAll(list []plan.Dependency) {
	for _, d := range list {
		r.add(d)
	}
}

// subBinder makes a binder of stored text, with a record of its own: what is kept of it is kept with its dependencies.
func (b *binder) subBinder(env *BindEnv, params []types.OID) (*binder, *recorder) {
	rec := record(b.cat)
	return &binder{cat: rec, env: env, params: newParamState(params), stored: true}, rec
}

// relyOn adds the dependencies of stored text to those of the statement.
func (b *binder) relyOn(list []plan.Dependency) {
	if r, ok := b.cat.(*recorder); ok {
		r.addAll(list)
	}
}

// fixedNames says whether a name can only be one of the built-in objects, which nobody makes or drops.
func fixedNames(schema string, path []types.OID) bool {
	if schema != "" {
		return schema == "pg_catalog" || schema == "information_schema" || schema == pgdata.MySQLName
	}
	return len(path) == 1 && path[0] == pgdata.CatalogSchema
}

// LookupRelation implements catalog.Reader.
func (r *recorder) LookupRelation(schema, name string, path []types.OID) (*catalog.Relation, error) {
	x, err := r.Reader.LookupRelation(schema, name, path)
	if err == nil && !fixedNames(schema, path) {
		d := relationFound(x)
		d.Schema, d.Name = schema, name
		r.add(d)
	}
	return x, err
}

// RelationByOID implements catalog.Reader.
func (r *recorder) RelationByOID(id types.OID) (*catalog.Relation, error) {
	x, err := r.Reader.RelationByOID(id)
	if err == nil && id >= pgdata.FirstUserOID {
		d := relationFound(x)
		d.OID = id
		r.add(d)
	}
	return x, err
}

// LookupType implements catalog.Reader.
func (r *recorder) LookupType(schema, name string, path []types.OID) (*catalog.Type, error) {
	x, err := r.Reader.LookupType(schema, name, path)
	if err == nil && !fixedNames(schema, path) {
		d := typeFound(x)
		d.Schema, d.Name = schema, name
		r.add(d)
	}
	return x, err
}

// TypeByOID implements catalog.Reader.
func (r *recorder) TypeByOID(id types.OID) (*catalog.Type, error) {
	x, err := r.Reader.TypeByOID(id)
	if err == nil && id >= pgdata.FirstUserOID {
		d := typeFound(x)
		d.OID = id
		r.add(d)
	}
	return x, err
}

// LookupFuncs implements catalog.Reader.
func (r *recorder) LookupFuncs(schema, name string, path []types.OID) ([]*catalog.Proc, error) {
	list, err := r.Reader.LookupFuncs(schema, name, path)
	if err == nil && !fixedNames(schema, path) {
		d := funcsFound(list)
		d.Schema, d.Name = schema, name
		r.add(d)
	}
	return list, err
}

// FuncByOID implements catalog.Reader.
func (r *recorder) FuncByOID(id types.OID) (*catalog.Proc, error) {
	x, err := r.Reader.FuncByOID(id)
	if err == nil && id >= pgdata.FirstUserOID {
		d := funcFound(x)
		d.OID = id
		r.add(d)
	}
	return x, err
}

// SchemaByName implements catalog.Reader.
func (r *recorder) SchemaByName(name string) (*catalog.Schema, error) {
	x, err := r.Reader.SchemaByName(name)
	if err == nil {
		d := schemaFound(x)
		d.Name = name
		r.add(d)
	}
	return x, err
}

// uses records that the role of the statement may look into a schema, which follows from the schema and from the role's
// memberships.
func (r *recorder) uses(s *catalog.Schema) {
	d := schemaFound(s)
	d.Usage = true
	r.add(d)
}

func relationFound(x *catalog.Relation) plan.Dependency {
	if x == nil {
		return plan.Dependency{Class: catalog.ClassRelation}
	}
	return plan.Dependency{Class: catalog.ClassRelation, OID: x.OID, Version: x.Version}
}

func typeFound(x *catalog.Type) plan.Dependency {
	if x == nil {
		return plan.Dependency{Class: catalog.ClassType}
	}
	return plan.Dependency{Class: catalog.ClassType, OID: x.OID, Version: catalog.Version(x.Version)}
}

func funcFound(x *catalog.Proc) plan.Dependency {
	if x == nil {
		return plan.Dependency{Class: catalog.ClassProc}
	}
	return plan.Dependency{Class: catalog.ClassProc, OID: x.OID, Version: catalog.Version(x.Version)}
}

// funcsFound has the first candidate, and as the version a digest of them all.
func funcsFound(list []*catalog.Proc) plan.Dependency {
	d := plan.Dependency{Class: catalog.ClassProc}
	h := uint64(14695981039346656037) // FNV-1a, by words
	for i, p := range list {
		if i == 0 {
			d.OID = p.OID
		}
		h = (h ^ uint64(p.OID)) * 1099511628211
		h = (h ^ p.Version) * 1099511628211
	}
	d.Version = catalog.Version(h)
	return d
}

func schemaFound(x *catalog.Schema) plan.Dependency {
	if x == nil {
		return plan.Dependency{Class: catalog.ClassNamespace}
	}
	return plan.Dependency{Class: catalog.ClassNamespace, OID: x.OID, Version: x.Version}
}

// Current says whether the catalog gives to everything that was asked for a plan the answer it gave then: names mean the
// objects they meant, those are as they were, and the role may look into the schemas that the statement names.
func Current(cat catalog.Reader, path []types.OID, role types.OID, p *plan.Plan) bool {
	for i := range p.Deps {
		d := &p.Deps[i]
		now, err := again(cat, path, d)
		if err != nil || now.OID != d.OID || now.Version != d.Version {
			return false
		}
		if d.Usage {
			s, err := cat.SchemaByOID(d.OID)
			if s == nil || err != nil {
				return false
			}
			if ok, err := catalog.MayUseSchema(cat, s, role); err != nil || !ok {
				return false
			}
		}
	}
	return true
}

// again asks the catalog what a dependency was recorded of.
func again(cat catalog.Reader, path []types.OID, d *plan.Dependency) (now plan.Dependency, err error) {
	byName := d.Name != ""
	switch d.Class {
	case catalog.ClassRelation:
		var x *catalog.Relation
		if byName {
			x, err = cat.LookupRelation(d.Schema, d.Name, path)
		} else {
			x, err = cat.RelationByOID(d.OID)
		}
		now = relationFound(x)
	case catalog.ClassType:
		var x *catalog.Type
		if byName {
			x, err = cat.LookupType(d.Schema, d.Name, path)
		} else {
			x, err = cat.TypeByOID(d.OID)
		}
		now = typeFound(x)
	case catalog.ClassProc:
		if byName {
			var list []*catalog.Proc
			list, err = cat.LookupFuncs(d.Schema, d.Name, path)
			return funcsFound(list), err
		}
		var x *catalog.Proc
		x, err = cat.FuncByOID(d.OID)
		now = funcFound(x)
	case catalog.ClassNamespace:
		var x *catalog.Schema
		if byName {
			x, err = cat.SchemaByName(d.Name)
		} else {
			x, err = cat.SchemaByOID(d.OID)
		}
		now = schemaFound(x)
	}
	if !byName && now.OID == 0 { // absent then, absent now
		now.OID = d.OID
	}
	return now, err
}
