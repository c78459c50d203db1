package catalog

import (
	"slices"

	"herd/sql/catalog/pgdata"
	"herd/sql/types"
)

// ResolvePath turns the names of a search_path setting into the schemas to search, in order,
// and the schema in which new objects are made (0 when no schema of the path exists). "$user"
// is the schema named like the user. Names without a schema are skipped. pg_catalog and the
// temporary schema are searched first unless the path places them; the temporary schema is
// skipped when functions are looked up, see LookupFuncs. Schemas that usable (nil: all are) refuses are skipped, too.
func ResolvePath(r Reader, names []string, user string, usable func(*Schema) (bool, error)) (path []types.OID, create types.OID, err error) {
	hasCatalog, hasTemp := false, false
	for _, name := range names {
		if name == "$user" {
			name = user
		}
		s, err := r.SchemaByName(name)
		if err != nil {
			return nil, 0, err
		}
		if s == nil || slices.Contains(path, s.OID) {
			continue
		}
		if usable != nil {
			if ok, err := usable(s); err != nil {
				return nil, 0, err
			} else if !ok {
				continue
			}
		}
		path = append(path, s.OID)
		hasCatalog = hasCatalog || s.OID == pgdata.CatalogSchema
		hasTemp = hasTemp || s.OID == r.TempSchema()
	}
	if len(path) > 0 {
		create = path[0]
	}
	if !hasCatalog {
		path = slices.Insert(path, 0, pgdata.CatalogSchema)
	}
	if temp := r.TempSchema(); temp != 0 && !hasTemp {
		path = slices.Insert(path, 0, temp)
	}
	return path, create, nil
}

// schemaOf returns the schema of an explicit qualification, 0 when there is none of the name.
func (r *reader) schemaOf(name string) (types.OID, error) {
	switch name {
	case "pg_catalog":
		return pgdata.CatalogSchema, nil
	case "information_schema":
		return pgdata.InformationSchema, nil
	}
	s, err := r.SchemaByName(name)
	if s == nil || err != nil {
		return 0, err
	}
	return s.OID, nil
}

// lookup searches one schema or the path.
func lookup[T any](r *reader, schema, name string, path []types.OID, in func(types.OID, string) (*T, error)) (*T, error) {
	if schema != "" {
		id, err := r.schemaOf(schema)
		if id == 0 || err != nil {
			return nil, err
		}
		return in(id, name)
	}
	for _, id := range path {
		v, err := in(id, name)
		if v != nil || err != nil {
			return v, err
		}
	}
	return nil, nil
}

// LookupRelation implements Reader.
func (r *reader) LookupRelation(schema, name string, path []types.OID) (*Relation, error) {
	return lookup(r, schema, name, path, r.RelationByName)
}

// LookupType implements Reader.
func (r *reader) LookupType(schema, name string, path []types.OID) (*Type, error) {
	return lookup(r, schema, name, path, r.TypeByName)
}

// LookupFuncs implements Reader. The temporary schema takes part only when named.
func (r *reader) LookupFuncs(schema, name string, path []types.OID) ([]*Proc, error) {
	if schema != "" {
		id, err := r.schemaOf(schema)
		if id == 0 || err != nil {
			return nil, err
		}
		return r.FuncsByName(id, name)
	}
	var list []*Proc
	for _, id := range path {
		if id == r.temp {
			continue
		}
		found, err := r.FuncsByName(id, name)
		if err != nil {
			return nil, err
		}
		if list == nil {
			list = found[:len(found):len(found)]
		} else {
			list = append(list, found...)
		}
	}
	return list, nil
}

// indexRelation presents an index as a relation, for look-ups by name and for pg_class.
func indexRelation(table *Relation, x *Index) *Relation {
	rel := &Relation{
		OID: x.OID, Name: x.Name, Schema: table.Schema, Kind: KindIndex, Owner: table.Owner,
		Persistence: table.Persistence, TreeID: x.Tree, Version: table.Version, Options: x.Options, Stats: x.Stats,
	}
	used := map[string]bool{}
	add := func(name string, typ types.OID, typmod types.Typmod, collation types.OID) {
		base := name
		for i := 1; used[name]; i++ {
			name = base + itoa(i)
		}
		used[name] = true
		rel.Columns = append(rel.Columns, Column{
			Num: int16(len(rel.Columns) + 1), Name: name, Type: typ, Typmod: typmod, Collation: collation,
		})
	}
	for _, k := range x.Keys {
		if c := table.Column(k.Attno); c != nil {
			add(c.Name, c.Type, c.Typmod, k.Collation)
		} else {
			add(expressionName(k.Expr), k.Type, -1, k.Collation)
		}
	}
	for _, n := range x.Include {
		if c := table.Column(n); c != nil {
			add(c.Name, c.Type, c.Typmod, c.Collation)
		}
	}
	return rel
}

// expressionName names an index column that is an expression: the function called, or "expr".
func expressionName(expr string) string {
	for i := 0; i < len(expr); i++ {
		c := expr[i]
		if c == '(' && i > 0 {
			return expr[:i]
		}
		if c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			break
		}
	}
	return "expr"
}
