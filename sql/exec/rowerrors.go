package exec

import (
	"strings"
	"unicode/utf8"

	"herd/sql/catalog"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/vec"
)

// maxFieldShown is the longest value, in bytes, that a message shows of a failing row; as PostgreSQL has it.
const maxFieldShown = 64

// whileWaiting adds to the error that ended a wait for a row what was waited for, in PostgreSQL's words. doing is what was to
// be done with the row.
func whileWaiting(err error, doing string, key []byte, relation string) error {
	if err == nil {
		return nil
	}
	e := sqlerr.From(err)
	switch e.Code {
	case sqlerr.DeadlockDetected, sqlerr.LockNotAvailable, sqlerr.QueryCanceled:
		page, n := TupleID(key)
		return e.WithWhere("while %s tuple (%d,%d) in relation \"%s\"", doing, page, n, relation)
	}
	return err
}

// schemaName returns the schema of a relation, for the fields of an error.
func (s *State) schemaName(rel *catalog.Relation) string {
	if s.env == nil {
		return ""
	}
	cat := s.env.Catalog
	if cat == nil && s.env.Virtual != nil {
		cat = s.env.Virtual.Catalog()
	}
	if cat == nil {
		return ""
	}
	sc, err := cat.SchemaByOID(rel.Schema)
	if err != nil || sc == nil {
		return ""
	}
	return sc.Name
}

// text returns the output form of a value.
func (s *State) text(t types.OID, d types.Datum) string {
	if d.Null {
		return "null"
	}
	return string(types.Output(s.env.Funcs.IO, nil, t, d))
}

// failingRow is PostgreSQL's description of a row that violates a constraint.
func (w *tableWriter) failingRow(b *vec.Batch) string {
	var sb strings.Builder
	sb.WriteString("Failing row contains (")
	first := true
	for i := range w.rel.Columns {
		c := &w.rel.Columns[i]
		if c.Dropped {
			continue
		}
		if !first {
			sb.WriteString(", ")
		}
		first = false
		v, err := b.Col(i)
		if err != nil {
			continue
		}
		t := w.st.text(w.layout.Type(i), v.Datum(0))
		if len(t) > maxFieldShown {
			n := maxFieldShown
			for n > 0 && !utf8.RuneStart(t[n]) {
				n--
			}
			t = t[:n] + "..."
		}
		sb.WriteString(t)
	}
	sb.WriteString(").")
	return sb.String()
}

func (w *tableWriter) errNotNull(a int16, b *vec.Batch) error {
	col := w.rel.Columns[a-1].Name
	return sqlerr.New(sqlerr.NotNullViolation, "null value in column \"%s\" of relation \"%s\" violates not-null constraint", col, w.rel.Name).
		WithDetail("%s", w.failingRow(b)).WithTable(w.st.schemaName(w.rel), w.rel.Name).WithColumn(col)
}

func (w *tableWriter) errCheck(name string, b *vec.Batch) error {
	return sqlerr.New(sqlerr.CheckViolation, "new row for relation \"%s\" violates check constraint \"%s\"", w.rel.Name, name).
		WithDetail("%s", w.failingRow(b)).WithTable(w.st.schemaName(w.rel), w.rel.Name).WithConstraint(name)
}

// errUniquePK is the error of the row in b, whose key another row has.
func (w *tableWriter) errUniquePK(b *vec.Batch, key []byte) error {
	if err := w.tx().NoteWrite(w.tree(), key); err != nil {
		return err
	}
	names, vals := make([]string, len(w.pk)), make([]string, len(w.pk))
	for i, c := range w.pk {
		names[i] = quoteIdent(w.rel.Columns[c.attno-1].Name)
		v, err := b.Col(int(c.attno) - 1)
		if err != nil {
			return err
		}
		vals[i] = w.st.text(c.typ, v.Datum(0))
	}
	return w.duplicate(w.rel.PrimaryKey, names, vals)
}

// errUniqueEntry is the error of an entry, described by ix.vals, whose key another row has.
func (w *tableWriter) errUniqueEntry(ix *indexWriter, key []byte) error {
	if err := w.tx().NoteWrite(ix.def.Tree, key); err != nil {
		return err
	}
	return w.errUnique(ix)
}

// errUnique describes the entry that ix.vals holds.
func (w *tableWriter) errUnique(ix *indexWriter) error {
	names, vals := make([]string, len(ix.cols)), make([]string, len(ix.cols))
	for i, c := range ix.cols {
		if c.attno > 0 {
			names[i] = quoteIdent(w.rel.Columns[c.attno-1].Name)
		} else {
			names[i] = ix.def.Keys[i].Expr
		}
		vals[i] = w.st.text(c.typ, ix.vals[i])
	}
	return w.duplicate(ix.def, names, vals)
}

func (w *tableWriter) duplicate(ix *catalog.Index, names, vals []string) error {
	return sqlerr.New(sqlerr.UniqueViolation, "duplicate key value violates unique constraint \"%s\"", ix.Name).
		WithDetail("Key (%s)=(%s) already exists.", strings.Join(names, ", "), strings.Join(vals, ", ")).
		WithTable(w.st.schemaName(w.rel), w.rel.Name).WithConstraint(ix.Name)
}

// quoteIdent quotes a column name: PostgreSQL shows key columns in these messages with quotes only where pg_get_indexdef does,
// which is for names that are no plain lower-case identifiers.
func quoteIdent(s string) string {
	plain := s != ""
	for i := 0; i < len(s) && plain; i++ {
		c := s[i]
		plain = c >= 'a' && c <= 'z' || c == '_' || i > 0 && c >= '0' && c <= '9'
	}
	if plain {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

func errConcurrent(what string) error {
	return sqlerr.New(sqlerr.SerializationFailure, "could not serialize access due to concurrent %s", what)
}
