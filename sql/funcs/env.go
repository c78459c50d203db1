package funcs

import (
	"herd/sql/catalog"
	"herd/sql/types"
)

// Env is what functions ask of the session. Session implements it; a nil Env makes these functions fail with 0A000.
type Env interface {
	// CurrentUser and SessionUser return the roles' names.
	CurrentUser() string
	SessionUser() string
	// Database returns the name of the current database.
	Database() string
	// SearchPath returns the schemas of the search path that exist; implicit adds pg_catalog and the temporary schema.
	SearchPath(implicit bool) []string
	// Catalog is the statement's view of the catalog.
	Catalog() catalog.Reader

	// Setting returns a run-time parameter as SHOW shows it; ok false when there is none of the name.
	Setting(name string) (value string, ok bool)
	// SetSetting changes one for the session or, with local, the transaction, and returns the value as shown.
	SetSetting(name, value string, local bool) (string, error)

	// NextVal and the others work on sequences by OID; privilege checks included.
	NextVal(seq types.OID) (int64, error)
	// NextIdentity is NextVal for an identity column, which asks for no rights on its sequence.
	NextIdentity(seq types.OID) (int64, error)
	CurrVal(seq types.OID) (int64, error)
	LastVal() (int64, error)
	SetVal(seq types.OID, value int64, called bool) error
	// SequenceLast returns the last value for pg_sequence_last_value; ok false when none was used.
	SequenceLast(seq types.OID) (value int64, ok bool, err error)

	// AdvisoryLock takes an advisory lock; try returns false instead of waiting.
	AdvisoryLock(key AdvisoryKey, shared, xact, try bool) (bool, error)
	AdvisoryUnlock(key AdvisoryKey, shared bool) (bool, error)
	AdvisoryUnlockAll()

	// TxID returns the transaction's number, allotting one when assign is set; 0 = none yet.
	TxID(assign bool) (uint64, error)
	// TxStatus returns "in progress", "committed", "aborted", or "" when that is no longer known.
	TxStatus(id uint64) string
	// Sleep waits, until interrupted, for micros microseconds.
	Sleep(micros int64) error
	// BackendPID is the number that cancel requests use.
	BackendPID() int32
	// SignalBackend cancels the statement of another session, or ends the session; false when there is none.
	SignalBackend(pid int32, terminate bool) (bool, error)
	// Notify sends a notification at commit.
	Notify(channel, payload string) error
	// CallSQL runs a function in language SQL and gives row the rows of its last statement, all columns of them for a call whose
	// columns are known (ci.Columns), else one value; a function that returns no set stops after the first.
	CallSQL(c *Ctx, ci *CallInfo, args []types.Datum, row func(vals []types.Datum) error) error
	// NotifyUsage is the part, 0 to 1, of the queue of notifications that is full.
	NotifyUsage() float64
	// ClientAddr returns address and port of the client and of the server's end; "" for a Unix socket.
	ClientAddr() (client string, clientPort int, server string, serverPort int)
	// StartTimes returns when the server started, read its configuration and accepted this connection.
	StartTimes() (server, conf, session int64)

	// HasPrivilege checks a right of a role (by name or OID) on an object, as has_table_privilege and its kin do.
	// Privileges is the text of the argument ("SELECT, UPDATE WITH GRANT OPTION"). null: the object does not exist.
	HasPrivilege(p PrivilegeQuery) (has, null bool, err error)
	// Deparse returns SQL text for an object; ok false when there is no such object.
	Deparse(d DeparseQuery) (text string, ok bool, err error)
	// Size returns the bytes of an object: "database", "relation" (fork main), "table", "indexes", "total", "tablespace".
	Size(what string, object types.OID) (bytes int64, ok bool, err error)
	// Visible says whether an object is found by its name alone; ok false when there is no such object.
	Visible(class types.OID, object types.OID) (visible, ok bool, err error)
	// TypeName returns format_type's name of a type that is not built in.
	TypeName(t types.OID, mod types.Typmod) (string, bool)
	// Stat returns a counter of the statistics views for an object ("numscans", "tuples_inserted", ...).
	Stat(counter string, object types.OID) (int64, bool)
}

// AdvisoryKey names an advisory lock: one 64-bit key (Two false: Class has the high half) or two 32-bit keys.
type AdvisoryKey struct {
	Class, Obj uint32
	Two        bool
}

// PrivilegeQuery is one call of a has_*_privilege function.
type PrivilegeQuery struct {
	// Kind is "table", "column", "any_column", "database", "schema", "sequence", "function", "language", "type", "tablespace",
	// "foreign_data_wrapper", "server", "parameter" or "role".
	Kind string
	// Role is the role asked about: RoleName when ByName, else RoleOID; neither set (Current) is the current user.
	RoleName string
	RoleOID  types.OID
	Current  bool
	ByName   bool
	// Object is the object: its text when ObjectByName, else its OID.
	ObjectName   string
	Object       types.OID
	ObjectByName bool
	// Column is the column's name or, when empty, Attno its number.
	Column     string
	Attno      int
	Privileges string
}

// DeparseQuery is one call of a pg_get_* function.
type DeparseQuery struct {
	// Kind is "viewdef", "indexdef", "constraintdef", "expr", "functiondef", "function_arguments", "function_identity_arguments",
	// "function_result", "function_arg_default", "triggerdef", "ruledef", "statisticsobjdef", "partkeydef", "serial_sequence",
	// "function_sqlbody".
	Kind   string
	Object types.OID
	Name   string // viewdef and serial_sequence by name
	Column int    // indexdef: 0 the whole definition; serial_sequence: see Text
	Text   string // expr: the stored expression; serial_sequence: the column
	Pretty bool
	Wrap   int
}
