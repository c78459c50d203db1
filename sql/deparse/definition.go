package deparse

import (
	"strings"

	"herd/planner/plan"
	"herd/sql/catalog"
	"herd/sql/catalog/pgdata"
	"herd/sql/types"
)

// BindStored binds a stored expression of a relation (planner.BindStored); deparse does not know the planner.
type BindStored func(rel *catalog.Relation, text string) (plan.Expr, error)

// Stored returns the text of a stored expression with env's path.
func Stored(env *Env, bind BindStored, rel *catalog.Relation, text string) (string, error) {
	e, err := bind(rel, text)
	if err != nil {
		return "", err
	}
	return Expr(env, rel, e)
}

// btree is the access method of all indexes.
const btree types.OID = 403

// Index returns CREATE INDEX as pg_get_indexdef does, or with column > 0 that key alone ("" when there is none).
func Index(env *Env, bind BindStored, rel *catalog.Relation, x *catalog.Index, column int) (string, error) {
	keys := make([]string, 0, len(x.Keys))
	for i := range x.Keys {
		s, err := indexKey(env, bind, rel, &x.Keys[i], column > 0)
		if err != nil {
			return "", err
		}
		keys = append(keys, s)
	}
	include := columnNames(rel, x.Include)
	if column > 0 {
		if all := append(keys, include...); column <= len(all) {
			return all[column-1], nil
		}
		return "", nil
	}
	table, err := qualified(env, rel)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("CREATE ")
	if x.Unique {
		b.WriteString("UNIQUE ")
	}
	b.WriteString("INDEX " + quote(x.Name) + " ON " + table + " USING " + x.Method + " (" + strings.Join(keys, ", ") + ")")
	if len(include) > 0 {
		b.WriteString(" INCLUDE (" + strings.Join(include, ", ") + ")")
	}
	if x.NullsNotDistinct {
		b.WriteString(" NULLS NOT DISTINCT")
	}
	if len(x.Options) > 0 {
		b.WriteString(" WITH (" + options(x.Options) + ")")
	}
	if x.Pred != "" {
		s, err := Stored(env, bind, rel, x.Pred)
		if err != nil {
			return "", err
		}
		b.WriteString(" WHERE " + s)
	}
	return b.String(), nil
}

func qualified(env *Env, rel *catalog.Relation) (string, error) {
	s, err := env.Cat.SchemaByOID(rel.Schema)
	if err != nil || s == nil {
		return quote(rel.Name), err
	}
	return catalog.QuoteQualified(s.Name, rel.Name), nil
}

// options prints storage parameters: values that are no plain words or numbers are quoted.
func options(list []string) string {
	out := make([]string, len(list))
	for i, o := range list {
		name, value, _ := strings.Cut(o, "=")
		if value != quote(value) && strings.Trim(value, "0123456789.-+") != "" {
			value = Literal(value)
		}
		out[i] = quote(name) + "=" + value
	}
	return strings.Join(out, ", ")
}

func columnNames(rel *catalog.Relation, attnos []int16) []string {
	out := make([]string, 0, len(attnos))
	for _, n := range attnos {
		if c := rel.Column(n); c != nil {
			out = append(out, quote(c.Name))
		}
	}
	return out
}

// indexKey prints one key; bare leaves out collation, operator class and order.
func indexKey(env *Env, bind BindStored, rel *catalog.Relation, k *catalog.IndexKey, bare bool) (string, error) {
	text := ""
	coll := types.OID(0)
	if c := rel.Column(k.Attno); c != nil {
		text, coll = quote(c.Name), c.Collation
	} else {
		e, err := bind(rel, k.Expr)
		if err != nil {
			return "", err
		}
		if text, err = Expr(env, rel, e); err != nil {
			return "", err
		}
		coll = e.T().Collation
		if !looksLikeFunction(e) {
			text = "(" + text + ")"
		}
	}
	if bare {
		return text, nil
	}
	if k.Collation != 0 && k.Collation != coll {
		if c := pgdata.CollationByOID(k.Collation); c != nil {
			text += " COLLATE " + quote(c.Name)
		}
	}
	if oc := pgdata.OpclassByOID(k.OpClass); oc != nil {
		lookup := func(id types.OID) *pgdata.Type {
			t, err := env.Cat.TypeByOID(id)
			if err != nil {
				return nil
			}
			return t
		}
		if d := pgdata.DefaultOpclass(k.Type, btree, lookup); d == nil || d.OID != oc.OID {
			text += " " + quote(oc.Name)
		}
	}
	switch {
	case k.Desc && k.NullsFirst:
		text += " DESC"
	case k.Desc:
		text += " DESC NULLS LAST"
	case k.NullsFirst:
		text += " NULLS FIRST"
	}
	return text, nil
}

