package funcs

import (
	"strings"

	"herd/sql/catalog"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/vec"
)

// init registers has_*_privilege and pg_has_role. The C symbol says what the arguments are:
// has_table_privilege_name_id takes a role's name and an object's OID, has_table_privilege_id an object's OID alone.
func init() {
	for _, kind := range []string{"table", "database", "schema", "sequence", "function", "language", "type", "tablespace",
		"foreign_data_wrapper", "server", "any_column", "parameter"} {
		for _, forms := range []string{"name_name", "name_id", "id_name", "id_id", "name", "id"} {
			symbol := "has_" + kind + "_privilege_" + forms
			privilegeFn(kind, strings.Split(forms, "_"), symbol)
		}
	}
	for _, forms := range []string{"name_name_name", "name_name_attnum", "name_id_name", "name_id_attnum", "id_name_name", "id_name_attnum",
		"id_id_name", "id_id_attnum", "name_name", "name_attnum", "id_name", "id_attnum"} {
		symbol := "has_column_privilege_" + forms
		f := strings.Split(forms, "_")
		columnPrivilegeFn(f, symbol)
	}
	for _, forms := range []string{"name_name", "name_id", "id_name", "id_id", "name", "id"} {
		privilegeFn("role", strings.Split(forms, "_"), "pg_has_role_"+forms)
	}
}

// roleArg takes argument k as the role asked about.
func (q *PrivilegeQuery) roleArg(r *row, k int, form string) {
	if form == "name" {
		q.ByName, q.RoleName = true, r.Str(k)
	} else {
		q.RoleOID = types.OID(r.Int(k))
	}
}

// objectArg takes argument k as the object.
func (q *PrivilegeQuery) objectArg(r *row, k int, form string) {
	if form == "name" {
		q.ObjectByName, q.ObjectName = true, r.Str(k)
	} else {
		q.Object = types.OID(r.Int(k))
	}
}

// privilegeWords are the privileges that each kind of object has.
var privilegeWords = map[string]string{
	"table": "SELECT INSERT UPDATE DELETE TRUNCATE REFERENCES TRIGGER RULE", "column": "SELECT INSERT UPDATE REFERENCES",
	"any_column": "SELECT INSERT UPDATE REFERENCES", "sequence": "USAGE SELECT UPDATE", "database": "CREATE TEMPORARY TEMP CONNECT",
	"schema": "CREATE USAGE", "function": "EXECUTE", "language": "USAGE", "type": "USAGE", "tablespace": "CREATE",
	"foreign_data_wrapper": "USAGE", "server": "USAGE", "parameter": "SET ALTER_SYSTEM", "role": "USAGE MEMBER",
}

// checkPrivileges rejects words that are no privileges of the kind of object.
func checkPrivileges(kind, list string) error {
	for _, w := range strings.Split(list, ",") {
		w = strings.TrimSpace(w)
		word := strings.ToUpper(w)
		for _, option := range []string{" WITH GRANT OPTION", " WITH ADMIN OPTION"} {
			if kind == "role" || option == " WITH GRANT OPTION" {
				word = strings.TrimSuffix(word, option)
			}
		}
		found := false
		for _, p := range strings.Fields(privilegeWords[kind]) {
			found = found || word == strings.ReplaceAll(p, "_", " ")
		}
		if !found {
			return invalidParam("unrecognized privilege type: \"%s\"", w)
		}
	}
	return nil
}

func askPrivilege(r *row, e Env, q PrivilegeQuery) error {
	if err := checkPrivileges(q.Kind, q.Privileges); err != nil {
		return err
	}
	has, null, err := e.HasPrivilege(q)
	if err != nil || null {
		r.RetNull()
		return err
	}
	return r.RetBool(has)
}

func privilegeFn(kind string, forms []string, symbol string) {
	sys(func(r *row, e Env) error {
		q := PrivilegeQuery{Kind: kind, Privileges: r.Str(r.N() - 1)}
		k := 0
		if len(forms) == 2 {
			q.roleArg(r, 0, forms[0])
			k = 1
		} else {
			q.Current = true
		}
		q.objectArg(r, k, forms[k])
		return askPrivilege(r, e, q)
	}, symbol)
}

