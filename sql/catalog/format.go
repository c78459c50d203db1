package catalog

import (
	"fmt"
	"strconv"
	"strings"

	"herd/sql/catalog/pgdata"
	"herd/sql/types"
)

func itoa(i int) string { return strconv.Itoa(i) }

// QuoteIdent returns a name as SQL text would have to write it: in double quotes unless it is a
// lower-case identifier that is no keyword (unreserved keywords need no quotes).
func QuoteIdent(name string) string {
	safe := name != "" && (name[0] >= 'a' && name[0] <= 'z' || name[0] == '_')
	for i := 0; safe && i < len(name); i++ {
		c := name[i]
		safe = c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_'
	}
	if safe {
		if k := pgdata.KeywordByName(name); k == nil || k.Category == 'U' {
			return name
		}
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// QuoteQualified returns schema.name, or name alone with schema "".
func QuoteQualified(schema, name string) string {
	if schema == "" {
		return QuoteIdent(name)
	}
	return QuoteIdent(schema) + "." + QuoteIdent(name)
}

// standardNames are the types that SQL spells differently from pg_type.
var standardNames = map[types.OID]string{
	types.BoolOID: "boolean", types.BPCharOID: "character", types.Float4OID: "real", types.Float8OID: "double precision",
	types.Int4OID: "integer", types.Int2OID: "smallint", types.Int8OID: "bigint", types.NumericOID: "numeric",
	types.IntervalOID: "interval", types.TimeOID: "time without time zone", types.TimeTZOID: "time with time zone",
	types.TimestampOID: "timestamp without time zone", types.TimestampTZOID: "timestamp with time zone",
	types.VarbitOID: "bit varying", types.VarcharOID: "character varying", types.BitOID: "bit",
}

// FormatType returns a type's name as format_type does. given tells format_type(oid, typmod)
// from format_type(oid, NULL): character and bit without length differ. A type that is not
// visible on the path is qualified; one that does not exist is "???".
func FormatType(r Reader, id types.OID, typmod types.Typmod, given bool, path []types.OID) (string, error) {
	if id == 0 {
		return "-", nil
	}
	t, err := r.TypeByOID(id)
	if err != nil {
		return "", err
	}
	if t == nil {
		return "???", nil
	}
	suffix := ""
	if t.IsTrueArray() && t.Storage != 'p' {
		elem, err := r.TypeByOID(t.Elem)
		if err != nil {
			return "", err
		}
		if elem == nil {
			return "???[]", nil
		}
		t, suffix = elem, "[]"
	}
	if s := standardType(t.OID, typmod, given); s != "" {
		return s + suffix, nil
	}
	name, err := qualifiedTypeName(r, t, path)
	if err != nil {
		return "", err
	}
	if typmod >= 0 {
		name += typmodText(t.OID, typmod)
	}
	return name + suffix, nil
}

// qualifiedTypeName returns a type's quoted name, with its schema if it is not visible.
func qualifiedTypeName(r Reader, t *Type, path []types.OID) (string, error) {
	visible, err := TypeIsVisible(r, t, path)
	if err != nil || visible {
		return QuoteIdent(t.Name), err
	}
	s, err := r.SchemaByOID(t.Namespace)
	if err != nil {
		return "", err
	}
	if s == nil {
		return QuoteIdent(t.Name), nil
	}
	return QuoteQualified(s.Name, t.Name), nil
}

// standardType returns the SQL name of a type that has one, "" otherwise.
func standardType(id types.OID, typmod types.Typmod, given bool) string {
	name := standardNames[id]
	if name == "" {
		return ""
	}
	if (id == types.BPCharOID || id == types.BitOID) && typmod < 0 && given {
		return "" // "bpchar" and "bit" without length are not CHARACTER and BIT
	}
	if t := pgdata.TypeByOID(id); typmod < 0 || t.ModOut == 0 {
		return name
	}
	text := typmodText(id, typmod)
	switch id {
	case types.TimeOID, types.TimeTZOID, types.TimestampOID, types.TimestampTZOID:
		first, rest, _ := strings.Cut(name, " ")
		return first + text + " " + rest
	}
	return name + text
}

// typmodText returns what a type's typmod output function prints.
func typmodText(id types.OID, typmod types.Typmod) string {
	switch id {
	case types.BPCharOID, types.VarcharOID:
		if typmod <= 4 {
			return ""
		}
		return fmt.Sprintf("(%d)", typmod-4)
	case types.BitOID, types.VarbitOID:
		return fmt.Sprintf("(%d)", typmod)
	case types.NumericOID:
		if typmod < 4 {
			return ""
		}
		n := int32(typmod) - 4
		return fmt.Sprintf("(%d,%d)", n>>16&0xffff, (n&0x7ff^1024)-1024)
	case types.TimeOID, types.TimeTZOID, types.TimestampOID, types.TimestampTZOID:
		return fmt.Sprintf("(%d)", typmod)
	case types.IntervalOID:
		return intervalTypmod(int32(typmod))
	}
	return fmt.Sprintf("(%d)", typmod)
}

// intervalFields names the field restrictions of interval by their bits.
var intervalFields = map[int32]string{
	1 << 2: " year", 1 << 1: " month", 1 << 3: " day", 1 << 10: " hour", 1 << 11: " minute", 1 << 12: " second",
	1<<2 | 1<<1: " year to month", 1<<3 | 1<<10: " day to hour", 1<<3 | 1<<10 | 1<<11: " day to minute",
	1<<3 | 1<<10 | 1<<11 | 1<<12: " day to second", 1<<10 | 1<<11: " hour to minute",
	1<<10 | 1<<11 | 1<<12: " hour to second", 1<<11 | 1<<12: " minute to second",
}

func intervalTypmod(typmod int32) string {
	s := intervalFields[typmod>>16&0x7fff]
	if p := typmod & 0xffff; p != 0xffff {
		s += fmt.Sprintf("(%d)", p)
	}
	return s
}

// FormatRelation returns a relation's quoted name, with its schema if it is not visible.
func FormatRelation(r Reader, rel *Relation, path []types.OID) (string, error) {
	visible, err := RelationIsVisible(r, rel, path)
	if err != nil || visible {
		return QuoteIdent(rel.Name), err
	}
	s, err := r.SchemaByOID(rel.Schema)
	if err != nil || s == nil {
		return QuoteIdent(rel.Name), err
	}
	return QuoteQualified(s.Name, rel.Name), nil
}

// FormatProc returns a function's name and argument types, as regprocedure prints it.
func FormatProc(r Reader, p *Proc, path []types.OID) (string, error) {
	visible, err := FuncIsVisible(r, p, path)
	if err != nil {
		return "", err
	}
	name := QuoteIdent(p.Name)
	if !visible {
		s, err := r.SchemaByOID(p.Namespace)
		if err != nil {
			return "", err
		}
		if s != nil {
			name = QuoteQualified(s.Name, p.Name)
		}
	}
	args := make([]string, len(p.ArgTypes))
	for i, a := range p.ArgTypes {
		if args[i], err = FormatType(r, a, -1, false, path); err != nil {
			return "", err
		}
	}
	return name + "(" + strings.Join(args, ",") + ")", nil
}
