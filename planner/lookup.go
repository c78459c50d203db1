package planner

import (
	"strings"

	"herd/planner/plan"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/catalog/pgdata"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

func (b *binder) schemaByName(name string) (*catalog.Schema, error) { return b.cat.SchemaByName(name) }

func (b *binder) schemaName(id types.OID) string {
	if id == pgdata.CatalogSchema {
		return "pg_catalog"
	}
	if s, err := b.cat.SchemaByOID(id); err == nil && s != nil {
		return s.Name
	}
	return "???"
}

// pathPos is the rank of a schema on the search path; schemas off the path come last.
func (b *binder) pathPos(schema types.OID) int {
	for i, s := range b.env.Path {
		if s == schema {
			return i
		}
	}
	return len(b.env.Path)
}

func (b *binder) typeVisible(t *pgdata.Type) bool {
	for _, s := range b.env.Path {
		if s == t.Namespace {
			return true
		}
		if o, err := b.cat.TypeByName(s, t.Name); err == nil && o != nil {
			return false
		}
	}
	return false
}

// relation finds a table, view or sequence by name; nil when it is absent.
func (b *binder) relation(name ast.Name) (*catalog.Relation, error) {
	if name.Catalog != "" {
		if db := b.env.DatabaseName; db != "" && db != name.Catalog {
			return nil, b.errorAt(int(name.Off), sqlerr.FeatureNotSupported, "cross-database references are not implemented: \"%s\"", name.String())
		}
	}
	if err := b.mayUse(name.Schema, int(name.Off)); err != nil {
		return nil, err
	}
	r, err := b.cat.LookupRelation(name.Schema, name.Name, b.env.Path)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// funcsByName returns the functions a name may mean.
func (b *binder) funcsByName(name ast.Name) ([]*pgdata.Proc, error) {
	if name.Schema == pgdata.MySQLName {
		if list := pgdata.MySQLFuncs(name.Name); len(list) > 0 {
			return list, nil
		}
	}
	if name.Schema != "" {
		s, err := b.cat.SchemaByName(name.Schema)
		if err != nil {
			return nil, err
		}
		if s == nil {
			return nil, b.errorAt(int(name.Off), sqlerr.UndefinedSchema, "schema \"%s\" does not exist", name.Schema)
		}
		if err := b.mayUse(name.Schema, int(name.Off)); err != nil {
			return nil, err
		}
	}
	return b.cat.LookupFuncs(name.Schema, name.Name, b.env.Path)
}

// proc returns a function by OID.
func (b *binder) proc(id types.OID) (*pgdata.Proc, error) {
	if p := pgdata.FuncByOID(id); p != nil {
		return p, nil
	}
	p, err := b.cat.FuncByOID(id)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, sqlerr.Internal("cache lookup failed for function %d", id)
	}
	return p, nil
}

// funcNameAsType is FuncNameAsType: the type that f(x) may be a cast to, 0 when none.
func (b *binder) funcNameAsType(name ast.Name) types.OID {
	if name.Catalog != "" {
		return 0
	}
	t, err := b.cat.LookupType(name.Schema, name.Name, b.env.Path)
	if err != nil || t == nil || !t.Defined || t.Type == 'c' {
		return 0
	}
	return t.OID
}

// typeByName resolves a written type: typenameTypeIdAndMod.
func (b *binder) typeByName(n *ast.TypeName) (types.OID, types.Typmod, error) {
	if n.PctType {
		return b.pctType(n)
	}
	var t *pgdata.Type
	if n.Name.Schema == "pg_catalog" {
		t = pgdata.TypeByName(pgdata.CatalogSchema, n.Name.Name)
	}
	if t == nil {
		var err error
		if n.Name.Schema != "" {
			s, e := b.cat.SchemaByName(n.Name.Schema)
			if e != nil {
				return 0, 0, e
			}
			if s == nil {
				return 0, 0, b.errorAt(int(n.Off), sqlerr.UndefinedSchema, "schema \"%s\" does not exist", n.Name.Schema)
			}
			if e := b.mayUse(n.Name.Schema, int(n.Off)); e != nil {
				return 0, 0, e
			}
		}
		if t, err = b.cat.LookupType(n.Name.Schema, n.Name.Name, b.env.Path); err != nil {
			return 0, 0, err
		}
	}
	if t == nil {
		return 0, 0, b.errorAt(int(n.Off), sqlerr.UndefinedObject, "type \"%s\" does not exist", typeNameText(n))
	}
	id := t.OID
	mod, err := b.typmod(n, t)
	if err != nil {
		return 0, 0, err
	}
	if len(n.ArrayDims) > 0 {
		if id = t.Array; id == 0 {
			return 0, 0, b.errorAt(int(n.Off), sqlerr.UndefinedObject, "type \"%s\" does not exist", typeNameText(n))
		}
	}
	return id, mod, nil
}

func (b *binder) pctType(n *ast.TypeName) (types.OID, types.Typmod, error) {
	r, err := b.relation(n.Name)
	if err != nil {
		return 0, 0, err
	}
	if r == nil {
		return 0, 0, b.errorAt(int(n.Off), sqlerr.UndefinedTable, "relation \"%s\" does not exist", n.Name.String())
	}
	for i := range r.Columns {
		if c := &r.Columns[i]; c.Name == n.Column && !c.Dropped {
			return c.Type, -1, nil
		}
	}
	return 0, 0, b.errorAt(int(n.Off), sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", n.Column, n.Name.Name)
}

func typeNameText(n *ast.TypeName) string {
	return n.Name.String() + strings.Repeat("[]", len(n.ArrayDims))
}

// typmod computes a type modifier: typenameTypeMod with the built-in typmodin functions.
func (b *binder) typmod(n *ast.TypeName, t *pgdata.Type) (types.Typmod, error) {
	if len(n.Mods) == 0 {
		return -1, nil
	}
	if t.ModIn == 0 {
		return 0, b.errorAt(int(n.Off), sqlerr.SyntaxError, "type modifier is not allowed for type \"%s\"", typeNameText(n))
	}
	nums := make([]int64, len(n.Mods))
	for i, m := range n.Mods {
		c, ok := m.(*ast.Const)
		switch {
		case ok && c.Kind == ast.ConstInt:
			nums[i] = c.Int
		default:
			return 0, b.errorAt(int(n.Off), sqlerr.SyntaxError, "type modifiers must be simple constants or identifiers")
		}
	}
	mod, err := typmodIn(t.OID, nums)
	if err != nil {
		return 0, b.place(err, int(n.Off))
	}
	return mod, nil
}

// typmodIn is the typmodin function of the built-in types.
func typmodIn(t types.OID, n []int64) (types.Typmod, error) {
	const maxAttrSize = 10485760
	one := func() error {
		if len(n) != 1 {
			return sqlerr.New(sqlerr.InvalidParameterValue, "invalid type modifier")
		}
		return nil
	}
	switch t {
	case types.BPCharOID, types.VarcharOID:
		name := "char"
		if t == types.VarcharOID {
			name = "varchar"
		}
		if err := one(); err != nil {
			return 0, err
		}
		if n[0] < 1 {
			return 0, sqlerr.New(sqlerr.InvalidParameterValue, "length for type %s must be at least 1", name)
		}
		if n[0] > maxAttrSize {
			return 0, sqlerr.New(sqlerr.InvalidParameterValue, "length for type %s cannot exceed %d", name, maxAttrSize)
		}
		return types.Typmod(n[0] + 4), nil
	case types.BitOID, types.VarbitOID:
		name := "bit"
		if t == types.VarbitOID {
			name = "varbit"
		}
		if err := one(); err != nil {
			return 0, err
		}
		if n[0] < 1 {
			return 0, sqlerr.New(sqlerr.InvalidParameterValue, "length for type %s must be at least 1", name)
		}
		if n[0] > maxAttrSize*8 {
			return 0, sqlerr.New(sqlerr.InvalidParameterValue, "length for type %s cannot exceed %d", name, maxAttrSize*8)
		}
		return types.Typmod(n[0]), nil
	case types.NumericOID:
		return numericTypmod(n)
	case types.TimeOID, types.TimeTZOID, types.TimestampOID, types.TimestampTZOID:
		return timeTypmod(t, n)
	case types.IntervalOID:
		return intervalTypmod(n)
	}
	return 0, sqlerr.Unsupported("type modifier of this type")
}

func numericTypmod(n []int64) (types.Typmod, error) {
	if len(n) > 2 {
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "invalid NUMERIC type modifier")
	}
	if n[0] < 1 || n[0] > 1000 {
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "NUMERIC precision %d must be between 1 and 1000", n[0])
	}
	scale := int64(0)
	if len(n) == 2 {
		if scale = n[1]; scale < -1000 || scale > 1000 {
			return 0, sqlerr.New(sqlerr.InvalidParameterValue, "NUMERIC scale %d must be between -1000 and 1000", scale)
		}
	}
	return types.Typmod(n[0]<<16 | scale&0x7ff + 4), nil
}

