package pgdata

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"herd/sql/types"
)

// Herd's own functions and views, in pg_catalog beside PostgreSQL's, where they are found without a schema. Their names begin with
// "herd_". They are rows of the same catalogs: what lists functions and views lists them as well. Their numbers lie above all
// that initdb gives out and below FirstUserOID, and are never used for anything else: stored expressions have them.

// ownColumn is an output column of one of herd's functions and views.
type ownColumn struct {
	name string
	typ  types.OID
}

// ownFunction is a set-returning function whose C symbol is its name.
type ownFunction struct {
	oid  types.OID
	name string
	args []ownColumn
	out  []ownColumn
	rows int // expected
}

// ownView is a view over one of herd's functions, of all its columns.
type ownView struct {
	oid     types.OID // and the next three: its array type, its row type, its rule
	name    string
	columns []ownColumn
	def     string
}

var ownFunctions = []ownFunction{
	{oid: 15900, name: "herd_checksum", rows: 1, args: []ownColumn{{"relation", types.RegclassOID}},
		out: []ownColumn{{"rows", types.Int8OID}, {"checksum", types.Int8OID}}},
	{oid: 15901, name: "herd_memory_use", rows: 100, out: memoryColumns},
	{oid: 15902, name: "herd_snapshot_list", rows: 20, out: snapshotColumns},
}

var memoryColumns = []ownColumn{{"owner", types.TextOID}, {"kind", types.TextOID}, {"pid", types.Int4OID}, {"database", types.TextOID},
	{"bytes", types.Int8OID}, {"peak", types.Int8OID}, {"limit_bytes", types.Int8OID}, {"query", types.TextOID}}

var snapshotColumns = []ownColumn{{"pid", types.Int4OID}, {"database", types.TextOID}, {"kind", types.TextOID}, {"version", types.Int8OID},
	{"behind", types.Int8OID}, {"age", types.IntervalOID}, {"held_bytes", types.Int8OID}, {"query", types.TextOID}}

var ownViews = []ownView{
	{15910, "herd_memory", memoryColumns, ownViewText(memoryColumns, "herd_memory_use")},
	{15914, "herd_snapshots", snapshotColumns, ownViewText(snapshotColumns, "herd_snapshot_list")},
}

// ownViewText is the definition of a view of a function's columns, as PostgreSQL prints it.
func ownViewText(columns []ownColumn, function string) string {
	var out, names []string
	for _, c := range columns {
		out, names = append(out, "h."+c.name), append(names, c.name)
	}
	return " SELECT " + strings.Join(out, ",\n    ") + "\n   FROM " + function + "() h(" + strings.Join(names, ", ") + ");"
}

// ownRows returns the rows of herd's own objects in a catalog, in the form of its data file.
func ownRows(catalog string, columns []string) string {
	var b strings.Builder
	row := func(values map[string]string) {
		for i, c := range columns {
			if i > 0 {
				b.WriteByte('\t')
			}
			v, ok := values[c]
			if !ok {
				panic("pgdata: herd's own row of " + catalog + " has no " + c)
			}
			b.WriteString(v)
		}
		b.WriteByte('\n')
	}
	switch catalog {
	case "pg_proc":
		for _, f := range slices.Concat(ownFunctions, clusterFunctions) {
			row(f.proc())
		}
	case "pg_class", "pg_type", "pg_rewrite", "pg_attribute", "pg_depend", "pg_init_privs":
		for _, v := range slices.Concat(ownViews, clusterViews) {
			for _, r := range v.rows(catalog) {
				row(r)
			}
		}
	}
	return b.String()
}

// merged returns base with the values of more.
func merged(base, more map[string]string) map[string]string {
	m := maps.Clone(base)
	maps.Copy(m, more)
	return m
}

func own(id types.OID) string { return strconv.FormatUint(uint64(id), 10) }

const (
	catalogSchema = "11"
	ownViewRights = "{postgres=arwdDxt/postgres,=r/postgres}"
)

// proc is the function's row of pg_proc.
func (f *ownFunction) proc() map[string]string {
	var in, all, modes, names []string
	add := func(c ownColumn, mode string) {
		all, modes, names = append(all, own(c.typ)), append(modes, mode), append(names, c.name)
	}
	for _, c := range f.args {
		in = append(in, own(c.typ))
		add(c, "i")
	}
	for _, c := range f.out {
		add(c, "o")
	}
	list := func(l []string) string { return "{" + strings.Join(l, ",") + "}" }
	return map[string]string{
		"oid": own(f.oid), "proname": f.name, "pronamespace": catalogSchema, "proowner": "10", "prolang": own(LangInternal), "procost": "1",
		"prorows": strconv.Itoa(f.rows), "provariadic": "0", "prosupport": "0", "prokind": "f", "prosecdef": "f", "proleakproof": "f",
		"proisstrict": "t", "proretset": "t", "provolatile": "v", "proparallel": "r", "pronargs": strconv.Itoa(len(in)), "pronargdefaults": "0",
		"prorettype": own(types.RecordOID), "proargtypes": strings.Join(in, " "), "proallargtypes": list(all), "proargmodes": list(modes),
		"proargnames": list(names), "proargdefaults": `\N`, "protrftypes": `\N`, "prosrc": f.name, "probin": `\N`, "prosqlbody": `\N`,
		"proconfig": `\N`, "proacl": `\N`,
	}
}

