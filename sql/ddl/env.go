package ddl

import (
	"fmt"

	"herd/engine/lock"
	"herd/planner"
	"herd/sql/ast"
	"herd/sql/catalog"
	"herd/sql/exec"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/storage"
)

// Tx is the transaction as definitions need it: row access plus table locks and hooks. engine.Tx implements it, up to names.
type Tx interface {
	exec.Tx
	// LockTable locks a relation until the transaction ends.
	LockTable(rel uint32, m lock.Mode, p lock.Policy) error
	// OnCommit and OnRollback register what happens when the transaction ends.
	OnCommit(f func())
	OnRollback(f func())
}

// Sequences is the state of sequences, which is the engine's and not transactional.
type Sequences interface {
	// SetSequence sets a sequence: with called the next value is the one after last, else last itself.
	SetSequence(oid uint32, last int64, called bool) error
	// RestartSequence makes next the next value; a rollback of the transaction puts the sequence back.
	RestartSequence(oid uint32, next int64) error
	// DropSequence forgets a sequence.
	DropSequence(oid uint32) error
}

// Env is what the session supplies for one statement.
type Env struct {
	Writer *catalog.Writer
	Tx     Tx
	// Exec is an environment for evaluating expressions over rows.
	Exec *exec.Env
	// Bind is the environment of parse analysis: Text is the statement's.
	Bind      *planner.BindEnv
	Sequences Sequences
	// Progress is told how many rows of a table are in an index that is being built. May be nil.
	Progress func(table, index types.OID, rows int64)
	// Hold keeps a view's version from being given up until the returned function is called. May be nil.
	Hold func(v storage.View) (release func())

	User     *catalog.Role
	Database string
	// DatabaseOID is the current database, for COMMENT ON DATABASE.
	DatabaseOID types.OID
	// CreationSchema returns where unqualified new objects go; its error is 3F000.
	CreationSchema func() (types.OID, error)
	// TempSchema returns the session's temporary schema, making it when there is none yet.
	TempSchema func() (types.OID, error)
	// OnTemp tells the session about a new temporary table and what COMMIT does with it.
	OnTemp func(rel types.OID, action ast.OnCommit)

	// OnLabel tells the session about a label added to an enum type, which is not to be used before COMMIT.
	OnLabel func(label types.OID)

	// CheckBody reads the body of a function in language SQL and, with bind, binds its statements; nil: bodies are not checked.
	CheckBody func(p *catalog.Proc, bind bool) error

	Notice func(*sqlerr.Error)
	// Query runs a query of the statement (CREATE TABLE AS: an INSERT) in the current transaction and returns its row count.
	Query func(st ast.Stmt) (int64, error)
	// Rows runs a query in the current transaction; a row handed to f is valid during the call.
	Rows func(st ast.Stmt, f func([]types.Datum) error) error
	// Prepared returns the query of a prepared statement for CREATE TABLE AS EXECUTE, its arguments put in.
	Prepared func(st *ast.Execute) (*ast.Select, error)
	// System changes the system database, where roles live, in a transaction of its own.
	System func(f func(w *catalog.Writer) error) error
	// Password turns the password of CREATE ROLE into what is stored (a SCRAM verifier).
	Password func(text string) (string, error)
	// Setting checks and canonicalizes ALTER ROLE ... SET: name=value.
	Setting func(st *ast.SetVar) (name, value string, err error)
}

// Result is what a statement reports.
type Result struct {
	Tag string
	// Rows is shown behind the tag when HasRows: CREATE TABLE AS shows SELECT n.
	Rows    int64
	HasRows bool
}

// executor runs one statement.
type executor struct {
	*Env
	text string
}

// Handles says whether Execute knows a statement.
func Handles(st ast.Stmt) bool {
	switch st.(type) {
	case *ast.CreateTable, *ast.CreateIndex, *ast.AlterTable, *ast.CreateView, *ast.CreateTableAs, *ast.RefreshMatView, *ast.CreateSequence,
		*ast.AlterSequence, *ast.CreateSchema, *ast.CreateEnum, *ast.AlterEnum, *ast.CreateComposite, *ast.CreateDomain, *ast.AlterDomain,
		*ast.CreateFunction, *ast.Drop, *ast.Rename, *ast.AlterObjectSchema, *ast.AlterOwner, *ast.Comment, *ast.Grant, *ast.GrantRole,
		*ast.AlterDefaultPrivileges, *ast.CreateRole, *ast.AlterRole, *ast.AlterRoleSet, *ast.DropRole, *ast.DropOwned, *ast.ReassignOwned,
		*ast.CreateExtension, *ast.Truncate:
		return true
	}
	return false
}

