package catalog

import (
	"strconv"
	"strings"
	"sync"

	"herd/sql/catalog/pgdata"
	"herd/sql/types"
)

var systemRelations sync.Map // types.OID -> *Relation

// systemRelation returns the descriptor of a built-in relation, nil when there is none.
func systemRelation(id types.OID) *Relation {
	if r, ok := systemRelations.Load(id); ok {
		return r.(*Relation)
	}
	x := pgdata.RelationByOID(id)
	if x == nil {
		return nil
	}
	rel := &Relation{
		OID: x.OID, Name: x.Name, Schema: x.Namespace, Kind: RelKind(x.Kind), Owner: BootstrapRole, Persistence: 'p',
		ViewDef: x.ViewDef, RowType: x.RowType, ACL: systemACLs()[x.OID],
	}
	if t := pgdata.TypeByOID(x.RowType); t != nil {
		rel.ArrayType = t.Array
	}
	for _, c := range x.Columns {
		rel.Columns = append(rel.Columns, Column{
			Num: c.Num, Name: c.Name, Type: c.Type, Typmod: c.Typmod, Collation: c.Collation, NotNull: c.NotNull,
		})
	}
	if rel.Kind == KindTable {
		rel.Virtual = virtualTable(x)
	}
	kept, _ := systemRelations.LoadOrStore(id, rel)
	return kept.(*Relation)
}

// systemACLs are the privileges on built-in relations, in the stored form; relations without an entry have the default.
var systemACLs = sync.OnceValue(func() map[types.OID][]string {
	ids := map[string]string{"": "", "postgres": strconv.Itoa(int(BootstrapRole))}
	for _, r := range systemRoles() {
		ids[r.Name] = strconv.Itoa(int(r.OID))
	}
	rows := pgdata.CatalogRows("pg_class")
	at := columnIndex(rows.Columns)
	acls := map[types.OID][]string{}
	for i := range rows.Len() {
		text, ok := rows.Field(i, at["relacl"])
		if !ok {
			continue
		}
		var list []string
		for _, item := range strings.Split(strings.Trim(text, "{}"), ",") {
			grantee, rest, _ := strings.Cut(item, "=")
			privs, grantor, _ := strings.Cut(rest, "/")
			list = append(list, ids[grantee]+"="+privs+"/"+ids[grantor])
		}
		acls[fieldOID(rows, i, at["oid"])] = list
	}
	return acls
})

// systemRoles are the predefined roles other than the bootstrap role, whose row is stored
// because ALTER ROLE may change it.
var systemRoles = sync.OnceValue(func() []*Role {
	var list []*Role
	rows := pgdata.CatalogRows("pg_authid")
	at := columnIndex(rows.Columns)
	for i := range rows.Len() {
		flag := func(name string) bool { s, _ := rows.Field(i, at[name]); return s == "t" }
		name, _ := rows.Field(i, at["rolname"])
		id := fieldOID(rows, i, at["oid"])
		if id == BootstrapRole {
			continue
		}
		list = append(list, &Role{
			OID: id, Name: name, Super: flag("rolsuper"), Inherit: flag("rolinherit"),
			CreateRole: flag("rolcreaterole"), CreateDB: flag("rolcreatedb"), Login: flag("rolcanlogin"),
			Replication: flag("rolreplication"), BypassRLS: flag("rolbypassrls"), ConnLimit: -1,
		})
	}
	return list
})

// columnIndex maps column names to their places.
func columnIndex(names []string) map[string]int {
	m := make(map[string]int, len(names))
	for i, n := range names {
		m[n] = i
	}
	return m
}

// fieldOID reads an object identifier from a catalog's rows.
func fieldOID(rows *pgdata.Rows, i, col int) types.OID {
	s, _ := rows.Field(i, col)
	var n types.OID
	for _, c := range []byte(s) {
		n = n*10 + types.OID(c-'0')
	}
	return n
}

func systemRole(id types.OID) *Role {
	for _, r := range systemRoles() {
		if r.OID == id {
			return r
		}
	}
	return nil
}

func systemRoleByName(name string) *Role {
	for _, r := range systemRoles() {
		if r.Name == name {
			return r
		}
	}
	return nil
}

// systemMemberships returns the memberships of predefined roles in each other.
func systemMemberships() []Membership {
	var list []Membership
	rows := pgdata.CatalogRows("pg_auth_members")
	for i := range rows.Len() {
		admin, _ := rows.Field(i, 3)
		list = append(list, Membership{fieldOID(rows, i, 0), fieldOID(rows, i, 1), fieldOID(rows, i, 2), admin == "t"})
	}
	return list
}

// systemComment returns the comment on a built-in object.
func systemComment(class, id types.OID, sub int32) string {
	if id >= pgdata.FirstUserOID {
		return ""
	}
	return pgdata.Description(class, id, int(sub))
}
