package funcs

import (
	"strconv"
	"strings"

	"herd/sql/catalog"
	"herd/sql/catalog/pgdata"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

// Object classes that have no constant in package catalog.
const (
	classConversion  types.OID = 2607
	classStatistics  types.OID = 3381
	classTSConfig    types.OID = 3602
	classTSDict      types.OID = 3600
	classTSParser    types.OID = 3601
	classTSTemplate  types.OID = 3764
	tablespaceCommon types.OID = 1663 // pg_default
	tablespaceGlobal types.OID = 1664 // pg_global
)

func init() {
	initFormatType()
	initVisible()
	initReg()
	initComments()
	initDeparse()
	initEnums()
	initStat()
	initRelationInfo()
}

func initFormatType() {
	each(func(r *row) error {
		if r.Null(0) {
			return r.RetNull()
		}
		t, mod, have := types.OID(r.Int(0)), types.Typmod(-1), !r.Null(1)
		if have {
			mod = types.Typmod(r.Int(1))
		}
		if t == 0 {
			return r.RetStr("-")
		}
		if s := types.FormatType(t, mod, have); s != "" {
			return r.RetStr(s)
		}
		if r.c.Env != nil {
			if s, ok := r.c.Env.TypeName(t, mod); ok && s != "" {
				return r.RetStr(s)
			}
		}
		return r.RetStr("???")
	}, "format_type")
	sys(func(r *row, e Env) error {
		x, err := e.Catalog().RoleByOID(types.OID(r.Int(0)))
		if err != nil {
			return err
		}
		if x == nil {
			return r.RetStr("unknown (OID=" + strconv.FormatUint(uint64(r.Int(0)), 10) + ")")
		}
		return r.RetStr(x.Name)
	}, "pg_get_userbyid")
}

func initVisible() {
	for sym, class := range map[string]types.OID{
		"pg_table_is_visible": catalog.ClassRelation, "pg_type_is_visible": catalog.ClassType, "pg_function_is_visible": catalog.ClassProc,
		"pg_operator_is_visible": catalog.ClassOperator, "pg_collation_is_visible": catalog.ClassCollation,
		"pg_opclass_is_visible": catalog.ClassOpclass, "pg_opfamily_is_visible": catalog.ClassOpfamily, "pg_conversion_is_visible": classConversion,
		"pg_statistics_obj_is_visible": classStatistics, "pg_ts_config_is_visible": classTSConfig, "pg_ts_dict_is_visible": classTSDict,
		"pg_ts_parser_is_visible": classTSParser, "pg_ts_template_is_visible": classTSTemplate,
	} {
		sys(func(r *row, e Env) error {
			v, ok, err := e.Visible(class, types.OID(r.Int(0)))
			if err != nil || !ok {
				r.RetNull()
				return err
			}
			return r.RetBool(v)
		}, sym)
	}
}

// absent says whether a name resolution failed because nothing of the name exists.
func absent(err error) bool {
	switch sqlerr.From(err).Code {
	case sqlerr.UndefinedTable, sqlerr.UndefinedObject, sqlerr.UndefinedFunction, sqlerr.InvalidSchemaName, sqlerr.AmbiguousFunction, sqlerr.UndefinedColumn:
		return true
	}
	return false
}

func initReg() {
	for sym, t := range map[string]types.OID{
		"to_regclass": types.RegclassOID, "to_regtype": types.RegtypeOID, "to_regproc": types.RegprocOID, "to_regprocedure": types.RegprocedureOID,
		"to_regoper": types.RegoperOID, "to_regoperator": types.RegoperatorOID, "to_regnamespace": types.RegnamespaceOID,
		"to_regrole": types.RegroleOID, "to_regcollation": types.RegcollationOID,
	} {
		each(func(r *row) error {
			if r.c.IO.Catalog == nil {
				return unsupported("%s outside a session", sym)
			}
			id, err := r.c.IO.Catalog.RegIn(t, r.Str(0))
			if err != nil && !absent(err) {
				return err
			}
			if err != nil || id == 0 {
				return r.RetNull()
			}
			return r.RetInt(int64(id))
		}, sym)
	}
}

func initComments() {
	comment := func(r *row, e Env, class types.OID, sub int32) error {
		s, err := e.Catalog().Comment(class, types.OID(r.Int(0)), sub)
		if err != nil || s == "" {
			r.RetNull()
			return err
		}
		return r.RetStr(s)
	}
	sys(func(r *row, e Env) error {
		rel := pgdata.RelationByName(r.Str(1))
		if rel == nil {
			return r.RetNull()
		}
		return comment(r, e, rel.OID, 0)
	}, "obj_description(oid,name)", "shobj_description(oid,name)")
	sys(func(r *row, e Env) error { return comment(r, e, catalog.ClassRelation, int32(r.Int(1))) }, "col_description(oid,int4)")
	sys(func(r *row, e Env) error {
		if r.Int(0) == 0 && r.Int(1) == 0 {
			return r.RetNull()
		}
		n := catalog.Names{Reader: e.Catalog(), Database: e.Database()}
		for _, name := range e.SearchPath(true) {
			schema, err := n.Reader.SchemaByName(name)
			if err != nil {
				return err
			}
			if schema != nil {
				n.Path = append(n.Path, schema.OID)
			}
		}
		s, err := n.Describe(catalog.Object{Class: types.OID(r.Int(0)), OID: types.OID(r.Int(1)), Sub: int32(r.Int(2))})
		if err != nil || s == "" {
			r.RetNull()
			return err
		}
		return r.RetStr(s)
	}, "pg_describe_object")
}

// deparse registers a pg_get_* function; fill completes the query from the arguments after the first.
func deparseFn(kind string, fill func(r *row, q *DeparseQuery), symbols ...string) {
	sys(func(r *row, e Env) error {
		q := DeparseQuery{Kind: kind}
		fill(r, &q)
		s, ok, err := e.Deparse(q)
		if err != nil || !ok {
			r.RetNull()
			return err
		}
		return r.RetStr(s)
	}, symbols...)
}

func initDeparse() {
	object := func(r *row, q *DeparseQuery) { q.Object = types.OID(r.Int(0)) }
	pretty := func(r *row, q *DeparseQuery) { q.Object, q.Pretty = types.OID(r.Int(0)), r.Bool(1) }
	deparseFn("viewdef", object, "pg_get_viewdef")
	deparseFn("viewdef", pretty, "pg_get_viewdef_ext")
	deparseFn("viewdef", func(r *row, q *DeparseQuery) {
		q.Object, q.Pretty, q.Wrap = types.OID(r.Int(0)), true, int(r.Int(1))
	}, "pg_get_viewdef_wrap")
	deparseFn("viewdef", func(r *row, q *DeparseQuery) { q.Name = r.Str(0) }, "pg_get_viewdef_name")
	deparseFn("viewdef", func(r *row, q *DeparseQuery) { q.Name, q.Pretty = r.Str(0), r.Bool(1) }, "pg_get_viewdef_name_ext")
	deparseFn("indexdef", object, "pg_get_indexdef")
	deparseFn("indexdef", func(r *row, q *DeparseQuery) {
		q.Object, q.Column, q.Pretty = types.OID(r.Int(0)), int(r.Int(1)), r.Bool(2)
	}, "pg_get_indexdef_ext")
	for kind, symbol := range map[string]string{"constraintdef": "pg_get_constraintdef", "triggerdef": "pg_get_triggerdef", "ruledef": "pg_get_ruledef"} {
		deparseFn(kind, object, symbol)
		deparseFn(kind, pretty, symbol+"_ext")
	}
	expr := func(r *row, q *DeparseQuery) {
		q.Text, q.Object, q.Pretty = r.Str(0), types.OID(r.Int(1)), r.N() > 2 && r.Bool(2)
	}
	deparseFn("expr", expr, "pg_get_expr", "pg_get_expr_ext")
	for _, kind := range []string{"functiondef", "function_arguments", "function_identity_arguments", "function_result", "function_sqlbody",
		"statisticsobjdef", "statisticsobjdef_columns", "partkeydef", "partition_constraintdef"} {
		deparseFn(kind, object, "pg_get_"+kind)
	}
	deparseFn("function_arg_default", func(r *row, q *DeparseQuery) { q.Object, q.Column = types.OID(r.Int(0)), int(r.Int(1)) }, "pg_get_function_arg_default")
	deparseFn("serial_sequence", func(r *row, q *DeparseQuery) { q.Name, q.Text = r.Str(0), r.Str(1) }, "pg_get_serial_sequence")
}

// initEnums registers the functions over the labels of an enum type.
func initEnums() {
	labels := func(r *row, k int) (t *catalog.Type, err error) {
		id := r.Type(k)
		if r.c.Env == nil || id == types.UnknownOID || id == types.AnyEnumOID {
			return nil, sqlerr.New(sqlerr.FeatureNotSupported, "could not determine actual enum type")
		}
		return r.c.Env.Catalog().TypeByOID(id)
	}
	value := func(r *row, pick func(list []pgdata.EnumLabel) (pgdata.EnumLabel, bool)) error {
		t, err := labels(r, 0)
		if err != nil {
			return err
		}
		if t != nil {
			if l, ok := pick(t.Labels); ok {
				if err := r.c.IO.CheckLabel(t.OID, l.OID, l.Name); err != nil {
					return err
				}
				return r.Finish(types.EncodeEnum(r.Start(), l.Sort, l.OID))
			}
		}
		return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "enum %s contains no values", r.c.IO.NameOf(r.Type(0)))
	}
	each(func(r *row) error {
		return value(r, func(l []pgdata.EnumLabel) (x pgdata.EnumLabel, ok bool) {
			if len(l) == 0 {
				return x, false
			}
			return l[0], true
		})
	}, "enum_first")
	each(func(r *row) error {
		return value(r, func(l []pgdata.EnumLabel) (x pgdata.EnumLabel, ok bool) {
			if len(l) == 0 {
				return x, false
			}
			return l[len(l)-1], true
		})
	}, "enum_last")
	list := func(r *row, lo, hi []byte) error {
		t, err := labels(r, 0)
		if err != nil {
			return err
		}
		var elems []types.Datum
		if t != nil {
			for _, l := range t.Labels {
				v := types.EncodeEnum(nil, l.Sort, l.OID)
				if (lo == nil || string(v[:8]) >= string(lo[:8])) && (hi == nil || string(v[:8]) <= string(hi[:8])) {
					if err := r.c.IO.CheckLabel(t.OID, l.OID, l.Name); err != nil {
						return err
					}
					elems = append(elems, types.Bytes(v))
				}
			}
		}
		return r.RetBytes(types.MakeArray(r.Type(0), elems))
	}
	each(func(r *row) error { return list(r, nil, nil) }, "enum_range_all")
	each(func(r *row) error {
		var lo, hi []byte
		if !r.Null(0) {
			lo = r.Bytes(0)
		}
		if !r.Null(1) {
			hi = r.Bytes(1)
		}
		return list(r, lo, hi)
	}, "enum_range_bounds")
}

