// Command herd is the server and its tools in one program.
//
// # Purpose
//
// `herd server` serves PostgreSQL clients; the other subcommands are what a person needs beside it: a shell, a benchmark, the table of settings, a
// checker of data folders. This package is where the parts are wired: it alone knows the configuration, and the other packages get Options.
//
// # Invariants
//
//   - I1: only this package imports conf.
//   - I2: a failed command prints one line that says what was attempted on what, and exits with 1; a wrong flag or argument exits with 2.
//   - I3: SIGINT and SIGTERM end the server after the commits in progress; a second signal ends it at once.
//
// # Goroutines
//
// None of its own, apart from the reader that notices that a parent process has closed standard input (server.go).
//
// # Files
//
// One a subcommand: server.go, sql.go with split.go and format.go, ycsb.go with embedded.go, conf.go, check.go, inspect.go, backup.go, restore.go with verifybackup.go, version.go; main.go
// joins them, wire.go, users.go and memory.go make Options from the configuration, metrics.go names the counters, meter.go shows progress.
package main
