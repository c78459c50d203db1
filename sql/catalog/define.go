package catalog

import (
	"fmt"
	"strconv"
	"strings"

	"herd/sql/catalog/pgdata"
	"herd/sql/types"
)

// Definer renders definitions of objects as pg_get_indexdef, pg_get_constraintdef and the
// pg_get_function functions print them.
type Definer struct {
	Names
	// Print renders a stored expression over a relation as the search path has its names, pretty without needless parentheses; nil
	// shows it as it is kept.
	Print func(rel *Relation, expr string, pretty bool) (string, error)
	// PrintCheck is Print for a condition of a domain.
	PrintCheck func(domain *Type, expr string, pretty bool) (string, error)
}

// pretty renders an expression.
func (d Definer) pretty(rel *Relation, expr string, pretty bool) (string, error) {
	if d.Print != nil && (pretty || hasNames(expr)) {
		return d.Print(rel, expr, pretty)
	}
	return plain(expr, pretty), nil
}

// hasNames says whether a stored expression may have a qualified name in it, which the search path may make needless.
func hasNames(expr string) bool { return strings.Contains(expr, ".") }

// plain is the text as it is kept, with pretty without the parentheses around all of it.
func plain(expr string, pretty bool) string {
	if inner, ok := outerParens(expr); ok && pretty {
		return inner
	}
	return expr
}

// outerParens strips the parentheses around a whole expression.
func outerParens(expr string) (string, bool) {
	if !strings.HasPrefix(expr, "(") || closing(expr, 0) != len(expr)-1 {
		return expr, false
	}
	return expr[1 : len(expr)-1], true
}

// closing returns the place of the parenthesis that closes the one at open, -1 if none does.
func closing(expr string, open int) int {
	depth := 0
	for i := open; i < len(expr); i++ {
		switch c := expr[i]; c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i
			}
		case '\'', '"':
			j := strings.IndexByte(expr[i+1:], c)
			if j < 0 {
				return -1
			}
			i += j + 1
		}
	}
	return -1
}

// looksLikeFunction reports whether an expression is a bare function call.
func looksLikeFunction(expr string) bool {
	open := strings.IndexByte(expr, '(')
	if open < 1 || closing(expr, open) != len(expr)-1 {
		return false
	}
	for _, c := range []byte(expr[:open]) {
		if c != '_' && c != '.' && c != '"' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c < 0x80 {
			return false
		}
	}
	return true
}

// QualifiedRelation returns schema.name with both quoted as needed.
func (n Names) QualifiedRelation(rel *Relation) (string, error) {
	s, err := n.Reader.SchemaByOID(rel.Schema)
	if s == nil || err != nil {
		return QuoteIdent(rel.Name), err
	}
	return QuoteQualified(s.Name, rel.Name), nil
}

// IndexDef is pg_get_indexdef: the whole CREATE INDEX with column 0, else the text of one column.
func (d Definer) IndexDef(rel *Relation, x *Index, column int, pretty bool) (string, error) {
	cols, err := d.indexColumns(rel, x, pretty, column == 0)
	if err != nil {
		return "", err
	}
	if column != 0 {
		if column > len(cols) || column < 0 {
			return "", nil
		}
		return cols[column-1], nil
	}
	var table string
	if pretty {
		table, err = FormatRelation(d.Reader, rel, d.Path)
	} else {
		table, err = d.QualifiedRelation(rel)
	}
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("CREATE ")
	if x.Unique {
		b.WriteString("UNIQUE ")
	}
	keys := cols[:len(x.Keys)]
	fmt.Fprintf(&b, "INDEX %s ON %s USING %s (%s)", QuoteIdent(x.Name), table, x.Method, strings.Join(keys, ", "))
	if len(cols) > len(keys) {
		fmt.Fprintf(&b, " INCLUDE (%s)", strings.Join(cols[len(keys):], ", "))
	}
	if x.NullsNotDistinct {
		b.WriteString(" NULLS NOT DISTINCT")
	}
	if len(x.Options) > 0 {
		fmt.Fprintf(&b, " WITH (%s)", optionsText(x.Options))
	}
	if x.Pred != "" {
		pred, err := d.pretty(rel, x.Pred, pretty)
		if err != nil {
			return "", err
		}
		b.WriteString(" WHERE " + pred)
	}
	return b.String(), nil
}

