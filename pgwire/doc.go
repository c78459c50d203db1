// Package pgwire serves PostgreSQL's protocol 3: listening, TLS, authentication, cancel requests and the message loop.
//
// Purpose. Turn frames into calls on session.Session and errors into ErrorResponses, under the one state machine that
// PostgreSQL 15 was measured to follow.
//
// Invariants.
//
//	I1 At most one error and exactly one ReadyForQuery answer a Sync or a Query.
//	I2 After an error in the extended protocol every message but Sync and Terminate is skipped until Sync.
//	I3 Nothing of a message is believed before its length was checked (see package wire).
//	I4 A panic in a statement costs its session an error, never the server its life.
//
// Goroutines. One accept loop a Listener; one goroutine a connection, which runs the session too.
//
// Files. listener.go accept loop and limits, conn.go start-up and message loop, copy.go copy-in mode,
// startup.go start-up packet, auth.go authentication, scram.go SCRAM-SHA-256, tls.go certificates, cancel.go cancel keys.
package pgwire
