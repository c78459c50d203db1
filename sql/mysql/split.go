package mysql

import (
	"strings"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/format"

	"herd/sql/sqlerr"
)

// Created is a CREATE TABLE of a dump in two parts: the table with its keys that are needed to load rows, and what is better
// made afterwards. All texts are MySQL's SQL.
type Created struct {
	// Table is the name, folded, and Schema its database or "".
	Schema, Table string
	// Text creates the table with primary and unique keys.
	Text string
	// Indexes and ForeignKeys are statements for after the rows; foreign keys may name tables that come later.
	Indexes, ForeignKeys []string
	// Columns are the columns in order, Binary says which of them hold bytes, and Bits how many bits, 0 for other types.
	Columns []string
	Binary  []bool
	Bits    []int
	// AutoIncrement is the column that counts by itself, or "".
	AutoIncrement string
}

// SplitCreate cuts a CREATE TABLE statement; nil for every other statement and for what the parser does not read, which the
// server will say. Called by sql/dump's users for every statement of a dump that begins with CREATE.
func SplitCreate(text string) (*Created, error) {
	if err := checkNesting(text); err != nil {
		return nil, err
	}
	source, _ := herdWords(text)
	n, err := parseSource(source)
	if err != nil {
		return nil, translate(text, 0, err)
	}
	s, ok := n.(*tidb.CreateTableStmt)
	if !ok || s.Select != nil || s.ReferTable != nil {
		return nil, nil
	}
	out := &Created{Schema: ident(s.Table.Schema), Table: ident(s.Table.Name)}
	for _, d := range s.Cols {
		out.Columns = append(out.Columns, ident(d.Name.Name))
		typ, _ := (&converter{text: text}).typeName("", d.Tp, 0)
		out.Binary = append(out.Binary, typ.Name.Name == "bytea")
		bits := 0
		if typ.Name.Name == "bit" {
			bits = d.Tp.GetFlen()
		}
		out.Bits = append(out.Bits, bits)
		for _, o := range d.Options {
			if o.Tp == tidb.ColumnOptionAutoIncrement {
				out.AutoIncrement = ident(d.Name.Name)
			}
		}
	}
	var keep, later []*tidb.Constraint
	for _, k := range s.Constraints {
		switch k.Tp {
		case tidb.ConstraintForeignKey, tidb.ConstraintKey, tidb.ConstraintIndex:
			later = append(later, k)
		default:
			keep = append(keep, k)
		}
	}
	if len(later) == 0 {
		out.Text = text
		return out, nil
	}
	s.Constraints = keep
	if out.Text, err = restore(s); err != nil {
		return nil, err
	}
	for _, k := range later {
		alter := &tidb.AlterTableStmt{Table: s.Table, Specs: []*tidb.AlterTableSpec{{Tp: tidb.AlterTableAddConstraint, Constraint: k}}}
		sql, err := restore(alter)
		if err != nil {
			return nil, err
		}
		if k.Tp == tidb.ConstraintForeignKey {
			out.ForeignKeys = append(out.ForeignKeys, sql)
		} else {
			out.Indexes = append(out.Indexes, sql)
		}
	}
	return out, nil
}

// restore writes a tree of the parser as SQL.
func restore(n tidb.Node) (string, error) {
	var b strings.Builder
	const flags = format.RestoreStringSingleQuotes | format.RestoreStringEscapeBackslash | format.RestoreKeyWordUppercase | format.RestoreNameBackQuotes |
		format.RestoreStringWithoutCharset
	if err := n.Restore(format.NewRestoreCtx(flags, &b)); err != nil {
		return "", sqlerr.Internal("writing %s as SQL: %v", nodeName(n), err)
	}
	return b.String(), nil
}
