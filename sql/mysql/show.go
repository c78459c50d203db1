package mysql

import (
	"fmt"
	"sort"
	"strings"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"

	"herd/sql/ast"
	"herd/sql/postgres"
	"herd/sql/sqlerr"
)

// show converts SHOW and DESCRIBE to queries over the catalogs, which are written in PostgreSQL's SQL.
func (c *converter) show(s *tidb.ShowStmt) []ast.Stmt {
	c.refuse(s.Where != nil, c.start, "SHOW ... WHERE")
	c.refuse(s.Limit != nil, c.start, "SHOW ... LIMIT")
	schema := "pg_catalog.current_schema()"
	if s.DBName != "" {
		schema = sqlString(strings.ToLower(s.DBName))
	}
	table := ""
	if s.Table != nil {
		table = sqlString(ident(s.Table.Name))
		if s.Table.Schema.L != "" {
			schema = sqlString(ident(s.Table.Schema))
		}
	}
	switch s.Tp {
	case tidb.ShowDatabases:
		return c.catalogQuery(s, `SELECT nspname::text AS "Database" FROM pg_catalog.pg_namespace WHERE nspname !~ '^pg_(toast|temp)' ORDER BY nspname`, "Database")
	case tidb.ShowTables:
		return c.showTables(s, schema)
	case tidb.ShowColumns:
		return c.showColumns(s, schema, table)
	case tidb.ShowIndex:
		return c.catalogQuery(s, fmt.Sprintf(indexQuery, schema, table), "Key_name")
	case tidb.ShowVariables:
		return c.showVariables(s)
	case tidb.ShowCreateTable:
		return c.catalogQuery(s, fmt.Sprintf(createQuery, schema, table), "Table")
	case tidb.ShowWarnings, tidb.ShowErrors:
		return c.catalogQuery(s, `SELECT ''::text AS "Level", 0 AS "Code", ''::text AS "Message" WHERE false`, "Level")
	}
	c.unsupported(c.start, "this form of SHOW")
	return nil
}

