// Package session is one client's state and the life of its statements: transaction block, settings, prepared
// statements, portals, cursors, and the utility commands that are neither queries nor definitions.
//
// Purpose. Join SQL (sql/postgres, planner, sql/exec, sql/ddl) to an engine.Database, and write answers as wire frames.
//
// Invariants.
//
//	I1 The end of a transaction is never told to the client before what it read and wrote is durable
//	   (engine.Session.WaitDurable), so neither CommandComplete of COMMIT nor ReadyForQuery of an implicit one.
//	I2 A portal sees the view it captured at Bind: its transaction's later changes are invisible to it.
//	I3 A statement outside a transaction block runs in an implicit transaction that ends at Sync or at the end of the
//	   Query message.
//	I4 Nothing is answered by looking at a statement's text.
//
// Goroutines. None of its own: a Session belongs to its connection's goroutine. Cancel, Terminate and the registry
// behind pg_stat_activity are the only entries from others and touch atomics.
//
// Files. server.go what sessions share, session.go the struct, memory.go what owners hold, txn.go transaction blocks, query.go the simple protocol,
// extended.go Parse to Sync, prepared.go statements, portal.go portals, run.go execution, rows.go DataRows,
// cluster.go nodes and replicas, consistency.go stale reads, token.go commit tokens, guc.go and settings.go and checks.go parameters, set.go SET and SHOW, utility.go dispatch, cursor.go, copyfrom.go,
// notify.go LISTEN and NOTIFY, copyto.go, explain.go, maintenance.go, database.go, reconcile.go the list of databases after a restore, backup.go replication connections, environment.go services for functions, hasprivilege.go has_..._privilege, domaincheck.go constraints of domains inside of values, systemrows.go and
// stat.go what the activity and statistics views show, auth.go SCRAM verifiers, sqlfunc.go functions in SQL that are run.
package session
