package catalog

import (
	"strconv"
	"strings"

	"herd/sql/catalog/pgdata"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// OperatorOut is the output of regoper: qualified when the name is ambiguous.
func (n Names) OperatorOut(id types.OID) (string, error) {
	if id == 0 {
		return "0", nil
	}
	o := pgdata.OperatorByOID(id)
	if o == nil {
		return strconv.FormatUint(uint64(id), 10), nil
	}
	if len(pgdata.OperatorsByName(o.Name)) == 1 && BuiltinIsVisible(n.Path) {
		return o.Name, nil
	}
	return "pg_catalog." + o.Name, nil
}

// OperatorSignatureOut is the output of regoperator: name(left,right).
func (n Names) OperatorSignatureOut(id types.OID) (string, error) {
	if id == 0 {
		return "0", nil
	}
	o := pgdata.OperatorByOID(id)
	if o == nil {
		return strconv.FormatUint(uint64(id), 10), nil
	}
	left := "NONE"
	var err error
	if o.Left != 0 {
		if left, err = FormatType(n.Reader, o.Left, -1, false, n.Path); err != nil {
			return "", err
		}
	}
	right, err := FormatType(n.Reader, o.Right, -1, false, n.Path)
	return n.builtinName(o.Name) + "(" + left + "," + right + ")", err
}

// operatorName strips the schema of an operator's name. Operators are in pg_catalog only.
func operatorName(text string) (string, bool) {
	i := strings.LastIndexByte(text, '.')
	if i < 0 {
		return text, true
	}
	schema := strings.Trim(strings.ToLower(text[:i]), ` "`)
	return text[i+1:], schema == "pg_catalog"
}

// OperatorIn is the input of regoper. Errors: 42883, 42725.
func (n Names) OperatorIn(text string, quiet bool) (types.OID, error) {
	if id, ok := numeric(text); ok && !quiet && text != "-" {
		return id, nil
	}
	name, ok := operatorName(strings.TrimSpace(text))
	var all []*pgdata.Operator
	if ok {
		all = pgdata.OperatorsByName(name)
	}
	switch {
	case len(all) == 1:
		return all[0].OID, nil
	case quiet:
		return 0, nil
	case len(all) == 0:
		return 0, sqlerr.New(sqlerr.UndefinedFunction, "operator does not exist: %s", text)
	}
	return 0, sqlerr.New(sqlerr.AmbiguousFunction, "more than one operator named %s", text)
}

// OperatorSignatureIn is the input of regoperator. Errors: 42883, 22P02.
func (n Names) OperatorSignatureIn(text string, quiet bool) (types.OID, error) {
	if id, ok := numeric(text); ok && !quiet && text != "-" {
		return id, nil
	}
	name, args, err := splitArguments(text)
	if err != nil {
		return 0, err
	}
	if len(args) != 2 {
		return 0, sqlerr.New(sqlerr.UndefinedParameter, "missing argument").WithHint("Use NONE to denote the missing argument of a unary operator.")
	}
	var ids [2]types.OID
	for i, a := range args {
		if strings.EqualFold(strings.TrimSpace(a), "none") {
			continue
		}
		if ids[i], err = n.TypeIn(a, quiet); err != nil {
			return 0, err
		}
	}
	name, ok := operatorName(name)
	if o := pgdata.OperatorByTypes(name, ids[0], ids[1]); ok && o != nil {
		return o.OID, nil
	}
	if quiet {
		return 0, nil
	}
	return 0, sqlerr.New(sqlerr.UndefinedFunction, "operator does not exist: %s", text)
}