// looksLikeFunction says whether an expression prints as a call, which needs no brackets in an index definition.
func looksLikeFunction(e plan.Expr) bool {
	switch x := e.(type) {
	case *plan.FuncCall:
		return x.Form == plan.FormFunc || x.Form == plan.FormSQLSyntax
	case *plan.Coalesce, *plan.MinMax, *plan.NullIf, *plan.SQLValue:
		return true
	}
	return false
}

var fkActions = map[byte]string{'r': "RESTRICT", 'c': "CASCADE", 'n': "SET NULL", 'd': "SET DEFAULT"}

// Constraint returns a constraint's definition as pg_get_constraintdef does.
func Constraint(env *Env, bind BindStored, rel *catalog.Relation, k *catalog.Constraint) (string, error) {
	var b strings.Builder
	switch k.Type {
	case 'c':
		s, err := Stored(env, bind, rel, k.Expr)
		if err != nil {
			return "", err
		}
		// A condition that is no operator or the like still needs brackets.
		if !strings.HasPrefix(s, "(") || !closesAtEnd(s) {
			s = "(" + s + ")"
		}
		b.WriteString("CHECK (" + s + ")")
		if k.NoInherit {
			b.WriteString(" NO INHERIT")
		}
	case 'p', 'u':
		indexConstraint(&b, rel, k)
	case 'f':
		ref, err := env.Cat.RelationByOID(k.Ref)
		if err != nil {
			return "", err
		}
		if ref == nil {
			return "", nil
		}
		if err := foreignKey(env, &b, rel, ref, k); err != nil {
			return "", err
		}
	}
	if k.Deferrable {
		b.WriteString(" DEFERRABLE")
	}
	if k.InitiallyDeferred {
		b.WriteString(" INITIALLY DEFERRED")
	}
	if !k.Validated {
		b.WriteString(" NOT VALID")
	}
	return b.String(), nil
}

// closesAtEnd says whether the bracket that s begins with is closed by its last byte.
func closesAtEnd(s string) bool {
	depth := 0
	var quoted byte
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted != 0:
			if c == quoted {
				quoted = 0
			}
		case c == '\'' || c == '"':
			quoted = c
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 && i < len(s)-1 {
				return false
			}
		}
	}
	return true
}

func indexConstraint(b *strings.Builder, rel *catalog.Relation, k *catalog.Constraint) {
	word := "UNIQUE "
	if k.Type == 'p' {
		word = "PRIMARY KEY "
	}
	var index *catalog.Index
	for _, x := range rel.AllIndexes() {
		if x.OID == k.Index {
			index = x
		}
	}
	if index != nil && index.NullsNotDistinct {
		word += "NULLS NOT DISTINCT "
	}
	b.WriteString(word + "(" + strings.Join(columnNames(rel, k.Cols), ", ") + ")")
	if index == nil {
		return
	}
	if len(index.Include) > 0 {
		b.WriteString(" INCLUDE (" + strings.Join(columnNames(rel, index.Include), ", ") + ")")
	}
	if len(index.Options) > 0 {
		b.WriteString(" WITH (" + options(index.Options) + ")")
	}
}

func foreignKey(env *Env, b *strings.Builder, rel, ref *catalog.Relation, k *catalog.Constraint) error {
	name, err := catalog.FormatRelation(env.Cat, ref, env.Path)
	if err != nil {
		return err
	}
	b.WriteString("FOREIGN KEY (" + strings.Join(columnNames(rel, k.Cols), ", ") + ") REFERENCES " + name + "(" +
		strings.Join(columnNames(ref, k.RefCols), ", ") + ")")
	if k.Match == 'f' {
		b.WriteString(" MATCH FULL")
	}
	if a := fkActions[k.OnUpdate]; a != "" {
		b.WriteString(" ON UPDATE " + a)
	}
	if a := fkActions[k.OnDelete]; a != "" {
		b.WriteString(" ON DELETE " + a)
		if len(k.OnDeleteCols) > 0 {
			b.WriteString(" (" + strings.Join(columnNames(rel, k.OnDeleteCols), ", ") + ")")
		}
	}
	return nil
}
