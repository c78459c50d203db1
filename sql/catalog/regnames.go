package catalog

import (
	"strconv"
	"strings"

	"herd/sql/catalog/pgdata"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// Names is what the reg* types, to_regclass and their kin need: a catalog and a search path.
// funcs and types reach it through their environments.
type Names struct {
	Reader   Reader
	Path     []types.OID
	Database string // name of the current database, for three-part names
}

// SplitIdentifiers takes a possibly qualified name apart, folding what is not quoted. Error: 42602.
func SplitIdentifiers(text string) ([]string, error) {
	bad := sqlerr.New(sqlerr.InvalidName, "invalid name syntax")
	var parts []string
	s := strings.TrimLeft(text, " \t\n\r\f")
	for {
		var part string
		if strings.HasPrefix(s, `"`) {
			s = s[1:]
			for {
				i := strings.IndexByte(s, '"')
				if i < 0 {
					return nil, bad
				}
				part += s[:i]
				s = s[i+1:]
				if !strings.HasPrefix(s, `"`) {
					break
				}
				part += `"`
				s = s[1:]
			}
			if part == "" {
				return nil, bad
			}
		} else {
			i := strings.IndexAny(s, ". \t\n\r\f")
			if i < 0 {
				i = len(s)
			}
			if i == 0 || strings.IndexByte(s[:i], '"') >= 0 {
				return nil, bad
			}
			part, s = strings.ToLower(s[:i]), s[i:]
		}
		if len(part) > maxName {
			part = part[:maxName]
		}
		parts = append(parts, part)
		s = strings.TrimLeft(s, " \t\n\r\f")
		if s == "" {
			return parts, nil
		}
		if s[0] != '.' {
			return nil, bad
		}
		s = strings.TrimLeft(s[1:], " \t\n\r\f")
	}
}

// schemaAndName reduces one to three parts to schema and name.
func (n Names) schemaAndName(what string, parts []string) (schema, name string, err error) {
	switch len(parts) {
	case 1:
		return "", parts[0], nil
	case 2:
		return parts[0], parts[1], nil
	case 3:
		if parts[0] != n.Database {
			return "", "", sqlerr.New(sqlerr.FeatureNotSupported, "cross-database references are not implemented: %q", strings.Join(parts, "."))
		}
		return parts[1], parts[2], nil
	}
	return "", "", sqlerr.New(sqlerr.SyntaxError, "improper %s name (too many dotted names): %s", what, strings.Join(parts, "."))
}

// numeric reads the forms that all reg* types share: "-" and a number.
func numeric(text string) (types.OID, bool) {
	if text == "-" {
		return 0, true
	}
	if text == "" || text[0] < '0' || text[0] > '9' {
		return 0, false
	}
	v, err := strconv.ParseUint(text, 10, 32)
	return types.OID(v), err == nil
}

// RelationIn is the input of regclass; missing objects give 0 when quiet (to_regclass). Errors: 42P01, 42602.
func (n Names) RelationIn(text string, quiet bool) (types.OID, error) {
	if !quiet {
		if id, ok := numeric(text); ok {
			return id, nil
		}
	}
	parts, err := SplitIdentifiers(text)
	if err != nil {
		return 0, err
	}
	schema, name, err := n.schemaAndName("relation", parts)
	if err != nil {
		return 0, err
	}
	rel, err := n.Reader.LookupRelation(schema, name, n.Path)
	if err != nil {
		return 0, err
	}
	if rel != nil {
		return rel.OID, nil
	}
	if quiet {
		return 0, nil
	}
	if schema != "" {
		if err := n.needSchema(schema); err != nil {
			return 0, err
		}
		return 0, sqlerr.New(sqlerr.UndefinedTable, "relation %q does not exist", schema+"."+name)
	}
	return 0, sqlerr.New(sqlerr.UndefinedTable, "relation %q does not exist", name)
}

// needSchema fails when there is no schema of the name.
func (n Names) needSchema(name string) error {
	s, err := n.Reader.SchemaByName(name)
	if s == nil && err == nil {
		err = sqlerr.New(sqlerr.InvalidSchemaName, "schema %q does not exist", name)
	}
	return err
}

// RelationOut is the output of regclass; an identifier without relation prints as a number.
func (n Names) RelationOut(id types.OID) (string, error) {
	if id == 0 {
		return "-", nil
	}
	rel, err := n.Reader.RelationByOID(id)
	if err != nil {
		return "", err
	}
	if rel == nil {
		return strconv.FormatUint(uint64(id), 10), nil
	}
	return FormatRelation(n.Reader, rel, n.Path)
}

// TypeOut is the output of regtype.
func (n Names) TypeOut(id types.OID) (string, error) {
	if id == 0 {
		return "-", nil
	}
	t, err := n.Reader.TypeByOID(id)
	if err != nil {
		return "", err
	}
	if t == nil {
		return strconv.FormatUint(uint64(id), 10), nil
	}
	return FormatType(n.Reader, id, -1, false, n.Path)
}

// sqlTypeNames maps SQL's spellings to pg_type's names.
var sqlTypeNames = map[string]string{
	"int": "int4", "integer": "int4", "smallint": "int2", "bigint": "int8", "real": "float4", "float": "float8",
	"double precision": "float8", "decimal": "numeric", "dec": "numeric", "boolean": "bool", "character": "bpchar",
	"char": "bpchar", "nchar": "bpchar", "national character": "bpchar", "national char": "bpchar",
	"character varying": "varchar", "char varying": "varchar", "national character varying": "varchar",
	"bit varying": "varbit", "time without time zone": "time", "time with time zone": "timetz",
	"timestamp without time zone": "timestamp", "timestamp with time zone": "timestamptz",
}

// ParseTypeName reads a type's name as SQL writes it: SQL spellings, a length or precision (not
// interpreted), quoted and qualified names, array brackets. It returns schema and pg_type name
// of the element and whether brackets followed. Error: 42601.
func ParseTypeName(text string) (schema, name string, array bool, err error) {
	s := strings.TrimSpace(text)
	bad := sqlerr.New(sqlerr.SyntaxError, "invalid type name %q", text)
	for strings.HasSuffix(s, "]") {
		i := strings.LastIndexByte(s, '[')
		if i < 0 || strings.Trim(s[i+1:len(s)-1], " 0123456789") != "" {
			return "", "", false, bad
		}
		s, array = strings.TrimSpace(s[:i]), true
	}
	if i := strings.IndexByte(s, '('); i >= 0 && strings.IndexByte(s, '"') < 0 {
		j := strings.IndexByte(s, ')')
		if j < i {
			return "", "", false, bad
		}
		s = strings.TrimSpace(s[:i]) + " " + strings.TrimSpace(s[j+1:])
	}
	folded := strings.Join(strings.Fields(strings.ToLower(s)), " ")
	if folded == "" {
		return "", "", false, bad
	}
	if std := sqlTypeNames[folded]; std != "" {
		return "pg_catalog", std, array, nil
	}
	if strings.HasPrefix(folded, "interval ") {
		return "pg_catalog", "interval", array, nil
	}
	if strings.HasPrefix(folded, "setof ") {
		return "", "", false, bad
	}
	parts, err := SplitIdentifiers(s)
	if err != nil || len(parts) > 3 {
		return "", "", false, bad
	}
	if len(parts) == 1 {
		return "", parts[0], array, nil
	}
	return parts[len(parts)-2], parts[len(parts)-1], array, nil
}

// TypeIn is the input of regtype; missing types give 0 when quiet (to_regtype). Errors: 42704, 42601, 3F000.
func (n Names) TypeIn(text string, quiet bool) (types.OID, error) {
	if !quiet {
		if id, ok := numeric(text); ok {
			return id, nil
		}
	}
	schema, name, array, err := ParseTypeName(text)
	if err != nil {
		return 0, err
	}
	t, err := n.Reader.LookupType(schema, name, n.Path)
	if err != nil {
		return 0, err
	}
	id := types.OID(0)
	if t != nil {
		if id = t.OID; array {
			id = t.Array
		}
	}
	if id != 0 || quiet {
		return id, nil
	}
	if schema != "" {
		if err := n.needSchema(schema); err != nil {
			return 0, err
		}
	}
	return 0, sqlerr.New(sqlerr.UndefinedObject, "type %q does not exist", strings.TrimSpace(text))
}

// FuncOut is the output of regproc: qualified when the name alone is not visible or ambiguous.
func (n Names) FuncOut(id types.OID) (string, error) {
	if id == 0 {
		return "-", nil
	}
	p, err := n.Reader.FuncByOID(id)
	if err != nil {
		return "", err
	}
	if p == nil {
		return strconv.FormatUint(uint64(id), 10), nil
	}
	all, err := n.Reader.LookupFuncs("", p.Name, n.Path)
	if err != nil {
		return "", err
	}
	if len(all) == 1 && all[0].OID == id {
		return QuoteIdent(p.Name), nil
	}
	s, err := n.Reader.SchemaByOID(p.Namespace)
	if err != nil || s == nil {
		return QuoteIdent(p.Name), err
	}
	return QuoteQualified(s.Name, p.Name), nil
}

// FuncIn is the input of regproc. Errors: 42883, 42725.
func (n Names) FuncIn(text string, quiet bool) (types.OID, error) {
	if !quiet {
		if id, ok := numeric(text); ok {
			return id, nil
		}
	}
	parts, err := SplitIdentifiers(text)
	if err != nil {
		return 0, err
	}
	schema, name, err := n.schemaAndName("qualified", parts)
	if err != nil {
		return 0, err
	}
	all, err := n.Reader.LookupFuncs(schema, name, n.Path)
	if err != nil {
		return 0, err
	}
	switch {
	case len(all) == 1:
		return all[0].OID, nil
	case quiet:
		return 0, nil
	case len(all) == 0:
		return 0, sqlerr.New(sqlerr.UndefinedFunction, "function %q does not exist", text)
	}
	return 0, sqlerr.New(sqlerr.AmbiguousFunction, "more than one function named %q", text)
}

// ProcedureOut is the output of regprocedure.
func (n Names) ProcedureOut(id types.OID) (string, error) {
	if id == 0 {
		return "-", nil
	}
	p, err := n.Reader.FuncByOID(id)
	if err != nil {
		return "", err
	}
	if p == nil {
		return strconv.FormatUint(uint64(id), 10), nil
	}
	return FormatProc(n.Reader, p, n.Path)
}

// splitArguments takes "name(type, type)" apart. Error: 22P02.
func splitArguments(text string) (name string, args []string, err error) {
	open := strings.IndexByte(text, '(')
	s := strings.TrimSpace(text)
	if open < 0 {
		return "", nil, sqlerr.New(sqlerr.InvalidTextRepresentation, "expected a left parenthesis")
	}
	if !strings.HasSuffix(s, ")") {
		return "", nil, sqlerr.New(sqlerr.InvalidTextRepresentation, "expected a right parenthesis")
	}
	list := strings.TrimSpace(s[strings.IndexByte(s, '(')+1 : len(s)-1])
	if list == "" {
		return strings.TrimSpace(text[:open]), nil, nil
	}
	depth, from := 0, 0
	for i := 0; i < len(list); i++ {
		switch list[i] {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case ',':
			if depth == 0 {
				args = append(args, list[from:i])
				from = i + 1
			}
		}
	}
	return strings.TrimSpace(text[:open]), append(args, list[from:]), nil
}

// ProcedureIn is the input of regprocedure: name(type, ...). Errors: 42883, 22P02.
func (n Names) ProcedureIn(text string, quiet bool) (types.OID, error) {
	if !quiet {
		if id, ok := numeric(text); ok {
			return id, nil
		}
	}
	name, args, err := splitArguments(text)
	if err != nil {
		return 0, err
	}
	parts, err := SplitIdentifiers(name)
	if err != nil {
		return 0, err
	}
	schema, name, err := n.schemaAndName("qualified", parts)
	if err != nil {
		return 0, err
	}
	ids := make([]types.OID, len(args))
	for i, a := range args {
		if ids[i], err = n.TypeIn(a, quiet); err != nil {
			return 0, err
		}
	}
	all, err := n.Reader.LookupFuncs(schema, name, n.Path)
	if err != nil {
		return 0, err
	}
	for _, p := range all {
		if sameTypes(p.ArgTypes, ids) {
			return p.OID, nil
		}
	}
	if quiet {
		return 0, nil
	}
	return 0, sqlerr.New(sqlerr.UndefinedFunction, "function %q does not exist", text)
}

// SchemaIn is the input of regnamespace. Error: 3F000.
func (n Names) SchemaIn(text string, quiet bool) (types.OID, error) {
	if id, ok := numeric(text); ok && !quiet {
		return id, nil
	}
	parts, err := SplitIdentifiers(text)
	if err != nil {
		return 0, err
	}
	if len(parts) != 1 {
		return 0, sqlerr.New(sqlerr.InvalidName, "invalid name syntax")
	}
	s, err := n.Reader.SchemaByName(parts[0])
	if err != nil {
		return 0, err
	}
	if s == nil {
		if quiet {
			return 0, nil
		}
		return 0, sqlerr.New(sqlerr.InvalidSchemaName, "schema %q does not exist", parts[0])
	}
	return s.OID, nil
}

// SchemaOut is the output of regnamespace.
func (n Names) SchemaOut(id types.OID) (string, error) {
	if id == 0 {
		return "-", nil
	}
	s, err := n.Reader.SchemaByOID(id)
	if err != nil {
		return "", err
	}
	if s == nil {
		return strconv.FormatUint(uint64(id), 10), nil
	}
	return QuoteIdent(s.Name), nil
}

// RoleIn is the input of regrole. Error: 42704.
func (n Names) RoleIn(text string, quiet bool) (types.OID, error) {
	if id, ok := numeric(text); ok && !quiet {
		return id, nil
	}
	parts, err := SplitIdentifiers(text)
	if err != nil {
		return 0, err
	}
	if len(parts) != 1 {
		return 0, sqlerr.New(sqlerr.InvalidName, "invalid name syntax")
	}
	x, err := n.Reader.RoleByName(parts[0])
	if err != nil {
		return 0, err
	}
	if x == nil {
		if quiet {
			return 0, nil
		}
		return 0, sqlerr.New(sqlerr.UndefinedObject, "role %q does not exist", parts[0])
	}
	return x.OID, nil
}

// RoleOut is the output of regrole.
func (n Names) RoleOut(id types.OID) (string, error) {
	if id == 0 {
		return "-", nil
	}
	x, err := n.Reader.RoleByOID(id)
	if err != nil {
		return "", err
	}
	if x == nil {
		return strconv.FormatUint(uint64(id), 10), nil
	}
	return QuoteIdent(x.Name), nil
}

// RoleName is pg_get_userbyid.
func (n Names) RoleName(id types.OID) (string, error) {
	x, err := n.Reader.RoleByOID(id)
	if err != nil {
		return "", err
	}
	if x == nil {
		return "unknown (OID=" + strconv.FormatUint(uint64(id), 10) + ")", nil
	}
	return x.Name, nil
}

// CollationIn is the input of regcollation. Error: 42704.
func (n Names) CollationIn(text string, quiet bool) (types.OID, error) {
	if id, ok := numeric(text); ok && !quiet {
		return id, nil
	}
	parts, err := SplitIdentifiers(text)
	if err != nil {
		return 0, err
	}
	schema, name, err := n.schemaAndName("qualified", parts)
	if err != nil {
		return 0, err
	}
	if c := pgdata.CollationByName(name); c != nil && (schema == "pg_catalog" || schema == "" && BuiltinIsVisible(n.Path)) {
		return c.OID, nil
	}
	if quiet {
		return 0, nil
	}
	return 0, sqlerr.New(sqlerr.UndefinedObject, "collation %q for encoding \"UTF8\" does not exist", strings.Join(parts, "."))
}

// CollationOut is the output of regcollation.
func (n Names) CollationOut(id types.OID) (string, error) {
	if id == 0 {
		return "-", nil
	}
	c := pgdata.CollationByOID(id)
	if c == nil {
		return strconv.FormatUint(uint64(id), 10), nil
	}
	return n.builtinName(QuoteIdent(c.Name)), nil
}

// builtinName qualifies the name of an object in pg_catalog if that is not on the path.
func (n Names) builtinName(quoted string) string {
	if BuiltinIsVisible(n.Path) {
		return quoted
	}
	return "pg_catalog." + quoted
}
