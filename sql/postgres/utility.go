package postgres

import (
	pg "github.com/sqlc-dev/oliphant/ast"

	"herd/sql/ast"
	"herd/sql/sqlerr"
)

var transactionKinds = map[pg.TransactionStmtKind]ast.TransactionKind{
	pg.TransactionStmtKind_TRANS_STMT_BEGIN: ast.TxBegin, pg.TransactionStmtKind_TRANS_STMT_START: ast.TxStart,
	pg.TransactionStmtKind_TRANS_STMT_COMMIT: ast.TxCommit, pg.TransactionStmtKind_TRANS_STMT_ROLLBACK: ast.TxRollback,
	pg.TransactionStmtKind_TRANS_STMT_SAVEPOINT: ast.TxSavepoint, pg.TransactionStmtKind_TRANS_STMT_RELEASE: ast.TxRelease,
	pg.TransactionStmtKind_TRANS_STMT_ROLLBACK_TO: ast.TxRollbackTo, pg.TransactionStmtKind_TRANS_STMT_PREPARE: ast.TxPrepare,
	pg.TransactionStmtKind_TRANS_STMT_COMMIT_PREPARED:   ast.TxCommitPrepared,
	pg.TransactionStmtKind_TRANS_STMT_ROLLBACK_PREPARED: ast.TxRollbackPrepared,
}

func (c *converter) transaction(s *pg.TransactionStmt) ast.Stmt {
	kind, ok := transactionKinds[s.Kind]
	if !ok {
		c.unsupported(ast.NoPos, s.Kind.String())
		return nil
	}
	return &ast.Transaction{
		Loc: ast.At(c.start), Kind: kind, Modes: c.txModes(s.Options), Name: s.SavepointName, GID: s.Gid, Chain: s.Chain,
	}
}

func (c *converter) txModes(list []*pg.Node) ast.TxModes {
	var m ast.TxModes
	for _, d := range c.defElems(list, "transaction modes") {
		k, ok := d.Arg.GetNode().(*pg.Node_AConst)
		if !ok {
			c.unknown(d.Arg, "transaction modes")
			return m
		}
		v, ok := c.constant(k.AConst).(*ast.Const)
		if !ok || c.err != nil {
			return m
		}
		switch d.Defname {
		case "transaction_isolation":
			c.refuse(v.Kind != ast.ConstString, d.Location, "isolation level")
			m.Isolation = &v.Text
		case "transaction_read_only":
			b := v.Int != 0
			c.refuse(v.Kind != ast.ConstInt || v.Int != 0 && v.Int != 1, d.Location, "read-only mode")
			m.ReadOnly = &b
		case "transaction_deferrable":
			b := v.Int != 0
			c.refuse(v.Kind != ast.ConstInt || v.Int != 0 && v.Int != 1, d.Location, "deferrable mode")
			m.Deferrable = &b
		default:
			c.unsupported(d.Location, "transaction mode "+d.Defname)
		}
	}
	return m
}

func (c *converter) setVar(s *pg.VariableSetStmt) *ast.SetVar {
	if s == nil {
		c.unsupported(ast.NoPos, "missing SET")
		return nil
	}
	out := &ast.SetVar{Loc: ast.At(c.start), Name: s.Name, Local: s.IsLocal}
	switch s.Kind {
	case pg.VariableSetKind_VAR_SET_VALUE:
		out.Kind = ast.SetValue
	case pg.VariableSetKind_VAR_SET_DEFAULT:
		out.Kind = ast.SetDefault
	case pg.VariableSetKind_VAR_SET_CURRENT:
		out.Kind = ast.SetCurrent
	case pg.VariableSetKind_VAR_RESET:
		out.Kind = ast.SetReset
	case pg.VariableSetKind_VAR_RESET_ALL:
		out.Kind = ast.SetResetAll
	case pg.VariableSetKind_VAR_SET_MULTI:
		out.Name = ""
		switch s.Name {
		case "TRANSACTION":
			out.Kind, out.Modes = ast.SetTransaction, c.txModes(s.Args)
			return out
		case "SESSION CHARACTERISTICS":
			out.Kind, out.Modes = ast.SetSession, c.txModes(s.Args)
			return out
		case "TRANSACTION SNAPSHOT":
			out.Kind = ast.SetSnapshot
		default:
			c.unsupported(s.Location, "SET "+s.Name)
		}
	default:
		c.unsupported(s.Location, s.Kind.String())
	}
	out.Args = c.exprs(s.Args)
	return out
}

