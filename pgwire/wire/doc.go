// Package wire reads and writes the frames of PostgreSQL's protocol 3: the hot path of a connection.
//
// Purpose. One input and one output buffer per connection; no allocation per message or row; a limit on every
// length before memory is taken. Cold start-up messages are read by package pgwire with jackc/pgproto3's types.
//
// Invariants.
//
//	I1 A body returned by Reader.Next aliases the input buffer and is valid until the next call.
//	I2 Writer never blocks while a message is half built: bytes leave only between messages.
//	I3 After a write error the Writer swallows everything; the error is reported by Flush and Err.
//
// Goroutines. None; a Reader and a Writer belong to the connection's goroutine.
//
// Files. reader.go frames in, writer.go frames out, message.go the bodies of the extended protocol, errors.go the
// ErrorResponse and NoticeResponse fields.
package wire
