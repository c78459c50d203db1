package mysql

import (
	"strings"

	"herd/sql/ast"
	"herd/sql/sqlerr"
)

// own converts the statements of HerdDB that MySQL's grammar lacks. A tablespace of HerdDB is a database here: it has its own
// tables, transactions and log.
func (c *converter) own(s string) ([]ast.Stmt, bool) {
	list := tokens(s)
	if len(list) < 2 {
		return nil, false
	}
	first, second := strings.ToUpper(list[0]), strings.ToUpper(list[1])
	args := list[2:]
	switch {
	case first == "EXECUTE":
		return c.execute(second, args)
	case second == "TABLESPACE" && first == "CREATE":
		return c.execute("CREATETABLESPACE", args)
	case second == "TABLESPACE" && first == "DROP":
		return c.execute("DROPTABLESPACE", args)
	case second == "TABLESPACE" && first == "ALTER":
		return c.execute("ALTERTABLESPACE", args)
	case second == "TRANSACTION" && len(args) > 0 && (first == "BEGIN" || first == "COMMIT" || first == "ROLLBACK"):
		return c.execute(first+"TRANSACTION", args)
	}
	return nil, false
}

// execute converts EXECUTE verb 'argument', ...
func (c *converter) execute(verb string, args []string) ([]ast.Stmt, bool) {
	var values []string
	for i, a := range args {
		if i%2 == 1 {
			if a != "," {
				c.failAt(c.start, sqlerr.SyntaxError, "syntax error at or near \"%s\"", a)
				return nil, true
			}
			continue
		}
		v := a
		if strings.HasPrefix(a, "'") && len(a) > 1 {
			v = strings.ReplaceAll(a[1:len(a)-1], "''", "'")
		}
		values = append(values, v)
	}
	loc := ast.At(c.start)
	switch verb {
	case "DROPTABLESPACE":
		if len(values) != 1 {
			c.failAt(c.start, sqlerr.SyntaxError, "EXECUTE DROPTABLESPACE takes the name of a tablespace")
			return nil, true
		}
		return c.one(&ast.DropDatabase{Loc: loc, Name: strings.ToLower(values[0])})
	case "CREATETABLESPACE", "ALTERTABLESPACE":
		if len(values) == 0 {
			c.failAt(c.start, sqlerr.SyntaxError, "EXECUTE %s takes the name of a tablespace", verb)
			return nil, true
		}
		options, ok := c.placement(verb, values[1:])
		if !ok {
			return nil, true
		}
		if verb == "ALTERTABLESPACE" {
			return c.one(&ast.AlterDatabase{Loc: loc, Name: strings.ToLower(values[0]), Options: options})
		}
		return c.one(&ast.CreateDatabase{Loc: loc, Name: strings.ToLower(values[0]), Options: options})
	case "RENAMETABLE":
		if len(values) != 3 {
			c.failAt(c.start, sqlerr.SyntaxError, "EXECUTE RENAMETABLE takes a tablespace and two names")
			return nil, true
		}
		// The tablespace is the session's database.
		return c.one(&ast.Rename{Loc: loc, Kind: ast.ObjTable, New: strings.ToLower(values[2]),
			Table: &ast.TableRef{Loc: loc, Name: ast.Name{Loc: loc, Name: strings.ToLower(values[1])}}})
	}
	c.fail(sqlerr.At(ast.CharPosition(c.text, c.start), sqlerr.FeatureNotSupported, "EXECUTE %s is not supported", verb).
		WithHint("A transaction belongs to its session: use BEGIN, COMMIT and ROLLBACK."))
	return nil, true
}

// placementNames are HerdDB's names of what is wanted of a tablespace's replicas, and herd's.
var placementNames = map[string]string{"leader": "leader", "replica": "nodes", "expectedreplicacount": "replicas", "maxleaderinactivitytime": "leader_timeout"}

// placement converts 'leader:n1', 'replica:n1,n2', 'expectedreplicacount:2', 'maxleaderinactivitytime:5000'. 'wait:ms' is taken without effect:
// a database that is made takes commits when the statement ends.
func (c *converter) placement(verb string, args []string) (out []ast.Option, ok bool) {
	loc := ast.At(c.start)
	for _, a := range args {
		name, value, _ := strings.Cut(a, ":")
		name = strings.ToLower(strings.TrimSpace(name))
		switch own := placementNames[name]; {
		case own != "":
			out = append(out, ast.Option{Loc: loc, Name: own, Value: ast.OptionValue{Loc: loc, Kind: ast.ValueString, Text: strings.TrimSpace(value)}})
		case name != "wait":
			c.failAt(c.start, sqlerr.SyntaxError, "EXECUTE %s does not know \"%s\"", verb, a)
			return nil, false
		}
	}
	return out, true
}

// tokens cuts a statement, without blanks and comments.
func tokens(s string) []string {
	var out []string
	for i, n := 0, 0; i < len(s) && len(out) < 64; i = n {
		n = skipToken(s, i)
		if !isNoise(s, i, n) {
			out = append(out, s[i:n])
		}
	}
	return out
}