func timeTypmod(t types.OID, n []int64) (types.Typmod, error) {
	if len(n) != 1 {
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "invalid type modifier")
	}
	p, name, tz := n[0], "TIME", ""
	if t == types.TimestampOID || t == types.TimestampTZOID {
		name = "TIMESTAMP"
	}
	if t == types.TimeTZOID || t == types.TimestampTZOID {
		tz = " WITH TIME ZONE"
	}
	if p < 0 {
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "%s(%d)%s precision must not be negative", name, p, tz)
	}
	return types.Typmod(min(p, 6)), nil
}

// intervalTypmod packs the field mask and the precision.
func intervalTypmod(n []int64) (types.Typmod, error) {
	const fullRange, fullPrecision = 0x7fff, 0xffff
	switch len(n) {
	case 1:
		if n[0] == fullRange {
			return -1, nil
		}
		return types.Typmod(int32(n[0])<<16 | fullPrecision), nil
	case 2:
		if n[1] < 0 {
			return 0, sqlerr.New(sqlerr.InvalidParameterValue, "INTERVAL(%d) precision must not be negative", n[1])
		}
		return types.Typmod(int32(n[0])<<16 | int32(min(n[1], 6))), nil
	}
	return 0, sqlerr.New(sqlerr.InvalidParameterValue, "invalid INTERVAL type modifier")
}