// rows are the view's rows of a catalog.
func (v *ownView) rows(catalog string) []map[string]string {
	rel, array, row, rule := own(v.oid), own(v.oid+1), own(v.oid+2), own(v.oid+3)
	switch catalog {
	case "pg_class":
		return []map[string]string{{
			"oid": rel, "relname": v.name, "relnamespace": catalogSchema, "reltype": row, "reloftype": "0", "relowner": "10", "relam": "0",
			"relfilenode": "0", "reltablespace": "0", "relpages": "0", "reltuples": "-1", "relallvisible": "0", "reltoastrelid": "0",
			"relhasindex": "f", "relisshared": "f", "relpersistence": "p", "relkind": "v", "relnatts": strconv.Itoa(len(v.columns)),
			"relchecks": "0", "relhasrules": "t", "relhastriggers": "f", "relhassubclass": "f", "relrowsecurity": "f",
			"relforcerowsecurity": "f", "relispopulated": "t", "relreplident": "n", "relispartition": "f", "relrewrite": "0",
			"relfrozenxid": "0", "relminmxid": "0", "relacl": ownViewRights, "reloptions": `\N`, "relpartbound": `\N`,
		}}
	case "pg_type":
		base := map[string]string{
			"typnamespace": catalogSchema, "typowner": "10", "typlen": "-1", "typbyval": "f", "typispreferred": "f", "typisdefined": "t",
			"typdelim": ",", "typmodin": "0", "typmodout": "0", "typalign": "d", "typstorage": "x", "typnotnull": "f", "typbasetype": "0",
			"typtypmod": "-1", "typndims": "0", "typcollation": "0", "typdefaultbin": `\N`, "typdefault": `\N`, "typacl": `\N`,
		}
		return []map[string]string{
			merged(base, map[string]string{"oid": array, "typname": "_" + v.name, "typtype": "b", "typcategory": "A", "typrelid": "0",
				"typsubscript": "6179", "typelem": row, "typarray": "0", "typinput": "750", "typoutput": "751", "typreceive": "2400",
				"typsend": "2401", "typanalyze": "3816"}),
			merged(base, map[string]string{"oid": row, "typname": v.name, "typtype": "c", "typcategory": "C", "typrelid": rel,
				"typsubscript": "0", "typelem": "0", "typarray": array, "typinput": "2290", "typoutput": "2291", "typreceive": "2402",
				"typsend": "2403", "typanalyze": "0"}),
		}
	case "pg_rewrite":
		return []map[string]string{{"oid": rule, "rulename": "_RETURN", "ev_class": rel, "ev_type": "1", "ev_enabled": "O", "is_instead": "t",
			"ev_qual": `\N`, "ev_action": strings.ReplaceAll(v.def, "\n", `\n`)}}
	case "pg_attribute":
		return v.attributes()
	case "pg_init_privs": // else pg_dump takes the rights for granted by somebody
		return []map[string]string{{"objoid": rel, "classoid": "1259", "objsubid": "0", "privtype": "i", "initprivs": ownViewRights}}
	}
	base := map[string]string{"objsubid": "0", "refclassid": "1259", "refobjid": rel, "refobjsubid": "0"}
	return []map[string]string{
		merged(base, map[string]string{"classid": "1247", "objid": row, "deptype": "i"}),
		merged(base, map[string]string{"classid": "2618", "objid": rule, "deptype": "i"}),
		merged(base, map[string]string{"classid": "2618", "objid": rule, "deptype": "n"}),
	}
}

// ownTypes are length, by value, alignment, storage and collation of the types of views' columns.
var ownTypes = map[types.OID][5]string{
	types.TextOID: {"-1", "f", "i", "x", "100"}, types.Int8OID: {"8", "t", "d", "p", "0"}, types.Int4OID: {"4", "t", "i", "p", "0"},
	types.OIDOID: {"4", "t", "i", "p", "0"}, types.TimestampTZOID: {"8", "t", "d", "p", "0"}, types.IntervalOID: {"16", "f", "d", "p", "0"},
	types.NameOID: {"64", "f", "c", "p", "950"},
	types.BoolOID: {"1", "t", "c", "p", "0"}, types.Float8OID: {"8", "t", "d", "p", "0"},
}

// attributes are the view's rows of pg_attribute.
func (v *ownView) attributes() (rows []map[string]string) {
	for i, c := range v.columns {
		t, ok := ownTypes[c.typ]
		if !ok {
			panic("pgdata: " + v.name + "." + c.name + ": a type that is not in ownTypes")
		}
		rows = append(rows, map[string]string{
			"attrelid": own(v.oid), "attname": c.name, "atttypid": own(c.typ), "attstattarget": "-1", "attlen": t[0], "attnum": strconv.Itoa(i + 1),
			"attndims": "0", "attcacheoff": "-1", "atttypmod": "-1", "attbyval": t[1], "attalign": t[2], "attstorage": t[3], "attcompression": "",
			"attnotnull": "f", "atthasdef": "f", "atthasmissing": "f", "attidentity": "", "attgenerated": "", "attisdropped": "f",
			"attislocal": "t", "attinhcount": "0", "attcollation": t[4], "attacl": `\N`, "attoptions": `\N`, "attfdwoptions": `\N`,
			"attmissingval": `\N`,
		})
	}
	return rows
}
