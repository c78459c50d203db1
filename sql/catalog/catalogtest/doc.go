// Package catalogtest keeps a catalog in memory, for tests of packages that read descriptors
// and have no engine.
//
// Purpose. Memory is a catalog.Source and a catalog.Tx over a sorted map.
//
// Invariants. None beyond those of package catalog.
//
// Goroutines. None; not safe for concurrent use.
//
// Files. memory.go.
package catalogtest