func (c *converter) discard(s *pg.DiscardStmt) ast.Stmt {
	out := &ast.Discard{Loc: ast.At(c.start)}
	switch s.Target {
	case pg.DiscardMode_DISCARD_ALL:
	case pg.DiscardMode_DISCARD_PLANS:
		out.Target = ast.DiscardPlans
	case pg.DiscardMode_DISCARD_SEQUENCES:
		out.Target = ast.DiscardSequences
	case pg.DiscardMode_DISCARD_TEMP:
		out.Target = ast.DiscardTemp
	default:
		c.unsupported(ast.NoPos, s.Target.String())
	}
	return out
}

func (c *converter) execute(s *pg.ExecuteStmt) *ast.Execute {
	return &ast.Execute{Loc: ast.At(c.start), Name: s.Name, Args: c.exprs(s.Params)}
}

func (c *converter) deallocate(s *pg.DeallocateStmt) ast.Stmt {
	c.refuse(s.Isall && s.Name != "", ast.NoPos, "name in DEALLOCATE ALL")
	return &ast.Deallocate{Loc: ast.At(c.start), Name: s.Name, All: s.Isall}
}

// The parser's bits of DECLARE CURSOR.
const (
	cursorBinary      = 0x1
	cursorScroll      = 0x2
	cursorNoScroll    = 0x4
	cursorInsensitive = 0x8
	cursorAsensitive  = 0x10
	cursorHold        = 0x20
	cursorFastPlan    = 0x100 // always set by the grammar
)

func (c *converter) declareCursor(s *pg.DeclareCursorStmt) ast.Stmt {
	o := s.Options
	c.refuse(o&^(cursorBinary|cursorScroll|cursorNoScroll|cursorInsensitive|cursorAsensitive|cursorHold) != cursorFastPlan, ast.NoPos, "cursor option")
	out := &ast.DeclareCursor{
		Loc: ast.At(c.start), Name: s.Portalname, Binary: o&cursorBinary != 0, Insensitive: o&cursorInsensitive != 0,
		Asensitive: o&cursorAsensitive != 0, Hold: o&cursorHold != 0,
	}
	// Contradictions are refused here, in PostgreSQL's words.
	switch {
	case o&cursorScroll != 0 && o&cursorNoScroll != 0:
		c.fail(sqlerr.New(sqlerr.InvalidCursorDefinition, "cannot specify both %s and %s", "SCROLL", "NO SCROLL"))
	case out.Insensitive && out.Asensitive:
		c.fail(sqlerr.New(sqlerr.InvalidCursorDefinition, "cannot specify both %s and %s", "ASENSITIVE", "INSENSITIVE"))
	}
	if o&(cursorScroll|cursorNoScroll) != 0 {
		b := o&cursorScroll != 0
		out.Scroll = &b
	}
	out.Query = c.subquery(s.Query)
	return out
}

func (c *converter) fetch(s *pg.FetchStmt) ast.Stmt {
	out := &ast.Fetch{Loc: ast.At(c.start), Move: s.Ismove, Count: s.HowMany, Cursor: s.Portalname}
	switch s.Direction {
	case pg.FetchDirection_FETCH_FORWARD:
	case pg.FetchDirection_FETCH_BACKWARD:
		out.Direction = ast.FetchBackward
	case pg.FetchDirection_FETCH_ABSOLUTE:
		out.Direction = ast.FetchAbsolute
	case pg.FetchDirection_FETCH_RELATIVE:
		out.Direction = ast.FetchRelative
	default:
		c.unsupported(ast.NoPos, s.Direction.String())
	}
	return out
}

func (c *converter) explain(s *pg.ExplainStmt) ast.Stmt {
	out := &ast.Explain{Loc: ast.At(c.start), Costs: true}
	for _, d := range c.defElems(s.Options, "EXPLAIN") {
		if c.err != nil {
			return nil
		}
		switch d.Defname {
		case "analyze":
			out.Analyze = c.optBool(d)
		case "verbose":
			out.Verbose = c.optBool(d)
		case "costs":
			out.Costs = c.optBool(d)
		case "buffers":
			out.Buffers = c.optBool(d)
		case "wal":
			out.WAL = c.optBool(d)
		case "settings":
			out.Settings = c.optBool(d)
		case "timing":
			b := c.optBool(d)
			out.Timing = &b
		case "summary":
			b := c.optBool(d)
			out.Summary = &b
		case "format":
			c.explainFormat(out, d)
		default:
			c.failAt(d.Location, sqlerr.SyntaxError, "unrecognized EXPLAIN option \"%s\"", d.Defname)
		}
	}
	switch {
	case c.err != nil:
		return nil
	case out.WAL && !out.Analyze:
		c.fail(sqlerr.New(sqlerr.InvalidParameterValue, "EXPLAIN option WAL requires ANALYZE"))
	case out.Timing != nil && *out.Timing && !out.Analyze:
		c.fail(sqlerr.New(sqlerr.InvalidParameterValue, "EXPLAIN option TIMING requires ANALYZE"))
	}
	out.Query = c.stmt(s.Query)
	return out
}

