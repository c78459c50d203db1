package postgres

import (
	pg "github.com/sqlc-dev/oliphant/ast"

	"herd/sql/ast"
	"herd/sql/sqlerr"
)

func (c *converter) createView(s *pg.ViewStmt) ast.Stmt {
	out := &ast.CreateView{
		Loc: ast.At(c.start), Columns: c.strs(s.Aliases, "CREATE VIEW"), OrReplace: s.Replace, Options: c.options(s.Options, "WITH"),
	}
	out.View, out.Persistence = c.targetRelation(s.View, "CREATE VIEW")
	if q, ok := s.Query.GetNode().(*pg.Node_SelectStmt); ok && q.SelectStmt.IntoClause != nil {
		c.fail(sqlerr.New(sqlerr.FeatureNotSupported, "views must not contain SELECT INTO"))
		return nil
	}
	out.Query = c.subquery(s.Query)
	switch s.WithCheckOption {
	case pg.ViewCheckOption_NO_CHECK_OPTION, pg.ViewCheckOption_VIEW_CHECK_OPTION_UNDEFINED:
	case pg.ViewCheckOption_LOCAL_CHECK_OPTION:
		out.CheckOption = "local"
	case pg.ViewCheckOption_CASCADED_CHECK_OPTION:
		out.CheckOption = "cascaded"
	default:
		c.unsupported(ast.NoPos, s.WithCheckOption.String())
	}
	return out
}

// into fills a CreateTableAs from INTO.
func (c *converter) into(out *ast.CreateTableAs, i *pg.IntoClause) {
	if i == nil {
		c.unsupported(ast.NoPos, "missing INTO")
		return
	}
	out.Table, out.Persistence = c.targetRelation(i.Rel, "INTO")
	out.Columns = c.strs(i.ColNames, "INTO")
	out.AccessMethod, out.Options, out.OnCommit = i.AccessMethod, c.options(i.Options, "WITH"), c.onCommit(i.OnCommit)
	out.Tablespace, out.WithNoData = i.TableSpaceName, i.SkipData
	c.refuse(i.ViewQuery != nil, ast.NoPos, "stored query of INTO")
}

func (c *converter) createTableAs(s *pg.CreateTableAsStmt) ast.Stmt {
	out := &ast.CreateTableAs{Loc: ast.At(c.start), IfNotExists: s.IfNotExists, SelectInto: s.IsSelectInto}
	switch s.Objtype {
	case pg.ObjectType_OBJECT_TABLE:
	case pg.ObjectType_OBJECT_MATVIEW:
		out.MatView = true
	default:
		c.unsupported(ast.NoPos, "CREATE "+s.Objtype.String()+" AS")
	}
	switch q := s.Query.GetNode().(type) {
	case *pg.Node_SelectStmt:
		out.Query = c.query(q.SelectStmt)
	case *pg.Node_ExecuteStmt:
		out.Query = c.execute(q.ExecuteStmt)
	default:
		c.unknown(s.Query, "CREATE TABLE AS")
	}
	c.into(out, s.Into)
	return out
}

func (c *converter) createSequence(s *pg.CreateSeqStmt) ast.Stmt {
	c.refuse(s.OwnerId != 0 || s.ForIdentity, ast.NoPos, "sequence property")
	out := &ast.CreateSequence{Loc: ast.At(c.start), IfNotExists: s.IfNotExists, Options: c.sequenceOptions(s.Options)}
	out.Sequence, out.Persistence = c.targetRelation(s.Sequence, "CREATE SEQUENCE")
	return out
}

func (c *converter) alterSequence(s *pg.AlterSeqStmt) ast.Stmt {
	c.refuse(s.ForIdentity, ast.NoPos, "identity sequence")
	return &ast.AlterSequence{
		Loc: ast.At(c.start), Sequence: c.plainRelation(s.Sequence, "ALTER SEQUENCE"), IfExists: s.MissingOk, Options: c.sequenceOptions(s.Options),
	}
}

func (c *converter) createSchema(s *pg.CreateSchemaStmt) ast.Stmt {
	out := &ast.CreateSchema{Loc: ast.At(c.start), Name: s.Schemaname, IfNotExists: s.IfNotExists}
	if s.Authrole != nil {
		r := c.roleSpec(s.Authrole)
		out.Owner = &r
	}
	for _, n := range s.SchemaElts {
		out.Elements = append(out.Elements, c.stmt(n))
	}
	return out
}

