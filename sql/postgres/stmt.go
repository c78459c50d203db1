package postgres

import (
	"strings"

	pg "github.com/sqlc-dev/oliphant/ast"

	"herd/sql/ast"
	"herd/sql/sqlerr"
)

// stmt converts a statement. A kind that is not in one of the switches is 0A000 with its name.
func (c *converter) stmt(n *pg.Node) ast.Stmt {
	if c.err != nil || !c.enter() {
		return nil
	}
	defer c.leave()
	if s := c.queryStmt(n); s != nil || c.err != nil {
		return s
	}
	if s := c.definition(n); s != nil || c.err != nil {
		return s
	}
	if s := c.alteration(n); s != nil || c.err != nil {
		return s
	}
	if s := c.utility(n); s != nil || c.err != nil {
		return s
	}
	c.fail(sqlerr.At(ast.CharPosition(c.text, c.start), sqlerr.FeatureNotSupported, "%s is not supported", statementName(n)))
	return nil
}

// statementNames are the commands of statements that nothing here converts, by the parser's name without Stmt.
var statementNames = map[string]string{
	"AlterEventTrig": "ALTER EVENT TRIGGER", "AlterExtension": "ALTER EXTENSION", "AlterFdw": "ALTER FOREIGN DATA WRAPPER",
	"AlterForeignServer": "ALTER SERVER", "AlterFunction": "ALTER FUNCTION", "AlterPolicy": "ALTER POLICY",
	"AlterPublication": "ALTER PUBLICATION", "AlterStats": "ALTER STATISTICS", "AlterSubscription": "ALTER SUBSCRIPTION",
	"CreateAm": "CREATE ACCESS METHOD", "CreateCast": "CREATE CAST", "CreateConversion": "CREATE CONVERSION",
	"CreateEventTrig": "CREATE EVENT TRIGGER", "CreateFdw": "CREATE FOREIGN DATA WRAPPER", "CreateForeignServer": "CREATE SERVER",
	"CreateForeignTable": "CREATE FOREIGN TABLE", "CreateOpClass": "CREATE OPERATOR CLASS", "CreateOpFamily": "CREATE OPERATOR FAMILY",
	"CreatePLang": "CREATE LANGUAGE", "CreatePolicy": "CREATE POLICY", "CreatePublication": "CREATE PUBLICATION",
	"CreateRange": "CREATE TYPE ... AS RANGE", "CreateStats": "CREATE STATISTICS", "CreateSubscription": "CREATE SUBSCRIPTION",
	"CreateTableSpace": "CREATE TABLESPACE", "CreateTransform": "CREATE TRANSFORM", "CreateTrig": "CREATE TRIGGER",
	"CreateUserMapping": "CREATE USER MAPPING", "DropSubscription": "DROP SUBSCRIPTION", "DropTableSpace": "DROP TABLESPACE",
	"DropUserMapping": "DROP USER MAPPING", "ImportForeignSchema": "IMPORT FOREIGN SCHEMA", "Rule": "CREATE RULE",
	"SecLabel": "SECURITY LABEL",
}

// definitionNames are the commands that the parser calls DefineStmt, by what they make.
var definitionNames = map[pg.ObjectType]string{
	pg.ObjectType_OBJECT_AGGREGATE: "CREATE AGGREGATE", pg.ObjectType_OBJECT_COLLATION: "CREATE COLLATION",
	pg.ObjectType_OBJECT_OPERATOR: "CREATE OPERATOR", pg.ObjectType_OBJECT_TYPE: "CREATE TYPE of this kind",
	pg.ObjectType_OBJECT_TSCONFIGURATION: "CREATE TEXT SEARCH CONFIGURATION", pg.ObjectType_OBJECT_TSDICTIONARY: "CREATE TEXT SEARCH DICTIONARY",
	pg.ObjectType_OBJECT_TSPARSER: "CREATE TEXT SEARCH PARSER", pg.ObjectType_OBJECT_TSTEMPLATE: "CREATE TEXT SEARCH TEMPLATE",
}

// statementName tells a user which statement n is.
func statementName(n *pg.Node) string {
	if d, ok := n.GetNode().(*pg.Node_DefineStmt); ok {
		if s := definitionNames[d.DefineStmt.GetKind()]; s != "" {
			return s
		}
	}
	name := nodeName(n)
	if s := statementNames[strings.TrimSuffix(name, "Stmt")]; s != "" {
		return s
	}
	return name
}