func (c *converter) explainFormat(out *ast.Explain, d *pg.DefElem) {
	switch v := c.optString(d); v {
	case "text":
		out.Format = ast.ExplainText
	case "xml":
		out.Format = ast.ExplainXML
	case "json":
		out.Format = ast.ExplainJSON
	case "yaml":
		out.Format = ast.ExplainYAML
	default:
		c.failAt(d.Location, sqlerr.InvalidParameterValue, "unrecognized value for EXPLAIN option \"%s\": \"%s\"", d.Defname, v)
	}
}

func (c *converter) vacuum(s *pg.VacuumStmt) ast.Stmt {
	out := &ast.Vacuum{Loc: ast.At(c.start), Vacuum: s.IsVacuumcmd, Options: c.options(s.Options, "VACUUM")}
	for _, n := range s.Rels {
		r, ok := n.GetNode().(*pg.Node_VacuumRelation)
		if !ok {
			c.unknown(n, "VACUUM")
			return nil
		}
		c.refuse(r.VacuumRelation.Oid != 0, ast.NoPos, "relation by OID")
		out.Targets = append(out.Targets, ast.VacuumTarget{
			Table: c.tableRef(r.VacuumRelation.Relation, "VACUUM"), Columns: c.strs(r.VacuumRelation.VaCols, "VACUUM"),
		})
	}
	return out
}

func (c *converter) lock(s *pg.LockStmt) ast.Stmt {
	c.refuse(s.Mode < 1 || s.Mode > 8, ast.NoPos, "lock mode")
	return &ast.LockTable{Loc: ast.At(c.start), Tables: c.tableRefs(s.Relations, "LOCK"), Mode: uint8(s.Mode), NoWait: s.Nowait}
}

func (c *converter) do(s *pg.DoStmt) ast.Stmt {
	out := &ast.Do{Loc: ast.At(c.start)}
	seen := map[string]bool{}
	for _, d := range c.defElems(s.Args, "DO") {
		if seen[d.Defname] {
			c.failAt(d.Location, sqlerr.SyntaxError, "conflicting or redundant options")
			return nil
		}
		seen[d.Defname] = true
		switch d.Defname {
		case "as":
			out.Body = c.optString(d)
		case "language":
			out.Language = c.optString(d)
		default:
			c.unsupported(d.Location, "DO option "+d.Defname)
		}
	}
	if !seen["as"] {
		c.fail(sqlerr.New(sqlerr.SyntaxError, "no inline code specified"))
	}
	return out
}

func (c *converter) reindex(s *pg.ReindexStmt) ast.Stmt {
	out := &ast.Reindex{Loc: ast.At(c.start), Name: s.Name, Options: c.options(s.Params, "REINDEX")}
	switch s.Kind {
	case pg.ReindexObjectType_REINDEX_OBJECT_INDEX:
		out.Kind = ast.ObjIndex
	case pg.ReindexObjectType_REINDEX_OBJECT_TABLE:
		out.Kind = ast.ObjTable
	case pg.ReindexObjectType_REINDEX_OBJECT_SCHEMA:
		out.Kind = ast.ObjSchema
	case pg.ReindexObjectType_REINDEX_OBJECT_SYSTEM:
		out.Kind = "SYSTEM"
	case pg.ReindexObjectType_REINDEX_OBJECT_DATABASE:
		out.Kind = ast.ObjDatabase
	default:
		c.unsupported(ast.NoPos, s.Kind.String())
	}
	if s.Relation != nil {
		out.Table = c.tableRef(s.Relation, "REINDEX")
	}
	return out
}

func (c *converter) cluster(s *pg.ClusterStmt) ast.Stmt {
	out := &ast.Cluster{Loc: ast.At(c.start), Index: s.Indexname, Options: c.options(s.Params, "CLUSTER")}
	if s.Relation != nil {
		out.Table = c.tableRef(s.Relation, "CLUSTER")
	}
	return out
}

func (c *converter) setConstraints(s *pg.ConstraintsSetStmt) ast.Stmt {
	return &ast.SetConstraints{
		Loc: ast.At(c.start), All: len(s.Constraints) == 0, Names: c.relations(s.Constraints, "SET CONSTRAINTS"), Deferred: s.Deferred,
	}
}
