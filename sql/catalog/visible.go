package catalog

import (
	"slices"

	"herd/sql/catalog/pgdata"
	"herd/sql/types"
)

// RelationIsVisible reports whether the relation is what its name alone means on the path.
func RelationIsVisible(r Reader, rel *Relation, path []types.OID) (bool, error) {
	if !slices.Contains(path, rel.Schema) {
		return false, nil
	}
	found, err := r.LookupRelation("", rel.Name, path)
	return found != nil && found.OID == rel.OID, err
}

// TypeIsVisible is RelationIsVisible for types.
func TypeIsVisible(r Reader, t *Type, path []types.OID) (bool, error) {
	if !slices.Contains(path, t.Namespace) {
		return false, nil
	}
	found, err := r.LookupType("", t.Name, path)
	return found != nil && found.OID == t.OID, err
}

// FuncIsVisible reports whether a call by name with the function's argument types finds it.
func FuncIsVisible(r Reader, p *Proc, path []types.OID) (bool, error) {
	for _, schema := range path {
		list, err := r.FuncsByName(schema, p.Name)
		if err != nil {
			return false, err
		}
		for _, f := range list {
			if sameTypes(f.ArgTypes, p.ArgTypes) {
				return f.OID == p.OID, nil
			}
		}
	}
	return false, nil
}

// BuiltinIsVisible reports whether an object that only pg_catalog can hold (operators, operator
// classes and families, collations, conversions, text search objects) is visible.
func BuiltinIsVisible(path []types.OID) bool { return slices.Contains(path, pgdata.CatalogSchema) }
