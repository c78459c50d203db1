package session

import (
	"herd/planner"
	"herd/planner/plan"
	"herd/sql/catalog"
	"herd/sql/deparse"
	"herd/sql/funcs"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// Deparse implements funcs.Env: the text of a definition, as the pg_get functions print it.
func (e *environment) Deparse(q funcs.DeparseQuery) (string, bool, error) {
	s := e.s()
	cat, err := s.catalog()
	if err != nil {
		return "", false, err
	}
	path, err := s.searchOIDs()
	if err != nil {
		return "", false, err
	}
	names := catalog.Names{Reader: cat, Path: path, Database: s.info.Database}
	d := catalog.Definer{Names: names, Print: func(rel *catalog.Relation, text string, pretty bool) (string, error) {
		return s.storedText(names, rel, text, pretty)
	}, PrintCheck: func(domain *catalog.Type, text string, pretty bool) (string, error) {
		return s.checkText(names, domain, text, pretty)
	}}
	switch q.Kind {
	case "viewdef":
		return s.viewText(names, q)
	case "indexdef":
		return d.IndexDefByOID(q.Object, q.Column, q.Pretty)
	case "constraintdef":
		return d.ConstraintDefByOID(q.Object, q.Pretty)
	case "expr":
		return s.expressionText(names, q)
	case "serial_sequence":
		return s.serialSequence(d, q)
	case "function_arguments", "function_identity_arguments", "function_result", "functiondef", "function_arg_default", "function_sqlbody":
		return functionText(d, q)
	}
	return "", false, nil // triggers, rules, statistics objects, partitions: no such objects exist
}

func functionText(d catalog.Definer, q funcs.DeparseQuery) (string, bool, error) {
	p, err := d.Reader.FuncByOID(q.Object)
	if err != nil || p == nil {
		return "", false, err
	}
	var text string
	switch q.Kind {
	case "function_arguments":
		text, err = d.FunctionArguments(p, true)
	case "function_identity_arguments":
		text, err = d.FunctionArguments(p, false)
	case "function_result":
		text, err = d.FunctionResult(p)
	case "functiondef":
		text, err = d.FunctionDef(p)
	case "function_arg_default":
		text, ok := d.FunctionArgDefault(p, q.Column)
		return text, ok, nil
	default:
		return "", false, nil
	}
	return text, err == nil, err
}

func (s *Session) deparseEnv(n catalog.Names) *deparse.Env {
	return &deparse.Env{Cat: n.Reader, Path: n.Path, IO: &s.io, Database: n.Database}
}

// viewText is pg_get_viewdef: the stored query, bound again and printed under the session's search path.
func (s *Session) viewText(n catalog.Names, q funcs.DeparseQuery) (string, bool, error) {
	id := q.Object
	if q.Name != "" {
		var err error
		if id, err = n.RelationIn(q.Name, false); err != nil {
			return "", false, err
		}
	}
	rel, err := n.Reader.RelationByOID(id)
	if err != nil || rel == nil || rel.ViewDef == "" {
		return "", false, err
	}
	env, err := s.bindEnv("")
	if err != nil {
		return "", false, err
	}
	stmt, err := parseStored(rel.ViewDef)
	if err != nil {
		return "", false, err
	}
	stored := *env
	stored.Path, stored.Fold = deparse.StoredPath, true
	query, _, err := planner.Bind(n.Reader, &stored, stmt, nil)
	if err != nil {
		return "", false, err
	}
	columns := make([]string, 0, len(rel.Columns))
	for _, c := range rel.Columns {
		if !c.Dropped {
			columns = append(columns, c.Name)
		}
	}
	print := s.deparseEnv(n)
	print.Pretty = q.Pretty
	text, err := deparse.Query(print, query, columns)
	return text + ";", err == nil, err
}

// storedText prints a stored expression under the session's search path, pretty without needless brackets.
func (s *Session) storedText(n catalog.Names, rel *catalog.Relation, text string, pretty bool) (string, error) {
	env, err := s.bindEnv("")
	if err != nil {
		return "", err
	}
	bind := func(rel *catalog.Relation, text string) (plan.Expr, error) {
		return planner.BindStored(n.Reader, env, rel, text, planner.UseCopyWhere)
	}
	print := s.deparseEnv(n)
	print.Pretty = pretty
	return deparse.Stored(print, bind, rel, text)
}

// checkText is storedText for a condition of a domain.
func (s *Session) checkText(n catalog.Names, domain *catalog.Type, text string, pretty bool) (string, error) {
	env, err := s.bindEnv("")
	if err != nil {
		return "", err
	}
	e, err := planner.BindDomainCheck(n.Reader, env, domain, text)
	if err != nil {
		return "", err
	}
	print := s.deparseEnv(n)
	print.Pretty = pretty
	return deparse.DomainCheck(print, e)
}

// expressionText is pg_get_expr.
func (s *Session) expressionText(n catalog.Names, q funcs.DeparseQuery) (string, bool, error) {
	rel, err := n.Reader.RelationByOID(q.Object)
	if err != nil {
		return "", false, err
	}
	env, err := s.bindEnv("")
	if err != nil {
		return "", false, err
	}
	bind := func(rel *catalog.Relation, text string) (plan.Expr, error) {
		return planner.BindStored(n.Reader, env, rel, text, planner.UseCopyWhere)
	}
	print := s.deparseEnv(n)
	print.Pretty = q.Pretty
	text, err := deparse.Stored(print, bind, rel, q.Text)
	return text, err == nil, err
}

// serialSequence is pg_get_serial_sequence.
func (s *Session) serialSequence(d catalog.Definer, q funcs.DeparseQuery) (string, bool, error) {
	id, err := d.RelationIn(q.Name, false)
	if err != nil {
		return "", false, err
	}
	rel, err := d.Reader.RelationByOID(id)
	if err != nil || rel == nil {
		return "", false, err
	}
	num := int16(0)
	for i := range rel.Columns {
		if c := &rel.Columns[i]; !c.Dropped && c.Name == q.Text {
			num = c.Num
		}
	}
	if num == 0 {
		return "", false, sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", q.Text, rel.Name)
	}
	return d.SerialSequence(rel, num)
}

var _ types.NameResolver = (*resolver)(nil)
