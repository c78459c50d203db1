// Package ycsb runs the YCSB core workloads against a server that speaks the PostgreSQL or the MySQL protocol.
//
// # Purpose
//
// `herd ycsb` loads a table, runs a mix of operations from many connections, prints throughput and latency
// percentiles, and then checks that every acknowledged row is in the table. Workloads, key choosers and statements are
// those of YCSB 0.12 with its JDBC binding, so that figures can be laid beside published ones; `ems1` is the mail-server mix.
//
// # Invariants
//
//   - I1: every operation is its own transaction and is counted once, when its answer has been read to the end.
//   - I2: an error is counted as an error, never as throughput, and its latency is in no histogram.
//   - I3: with a target rate, latency counts from the moment the operation was due, not from when it could be sent.
//   - I4: a row is checked exactly when its insert was acknowledged; an update when no later one may have replaced it.
//   - I5: a table that holds other rows is never touched unless Options.Drop says so.
//
// # Goroutines
//
// One per connection (worker.run), owned by phase.run and ended by the operation budget, the deadline or the context;
// one progress printer and, for a series, one that asks the server for marks per phase, ended by phase.run.
//
// # Files
//
//   - workload.go: the workloads. generator.go: key choosers and counters.
//   - driver.go: what a protocol driver does; pg.go and pgconn.go, mysql.go: the two drivers.
//   - runner.go: options and the order of loads and runs. phase.go: one load or run. worker.go: one connection.
//   - series.go: figures by second and marks. plot.go: their SVG.
//   - measure.go: histograms. verify.go: the check afterwards. report.go, table.go: results for programs and people.
package ycsb