func (c *converter) createEnum(s *pg.CreateEnumStmt) ast.Stmt {
	return &ast.CreateEnum{Loc: ast.At(c.start), Name: c.name(s.TypeName, ast.NoPos, "CREATE TYPE"), Labels: c.strs(s.Vals, "CREATE TYPE")}
}

func (c *converter) alterEnum(s *pg.AlterEnumStmt) ast.Stmt {
	out := &ast.AlterEnum{
		Loc: ast.At(c.start), Name: c.name(s.TypeName, ast.NoPos, "ALTER TYPE"), Old: s.OldVal, New: s.NewVal,
		Neighbor: s.NewValNeighbor, After: s.NewValIsAfter, IfNotExists: s.SkipIfNewValExists,
	}
	// The grammar sets "after" for ADD VALUE without a neighbour too, where it says the same as nothing.
	if out.Neighbor == "" && out.Old == "" {
		c.refuse(!s.NewValIsAfter, ast.NoPos, "place of an enum value")
		out.After = false
	}
	return out
}

func (c *converter) createComposite(s *pg.CompositeTypeStmt) ast.Stmt {
	r := s.Typevar
	if r == nil {
		c.unsupported(ast.NoPos, "CREATE TYPE without a name")
		return nil
	}
	// A type's name comes as a relation that is never inherited from.
	c.refuse(r.Inh || r.Relpersistence != "p" && r.Relpersistence != "", r.Location, "property of a composite type")
	return &ast.CreateComposite{Loc: ast.At(c.start), Name: c.relation(r, "CREATE TYPE"), Columns: c.columnDefs(s.Coldeflist, "CREATE TYPE")}
}

func (c *converter) createDomain(s *pg.CreateDomainStmt) ast.Stmt {
	out := &ast.CreateDomain{Loc: ast.At(c.start), Name: c.name(s.Domainname, ast.NoPos, "CREATE DOMAIN"), Type: c.typeName(s.TypeName)}
	if s.CollClause != nil {
		c.refuse(s.CollClause.Arg != nil, s.CollClause.Location, "collation argument")
		out.Collation = c.name(s.CollClause.Collname, s.CollClause.Location, "COLLATE")
	}
	out.Constraints = c.constraints(s.Constraints)
	return out
}

func (c *converter) alterDomain(s *pg.AlterDomainStmt) ast.Stmt {
	out := &ast.AlterDomain{
		Loc: ast.At(c.start), Name: c.name(s.TypeName, ast.NoPos, "ALTER DOMAIN"), Sub: s.Name, IfExists: s.MissingOk, Cascade: c.cascade(s.Behavior),
	}
	hasDef := s.Def.GetNode() != nil
	switch s.Subtype {
	case "T":
		if out.Kind = ast.DomainDropDefault; hasDef {
			out.Kind, out.Expr = ast.DomainSetDefault, c.expr(s.Def)
		}
		return out
	case "N":
		out.Kind = ast.DomainDropNotNull
	case "O":
		out.Kind = ast.DomainSetNotNull
	case "C":
		out.Kind = ast.DomainAddConstraint
		k, ok := s.Def.GetNode().(*pg.Node_Constraint)
		if !ok {
			c.unknown(s.Def, "ALTER DOMAIN")
			return nil
		}
		out.Constraint = c.constraint(k.Constraint)
		return out
	case "X":
		out.Kind = ast.DomainDropConstraint
	case "V":
		out.Kind = ast.DomainValidateConstraint
	default:
		c.unsupported(ast.NoPos, "ALTER DOMAIN subcommand "+s.Subtype)
	}
	c.refuse(hasDef, ast.NoPos, "definition in ALTER DOMAIN")
	return out
}

func (c *converter) createFunction(s *pg.CreateFunctionStmt) ast.Stmt {
	out := &ast.CreateFunction{
		Loc: ast.At(c.start), Name: c.name(s.Funcname, ast.NoPos, "CREATE FUNCTION"), OrReplace: s.Replace, Procedure: s.IsProcedure,
		Returns: c.typeName(s.ReturnType),
	}
	for _, n := range s.Parameters {
		p, ok := n.GetNode().(*pg.Node_FunctionParameter)
		if !ok {
			c.unknown(n, "CREATE FUNCTION")
			return nil
		}
		out.Params = append(out.Params, c.funcParam(p.FunctionParameter))
	}
	var rest []*pg.Node
	for _, n := range s.Options {
		d, ok := n.GetNode().(*pg.Node_DefElem)
		if !ok {
			c.unknown(n, "CREATE FUNCTION")
			return nil
		}
		switch d.DefElem.Defname {
		case "language":
			if out.Language != "" {
				c.failAt(d.DefElem.Location, sqlerr.SyntaxError, "conflicting or redundant options")
			}
			out.Language = c.optString(d.DefElem)
		case "as":
			if out.Body != nil {
				c.failAt(d.DefElem.Location, sqlerr.SyntaxError, "conflicting or redundant options")
			}
			out.Body = c.strs(c.items(d.DefElem.Arg, "AS"), "AS")
		default:
			rest = append(rest, n)
		}
	}
	out.Options = c.options(rest, "CREATE FUNCTION")
	c.sqlBody(out, s.SqlBody)
	return out
}