// sqlString makes a string of PostgreSQL's SQL.
func sqlString(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// catalogQuery parses a query and adds SHOW's LIKE over the column called name.
func (c *converter) catalogQuery(s *tidb.ShowStmt, sql, name string) []ast.Stmt {
	if s.Pattern != nil {
		p, ok := s.Pattern.Pattern.(*literal)
		if !ok {
			c.unsupported(c.start, "pattern that is no constant")
			return nil
		}
		sql = `SELECT * FROM (` + sql + `) AS s WHERE pg_catalog.lower("` + name + `") LIKE pg_catalog.lower(` + sqlString(p.GetString()) + `)`
	}
	list, err := postgres.Parse(sql)
	if err != nil {
		c.fail(sqlerr.Internal("query of SHOW: %v", err))
		return nil
	}
	return []ast.Stmt{list[0].Stmt}
}

func (c *converter) showTables(s *tidb.ShowStmt, schema string) []ast.Stmt {
	title := "Tables_in_" + s.DBName
	if s.DBName == "" {
		title = "Tables"
	}
	more := ""
	if s.Full {
		more = `, CASE relkind WHEN 'v' THEN 'VIEW' ELSE 'BASE TABLE' END AS "Table_type"`
	}
	return c.catalogQuery(s, fmt.Sprintf(`SELECT relname::text AS "%s"%s FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		WHERE nspname = %s AND relkind IN ('r', 'v', 'm') ORDER BY relname`, strings.ReplaceAll(title, `"`, `""`), more, schema), title)
}

// typeText is the MySQL type of a column, as SQL over pg_attribute a.
const typeText = `CASE a.atttypid WHEN 21 THEN 'smallint' WHEN 23 THEN 'int' WHEN 20 THEN 'bigint' WHEN 700 THEN 'float' WHEN 701 THEN 'double'
	WHEN 1700 THEN 'decimal' || COALESCE('(' || ((a.atttypmod - 4) >> 16) || ',' || ((a.atttypmod - 4) & 65535) || ')', '')
	WHEN 1043 THEN 'varchar' || CASE WHEN a.atttypmod > 0 THEN '(' || (a.atttypmod - 4) || ')' ELSE '' END
	WHEN 1042 THEN 'char' || CASE WHEN a.atttypmod > 0 THEN '(' || (a.atttypmod - 4) || ')' ELSE '' END
	WHEN 25 THEN 'longtext' WHEN 17 THEN 'longblob' WHEN 1082 THEN 'date' WHEN 16 THEN 'tinyint(1)' WHEN 114 THEN 'json' WHEN 3802 THEN 'json'
	WHEN 1114 THEN 'datetime' || CASE WHEN a.atttypmod > 0 THEN '(' || a.atttypmod || ')' WHEN a.atttypmod < 0 THEN '(6)' ELSE '' END
	WHEN 1184 THEN 'timestamp' || CASE WHEN a.atttypmod > 0 THEN '(' || a.atttypmod || ')' WHEN a.atttypmod < 0 THEN '(6)' ELSE '' END
	WHEN 1083 THEN 'time' || CASE WHEN a.atttypmod > 0 THEN '(' || a.atttypmod || ')' WHEN a.atttypmod < 0 THEN '(6)' ELSE '' END
	WHEN 1560 THEN 'bit(' || a.atttypmod || ')' ELSE pg_catalog.format_type(a.atttypid, a.atttypmod) END`

const keyText = `CASE WHEN EXISTS (SELECT 1 FROM pg_catalog.pg_index i WHERE i.indrelid = a.attrelid AND i.indisprimary AND a.attnum = ANY (i.indkey)) THEN 'PRI'
	WHEN EXISTS (SELECT 1 FROM pg_catalog.pg_index i WHERE i.indrelid = a.attrelid AND i.indisunique AND i.indnkeyatts = 1 AND a.attnum = i.indkey[0]) THEN 'UNI'
	WHEN EXISTS (SELECT 1 FROM pg_catalog.pg_index i WHERE i.indrelid = a.attrelid AND a.attnum = i.indkey[0]) THEN 'MUL' ELSE '' END`

const extraText = `CASE WHEN a.attidentity <> '' THEN 'auto_increment' WHEN a.attgenerated <> '' THEN 'STORED GENERATED' ELSE '' END`

func (c *converter) showColumns(s *tidb.ShowStmt, schema, table string) []ast.Stmt {
	c.refuse(s.Full, c.start, "SHOW FULL COLUMNS")
	only := ""
	if s.Column != nil {
		only = " AND a.attname = " + sqlString(ident(s.Column.Name))
	}
	// The look-up of the table fails when there is none, as MySQL's does.
	return c.catalogQuery(s, fmt.Sprintf(`SELECT a.attname::text AS "Field", %s AS "Type", CASE WHEN a.attnotnull THEN 'NO' ELSE 'YES' END AS "Null", %s AS "Key",
		CASE WHEN a.attgenerated = '' THEN pg_catalog.pg_get_expr(d.adbin, d.adrelid) END AS "Default", %s AS "Extra"
		FROM pg_catalog.pg_attribute a LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
		WHERE a.attrelid = (pg_catalog.quote_ident(%s) || '.' || pg_catalog.quote_ident(%s))::pg_catalog.regclass AND a.attnum > 0 AND NOT a.attisdropped%s ORDER BY a.attnum`,
		typeText, keyText, extraText, schema, table, only), "Field")
}

// indexQuery lists a table's indexes; keys begin at 0 in indkey.
const indexQuery = `SELECT t.relname::text AS "Table", CASE WHEN i.indisunique THEN 0 ELSE 1 END AS "Non_unique",
	CASE WHEN i.indisprimary THEN 'PRIMARY' ELSE pg_catalog.regexp_replace(x.relname::text, '^' || t.relname::text || '_', '') END AS "Key_name",
	k.n AS "Seq_in_index", a.attname::text AS "Column_name", CASE WHEN (i.indoption[k.n - 1] & 1) = 1 THEN 'D' ELSE 'A' END AS "Collation",
	CASE WHEN a.attnotnull THEN '' ELSE 'YES' END AS "Null", 'BTREE' AS "Index_type"
	FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid JOIN pg_catalog.pg_class t ON t.oid = i.indrelid
	JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace
	CROSS JOIN pg_catalog.generate_series(1, 32) AS k(n)
	LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid AND a.attnum = i.indkey[k.n - 1] AND a.attnum > 0
	WHERE n.nspname = %s AND t.relname = %s AND k.n <= i.indnkeyatts ORDER BY i.indisprimary DESC, x.relname, k.n`

// createQuery writes CREATE TABLE in MySQL's words.
const createQuery = `SELECT t.relname::text AS "Table", 'CREATE TABLE ' || '` + "`" + `' || t.relname || '` + "`" + `' || E' (\n' || (
	SELECT pg_catalog.string_agg(line, E',\n' ORDER BY kind, n) FROM (
		SELECT 0 AS kind, a.attnum::int4 AS n, '  ` + "`" + `' || a.attname || '` + "`" + ` ' || ` + typeText + ` || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
			|| CASE WHEN a.attidentity <> '' THEN ' AUTO_INCREMENT' WHEN a.attgenerated = 's' THEN ' GENERATED ALWAYS AS (' || pg_catalog.pg_get_expr(d.adbin, d.adrelid) || ') STORED'
				WHEN d.adbin IS NOT NULL THEN ' DEFAULT ' || pg_catalog.regexp_replace(pg_catalog.pg_get_expr(d.adbin, d.adrelid), '::[a-z ]+(\([0-9,]+\))?', '', 'g')
				WHEN NOT a.attnotnull THEN ' DEFAULT NULL' ELSE '' END AS line
		FROM pg_catalog.pg_attribute a LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
		WHERE a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
		UNION ALL
		SELECT CASE WHEN i.indisprimary THEN 1 ELSE 2 END, pg_catalog.row_number() OVER (ORDER BY x.relname)::int4,
			CASE WHEN i.indisprimary THEN '  PRIMARY KEY (' WHEN i.indisunique THEN '  UNIQUE KEY ` + "`" + `' ELSE '  KEY ` + "`" + `' END
			|| CASE WHEN i.indisprimary THEN '' ELSE pg_catalog.regexp_replace(x.relname::text, '^' || t.relname::text || '_', '') || '` + "`" + ` (' END
			|| (SELECT pg_catalog.string_agg('` + "`" + `' || a.attname || '` + "`" + `', ',' ORDER BY k.n) FROM pg_catalog.generate_series(1, 32) AS k(n)
				JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid AND a.attnum = i.indkey[k.n - 1] WHERE k.n <= i.indnkeyatts) || ')'
		FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid WHERE i.indrelid = t.oid
		UNION ALL
		SELECT 3, pg_catalog.row_number() OVER (ORDER BY k.conname)::int4, '  CONSTRAINT ` + "`" + `' || k.conname || '` + "`" + ` ' || pg_catalog.replace(pg_catalog.pg_get_constraintdef(k.oid), '"', '` + "`" + `')
		FROM pg_catalog.pg_constraint k WHERE k.conrelid = t.oid AND k.contype IN ('f', 'c')) AS lines) || E'\n)' AS "Create Table"
	FROM pg_catalog.pg_class t JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace WHERE n.nspname = %s AND t.relname = %s AND t.relkind = 'r'`

// showVariables lists the variables that this front end knows.
func (c *converter) showVariables(s *tidb.ShowStmt) []ast.Stmt {
	names := make([]string, 0, len(systemVariables))
	for n := range systemVariables {
		names = append(names, n)
	}
	sort.Strings(names)
	var b strings.Builder
	for i, n := range names {
		if i > 0 {
			b.WriteString(" UNION ALL ")
		}
		fmt.Fprintf(&b, `SELECT %s::text AS "Variable_name", COALESCE(NULLIF(pg_catalog.current_setting(%s, true), ''), %s) AS "Value"`,
			sqlString(n), sqlString(settingName(systemPrefix, n)), sqlString(systemVariables[n]))
	}
	return c.catalogQuery(s, b.String(), "Variable_name")
}
