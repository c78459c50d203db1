package mysql

import (
	"strings"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"

	"herd/sql/ast"
)

// utility converts what is neither a query nor a definition.
func (c *converter) utility(n tidb.StmtNode) ([]ast.Stmt, bool) {
	loc := ast.At(c.start)
	switch x := n.(type) {
	case *tidb.BeginStmt:
		t := &ast.Transaction{Loc: loc, Kind: ast.TxBegin}
		if x.ReadOnly {
			yes := true
			t.Modes.ReadOnly = &yes
		}
		return c.one(t)
	case *tidb.CommitStmt:
		return c.one(&ast.Transaction{Loc: loc, Kind: ast.TxCommit, Chain: x.CompletionType == tidb.CompletionTypeChain})
	case *tidb.RollbackStmt:
		if x.SavepointName != "" {
			return c.one(&ast.Transaction{Loc: loc, Kind: ast.TxRollbackTo, Name: strings.ToLower(x.SavepointName)})
		}
		return c.one(&ast.Transaction{Loc: loc, Kind: ast.TxRollback, Chain: x.CompletionType == tidb.CompletionTypeChain})
	case *tidb.SavepointStmt:
		return c.one(&ast.Transaction{Loc: loc, Kind: ast.TxSavepoint, Name: strings.ToLower(x.Name)})
	case *tidb.ReleaseSavepointStmt:
		return c.one(&ast.Transaction{Loc: loc, Kind: ast.TxRelease, Name: strings.ToLower(x.Name)})
	case *tidb.UseStmt:
		return c.one(&ast.SetVar{Loc: loc, Name: "search_path", Args: []ast.Expr{text(c.start, strings.ToLower(x.DBName))}})
	case *tidb.SetStmt:
		return c.set(x), true
	case *tidb.ShowStmt:
		return c.show(x), true
	case *tidb.ExplainStmt:
		if s, ok := x.Stmt.(*tidb.ShowStmt); ok { // DESCRIBE
			return c.show(s), true
		}
		list := c.stmt(x.Stmt)
		c.refuse(len(list) != 1, c.start, "EXPLAIN of this statement")
		if c.err != nil {
			return nil, true
		}
		return c.one(&ast.Explain{Loc: loc, Query: list[0], Analyze: x.Analyze, Costs: true})
	case *tidb.LockTablesStmt:
		// Locks of dumps keep others from the table while it is read or filled; here transactions do. A lock until UNLOCK TABLES
		// over several transactions is not to be had, and no answer depends on it.
		for _, l := range x.TableLocks {
			c.tableName(l.Table, "LOCK TABLES")
		}
		return nil, true
	case *tidb.UnlockTablesStmt:
		return nil, true
	case *tidb.AnalyzeTableStmt:
		out := &ast.Vacuum{Loc: loc}
		for _, t := range x.TableNames {
			out.Targets = append(out.Targets, ast.VacuumTarget{Table: c.tableRef(t, "ANALYZE")})
		}
		return c.one(out)
	}
	return nil, false
}

// Names of settings of herd under which a session keeps MySQL's user and system variables.
const (
	userPrefix   = "mysql.user_"
	systemPrefix = "mysql.system_"
)

// settingName makes a setting's name of a variable's.
func settingName(prefix, name string) string {
	var b strings.Builder
	b.WriteString(prefix)
	for _, r := range strings.ToLower(name) {
		if r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r > 0x7f {
			b.WriteRune(r)
		} else {
			b.WriteByte('_')
		}
	}
	return b.String()
}

// systemVariables are the variables that can be read and set, with the values they begin with. Setting one changes what it
// reads as; the few with a meaning here are in systemVariable's twin, set.
var systemVariables = map[string]string{
	"version": "8.0.11-herd", "version_comment": "herd", "autocommit": "1", "sql_mode": "STRICT_TRANS_TABLES", "sql_notes": "1", "foreign_key_checks": "1", "unique_checks": "1",
	"character_set_client": "utf8mb4", "character_set_results": "utf8mb4", "character_set_connection": "utf8mb4", "character_set_server": "utf8mb4",
	"character_set_database": "utf8mb4", "collation_connection": "utf8mb4_general_ci", "collation_server": "utf8mb4_general_ci",
	"collation_database": "utf8mb4_general_ci", "time_zone": "SYSTEM", "max_allowed_packet": "1073741824", "lower_case_table_names": "1",
	"sql_quote_show_create": "1", "net_write_timeout": "60", "net_read_timeout": "30", "wait_timeout": "28800", "interactive_timeout": "28800", "sql_log_bin": "1",
	"tx_isolation": "READ-COMMITTED", "transaction_isolation": "READ-COMMITTED", "innodb_lock_wait_timeout": "50", "group_concat_max_len": "1048576", "sql_safe_updates": "0",
	"saved_cs_client": "", "auto_increment_increment": "1", "auto_increment_offset": "1", "gtid_purged": "", "session_track_gtids": "OFF",
	"note_verbosity": "basic", "character_set_filesystem": "binary",
}