// initStat registers the counters of the statistics views; the prefix pg_stat_get_ is cut off.
func initStat() {
	procs := pgdata.Procs()
	seen := map[string]bool{}
	for i := range procs {
		p := &procs[i]
		counter, ok := strings.CutPrefix(p.Src, "pg_stat_get_")
		if !ok || p.RetSet || p.NArgs > 1 || p.NArgs == 1 && p.ArgTypes[0] != types.OIDOID || seen[p.Src] {
			continue
		}
		seen[p.Src] = true
		stat := func(r *row, e Env) (int64, bool) {
			id := types.OID(0)
			if r.N() == 1 {
				id = types.OID(r.Int(0))
			}
			return e.Stat(counter, id)
		}
		switch p.RetType {
		case types.Int8OID, types.Int4OID:
			sys(func(r *row, e Env) error {
				v, ok := stat(r, e)
				if !ok {
					return r.RetNull()
				}
				return r.RetInt(v)
			}, p.Src)
		case types.Float8OID: // milliseconds from microseconds
			sys(func(r *row, e Env) error {
				v, ok := stat(r, e)
				if !ok {
					return r.RetNull()
				}
				return r.RetFloat(float64(v) / 1000)
			}, p.Src)
		case types.TimestampTZOID: // 0: never
			sys(func(r *row, e Env) error {
				v, ok := stat(r, e)
				if !ok || v == 0 {
					return r.RetNull()
				}
				return r.RetInt(v)
			}, p.Src)
		}
	}
}

