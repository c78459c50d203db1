// Command large shows that a herd server keeps to its memory limit while its data are several times larger.
//
// # Purpose
//
// `go run ./bench/large` starts a server with --limit of memory, loads --size of rows by COPY and some by INSERT, and runs point
// reads and updates, scans, a build of an index, a sort, a join, a long reader beside updates, a clean restart and a kill.
// The resident set of the process is read from outside every 100 ms; each phase prints what it did, how fast, how many
// blocks it read and the largest resident set. With --out the table is written as a file in Markdown.
//
// # Invariants
//
//   - I1: the figures of a phase are of that phase alone; the resident set is sampled without a break from the server's start.
//   - I2: a phase that fails is in the table with its error, and the exit status is 1, as it is when the limit was broken.
//
// # Goroutines
//
// The sampler, ended with the run; the clients of a phase, ended with it.
//
// # Files
//
//   - main.go: flags and order. server.go: the server, its metrics and its memory. phases.go: what is run. disk.go: the disk itself
//     and the page cache. report.go: the table.
package main
