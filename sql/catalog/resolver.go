package catalog

import (
	"strings"

	"herd/sql/catalog/pgdata"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// The methods below make Names a types.NameResolver, through which text input and output reach
// user-defined types and the names behind reg* values.
var _ types.NameResolver = Names{}

// Object identifier types of text search.
const (
	regconfig     types.OID = 3734
	regdictionary types.OID = 3769
)

// TypeInfo implements types.NameResolver; a storage error makes the type unknown.
func (n Names) TypeInfo(id types.OID) (types.TypeInfo, bool) {
	t, err := n.Reader.TypeByOID(id)
	if t == nil || err != nil {
		return types.TypeInfo{}, false
	}
	name, err := FormatType(n.Reader, id, -1, false, n.Path)
	if err != nil {
		return types.TypeInfo{}, false
	}
	info := types.TypeInfo{Name: name, Kind: t.Type, Elem: t.Elem, Array: t.Array, Base: t.BaseType, Typmod: t.Typmod}
	if t.Type == 'c' {
		rel, err := n.Reader.RelationByOID(t.Relid)
		if rel == nil || err != nil {
			return types.TypeInfo{}, false
		}
		for i := range rel.Columns {
			if c := &rel.Columns[i]; !c.Dropped {
				info.Fields = append(info.Fields, types.FieldInfo{Name: c.Name, Type: c.Type, Typmod: c.Typmod})
			}
		}
	}
	return info, true
}

// RegIn implements types.NameResolver.
func (n Names) RegIn(kind types.OID, text string) (types.OID, error) {
	switch kind {
	case types.RegclassOID:
		return n.RelationIn(text, false)
	case types.RegtypeOID:
		return n.TypeIn(text, false)
	case types.RegprocOID:
		return n.FuncIn(text, false)
	case types.RegprocedureOID:
		return n.ProcedureIn(text, false)
	case types.RegoperOID:
		return n.OperatorIn(text, false)
	case types.RegoperatorOID:
		return n.OperatorSignatureIn(text, false)
	case types.RegnamespaceOID:
		return n.SchemaIn(text, false)
	case types.RegroleOID:
		return n.RoleIn(text, false)
	case types.RegcollationOID:
		return n.CollationIn(text, false)
	case regconfig:
		return n.textSearchIn("pg_ts_config", "text search configuration", text)
	case regdictionary:
		return n.textSearchIn("pg_ts_dict", "text search dictionary", text)
	}
	return 0, sqlerr.Internal("type %d has no names", kind)
}

// textSearchIn looks up a name among the built-in text search objects.
func (n Names) textSearchIn(class, what, text string) (types.OID, error) {
	parts, err := SplitIdentifiers(text)
	if err != nil {
		return 0, err
	}
	rows := pgdata.CatalogRows(class)
	schema, name, err := n.schemaAndName("qualified", parts)
	if err != nil {
		return 0, err
	}
	for i := range rows.Len() {
		if have, _ := rows.Field(i, 1); have == name && (schema == "" || schema == "pg_catalog") {
			return fieldOID(rows, i, 0), nil
		}
	}
	return 0, sqlerr.New(sqlerr.UndefinedObject, "%s %q does not exist", what, strings.Join(parts, "."))
}

// RegOut implements types.NameResolver.
func (n Names) RegOut(kind, object types.OID) (string, bool) {
	var name string
	var err error
	exists := false
	switch kind {
	case types.RegclassOID:
		var rel *Relation
		rel, err = n.Reader.RelationByOID(object)
		if exists = rel != nil; exists {
			name, err = FormatRelation(n.Reader, rel, n.Path)
		}
	case types.RegtypeOID:
		var t *Type
		t, err = n.Reader.TypeByOID(object)
		if exists = t != nil; exists {
			name, err = FormatType(n.Reader, object, -1, false, n.Path)
		}
	case types.RegprocOID, types.RegprocedureOID:
		var p *Proc
		p, err = n.Reader.FuncByOID(object)
		if exists = p != nil; exists {
			if name, err = FormatProc(n.Reader, p, n.Path); kind == types.RegprocOID {
				name, err = n.FuncOut(object)
			}
		}
	case types.RegoperOID, types.RegoperatorOID:
		if exists = pgdata.OperatorByOID(object) != nil; exists {
			if name, err = n.OperatorSignatureOut(object); kind == types.RegoperOID {
				name, err = n.OperatorOut(object)
			}
		}
	case types.RegnamespaceOID:
		var s *Schema
		s, err = n.Reader.SchemaByOID(object)
		if exists = s != nil; exists {
			name = QuoteIdent(s.Name)
		}
	case types.RegroleOID:
		var x *Role
		x, err = n.Reader.RoleByOID(object)
		if exists = x != nil; exists {
			name = QuoteIdent(x.Name)
		}
	case types.RegcollationOID:
		c := pgdata.CollationByOID(object)
		if exists = c != nil; exists {
			name = n.builtinName(QuoteIdent(c.Name))
		}
	case regconfig:
		name, exists = n.textSearchOut("pg_ts_config", object)
	case regdictionary:
		name, exists = n.textSearchOut("pg_ts_dict", object)
	}
	return name, exists && err == nil
}

func (n Names) textSearchOut(class string, object types.OID) (string, bool) {
	rows := pgdata.CatalogRows(class)
	for i := range rows.Len() {
		if fieldOID(rows, i, 0) == object {
			name, _ := rows.Field(i, 1)
			return n.builtinName(QuoteIdent(name)), true
		}
	}
	return "", false
}

// EnumValue implements types.NameResolver.
func (n Names) EnumValue(enum types.OID, label string) (order float64, id types.OID, ok bool) {
	t, err := n.Reader.TypeByOID(enum)
	if t == nil || err != nil {
		return 0, 0, false
	}
	for _, l := range t.Labels {
		if l.Name == label {
			return l.Sort, l.OID, true
		}
	}
	return 0, 0, false
}

// EnumLabel implements types.NameResolver.
func (n Names) EnumLabel(enum, label types.OID) (string, bool) {
	t, err := n.Reader.TypeByOID(enum)
	if t == nil || err != nil {
		return "", false
	}
	for _, l := range t.Labels {
		if l.OID == label {
			return l.Name, true
		}
	}
	return "", false
}
