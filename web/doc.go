// Package web serves what people and monitors want to know of a running server over HTTP.
//
// # Purpose
//
// /metrics in Prometheus' text format, /healthz for load balancers, /debug/pprof for profiles. The package knows neither the engine
// nor sessions: whoever wires the server passes sources that read counters when a scrape asks.
//
// # Invariants
//
//   - I1: nothing is counted here; a scrape reads counters that their owners keep, so that an idle endpoint costs nothing.
//   - I2: a request never waits for a statement or a commit: sources read atomics.
//
// # Goroutines
//
// One serves HTTP, owned by Server and ended by Close.
//
// # Files
//
//   - web.go: the listener and its pages. metrics.go: sources and their metrics.
package web