// Execute runs a definition. Called by sql/session inside the statement's transaction; an error means that the transaction
// (or its savepoint) must be rolled back.
func Execute(env *Env, st ast.Stmt) (Result, error) {
	bind := *env.Bind
	bind.Fold = true
	own := *env
	own.Bind = &bind
	x := &executor{Env: &own, text: bind.Text}
	switch s := st.(type) {
	case *ast.CreateTable:
		return tag("CREATE TABLE", x.createTable(s))
	case *ast.CreateIndex:
		return tag("CREATE INDEX", x.createIndex(s))
	case *ast.AlterTable:
		bind := *x.Bind // its errors have no positions in PostgreSQL
		bind.Text, x.text = "", ""
		x.Bind = &bind
		return tag("ALTER "+string(s.Kind), x.alterTable(s))
	case *ast.CreateView:
		return tag("CREATE VIEW", x.createView(s))
	case *ast.CreateTableAs:
		return x.createTableAs(s)
	case *ast.RefreshMatView:
		return tag("REFRESH MATERIALIZED VIEW", x.refresh(s))
	case *ast.CreateSequence:
		return tag("CREATE SEQUENCE", x.createSequence(s))
	case *ast.AlterSequence:
		return tag("ALTER SEQUENCE", x.alterSequence(s))
	case *ast.CreateSchema:
		return tag("CREATE SCHEMA", x.createSchema(s))
	case *ast.CreateEnum:
		return tag("CREATE TYPE", x.createEnum(s))
	case *ast.AlterEnum:
		return tag("ALTER TYPE", x.alterEnum(s))
	case *ast.CreateComposite:
		return tag("CREATE TYPE", x.createComposite(s))
	case *ast.CreateDomain:
		return tag("CREATE DOMAIN", x.createDomain(s))
	case *ast.AlterDomain:
		return tag("ALTER DOMAIN", x.alterDomain(s))
	case *ast.Truncate:
		return tag("TRUNCATE TABLE", x.truncate(s))
	}
	return x.executeRest(st)
}

func (x *executor) executeRest(st ast.Stmt) (Result, error) {
	switch s := st.(type) {
	case *ast.Drop:
		return tag("DROP "+string(s.Kind), x.drop(s))
	case *ast.Rename:
		return tag("ALTER "+string(renameWord(s)), x.rename(s))
	case *ast.AlterObjectSchema:
		return tag("ALTER "+string(s.Kind), x.setSchema(s))
	case *ast.AlterOwner:
		return tag("ALTER "+string(s.Kind), x.alterOwner(s))
	case *ast.Comment:
		return tag("COMMENT", x.comment(s))
	case *ast.Grant:
		if s.Revoke {
			return tag("REVOKE", x.grant(s))
		}
		return tag("GRANT", x.grant(s))
	case *ast.GrantRole:
		if s.Revoke {
			return tag("REVOKE ROLE", x.grantRole(s))
		}
		return tag("GRANT ROLE", x.grantRole(s))
	case *ast.AlterDefaultPrivileges:
		return tag("ALTER DEFAULT PRIVILEGES", x.defaultPrivileges(s))
	case *ast.CreateRole:
		return tag("CREATE ROLE", x.createRole(s))
	case *ast.AlterRole:
		return tag("ALTER ROLE", x.alterRole(s))
	case *ast.AlterRoleSet:
		return tag("ALTER ROLE", x.alterRoleSet(s))
	case *ast.DropRole:
		return tag("DROP ROLE", x.dropRole(s))
	case *ast.CreateFunction:
		return tag("CREATE FUNCTION", x.createFunction(s))
	case *ast.CreateExtension:
		return tag("CREATE EXTENSION", x.createExtension(s))
	case *ast.DropOwned:
		return tag("", sqlerr.Unsupported("DROP OWNED"))
	case *ast.ReassignOwned:
		return tag("", sqlerr.Unsupported("REASSIGN OWNED"))
	}
	return Result{}, sqlerr.Unsupported("%s", fmt.Sprintf("statement %T", st))
}

func tag(text string, err error) (Result, error) { return Result{Tag: text}, err }

// at makes an error at a place of the statement's text.
func (x *executor) at(loc int32, code sqlerr.Code, format string, args ...any) *sqlerr.Error {
	e := sqlerr.New(code, format, args...)
	if x.text != "" {
		e.Position = ast.CharPosition(x.text, loc)
	}
	return e
}

// notice sends a notice that something was skipped or done implicitly.
func (x *executor) notice(code sqlerr.Code, format string, args ...any) {
	if x.Notice != nil {
		x.Notice(sqlerr.Notice(code, format, args...))
	}
}

// names renders objects in messages.
func (x *executor) names() catalog.Names {
	return catalog.Names{Reader: x.Writer.Reader(), Path: x.Bind.Path, Database: x.Database}
}

// Word is how messages name a definition: "cannot execute CREATE TABLE in a read-only transaction".
func Word(st ast.Stmt) string {
	switch s := st.(type) {
	case *ast.CreateTable, *ast.CreateTableAs:
		return "CREATE TABLE"
	case *ast.CreateIndex:
		return "CREATE INDEX"
	case *ast.AlterTable:
		return "ALTER " + string(s.Kind)
	case *ast.CreateView:
		return "CREATE VIEW"
	case *ast.CreateSequence:
		return "CREATE SEQUENCE"
	case *ast.AlterSequence:
		return "ALTER SEQUENCE"
	case *ast.CreateSchema:
		return "CREATE SCHEMA"
	case *ast.CreateEnum, *ast.CreateComposite:
		return "CREATE TYPE"
	case *ast.CreateDomain:
		return "CREATE DOMAIN"
	case *ast.Drop:
		return "DROP " + string(s.Kind)
	case *ast.Truncate:
		return "TRUNCATE TABLE"
	case *ast.Comment:
		return "COMMENT"
	case *ast.Grant, *ast.GrantRole:
		return "GRANT"
	case *ast.CreateRole:
		return "CREATE ROLE"
	case *ast.DropRole:
		return "DROP ROLE"
	}
	return "ALTER"
}