// columnPrivilegeFn is privilegeFn for columns: the last form is the column's.
func columnPrivilegeFn(forms []string, symbol string) {
	sys(func(r *row, e Env) error {
		q := PrivilegeQuery{Kind: "column", Privileges: r.Str(r.N() - 1)}
		k := 0
		if len(forms) == 3 {
			q.roleArg(r, 0, forms[0])
			k = 1
		} else {
			q.Current = true
		}
		q.objectArg(r, k, forms[k])
		if forms[k+1] == "name" {
			q.Column = r.Str(k + 1)
		} else {
			q.Attno = int(r.Int(k + 1))
		}
		return askPrivilege(r, e, q)
	}, symbol)
}

// privilegeNames are the words of aclexplode, in the order of the bits of catalog.Privileges.
var privilegeNames = []struct {
	letter byte
	name   string
}{
	{'a', "INSERT"}, {'r', "SELECT"}, {'w', "UPDATE"}, {'d', "DELETE"}, {'D', "TRUNCATE"}, {'x', "REFERENCES"}, {'t', "TRIGGER"}, {'X', "EXECUTE"},
	{'U', "USAGE"}, {'C', "CREATE"}, {'T', "TEMPORARY"}, {'c', "CONNECT"}, {'s', "SET"}, {'A', "ALTER SYSTEM"},
}

func init() {
	sys(func(r *row, e Env) error {
		kind := r.Bytes(0)
		if len(kind) != 1 || !strings.ContainsRune("cdfFlLnprsStT", rune(kind[0])) {
			return invalidParam("unrecognized object type abbreviation: %s", kind)
		}
		objType := kind[0]
		if objType == 's' {
			objType = 'S'
		}
		x, err := e.Catalog().RoleByOID(types.OID(r.Int(1)))
		if err != nil {
			return err
		}
		owner := itoa(r.Int(1))
		if x != nil {
			owner = aclRole(x.Name)
		}
		var elems []types.Datum
		for _, s := range catalog.FormatACL(catalog.DefaultACLOf(objType, types.OID(r.Int(1)))) {
			head, _, _ := strings.Cut(s, "/")
			grantee, letters, _ := strings.Cut(head, "=")
			if grantee != "" {
				grantee = owner
			}
			elems = append(elems, types.Text(grantee+"="+letters+"/"+owner))
		}
		return r.RetBytes(types.MakeArray(types.ACLItemOID, elems))
	}, "acldefault_sql")
	regSet(func(*CallInfo) setStart { return explodeACL }, "aclexplode")
}

func aclRole(name string) string {
	for _, c := range []byte(name) {
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c < 0x80 {
			return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		}
	}
	return name
}

// explodeACL is aclexplode: one row for each privilege of each item, (grantor, grantee, privilege_type, is_grantable).
func explodeACL(c *Ctx, args []types.Datum) (SetFunc, error) {
	var rows [][]types.Datum
	if c.Env == nil {
		return nil, unsupported("aclexplode outside a session")
	}
	cat := c.Env.Catalog()
	role := func(s string) (int64, error) {
		if s == "" {
			return 0, nil
		}
		s = strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(s, `"`), `"`), `""`, `"`)
		x, err := cat.RoleByName(s)
		if err != nil {
			return 0, err
		}
		if x != nil {
			return int64(x.OID), nil
		}
		d, err := types.Input(c.IO, types.OIDOID, -1, []byte(s))
		if err != nil {
			return 0, sqlerr.New(sqlerr.UndefinedObject, "role \"%s\" does not exist", s)
		}
		return d.I, nil
	}
	for it := types.ReadArray(args[0].B).Iter(); it.Next(); {
		if it.Null {
			continue
		}
		head, grantor, _ := strings.Cut(string(it.Val), "/")
		at := strings.LastIndexByte(head, '=')
		if at < 0 {
			continue
		}
		from, err := role(grantor)
		if err != nil {
			return nil, err
		}
		to, err := role(head[:at])
		if err != nil {
			return nil, err
		}
		letters := head[at+1:]
		for _, p := range privilegeNames {
			if i := strings.IndexByte(letters, p.letter); i >= 0 {
				option := i+1 < len(letters) && letters[i+1] == '*'
				rows = append(rows, []types.Datum{types.Int(from), types.Int(to), types.Text(p.name), types.Bool(option)})
			}
		}
	}
	ts := []types.OID{types.OIDOID, types.OIDOID, types.TextOID, types.BoolOID}
	return listSet(len(rows), func(_ *Ctx, row, i int, out []*vec.Vector) error {
		setRow(out, i, ts, rows[row])
		return nil
	}), nil
}