// sqlBody converts a function body in standard form: RETURN expression, or BEGIN ATOMIC statements.
func (c *converter) sqlBody(out *ast.CreateFunction, n *pg.Node) {
	switch x := n.GetNode().(type) {
	case nil:
	case *pg.Node_ReturnStmt:
		out.Return = c.expr(x.ReturnStmt.Returnval)
	case *pg.Node_List:
		for _, group := range x.List.Items {
			for _, s := range c.items(group, "function body") {
				if r, ok := s.GetNode().(*pg.Node_ReturnStmt); ok {
					c.refuse(true, nodeLoc(r.ReturnStmt.Returnval), "RETURN in a function body")
					return
				}
				out.SQLBody = append(out.SQLBody, c.stmt(s))
			}
		}
	default:
		c.unknown(n, "function body")
	}
}

func (c *converter) funcParam(p *pg.FunctionParameter) ast.FuncParam {
	out := ast.FuncParam{Loc: ast.At(p.Location), Name: p.Name, Type: c.typeName(p.ArgType), Default: c.exprOrNil(p.Defexpr)}
	switch p.Mode {
	case pg.FunctionParameterMode_FUNC_PARAM_DEFAULT, pg.FunctionParameterMode_FUNC_PARAM_IN:
	case pg.FunctionParameterMode_FUNC_PARAM_OUT:
		out.Mode = ast.ParamOut
	case pg.FunctionParameterMode_FUNC_PARAM_INOUT:
		out.Mode = ast.ParamInOut
	case pg.FunctionParameterMode_FUNC_PARAM_VARIADIC:
		out.Mode = ast.ParamVariadic
	case pg.FunctionParameterMode_FUNC_PARAM_TABLE:
		out.Mode = ast.ParamTable
	default:
		c.unsupported(ast.NoPos, p.Mode.String())
	}
	return out
}

func (c *converter) createDatabase(s *pg.CreatedbStmt) ast.Stmt {
	return &ast.CreateDatabase{Loc: ast.At(c.start), Name: s.Dbname, Options: c.options(s.Options, "CREATE DATABASE")}
}

func (c *converter) dropDatabase(s *pg.DropdbStmt) ast.Stmt {
	out := &ast.DropDatabase{Loc: ast.At(c.start), Name: s.Dbname, IfExists: s.MissingOk}
	for _, d := range c.defElems(s.Options, "DROP DATABASE") {
		if d.Defname != "force" || d.Arg.GetNode() != nil {
			c.failAt(d.Location, sqlerr.SyntaxError, "unrecognized DROP DATABASE option \"%s\"", d.Defname)
		}
		out.Force = true
	}
	return out
}

func (c *converter) createRole(s *pg.CreateRoleStmt) ast.Stmt {
	out := &ast.CreateRole{Loc: ast.At(c.start), Name: s.Role, Options: c.options(s.Options, "CREATE ROLE")}
	switch s.StmtType {
	case pg.RoleStmtType_ROLESTMT_ROLE:
	case pg.RoleStmtType_ROLESTMT_USER:
		out.Word = ast.WordUser
	case pg.RoleStmtType_ROLESTMT_GROUP:
		out.Word = ast.WordGroup
	default:
		c.unsupported(ast.NoPos, s.StmtType.String())
	}
	return out
}

func (c *converter) alterRole(s *pg.AlterRoleStmt) ast.Stmt {
	out := &ast.AlterRole{Loc: ast.At(c.start), Role: c.roleSpec(s.Role), Options: c.options(s.Options, "ALTER ROLE"), Drop: s.Action == -1}
	c.refuse(s.Action != 1 && s.Action != -1, ast.NoPos, "ALTER ROLE action")
	return out
}

func (c *converter) alterRoleSet(s *pg.AlterRoleSetStmt) ast.Stmt {
	out := &ast.AlterRoleSet{Loc: ast.At(c.start), Database: s.Database, Set: c.setVar(s.Setstmt)}
	if s.Role != nil {
		r := c.roleSpec(s.Role)
		out.Role = &r
	}
	return out
}