// indexColumns renders keys, with collation, class and order if full, then included columns.
func (d Definer) indexColumns(rel *Relation, x *Index, pretty, full bool) ([]string, error) {
	var cols []string
	for _, k := range x.Keys {
		text, own := "", k.Collation
		typ := k.Type
		if c := rel.Column(k.Attno); c != nil {
			text, own, typ = QuoteIdent(c.Name), c.Collation, c.Type
		} else {
			expr, err := d.pretty(rel, k.Expr, pretty)
			if err != nil {
				return nil, err
			}
			if text = expr; !looksLikeFunction(expr) {
				text = "(" + expr + ")"
			}
			if t, err := d.Reader.TypeByOID(k.Type); err != nil {
				return nil, err
			} else if t != nil {
				own = t.Collation
			}
			if k.ExprCollation != 0 {
				own = k.ExprCollation
			}
		}
		if full {
			more, err := d.keyModifiers(k, typ, own)
			if err != nil {
				return nil, err
			}
			text += more
		}
		cols = append(cols, text)
	}
	for _, n := range x.Include {
		if c := rel.Column(n); c != nil {
			cols = append(cols, QuoteIdent(c.Name))
		}
	}
	return cols, nil
}

// keyModifiers renders what an index key has beyond its column: collation, class, order.
func (d Definer) keyModifiers(k IndexKey, typ, own types.OID) (string, error) {
	text := ""
	if k.Collation != 0 && k.Collation != own {
		name, err := d.CollationOut(k.Collation)
		if err != nil {
			return "", err
		}
		text += " COLLATE " + name
	}
	if c := pgdata.OpclassByOID(k.OpClass); c != nil {
		base, err := baseType(d.Reader, typ)
		if err != nil {
			return "", err
		}
		lookup := func(id types.OID) *Type { t, _ := d.Reader.TypeByOID(id); return t }
		if def := pgdata.DefaultOpclass(base, c.Method, lookup); def == nil || def.OID != c.OID {
			text += " " + d.builtinName(QuoteIdent(c.Name))
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

// baseType replaces a domain by the type below it.
func baseType(r Reader, id types.OID) (types.OID, error) {
	for range 64 {
		t, err := r.TypeByOID(id)
		if t == nil || err != nil || t.Type != 'd' {
			return id, err
		}
		id = t.BaseType
	}
	return id, nil
}

// optionsText renders storage options: name='value'.
func optionsText(options []string) string {
	list := make([]string, len(options))
	for i, o := range options {
		name, value, ok := strings.Cut(o, "=")
		if list[i] = QuoteIdent(name); !ok {
			continue
		}
		if QuoteIdent(value) != value {
			value = "'" + strings.ReplaceAll(value, "'", "''") + "'"
		}
		list[i] += "=" + value
	}
	return strings.Join(list, ", ")
}

// columnList renders the names of columns.
func columnList(rel *Relation, nums []int16) string {
	list := make([]string, 0, len(nums))
	for _, n := range nums {
		if c := rel.Column(n); c != nil {
			list = append(list, QuoteIdent(c.Name))
		}
	}
	return strings.Join(list, ", ")
}

// actionWords are the words of referential actions other than NO ACTION.
var actionWords = map[byte]string{'r': "RESTRICT", 'c': "CASCADE", 'n': "SET NULL", 'd': "SET DEFAULT"}

// ConstraintDef is pg_get_constraintdef for a table constraint.
func (d Definer) ConstraintDef(rel *Relation, k *Constraint, pretty bool) (string, error) {
	var b strings.Builder
	switch k.Type {
	case 'f':
		if err := d.foreignKeyDef(&b, rel, k); err != nil {
			return "", err
		}
	case 'p', 'u':
		word := "PRIMARY KEY "
		if k.Type == 'u' {
			word = "UNIQUE "
		}
		b.WriteString(word)
		var include []int16
		for _, x := range rel.AllIndexes() {
			if x.OID == k.Index {
				include = x.Include
				if x.NullsNotDistinct {
					b.WriteString("NULLS NOT DISTINCT ")
				}
			}
		}
		fmt.Fprintf(&b, "(%s)", columnList(rel, k.Cols))
		if len(include) > 0 {
			fmt.Fprintf(&b, " INCLUDE (%s)", columnList(rel, include))
		}
	case 'c':
		expr, err := d.pretty(rel, k.Expr, pretty)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "CHECK (%s)", expr)
		if k.NoInherit {
			b.WriteString(" NO INHERIT")
		}
	default:
		return "", fmt.Errorf("constraint %q: unknown type %q", k.Name, k.Type)
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

func (d Definer) foreignKeyDef(b *strings.Builder, rel *Relation, k *Constraint) error {
	ref := rel
	if k.Ref != rel.OID {
		var err error
		if ref, err = d.Reader.RelationByOID(k.Ref); err != nil {
			return err
		}
		if ref == nil {
			return fmt.Errorf("constraint %q: no relation %d", k.Name, k.Ref)
		}
	}
	name, err := FormatRelation(d.Reader, ref, d.Path)
	if err != nil {
		return err
	}
	fmt.Fprintf(b, "FOREIGN KEY (%s) REFERENCES %s(%s)", columnList(rel, k.Cols), name, columnList(ref, k.RefCols))
	if k.Match == 'f' {
		b.WriteString(" MATCH FULL")
	}
	if w := actionWords[k.OnUpdate]; w != "" {
		b.WriteString(" ON UPDATE " + w)
	}
	if w := actionWords[k.OnDelete]; w != "" {
		b.WriteString(" ON DELETE " + w)
		if len(k.OnDeleteCols) > 0 {
			fmt.Fprintf(b, " (%s)", columnList(rel, k.OnDeleteCols))
		}
	}
	return nil
}

// TypeCheckDef is pg_get_constraintdef for a domain's constraint.
func (d Definer) TypeCheckDef(domain *Type, k *pgdata.TypeCheck, pretty bool) (string, error) {
	expr := plain(k.Expr, pretty)
	if d.PrintCheck != nil && (pretty || hasNames(k.Expr)) {
		var err error
		if expr, err = d.PrintCheck(domain, k.Expr, pretty); err != nil {
			return "", err
		}
	}
	if !k.Validated {
		return "CHECK (" + expr + ") NOT VALID", nil
	}
	return "CHECK (" + expr + ")", nil
}

// ConstraintDefByOID is pg_get_constraintdef; ok is false when there is no such constraint.
func (d Definer) ConstraintDefByOID(id types.OID, pretty bool) (text string, ok bool, err error) {
	rel, k, err := d.Reader.ConstraintByOID(id)
	if err != nil {
		return "", false, err
	}
	if rel != nil {
		text, err = d.ConstraintDef(rel, k, pretty)
		return text, err == nil, err
	}
	t, check, err := domainOfCheck(d.Reader, id)
	if t == nil || err != nil {
		return "", false, err
	}
	text, err = d.TypeCheckDef(t, check, pretty)
	return text, err == nil, err
}

// IndexDefByOID is pg_get_indexdef; ok is false when there is no such index.
func (d Definer) IndexDefByOID(id types.OID, column int, pretty bool) (text string, ok bool, err error) {
	rel, x, err := d.Reader.IndexByOID(id)
	if rel == nil || err != nil {
		return "", false, err
	}
	text, err = d.IndexDef(rel, x, column, pretty)
	return text, err == nil, err
}

// FunctionArguments is pg_get_function_arguments; without defaults it is
// pg_get_function_identity_arguments.
func (d Definer) FunctionArguments(p *Proc, defaults bool) (string, error) {
	return d.arguments(p, false, defaults)
}

// arguments renders a function's arguments, or only the columns of its result table.
func (d Definer) arguments(p *Proc, table, defaults bool) (string, error) {
	argTypes := p.AllArgTypes
	if argTypes == nil {
		argTypes = p.ArgTypes
	}
	orderBy := -1
	if agg := pgdata.AggregateByOID(p.OID); agg != nil && (agg.Kind == 'o' || agg.Kind == 'h') {
		orderBy = agg.DirectArgs
	}
	var b strings.Builder
	inputs, printed := 0, 0
	for i := 0; i < len(argTypes); i++ {
		mode := byte('i')
		if i < len(p.ArgModes) {
			mode = p.ArgModes[i]
		}
		word, input := argumentMode(mode, p.Kind)
		if input {
			inputs++
		}
		if table != (mode == 't') {
			continue
		}
		switch {
		case printed == orderBy:
			if printed > 0 {
				b.WriteByte(' ')
			}
			b.WriteString("ORDER BY ")
		case printed > 0:
			b.WriteString(", ")
		}
		b.WriteString(word)
		if i < len(p.ArgNames) && p.ArgNames[i] != "" {
			b.WriteString(QuoteIdent(p.ArgNames[i]) + " ")
		}
		name, err := FormatType(d.Reader, argTypes[i], -1, false, d.Path)
		if err != nil {
			return "", err
		}
		b.WriteString(name)
		if first := p.NArgs - len(p.ArgDefaults); defaults && input && inputs > first {
			b.WriteString(" DEFAULT " + p.ArgDefaults[inputs-1-first])
		}
		// The last direct argument of a variadic ordered-set aggregate is shown again as its
		// aggregated argument.
		if printed++; printed == orderBy && i == len(argTypes)-1 {
			i--
			defaults = false
		}
	}
	return b.String(), nil
}

// argumentMode returns the word before an argument and whether callers pass it.
func argumentMode(mode, kind byte) (word string, input bool) {
	switch mode {
	case 'b':
		return "INOUT ", true
	case 'o':
		return "OUT ", false
	case 'v':
		return "VARIADIC ", true
	case 't':
		return "", false
	}
	if kind == 'p' {
		return "IN ", true
	}
	return "", true
}

// FunctionResult is pg_get_function_result; "" for procedures.
func (d Definer) FunctionResult(p *Proc) (string, error) {
	if p.Kind == 'p' {
		return "", nil
	}
	if p.RetSet {
		cols, err := d.arguments(p, true, false)
		if err != nil {
			return "", err
		}
		if cols != "" {
			return "TABLE(" + cols + ")", nil
		}
	}
	name, err := FormatType(d.Reader, p.RetType, -1, false, d.Path)
	if p.RetSet {
		name = "SETOF " + name
	}
	return name, err
}

// FunctionArgDefault is pg_get_function_arg_default; ok is false when argument number arg
// (1-based, all arguments counted) has no default.
func (d Definer) FunctionArgDefault(p *Proc, arg int) (text string, ok bool) {
	inputs := 0
	total := max(len(p.AllArgTypes), len(p.ArgTypes))
	for i := 0; i < total && i < arg; i++ {
		mode := byte('i')
		if i < len(p.ArgModes) {
			mode = p.ArgModes[i]
		}
		_, input := argumentMode(mode, p.Kind)
		if input {
			inputs++
		}
		if i == arg-1 && !input {
			return "", false
		}
	}
	at := inputs - 1 - (p.NArgs - len(p.ArgDefaults))
	if arg < 1 || arg > total || at < 0 || at >= len(p.ArgDefaults) {
		return "", false
	}
	return p.ArgDefaults[at], true
}

// FunctionDef is pg_get_functiondef.
func (d Definer) FunctionDef(p *Proc) (string, error) {
	s, err := d.Reader.SchemaByOID(p.Namespace)
	if err != nil {
		return "", err
	}
	name := QuoteIdent(p.Name)
	if s != nil {
		name = QuoteQualified(s.Name, p.Name)
	}
	args, err := d.FunctionArguments(p, true)
	if err != nil {
		return "", err
	}
	result, err := d.FunctionResult(p)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if p.Kind == 'p' {
		fmt.Fprintf(&b, "CREATE OR REPLACE PROCEDURE %s(%s)\n", name, args)
	} else {
		fmt.Fprintf(&b, "CREATE OR REPLACE FUNCTION %s(%s)\n RETURNS %s\n", name, args, result)
	}
	lang := strconv.Itoa(int(p.Lang))
	for _, l := range pgdata.Languages() {
		if l.OID == p.Lang {
			lang = l.Name
		}
	}
	fmt.Fprintf(&b, " LANGUAGE %s\n", QuoteIdent(lang))
	if options := functionOptions(p); options != "" {
		b.WriteString(options + "\n")
	}
	if p.SQLBody != "" {
		b.WriteString(p.SQLBody + "\n")
		return b.String(), nil
	}
	tag := "$function"
	if p.Kind == 'p' {
		tag = "$procedure"
	}
	for strings.Contains(p.Src, tag) {
		tag += "x"
	}
	fmt.Fprintf(&b, "AS %s$%s%s$\n", tag, p.Src, tag)
	return b.String(), nil
}

// functionOptions renders what differs from the defaults of CREATE FUNCTION.
func functionOptions(p *Proc) string {
	text := ""
	if p.Kind == 'w' {
		text += " WINDOW"
	}
	text += map[byte]string{'i': " IMMUTABLE", 's': " STABLE"}[p.Volatile]
	text += map[byte]string{'s': " PARALLEL SAFE", 'r': " PARALLEL RESTRICTED"}[p.Parallel]
	if p.Strict {
		text += " STRICT"
	}
	if p.SecDef {
		text += " SECURITY DEFINER"
	}
	if p.LeakProof {
		text += " LEAKPROOF"
	}
	cost := 100.0
	if p.Lang == pgdata.LangInternal || p.Lang == pgdata.LangC {
		cost = 1
	}
	if p.Cost > 0 && p.Cost != cost {
		text += " COST " + strconv.FormatFloat(p.Cost, 'g', -1, 64)
	}
	if p.RetSet && p.Rows > 0 && p.Rows != 1000 {
		text += " ROWS " + strconv.FormatFloat(p.Rows, 'g', -1, 64)
	}
	return text
}

// SerialSequence is pg_get_serial_sequence: the qualified name of the sequence that a column
// owns; ok is false when it owns none.
func (d Definer) SerialSequence(rel *Relation, num int16) (name string, ok bool, err error) {
	var seq *Relation
	err = d.Reader.Dependents(ClassRelation, rel.OID, int32(num), func(dep Dependency) bool {
		if dep.Class != ClassRelation || dep.Type != 'a' && dep.Type != 'i' {
			return true
		}
		x, lookErr := d.Reader.RelationByOID(dep.OID)
		if lookErr != nil {
			err = lookErr
		}
		if x != nil && x.Kind == KindSequence {
			seq = x
		}
		return seq == nil && lookErr == nil
	})
	if seq == nil || err != nil {
		return "", false, err
	}
	name, err = d.QualifiedRelation(seq)
	return name, err == nil, err
}
