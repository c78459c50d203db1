package types

// Builtin describes one of PostgreSQL 15's base, pseudo and range types.
type Builtin struct {
	Name     string // pg_type.typname
	SQL      string // as format_type shows it without a type modifier
	OID      OID
	Array    OID // the array type over this one, 0 none
	Elem     OID // pg_type.typelem: the element type of an array, also of fixed-length array-like types
	Category byte
	Delim    byte
	Type     byte // 'b' base, 'p' pseudo, 'r' range, 'm' multirange, 'c' composite
	Len      int16
}

// builtins is generated from pg_type of PostgreSQL 15, in OID order.
var builtins = []Builtin{
	{"bool", "boolean", 16, 1000, 0, 'B', ',', 'b', 1},
	{"bytea", "bytea", 17, 1001, 0, 'U', ',', 'b', -1},
	{"char", "\"char\"", 18, 1002, 0, 'Z', ',', 'b', 1},
	{"name", "name", 19, 1003, 18, 'S', ',', 'b', 64},
	{"int8", "bigint", 20, 1016, 0, 'N', ',', 'b', 8},
	{"int2", "smallint", 21, 1005, 0, 'N', ',', 'b', 2},
	{"int2vector", "int2vector", 22, 1006, 21, 'A', ',', 'b', -1},
	{"int4", "integer", 23, 1007, 0, 'N', ',', 'b', 4},
	{"regproc", "regproc", 24, 1008, 0, 'N', ',', 'b', 4},
	{"text", "text", 25, 1009, 0, 'S', ',', 'b', -1},
	{"oid", "oid", 26, 1028, 0, 'N', ',', 'b', 4},
	{"tid", "tid", 27, 1010, 0, 'U', ',', 'b', 6},
	{"xid", "xid", 28, 1011, 0, 'U', ',', 'b', 4},
	{"cid", "cid", 29, 1012, 0, 'U', ',', 'b', 4},
	{"oidvector", "oidvector", 30, 1013, 26, 'A', ',', 'b', -1},
	{"pg_ddl_command", "pg_ddl_command", 32, 0, 0, 'P', ',', 'p', 8},
	{"json", "json", 114, 199, 0, 'U', ',', 'b', -1},
	{"xml", "xml", 142, 143, 0, 'U', ',', 'b', -1},
	{"_xml", "xml[]", 143, 0, 142, 'A', ',', 'b', -1},
	{"pg_node_tree", "pg_node_tree", 194, 0, 0, 'Z', ',', 'b', -1},
	{"_json", "json[]", 199, 0, 114, 'A', ',', 'b', -1},
	{"_pg_type", "pg_type[]", 210, 0, 71, 'A', ',', 'b', -1},
	{"table_am_handler", "table_am_handler", 269, 0, 0, 'P', ',', 'p', 4},
	{"_pg_attribute", "pg_attribute[]", 270, 0, 75, 'A', ',', 'b', -1},
	{"_xid8", "xid8[]", 271, 0, 5069, 'A', ',', 'b', -1},
	{"_pg_proc", "pg_proc[]", 272, 0, 81, 'A', ',', 'b', -1},
	{"_pg_class", "pg_class[]", 273, 0, 83, 'A', ',', 'b', -1},
	{"index_am_handler", "index_am_handler", 325, 0, 0, 'P', ',', 'p', 4},
	{"point", "point", 600, 1017, 701, 'G', ',', 'b', 16},
	{"lseg", "lseg", 601, 1018, 600, 'G', ',', 'b', 32},
	{"path", "path", 602, 1019, 0, 'G', ',', 'b', -1},
	{"box", "box", 603, 1020, 600, 'G', ';', 'b', 32},
	{"polygon", "polygon", 604, 1027, 0, 'G', ',', 'b', -1},
	{"line", "line", 628, 629, 701, 'G', ',', 'b', 24},
	{"_line", "line[]", 629, 0, 628, 'A', ',', 'b', -1},
	{"cidr", "cidr", 650, 651, 0, 'I', ',', 'b', -1},
	{"_cidr", "cidr[]", 651, 0, 650, 'A', ',', 'b', -1},
	{"float4", "real", 700, 1021, 0, 'N', ',', 'b', 4},
	{"float8", "double precision", 701, 1022, 0, 'N', ',', 'b', 8},
	{"unknown", "unknown", 705, 0, 0, 'X', ',', 'p', -2},
	{"circle", "circle", 718, 719, 0, 'G', ',', 'b', 24},
	{"_circle", "circle[]", 719, 0, 718, 'A', ',', 'b', -1},
	{"macaddr8", "macaddr8", 774, 775, 0, 'U', ',', 'b', 8},
	{"_macaddr8", "macaddr8[]", 775, 0, 774, 'A', ',', 'b', -1},
	{"money", "money", 790, 791, 0, 'N', ',', 'b', 8},
	{"_money", "money[]", 791, 0, 790, 'A', ',', 'b', -1},
	{"macaddr", "macaddr", 829, 1040, 0, 'U', ',', 'b', 6},
	{"inet", "inet", 869, 1041, 0, 'I', ',', 'b', -1},
	{"_bool", "boolean[]", 1000, 0, 16, 'A', ',', 'b', -1},
	{"_bytea", "bytea[]", 1001, 0, 17, 'A', ',', 'b', -1},
	{"_char", "\"char\"[]", 1002, 0, 18, 'A', ',', 'b', -1},
	{"_name", "name[]", 1003, 0, 19, 'A', ',', 'b', -1},
	{"_int2", "smallint[]", 1005, 0, 21, 'A', ',', 'b', -1},
	{"_int2vector", "int2vector[]", 1006, 0, 22, 'A', ',', 'b', -1},
	{"_int4", "integer[]", 1007, 0, 23, 'A', ',', 'b', -1},
	{"_regproc", "regproc[]", 1008, 0, 24, 'A', ',', 'b', -1},
	{"_text", "text[]", 1009, 0, 25, 'A', ',', 'b', -1},
	{"_tid", "tid[]", 1010, 0, 27, 'A', ',', 'b', -1},
	{"_xid", "xid[]", 1011, 0, 28, 'A', ',', 'b', -1},
	{"_cid", "cid[]", 1012, 0, 29, 'A', ',', 'b', -1},
	{"_oidvector", "oidvector[]", 1013, 0, 30, 'A', ',', 'b', -1},
	{"_bpchar", "character[]", 1014, 0, 1042, 'A', ',', 'b', -1},
	{"_varchar", "character varying[]", 1015, 0, 1043, 'A', ',', 'b', -1},
	{"_int8", "bigint[]", 1016, 0, 20, 'A', ',', 'b', -1},
	{"_point", "point[]", 1017, 0, 600, 'A', ',', 'b', -1},
	{"_lseg", "lseg[]", 1018, 0, 601, 'A', ',', 'b', -1},
	{"_path", "path[]", 1019, 0, 602, 'A', ',', 'b', -1},
	{"_box", "box[]", 1020, 0, 603, 'A', ';', 'b', -1},
	{"_float4", "real[]", 1021, 0, 700, 'A', ',', 'b', -1},
	{"_float8", "double precision[]", 1022, 0, 701, 'A', ',', 'b', -1},
	{"_polygon", "polygon[]", 1027, 0, 604, 'A', ',', 'b', -1},
	{"_oid", "oid[]", 1028, 0, 26, 'A', ',', 'b', -1},
	{"aclitem", "aclitem", 1033, 1034, 0, 'U', ',', 'b', 12},
	{"_aclitem", "aclitem[]", 1034, 0, 1033, 'A', ',', 'b', -1},
	{"_macaddr", "macaddr[]", 1040, 0, 829, 'A', ',', 'b', -1},
	{"_inet", "inet[]", 1041, 0, 869, 'A', ',', 'b', -1},
	{"bpchar", "character", 1042, 1014, 0, 'S', ',', 'b', -1},
	{"varchar", "character varying", 1043, 1015, 0, 'S', ',', 'b', -1},
	{"date", "date", 1082, 1182, 0, 'D', ',', 'b', 4},
	{"time", "time without time zone", 1083, 1183, 0, 'D', ',', 'b', 8},
	{"timestamp", "timestamp without time zone", 1114, 1115, 0, 'D', ',', 'b', 8},
	{"_timestamp", "timestamp without time zone[]", 1115, 0, 1114, 'A', ',', 'b', -1},
	{"_date", "date[]", 1182, 0, 1082, 'A', ',', 'b', -1},
	{"_time", "time without time zone[]", 1183, 0, 1083, 'A', ',', 'b', -1},
	{"timestamptz", "timestamp with time zone", 1184, 1185, 0, 'D', ',', 'b', 8},
	{"_timestamptz", "timestamp with time zone[]", 1185, 0, 1184, 'A', ',', 'b', -1},
	{"interval", "interval", 1186, 1187, 0, 'T', ',', 'b', 16},
	{"_interval", "interval[]", 1187, 0, 1186, 'A', ',', 'b', -1},
	{"_numeric", "numeric[]", 1231, 0, 1700, 'A', ',', 'b', -1},
	{"_cstring", "cstring[]", 1263, 0, 2275, 'A', ',', 'b', -1},
	{"timetz", "time with time zone", 1266, 1270, 0, 'D', ',', 'b', 12},
	{"_timetz", "time with time zone[]", 1270, 0, 1266, 'A', ',', 'b', -1},
	{"bit", "bit", 1560, 1561, 0, 'V', ',', 'b', -1},
	{"_bit", "bit[]", 1561, 0, 1560, 'A', ',', 'b', -1},
	{"varbit", "bit varying", 1562, 1563, 0, 'V', ',', 'b', -1},
	{"_varbit", "bit varying[]", 1563, 0, 1562, 'A', ',', 'b', -1},
	{"numeric", "numeric", 1700, 1231, 0, 'N', ',', 'b', -1},
	{"refcursor", "refcursor", 1790, 2201, 0, 'U', ',', 'b', -1},
	{"_refcursor", "refcursor[]", 2201, 0, 1790, 'A', ',', 'b', -1},
	{"regprocedure", "regprocedure", 2202, 2207, 0, 'N', ',', 'b', 4},
	{"regoper", "regoper", 2203, 2208, 0, 'N', ',', 'b', 4},
	{"regoperator", "regoperator", 2204, 2209, 0, 'N', ',', 'b', 4},
	{"regclass", "regclass", 2205, 2210, 0, 'N', ',', 'b', 4},
	{"regtype", "regtype", 2206, 2211, 0, 'N', ',', 'b', 4},
	{"_regprocedure", "regprocedure[]", 2207, 0, 2202, 'A', ',', 'b', -1},
	{"_regoper", "regoper[]", 2208, 0, 2203, 'A', ',', 'b', -1},
	{"_regoperator", "regoperator[]", 2209, 0, 2204, 'A', ',', 'b', -1},
	{"_regclass", "regclass[]", 2210, 0, 2205, 'A', ',', 'b', -1},
	{"_regtype", "regtype[]", 2211, 0, 2206, 'A', ',', 'b', -1},
	{"record", "record", 2249, 2287, 0, 'P', ',', 'p', -1},
	{"cstring", "cstring", 2275, 1263, 0, 'P', ',', 'p', -2},
	{"any", "\"any\"", 2276, 0, 0, 'P', ',', 'p', 4},
	{"anyarray", "anyarray", 2277, 0, 0, 'P', ',', 'p', -1},
	{"void", "void", 2278, 0, 0, 'P', ',', 'p', 4},
	{"trigger", "trigger", 2279, 0, 0, 'P', ',', 'p', 4},
	{"language_handler", "language_handler", 2280, 0, 0, 'P', ',', 'p', 4},
	{"internal", "internal", 2281, 0, 0, 'P', ',', 'p', 8},
	{"anyelement", "anyelement", 2283, 0, 0, 'P', ',', 'p', 4},
	{"_record", "record[]", 2287, 0, 2249, 'P', ',', 'p', -1},
	{"anynonarray", "anynonarray", 2776, 0, 0, 'P', ',', 'p', 4},
	{"_txid_snapshot", "txid_snapshot[]", 2949, 0, 2970, 'A', ',', 'b', -1},
	{"uuid", "uuid", 2950, 2951, 0, 'U', ',', 'b', 16},
	{"_uuid", "uuid[]", 2951, 0, 2950, 'A', ',', 'b', -1},
	{"txid_snapshot", "txid_snapshot", 2970, 2949, 0, 'U', ',', 'b', -1},
	{"fdw_handler", "fdw_handler", 3115, 0, 0, 'P', ',', 'p', 4},
	{"pg_lsn", "pg_lsn", 3220, 3221, 0, 'U', ',', 'b', 8},
	{"_pg_lsn", "pg_lsn[]", 3221, 0, 3220, 'A', ',', 'b', -1},
	{"tsm_handler", "tsm_handler", 3310, 0, 0, 'P', ',', 'p', 4},
	{"pg_ndistinct", "pg_ndistinct", 3361, 0, 0, 'Z', ',', 'b', -1},
	{"pg_dependencies", "pg_dependencies", 3402, 0, 0, 'Z', ',', 'b', -1},
	{"anyenum", "anyenum", 3500, 0, 0, 'P', ',', 'p', 4},
	{"tsvector", "tsvector", 3614, 3643, 0, 'U', ',', 'b', -1},
	{"tsquery", "tsquery", 3615, 3645, 0, 'U', ',', 'b', -1},
	{"gtsvector", "gtsvector", 3642, 3644, 0, 'U', ',', 'b', -1},
	{"_tsvector", "tsvector[]", 3643, 0, 3614, 'A', ',', 'b', -1},
	{"_gtsvector", "gtsvector[]", 3644, 0, 3642, 'A', ',', 'b', -1},
	{"_tsquery", "tsquery[]", 3645, 0, 3615, 'A', ',', 'b', -1},
	{"regconfig", "regconfig", 3734, 3735, 0, 'N', ',', 'b', 4},
	{"_regconfig", "regconfig[]", 3735, 0, 3734, 'A', ',', 'b', -1},
	{"regdictionary", "regdictionary", 3769, 3770, 0, 'N', ',', 'b', 4},
	{"_regdictionary", "regdictionary[]", 3770, 0, 3769, 'A', ',', 'b', -1},
	{"jsonb", "jsonb", 3802, 3807, 0, 'U', ',', 'b', -1},
	{"_jsonb", "jsonb[]", 3807, 0, 3802, 'A', ',', 'b', -1},
	{"anyrange", "anyrange", 3831, 0, 0, 'P', ',', 'p', -1},
	{"event_trigger", "event_trigger", 3838, 0, 0, 'P', ',', 'p', 4},
	{"int4range", "int4range", 3904, 3905, 0, 'R', ',', 'r', -1},
	{"_int4range", "int4range[]", 3905, 0, 3904, 'A', ',', 'b', -1},
	{"numrange", "numrange", 3906, 3907, 0, 'R', ',', 'r', -1},
	{"_numrange", "numrange[]", 3907, 0, 3906, 'A', ',', 'b', -1},
	{"tsrange", "tsrange", 3908, 3909, 0, 'R', ',', 'r', -1},
	{"_tsrange", "tsrange[]", 3909, 0, 3908, 'A', ',', 'b', -1},
	{"tstzrange", "tstzrange", 3910, 3911, 0, 'R', ',', 'r', -1},
	{"_tstzrange", "tstzrange[]", 3911, 0, 3910, 'A', ',', 'b', -1},
	{"daterange", "daterange", 3912, 3913, 0, 'R', ',', 'r', -1},
	{"_daterange", "daterange[]", 3913, 0, 3912, 'A', ',', 'b', -1},
	{"int8range", "int8range", 3926, 3927, 0, 'R', ',', 'r', -1},
	{"_int8range", "int8range[]", 3927, 0, 3926, 'A', ',', 'b', -1},
	{"jsonpath", "jsonpath", 4072, 4073, 0, 'U', ',', 'b', -1},
	{"_jsonpath", "jsonpath[]", 4073, 0, 4072, 'A', ',', 'b', -1},
	{"regnamespace", "regnamespace", 4089, 4090, 0, 'N', ',', 'b', 4},
	{"_regnamespace", "regnamespace[]", 4090, 0, 4089, 'A', ',', 'b', -1},
	{"regrole", "regrole", 4096, 4097, 0, 'N', ',', 'b', 4},
	{"_regrole", "regrole[]", 4097, 0, 4096, 'A', ',', 'b', -1},
	{"regcollation", "regcollation", 4191, 4192, 0, 'N', ',', 'b', 4},
	{"_regcollation", "regcollation[]", 4192, 0, 4191, 'A', ',', 'b', -1},
	{"int4multirange", "int4multirange", 4451, 6150, 0, 'R', ',', 'm', -1},
	{"nummultirange", "nummultirange", 4532, 6151, 0, 'R', ',', 'm', -1},
	{"tsmultirange", "tsmultirange", 4533, 6152, 0, 'R', ',', 'm', -1},
	{"tstzmultirange", "tstzmultirange", 4534, 6153, 0, 'R', ',', 'm', -1},
	{"datemultirange", "datemultirange", 4535, 6155, 0, 'R', ',', 'm', -1},
	{"int8multirange", "int8multirange", 4536, 6157, 0, 'R', ',', 'm', -1},
	{"anymultirange", "anymultirange", 4537, 0, 0, 'P', ',', 'p', -1},
	{"anycompatiblemultirange", "anycompatiblemultirange", 4538, 0, 0, 'P', ',', 'p', -1},
	{"pg_brin_bloom_summary", "pg_brin_bloom_summary", 4600, 0, 0, 'Z', ',', 'b', -1},
	{"pg_brin_minmax_multi_summary", "pg_brin_minmax_multi_summary", 4601, 0, 0, 'Z', ',', 'b', -1},
	{"pg_mcv_list", "pg_mcv_list", 5017, 0, 0, 'Z', ',', 'b', -1},
	{"pg_snapshot", "pg_snapshot", 5038, 5039, 0, 'U', ',', 'b', -1},
	{"_pg_snapshot", "pg_snapshot[]", 5039, 0, 5038, 'A', ',', 'b', -1},
	{"xid8", "xid8", 5069, 271, 0, 'U', ',', 'b', 8},
	{"anycompatible", "anycompatible", 5077, 0, 0, 'P', ',', 'p', 4},
	{"anycompatiblearray", "anycompatiblearray", 5078, 0, 0, 'P', ',', 'p', -1},
	{"anycompatiblenonarray", "anycompatiblenonarray", 5079, 0, 0, 'P', ',', 'p', 4},
	{"anycompatiblerange", "anycompatiblerange", 5080, 0, 0, 'P', ',', 'p', -1},
	{"_int4multirange", "int4multirange[]", 6150, 0, 4451, 'A', ',', 'b', -1},
	{"_nummultirange", "nummultirange[]", 6151, 0, 4532, 'A', ',', 'b', -1},
	{"_tsmultirange", "tsmultirange[]", 6152, 0, 4533, 'A', ',', 'b', -1},
	{"_tstzmultirange", "tstzmultirange[]", 6153, 0, 4534, 'A', ',', 'b', -1},
	{"_datemultirange", "datemultirange[]", 6155, 0, 4535, 'A', ',', 'b', -1},
	{"_int8multirange", "int8multirange[]", 6157, 0, 4536, 'A', ',', 'b', -1},
	{"_pg_attrdef", "pg_attrdef[]", 10000, 0, 10001, 'A', ',', 'b', -1},
	{"_pg_constraint", "pg_constraint[]", 10002, 0, 10003, 'A', ',', 'b', -1},
	{"_pg_inherits", "pg_inherits[]", 10004, 0, 10005, 'A', ',', 'b', -1},
	{"_pg_index", "pg_index[]", 10006, 0, 10007, 'A', ',', 'b', -1},
	{"_pg_operator", "pg_operator[]", 10008, 0, 10009, 'A', ',', 'b', -1},
	{"_pg_opfamily", "pg_opfamily[]", 10010, 0, 10011, 'A', ',', 'b', -1},
	{"_pg_opclass", "pg_opclass[]", 10012, 0, 10013, 'A', ',', 'b', -1},
	{"_pg_am", "pg_am[]", 10014, 0, 10015, 'A', ',', 'b', -1},
	{"_pg_amop", "pg_amop[]", 10016, 0, 10017, 'A', ',', 'b', -1},
	{"_pg_amproc", "pg_amproc[]", 10018, 0, 10019, 'A', ',', 'b', -1},
	{"_pg_language", "pg_language[]", 10020, 0, 10021, 'A', ',', 'b', -1},
	{"_pg_largeobject_metadata", "pg_largeobject_metadata[]", 10022, 0, 10023, 'A', ',', 'b', -1},
	{"_pg_largeobject", "pg_largeobject[]", 10024, 0, 10025, 'A', ',', 'b', -1},
	{"_pg_aggregate", "pg_aggregate[]", 10026, 0, 10027, 'A', ',', 'b', -1},
	{"_pg_statistic", "pg_statistic[]", 10028, 0, 10029, 'A', ',', 'b', -1},
	{"_pg_statistic_ext", "pg_statistic_ext[]", 10030, 0, 10031, 'A', ',', 'b', -1},
	{"_pg_statistic_ext_data", "pg_statistic_ext_data[]", 10032, 0, 10033, 'A', ',', 'b', -1},
	{"_pg_rewrite", "pg_rewrite[]", 10034, 0, 10035, 'A', ',', 'b', -1},
	{"_pg_trigger", "pg_trigger[]", 10036, 0, 10037, 'A', ',', 'b', -1},
	{"_pg_event_trigger", "pg_event_trigger[]", 10038, 0, 10039, 'A', ',', 'b', -1},
	{"_pg_description", "pg_description[]", 10040, 0, 10041, 'A', ',', 'b', -1},
	{"_pg_cast", "pg_cast[]", 10042, 0, 10043, 'A', ',', 'b', -1},
	{"_pg_enum", "pg_enum[]", 10044, 0, 10045, 'A', ',', 'b', -1},
	{"_pg_namespace", "pg_namespace[]", 10046, 0, 10047, 'A', ',', 'b', -1},
	{"_pg_conversion", "pg_conversion[]", 10048, 0, 10049, 'A', ',', 'b', -1},
	{"_pg_depend", "pg_depend[]", 10050, 0, 10051, 'A', ',', 'b', -1},
	{"_pg_database", "pg_database[]", 10052, 0, 1248, 'A', ',', 'b', -1},
	{"_pg_db_role_setting", "pg_db_role_setting[]", 10053, 0, 10054, 'A', ',', 'b', -1},
	{"_pg_tablespace", "pg_tablespace[]", 10055, 0, 10056, 'A', ',', 'b', -1},
	{"_pg_authid", "pg_authid[]", 10057, 0, 2842, 'A', ',', 'b', -1},
	{"_pg_auth_members", "pg_auth_members[]", 10058, 0, 2843, 'A', ',', 'b', -1},
	{"_pg_shdepend", "pg_shdepend[]", 10059, 0, 10060, 'A', ',', 'b', -1},
	{"_pg_shdescription", "pg_shdescription[]", 10061, 0, 10062, 'A', ',', 'b', -1},
	{"_pg_ts_config", "pg_ts_config[]", 10063, 0, 10064, 'A', ',', 'b', -1},
	{"_pg_ts_config_map", "pg_ts_config_map[]", 10065, 0, 10066, 'A', ',', 'b', -1},
	{"_pg_ts_dict", "pg_ts_dict[]", 10067, 0, 10068, 'A', ',', 'b', -1},
	{"_pg_ts_parser", "pg_ts_parser[]", 10069, 0, 10070, 'A', ',', 'b', -1},
	{"_pg_ts_template", "pg_ts_template[]", 10071, 0, 10072, 'A', ',', 'b', -1},
	{"_pg_extension", "pg_extension[]", 10073, 0, 10074, 'A', ',', 'b', -1},
	{"_pg_foreign_data_wrapper", "pg_foreign_data_wrapper[]", 10075, 0, 10076, 'A', ',', 'b', -1},
	{"_pg_foreign_server", "pg_foreign_server[]", 10077, 0, 10078, 'A', ',', 'b', -1},
	{"_pg_user_mapping", "pg_user_mapping[]", 10079, 0, 10080, 'A', ',', 'b', -1},
	{"_pg_foreign_table", "pg_foreign_table[]", 10081, 0, 10082, 'A', ',', 'b', -1},
	{"_pg_policy", "pg_policy[]", 10083, 0, 10084, 'A', ',', 'b', -1},
	{"_pg_replication_origin", "pg_replication_origin[]", 10085, 0, 10086, 'A', ',', 'b', -1},
	{"_pg_default_acl", "pg_default_acl[]", 10087, 0, 10088, 'A', ',', 'b', -1},
	{"_pg_init_privs", "pg_init_privs[]", 10089, 0, 10090, 'A', ',', 'b', -1},
	{"_pg_seclabel", "pg_seclabel[]", 10091, 0, 10092, 'A', ',', 'b', -1},
	{"_pg_shseclabel", "pg_shseclabel[]", 10093, 0, 4066, 'A', ',', 'b', -1},
	{"_pg_collation", "pg_collation[]", 10094, 0, 10095, 'A', ',', 'b', -1},
	{"_pg_parameter_acl", "pg_parameter_acl[]", 10096, 0, 10097, 'A', ',', 'b', -1},
	{"_pg_partitioned_table", "pg_partitioned_table[]", 10098, 0, 10099, 'A', ',', 'b', -1},
	{"_pg_range", "pg_range[]", 10100, 0, 10101, 'A', ',', 'b', -1},
	{"_pg_transform", "pg_transform[]", 10102, 0, 10103, 'A', ',', 'b', -1},
	{"_pg_sequence", "pg_sequence[]", 10104, 0, 10105, 'A', ',', 'b', -1},
	{"_pg_publication", "pg_publication[]", 10106, 0, 10107, 'A', ',', 'b', -1},
	{"_pg_publication_namespace", "pg_publication_namespace[]", 10108, 0, 10109, 'A', ',', 'b', -1},
	{"_pg_publication_rel", "pg_publication_rel[]", 10110, 0, 10111, 'A', ',', 'b', -1},
	{"_pg_subscription", "pg_subscription[]", 10112, 0, 6101, 'A', ',', 'b', -1},
	{"_pg_subscription_rel", "pg_subscription_rel[]", 10113, 0, 10114, 'A', ',', 'b', -1},
}

