// Package conf is herd's configuration: one table of keys, and the three places a value can come from.
//
// # Purpose
//
// Every setting of the server has one row in the table of keys.go: its name, kind, default, bounds and meaning. The same
// row reads the properties file, the environment and the command line, prints `herd conf`, and words the error for a bad
// value. Names are HerdDB's where the meaning is the same.
//
// # Invariants
//
//   - I1: a value later in the order default, file, environment, command line replaces the earlier one.
//   - I2: an unknown key or a value out of bounds is an error that names the key, the value, where it came from and what
//     is allowed; nothing is ignored and nothing is clamped.
//   - I3: only cmd/herd imports this package. Other packages take an Options struct, so that a test needs no file.
//
// # Goroutines
//
// None. A Config is built once and only read afterwards.
//
// # Files
//
//   - config.go: Config, the typed values, and the paths and limits derived from them.
//   - keys.go: the table.
//   - kinds.go: how a kind of value is read, bounded and described.
//   - load.go: the sources and their order.
//   - print.go: the printed table and the example file.
package conf
