// Package clients runs what people connect with against herd and against PostgreSQL 15, and compares what each saw.
//
// # Purpose
//
// Each client is a program in testdata that prints all that it was told: values, types, descriptions, errors and their fields. It
// runs on a new database of either server, and its output has to be the same. psql's commands run on a database with an object of
// each kind. Herd's messages must have no error in them.
//
// # Invariants
//
//   - I1: no wanted output is kept: PostgreSQL makes it in the same run.
//   - I2: a client that is not installed skips its test by name with "peer missing"; with CI in the environment it fails: .ci/run installs them.
//
// # Goroutines
//
// None.
//
// # Files
//
//   - clients_test.go: the servers, and the clients that are programs. psql_test.go: psql's commands, pgbench's and sysbench's scripts.
//     zabbix_test.go: a large schema and its data. testdata: python, node, java and go (a module of its own) have the programs.
package clients