func (c *converter) queryStmt(n *pg.Node) ast.Stmt {
	switch x := n.GetNode().(type) {
	case *pg.Node_SelectStmt:
		return c.selectStmt(x.SelectStmt)
	case *pg.Node_InsertStmt:
		return c.insert(x.InsertStmt)
	case *pg.Node_UpdateStmt:
		return c.update(x.UpdateStmt)
	case *pg.Node_DeleteStmt:
		return c.delete(x.DeleteStmt)
	case *pg.Node_MergeStmt:
		return c.merge(x.MergeStmt)
	case *pg.Node_TransactionStmt:
		return c.transaction(x.TransactionStmt)
	case *pg.Node_VariableSetStmt:
		return c.setVar(x.VariableSetStmt)
	case *pg.Node_VariableShowStmt:
		return &ast.Show{Loc: ast.At(c.start), Name: x.VariableShowStmt.Name}
	case *pg.Node_CopyStmt:
		return c.copyStmt(x.CopyStmt)
	}
	return nil
}

func (c *converter) definition(n *pg.Node) ast.Stmt {
	switch x := n.GetNode().(type) {
	case *pg.Node_CreateStmt:
		return c.createTable(x.CreateStmt)
	case *pg.Node_IndexStmt:
		return c.createIndex(x.IndexStmt)
	case *pg.Node_ViewStmt:
		return c.createView(x.ViewStmt)
	case *pg.Node_CreateTableAsStmt:
		return c.createTableAs(x.CreateTableAsStmt)
	case *pg.Node_CreateSeqStmt:
		return c.createSequence(x.CreateSeqStmt)
	case *pg.Node_CreateSchemaStmt:
		return c.createSchema(x.CreateSchemaStmt)
	case *pg.Node_CreatedbStmt:
		return c.createDatabase(x.CreatedbStmt)
	case *pg.Node_CreateEnumStmt:
		return c.createEnum(x.CreateEnumStmt)
	case *pg.Node_CompositeTypeStmt:
		return c.createComposite(x.CompositeTypeStmt)
	case *pg.Node_CreateDomainStmt:
		return c.createDomain(x.CreateDomainStmt)
	case *pg.Node_CreateFunctionStmt:
		return c.createFunction(x.CreateFunctionStmt)
	case *pg.Node_CreateRoleStmt:
		return c.createRole(x.CreateRoleStmt)
	case *pg.Node_CreateExtensionStmt:
		s := x.CreateExtensionStmt
		return &ast.CreateExtension{Loc: ast.At(c.start), Name: s.Extname, IfNotExists: s.IfNotExists, Options: c.options(s.Options, "CREATE EXTENSION")}
	case *pg.Node_DropStmt:
		return c.drop(x.DropStmt)
	case *pg.Node_DropdbStmt:
		return c.dropDatabase(x.DropdbStmt)
	case *pg.Node_DropRoleStmt:
		return &ast.DropRole{Loc: ast.At(c.start), Roles: c.roleSpecs(x.DropRoleStmt.Roles, "DROP ROLE"), IfExists: x.DropRoleStmt.MissingOk}
	case *pg.Node_DropOwnedStmt:
		s := x.DropOwnedStmt
		return &ast.DropOwned{Loc: ast.At(c.start), Roles: c.roleSpecs(s.Roles, "DROP OWNED"), Cascade: c.cascade(s.Behavior)}
	case *pg.Node_TruncateStmt:
		return c.truncate(x.TruncateStmt)
	}
	return nil
}