var builtinByOID = func() map[OID]*Builtin {
	m := make(map[OID]*Builtin, len(builtins))
	for i := range builtins {
		m[builtins[i].OID] = &builtins[i]
	}
	return m
}()

// BuiltinByOID returns the description of a built-in type, nil for any other OID.
func BuiltinByOID(t OID) *Builtin { return builtinByOID[t] }

// builtinElem and builtinArray answer the hot questions without a map.
var builtinElem, builtinArray [8192]OID

func init() {
	for i := range builtins {
		b := &builtins[i]
		if int(b.OID) < len(builtinElem) {
			if b.Elem != 0 && b.Len == -1 && b.Category == 'A' {
				builtinElem[b.OID] = b.Elem
			}
			builtinArray[b.OID] = b.Array
		}
	}
	builtinElem[Int2VectorOID], builtinElem[OIDVectorOID] = Int2OID, OIDOID
}

// ElemOf returns the element type of a built-in array type (int2vector and oidvector included), 0 when t is none. The
// array types of user-defined types are known to IOContext.Catalog only; array values carry their element type.
func ElemOf(t OID) OID {
	if int(t) < len(builtinElem) {
		return builtinElem[t]
	}
	return 0
}

// ArrayOf returns the array type over a built-in type, 0 when there is none.
func ArrayOf(t OID) OID {
	if int(t) < len(builtinArray) {
		return builtinArray[t]
	}
	return 0
}
