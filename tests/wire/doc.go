// Package wire replays scripts of raw protocol messages against a server and compares its answers.
//
// Purpose. Hold herd to what PostgreSQL 15 answers, frame by frame. Every script also passes against a real
// PostgreSQL: run the test with -addr host:port (and -rewrite to record its answers).
//
// A script is a list of blocks separated by empty lines. A block begins with a command: "connect NAME=VALUE..." opens a new
// connection, "send N" sends the messages below it and reads until N ReadyForQuery (0: until 300 ms of silence). Behind
// "----" stand the expected messages, one a line. See parse.go for the message notation.
//
// Invariants. A script does not depend on another: it begins with a connection of its own and temporary tables.
//
// Goroutines. None.
//
// Files. parse.go scripts, conn.go frames, wire_test.go the runner, testdata/*.wire the scripts.
package wire