// systemVariable reads @@name: what the session set it to, or what it begins with.
func systemVariable(loc int32, name string) ast.Expr {
	setting := call(loc, "current_setting", text(loc, settingName(systemPrefix, name)), &ast.Const{Loc: ast.At(loc), Kind: ast.ConstBool, Bool: true})
	first := &ast.Case{Loc: ast.At(loc), Whens: []ast.When{{Loc: ast.At(loc),
		Cond:   &ast.Op{Loc: ast.At(loc), Op: catalogName("<>"), Left: setting, Right: text(loc, "")},
		Result: setting}}, Else: text(loc, systemVariables[name])}
	return first
}

// variable reads @name and @@name.
func (c *converter) variable(v *tidb.VariableExpr) ast.Expr {
	loc := c.at(v)
	c.refuse(v.Value != nil, loc, "assignment in an expression")
	name := strings.ToLower(v.Name)
	if !v.IsSystem {
		return c.userVariable(loc, name)
	}
	if _, ok := systemVariables[name]; !ok {
		c.unsupported(loc, "variable @@"+v.Name)
		return nil
	}
	return systemVariable(loc, name)
}

// set converts SET, an assignment to a statement.
func (c *converter) set(s *tidb.SetStmt) []ast.Stmt {
	var out []ast.Stmt
	for _, v := range s.Variables {
		out = append(out, c.assign(v)...)
		if c.err != nil {
			return nil
		}
	}
	return out
}

func (c *converter) assign(v *tidb.VariableAssignment) []ast.Stmt {
	loc := ast.At(c.start)
	name := strings.ToLower(v.Name)
	switch {
	case v.Name == tidb.SetNames || v.Name == tidb.SetCharset:
		charset := strings.ToLower(v.Value.(*literal).GetString())
		switch charset {
		case "utf8", "utf8mb3", "utf8mb4", "", "default", "binary", "ascii":
		default:
			c.unsupported(c.start, "SET NAMES "+charset)
			return nil
		}
		return nil
	case !v.IsSystem && strings.Contains(name, "."):
		return []ast.Stmt{&ast.SetVar{Loc: loc, Name: name, Args: []ast.Expr{c.setting(v.Value)}}}
	case !v.IsSystem:
		return []ast.Stmt{&ast.SetVar{Loc: loc, Name: settingName(userPrefix, name), Args: []ast.Expr{c.setting(v.Value)}}}
	case name == "herd.dialect":
		return []ast.Stmt{&ast.SetVar{Loc: loc, Name: name, Args: []ast.Expr{c.setting(v.Value)}}}
	}
	c.refuse(v.IsGlobal, c.start, "SET GLOBAL")
	if _, ok := systemVariables[name]; !ok {
		c.unsupported(c.start, "SET "+v.Name)
		return nil
	}
	out := []ast.Stmt{&ast.SetVar{Loc: loc, Name: settingName(systemPrefix, name), Args: []ast.Expr{c.setting(v.Value)}}}
	l, constant := v.Value.(*literal)
	switch name {
	case "time_zone":
		if constant && l.GetString() != "SYSTEM" {
			out = append(out, &ast.SetVar{Loc: loc, Name: "timezone", Args: []ast.Expr{text(c.start, zone(l.GetString()))}})
		}
	case "autocommit":
		c.refuse(!constant || l.GetString() != "1" && !strings.EqualFold(l.GetString(), "on"), c.start, "autocommit = 0")
	case "tx_isolation", "transaction_isolation":
		c.unsupported(c.start, "SET "+name)
	}
	return out
}

// zone turns MySQL's +02:00, east of Greenwich, into the POSIX form that counts west.
func zone(s string) string {
	if len(s) == 6 && (s[0] == '+' || s[0] == '-') {
		sign := map[byte]string{'+': "-", '-': "+"}[s[0]]
		return "<" + s + ">" + sign + s[1:]
	}
	return s
}

// setting converts the value of a variable to text.
func (c *converter) setting(n tidb.ExprNode) ast.Expr {
	switch x := n.(type) {
	case *literal:
		if x.value == nil {
			return text(c.start, "")
		}
		return text(c.start, x.GetString())
	case *tidb.ColumnNameExpr: // a bare word, such as utf8
		return text(c.start, x.Name.Name.O)
	case *tidb.DefaultExpr:
		return text(c.start, "")
	}
	return textOf(c.expr(n))
}

// userVariable reads @name: null when it was never set.
func (c *converter) userVariable(loc int32, name string) ast.Expr {
	setting := call(loc, "current_setting", text(loc, settingName(userPrefix, name)), &ast.Const{Loc: ast.At(loc), Kind: ast.ConstBool, Bool: true})
	return &ast.NullIf{Loc: ast.At(loc), Left: setting, Right: text(loc, "")}
}