func (c *converter) alteration(n *pg.Node) ast.Stmt {
	switch x := n.GetNode().(type) {
	case *pg.Node_AlterTableStmt:
		return c.alterTable(x.AlterTableStmt)
	case *pg.Node_AlterSeqStmt:
		return c.alterSequence(x.AlterSeqStmt)
	case *pg.Node_AlterEnumStmt:
		return c.alterEnum(x.AlterEnumStmt)
	case *pg.Node_AlterDomainStmt:
		return c.alterDomain(x.AlterDomainStmt)
	case *pg.Node_RenameStmt:
		return c.rename(x.RenameStmt)
	case *pg.Node_AlterObjectSchemaStmt:
		return c.alterSchema(x.AlterObjectSchemaStmt)
	case *pg.Node_AlterOwnerStmt:
		return c.alterOwner(x.AlterOwnerStmt)
	case *pg.Node_CommentStmt:
		return c.comment(x.CommentStmt)
	case *pg.Node_GrantStmt:
		return c.grant(x.GrantStmt)
	case *pg.Node_GrantRoleStmt:
		return c.grantRole(x.GrantRoleStmt)
	case *pg.Node_AlterDefaultPrivilegesStmt:
		return c.defaultPrivileges(x.AlterDefaultPrivilegesStmt)
	case *pg.Node_AlterRoleStmt:
		return c.alterRole(x.AlterRoleStmt)
	case *pg.Node_AlterRoleSetStmt:
		return c.alterRoleSet(x.AlterRoleSetStmt)
	case *pg.Node_AlterDatabaseStmt:
		s := x.AlterDatabaseStmt
		return &ast.AlterDatabase{Loc: ast.At(c.start), Name: s.Dbname, Options: c.options(s.Options, "ALTER DATABASE")}
	case *pg.Node_AlterDatabaseSetStmt:
		s := x.AlterDatabaseSetStmt
		return &ast.AlterDatabase{Loc: ast.At(c.start), Name: s.Dbname, Set: c.setVar(s.Setstmt)}
	case *pg.Node_ReassignOwnedStmt:
		s := x.ReassignOwnedStmt
		return &ast.ReassignOwned{Loc: ast.At(c.start), Roles: c.roleSpecs(s.Roles, "REASSIGN OWNED"), To: c.roleSpec(s.Newrole)}
	case *pg.Node_AlterSystemStmt:
		return &ast.AlterSystem{Loc: ast.At(c.start), Set: c.setVar(x.AlterSystemStmt.Setstmt)}
	}
	return nil
}

func (c *converter) utility(n *pg.Node) ast.Stmt {
	at := ast.At(c.start)
	switch x := n.GetNode().(type) {
	case *pg.Node_DiscardStmt:
		return c.discard(x.DiscardStmt)
	case *pg.Node_PrepareStmt:
		s := x.PrepareStmt
		return &ast.Prepare{Loc: at, Name: s.Name, Types: c.typeNames(s.Argtypes, "PREPARE"), Stmt: c.stmt(s.Query)}
	case *pg.Node_ExecuteStmt:
		return c.execute(x.ExecuteStmt)
	case *pg.Node_DeallocateStmt:
		return c.deallocate(x.DeallocateStmt)
	case *pg.Node_DeclareCursorStmt:
		return c.declareCursor(x.DeclareCursorStmt)
	case *pg.Node_FetchStmt:
		return c.fetch(x.FetchStmt)
	case *pg.Node_ClosePortalStmt:
		return &ast.CloseCursor{Loc: at, Name: x.ClosePortalStmt.Portalname, All: x.ClosePortalStmt.Portalname == ""}
	case *pg.Node_ExplainStmt:
		return c.explain(x.ExplainStmt)
	case *pg.Node_VacuumStmt:
		return c.vacuum(x.VacuumStmt)
	case *pg.Node_CheckPointStmt:
		return &ast.Checkpoint{Loc: at}
	case *pg.Node_LockStmt:
		return c.lock(x.LockStmt)
	case *pg.Node_ListenStmt:
		return &ast.Listen{Loc: at, Channel: x.ListenStmt.Conditionname}
	case *pg.Node_NotifyStmt:
		return &ast.Notify{Loc: at, Channel: x.NotifyStmt.Conditionname, Payload: x.NotifyStmt.Payload}
	case *pg.Node_UnlistenStmt:
		return &ast.Unlisten{Loc: at, Channel: x.UnlistenStmt.Conditionname}
	case *pg.Node_DoStmt:
		return c.do(x.DoStmt)
	case *pg.Node_CallStmt:
		c.refuse(x.CallStmt.Funcexpr != nil || len(x.CallStmt.Outargs) > 0, ast.NoPos, "analyzed CALL")
		if x.CallStmt.Funccall == nil {
			return nil
		}
		return &ast.Call{Loc: at, Func: c.funcCall(x.CallStmt.Funccall)}
	case *pg.Node_ReindexStmt:
		return c.reindex(x.ReindexStmt)
	case *pg.Node_ClusterStmt:
		return c.cluster(x.ClusterStmt)
	case *pg.Node_ConstraintsSetStmt:
		return c.setConstraints(x.ConstraintsSetStmt)
	case *pg.Node_RefreshMatViewStmt:
		s := x.RefreshMatViewStmt
		return &ast.RefreshMatView{Loc: at, View: c.plainRelation(s.Relation, "REFRESH"), Concurrently: s.Concurrent, WithNoData: s.SkipData}
	case *pg.Node_LoadStmt:
		return &ast.Load{Loc: at, File: x.LoadStmt.Filename}
	}
	return nil
}
