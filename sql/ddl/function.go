package ddl

import (
	"strings"

	"herd/planner"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/catalog/pgdata"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// createFunction is CREATE FUNCTION in language SQL.
func (x *executor) createFunction(s *ast.CreateFunction) error {
	if s.Procedure {
		return sqlerr.Unsupported("CREATE PROCEDURE")
	}
	schema, err := x.creationSchema(s.Name, false)
	if err != nil {
		return err
	}
	p := &catalog.Proc{Name: s.Name.Name, Namespace: schema, Owner: x.User.OID, Kind: 'f', Volatile: 'v', Parallel: 'u', Cost: 100, Lang: pgdata.LangSQL}
	if err := x.functionBody(p, s); err != nil {
		return err
	}
	if err := x.functionParams(p, s); err != nil {
		return err
	}
	if err := x.functionOptions(p, s.Options); err != nil {
		return err
	}
	if p.RetSet && p.Rows == 0 {
		p.Rows = 1000
	}
	old, err := x.functionByTypes(schema, p.Name, p.ArgTypes)
	if err != nil {
		return err
	}
	if old == nil {
		err = x.Writer.CreateProc(p)
	} else {
		err = x.replaceFunction(old, p, s.OrReplace)
	}
	if err != nil {
		return err
	}
	return x.tryFunction(p)
}

// functionBody checks language and body.
func (x *executor) functionBody(p *catalog.Proc, s *ast.CreateFunction) error {
	switch strings.ToLower(s.Language) {
	case "sql":
	case "":
		if s.Return == nil && s.SQLBody == nil {
			return sqlerr.New(sqlerr.InvalidFunctionDefinition, "no language specified")
		}
	case "plpgsql", "c", "internal":
		return sqlerr.Unsupported("language \"%s\"", s.Language)
	default:
		return sqlerr.New(sqlerr.UndefinedObject, "language \"%s\" does not exist", s.Language)
	}
	if s.Return != nil || s.SQLBody != nil {
		return sqlerr.Unsupported("a function body in the SQL-standard form")
	}
	if len(s.Body) == 0 {
		return sqlerr.New(sqlerr.InvalidFunctionDefinition, "no function body specified")
	}
	if len(s.Body) > 1 {
		return sqlerr.New(sqlerr.InvalidFunctionDefinition, "only one AS item needed for language \"sql\"")
	}
	p.Src = s.Body[0]
	return nil
}

// bodyError moves the position of an error in a body to where the body stands in the statement, if it stands there as it is.
func (x *executor) bodyError(body string, err error) error {
	if err == nil {
		return nil
	}
	e := sqlerr.From(err)
	at := strings.Index(x.text, body)
	if e.Position == 0 {
		return e
	}
	if at < 0 {
		return e.WithInternal(body, e.Position).WithPosition(0)
	}
	return e.WithPosition(e.Position + ast.CharPosition(x.text, int32(at)) - 1)
}

// functionParams fills in parameters and result.
func (x *executor) functionParams(p *catalog.Proc, s *ast.CreateFunction) error {
	var outs []types.OID
	var modes []byte
	var all []types.OID
	var names []string
	named, special := false, false
	for i := range s.Params {
		a := &s.Params[i]
		if a.Type.SetOf {
			return sqlerr.New(sqlerr.InvalidFunctionDefinition, "functions cannot accept set arguments")
		}
		t, _, err := x.typeOf(a.Type)
		if err != nil {
			return sqlerr.From(err).WithPosition(0)
		}
		mode := [...]byte{'i', 'o', 'b', 'v', 't'}[a.Mode]
		if mode == 'v' {
			typ, err := x.typeInfo(t)
			if err != nil {
				return err
			}
			if p.Variadic = typ.Elem; !typ.IsTrueArray() {
				return sqlerr.New(sqlerr.InvalidFunctionDefinition, "VARIADIC parameter must be an array")
			}
		}
		if mode != 'o' && mode != 't' {
			p.ArgTypes = append(p.ArgTypes, t)
			if err := x.parameterDefault(p, a, t); err != nil {
				return err
			}
		}
		if mode == 'o' || mode == 'b' || mode == 't' {
			outs = append(outs, t)
		}
		for k, n := range names {
			if n == a.Name && n != "" && (mode == 't') == (modes[k] == 't') {
				return sqlerr.New(sqlerr.InvalidFunctionDefinition, "parameter name \"%s\" used more than once", n)
			}
		}
		all, modes, names = append(all, t), append(modes, mode), append(names, a.Name)
		named, special = named || a.Name != "", special || mode != 'i'
	}
	p.NArgs = len(p.ArgTypes)
	if special {
		p.AllArgTypes, p.ArgModes = all, modes
	}
	if named {
		p.ArgNames = names
	}
	return x.functionResult(p, s, outs)
}

// parameterDefault stores a DEFAULT; after one all input parameters need one.
func (x *executor) parameterDefault(p *catalog.Proc, a *ast.FuncParam, t types.OID) error {
	if a.Default == nil {
		if p.NArgDefaults > 0 {
			return sqlerr.New(sqlerr.InvalidFunctionDefinition, "input parameters after one with a default value must also have defaults")
		}
		return nil
	}
	c := &catalog.Column{Name: a.Name, Type: t, Typmod: -1}
	e, err := x.bindExpr(nil, a.Default, planner.UseDefault, c)
	if err != nil {
		return err
	}
	text, err := x.store(nil, e)
	p.ArgDefaults, p.NArgDefaults = append(p.ArgDefaults, text), p.NArgDefaults+1
	return err
}

// functionResult decides the result type of RETURNS and OUT parameters.
func (x *executor) functionResult(p *catalog.Proc, s *ast.CreateFunction, outs []types.OID) error {
	implied := types.OID(0)
	switch len(outs) {
	case 0:
	case 1:
		implied = outs[0]
	default:
		implied = types.RecordOID
	}
	if s.Returns == nil {
		if implied == 0 {
			return sqlerr.New(sqlerr.InvalidFunctionDefinition, "function result type must be specified")
		}
		p.RetType = implied
		return nil
	}
	t, _, err := x.typeOf(s.Returns)
	if err != nil {
		return sqlerr.From(err).WithPosition(0)
	}
	p.RetSet, p.RetType = s.Returns.SetOf, t
	if len(p.ArgModes) > 0 && p.ArgModes[len(p.ArgModes)-1] == 't' {
		p.RetType = implied
		return nil
	}
	if implied != 0 && t != implied {
		return sqlerr.New(sqlerr.InvalidFunctionDefinition, "function result type must be %s because of OUT parameters", x.typeText(implied))
	}
	if t == types.TriggerOID {
		return sqlerr.Unsupported("a trigger function")
	}
	return nil
}

// functionOptions applies volatility, STRICT and their like.
func (x *executor) functionOptions(p *catalog.Proc, list []ast.Option) error {
	seen := map[string]bool{}
	for _, o := range list {
		if seen[o.Name] {
			return x.at(o.Off, sqlerr.SyntaxError, "conflicting or redundant options")
		}
		seen[o.Name] = true
		switch o.Name {
		case "volatility":
			p.Volatile = o.Value.Text[0]
		case "strict":
			p.Strict = o.Value.Bool
		case "leakproof":
			p.LeakProof = o.Value.Bool
		case "parallel":
			switch strings.ToLower(o.Value.String()) {
			case "safe", "restricted", "unsafe":
				p.Parallel = strings.ToLower(o.Value.String())[0]
			default:
				return sqlerr.New(sqlerr.SyntaxError, "parameter \"parallel\" must be SAFE, RESTRICTED, or UNSAFE")
			}
		case "cost", "rows":
			n := float64(o.Value.Int)
			if n <= 0 {
				return sqlerr.New(sqlerr.InvalidParameterValue, "%s must be positive", strings.ToUpper(o.Name))
			}
			if o.Name == "cost" {
				p.Cost = n
			} else if p.Rows = n; !p.RetSet {
				return sqlerr.New(sqlerr.InvalidParameterValue, "ROWS is not applicable when function does not return a set")
			}
		case "security":
			if o.Value.Bool {
				return sqlerr.Unsupported("SECURITY DEFINER")
			}
		default:
			return sqlerr.Unsupported("function option %s", strings.ToUpper(o.Name))
		}
	}
	return nil
}

// functionByTypes finds a user function with exactly these input types.
func (x *executor) functionByTypes(schema types.OID, name string, args []types.OID) (*catalog.Proc, error) {
	list, err := x.reader().FuncsByName(schema, name)
	if err != nil {
		return nil, err
	}
	for _, f := range list {
		if sameOIDs(f.ArgTypes, args) {
			return f, nil
		}
	}
	return nil, nil
}

func sameOIDs(a, b []types.OID) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func (x *executor) replaceFunction(old, p *catalog.Proc, replace bool) error {
	if !replace {
		return sqlerr.New(sqlerr.DuplicateFunction, "function \"%s\" already exists with same argument types", p.Name)
	}
	if err := x.ownerOf(old.Owner, "function", old.Name); err != nil {
		return err
	}
	if old.RetType != p.RetType || old.RetSet != p.RetSet {
		return sqlerr.New(sqlerr.InvalidFunctionDefinition, "cannot change return type of existing function").
			WithHint("Use DROP FUNCTION %s first.", x.signature(old))
	}
	p.OID, p.Owner, p.ACL = old.OID, old.Owner, old.ACL
	return x.Writer.UpdateProc(old, p)
}

// signature is a function with its argument types.
func (x *executor) signature(p *catalog.Proc) string {
	s, err := catalog.FormatProc(x.reader(), p, x.Bind.Path)
	if err != nil {
		return p.Name
	}
	return s
}

// tryFunction binds the statements of the body, unless check_function_bodies is off.
func (x *executor) tryFunction(p *catalog.Proc) error {
	if x.CheckBody == nil {
		return nil
	}
	for _, t := range p.ArgTypes {
		typ, err := x.typeInfo(t)
		if err != nil {
			return err
		}
		if typ.Type == 'p' && t != types.RecordOID {
			return x.bodyWhere(p, x.CheckBody(p, false)) // the body is bound for the types of each call
		}
	}
	return x.bodyWhere(p, x.CheckBody(p, true))
}

// bodyWhere says where an error of a body is: at its place in the statement, or in the function.
func (x *executor) bodyWhere(p *catalog.Proc, err error) error {
	if err == nil {
		return nil
	}
	if err = x.bodyError(p.Src, err); sqlerr.From(err).Position != 0 {
		return err
	}
	return sqlerr.From(err).WithWhere("SQL function \"%s\"", p.Name)
}

// functionNamed finds the function that a statement names: by its argument types, or by its name alone when that is enough.
func (x *executor) functionNamed(n *ast.ObjectName) (*catalog.Proc, error) {
	list, err := x.reader().LookupFuncs(n.Name.Schema, n.Name.Name, x.Bind.Path)
	if err != nil {
		return nil, err
	}
	if !n.HasArgs {
		switch len(list) {
		case 0:
			return nil, sqlerr.New(sqlerr.UndefinedFunction, "could not find a function named \"%s\"", n.Name.String())
		case 1:
			return list[0], nil
		}
		return nil, sqlerr.New(sqlerr.AmbiguousFunction, "function name \"%s\" is not unique", n.Name.String()).
			WithHint("Specify the argument list to select the function unambiguously.")
	}
	args, text := make([]types.OID, len(n.Args)), make([]string, len(n.Args))
	for i, t := range n.Args {
		if args[i], _, err = x.typeOf(t); err != nil {
			return nil, err
		}
		text[i] = x.typeText(args[i])
	}
	for _, f := range list {
		if sameOIDs(f.ArgTypes, args) {
			return f, nil
		}
	}
	return nil, sqlerr.New(sqlerr.UndefinedFunction, "function %s(%s) does not exist", n.Name.String(), strings.Join(text, ", "))
}

// dropFunction finds a function to drop; ok is false when it does not exist and need not.
func (x *executor) dropFunction(s *ast.Drop, n *ast.ObjectName) (o catalog.Object, ok bool, err error) {
	p, err := x.functionNamed(n)
	if err != nil {
		if s.IfExists && sqlerr.CodeOf(err) == sqlerr.UndefinedFunction {
			text := strings.ReplaceAll(strings.TrimPrefix(strings.TrimSuffix(sqlerr.From(err).Message, " does not exist"), "function "), ", ", ",")
			if !n.HasArgs {
				text = n.Name.String() + "()"
			}
			x.notice(sqlerr.SuccessfulCompletion, "function %s does not exist, skipping", text)
			return o, false, nil
		}
		return o, false, err
	}
	if p.OID < firstUser {
		return o, false, sqlerr.New(sqlerr.DependentObjectsStillExist, "cannot drop function %s because it is required by the database system", x.signature(p))
	}
	if s.Kind == ast.ObjAggregate || s.Kind == ast.ObjProcedure {
		return o, false, sqlerr.New(sqlerr.WrongObjectType, "function %s is not %s", x.signature(p), map[ast.ObjectKind]string{ast.ObjAggregate: "an aggregate", ast.ObjProcedure: "a procedure"}[s.Kind])
	}
	return catalog.Object{Class: catalog.ClassProc, OID: p.OID}, true, x.ownerOf(p.Owner, "function", p.Name)
}

// changeFunction applies ALTER FUNCTION's RENAME, OWNER TO and SET SCHEMA.
func (x *executor) changeFunction(n *ast.ObjectName, change func(now *catalog.Proc) error) error {
	old, err := x.functionNamed(n)
	if err != nil {
		return err
	}
	if old.OID < firstUser {
		return sqlerr.New(sqlerr.InsufficientPrivilege, "must be owner of function %s", old.Name)
	}
	if err := x.ownerOf(old.Owner, "function", old.Name); err != nil {
		return err
	}
	refs, err := x.dependentsOf(catalog.ClassProc, old.OID, 0)
	if err != nil {
		return err
	}
	now := *old
	if err := change(&now); err != nil {
		return err
	}
	if err := x.Writer.UpdateProc(old, &now); err != nil {
		return err
	}
	return x.restore(refs)
}