// Bits of pg_relation_is_updatable: what INSERT, UPDATE and DELETE may do.
const allEvents = 1<<3 | 1<<2 | 1<<4

func initRelationInfo() {
	sys(func(r *row, e Env) error {
		rel, err := relationOf(r, e, 0)
		if err != nil {
			return err
		}
		if rel != nil && (rel.Kind == catalog.KindTable || rel.Kind == 'p') && rel.Virtual == nil {
			return r.RetInt(allEvents)
		}
		return r.RetInt(0)
	}, "pg_relation_is_updatable")
	sys(func(r *row, e Env) error {
		rel, err := relationOf(r, e, 0)
		if err != nil {
			return err
		}
		return r.RetBool(rel != nil && r.Int(1) > 0 && (rel.Kind == catalog.KindTable || rel.Kind == 'p') && rel.Virtual == nil)
	}, "pg_column_is_updatable")
	sys(func(r *row, e Env) error {
		rel, err := relationOf(r, e, 0)
		if err != nil || rel == nil {
			r.RetNull()
			return err
		}
		return r.RetBool(rel.OID >= 16384 && (rel.Kind == catalog.KindTable || rel.Kind == 'p') && rel.Persistence == 'p')
	}, "pg_relation_is_publishable")
	sys(func(r *row, e Env) error {
		rel, err := relationOf(r, e, 0)
		if err != nil || rel == nil || rel.PrimaryKey == nil {
			r.RetNull()
			return err
		}
		return r.RetInt(int64(rel.PrimaryKey.OID))
	}, "pg_get_replica_identity_index")
	each(func(r *row) error {
		switch id := types.OID(r.Int(0)); id {
		case 0, tablespaceCommon, tablespaceGlobal:
			return r.RetStr("")
		default:
			return sqlerr.New(sqlerr.UndefinedFile, "could not stat file \"pg_tblspc/%d\": No such file or directory", uint32(id))
		}
	}, "pg_tablespace_location")
}