// collationByName resolves a collation: those that order as C do, and the database's default.
func (b *binder) collationByName(n ast.Name) (types.OID, error) {
	if n.Schema != "" && n.Schema != "pg_catalog" {
		return 0, b.errorAt(int(n.Off), sqlerr.UndefinedObject, "collation \"%s\" for encoding \"UTF8\" does not exist", n.String())
	}
	c := pgdata.CollationByName(n.Name)
	if c == nil {
		return 0, b.errorAt(int(n.Off), sqlerr.UndefinedObject, "collation \"%s\" for encoding \"UTF8\" does not exist", n.String())
	}
	switch c.Name {
	case "default", "C", "POSIX", "ucs_basic", "C.UTF-8", "C.utf8":
		return c.OID, nil
	}
	return 0, b.errorAt(int(n.Off), sqlerr.FeatureNotSupported, "collation \"%s\" is not supported", n.String())
}

func (b *binder) collationName(id types.OID) string {
	if c := pgdata.CollationByOID(id); c != nil {
		return c.Name
	}
	return "default"
}

// compositeCols returns the columns of a named composite type; dropped ones have no name.
func (b *binder) compositeCols(t types.OID) ([]plan.Column, error) {
	td := b.typ(t)
	if td == nil || td.Relid == 0 {
		return nil, sqlerr.Internal("type %s is not composite", b.typeName(t))
	}
	r, err := b.cat.RelationByOID(td.Relid)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, sqlerr.Internal("relation %d of type %s is absent", td.Relid, b.typeName(t))
	}
	return relColumns(r), nil
}

// relColumns describes a relation's columns as a range table entry has them.
func relColumns(r *catalog.Relation) []plan.Column {
	cols := make([]plan.Column, len(r.Columns))
	for i := range r.Columns {
		c := &r.Columns[i]
		if c.Dropped {
			cols[i].Typed = plan.Typed{Type: types.Int4OID, Typmod: -1, Loc: -1}
			continue
		}
		cols[i] = plan.Column{Name: c.Name, Typed: plan.Typed{Type: c.Type, Typmod: c.Typmod, Collation: c.Collation, Loc: -1}}
	}
	return cols
}

// fillDomain attaches a domain's constraints.
func (b *binder) fillDomain(d *plan.CoerceToDomain) error {
	t := b.typ(d.Type)
	if t == nil {
		return sqlerr.Internal("cache lookup failed for type %d", d.Type)
	}
	d.Schema, d.Name, d.Text = b.schemaName(t.Namespace), t.Name, b.typeName(d.Type)
	for t != nil && t.Type == 'd' {
		d.NotNull = d.NotNull || t.NotNull
		checks, err := b.domainChecks(t)
		if err != nil {
			return err
		}
		d.Checks = append(checks, d.Checks...)
		t = b.typ(t.BaseType)
	}
	return nil
}
