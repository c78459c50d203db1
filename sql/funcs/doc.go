// Package funcs has the functions of SQL: scalar kernels, aggregates and set-returning functions.
//
// # Purpose
//
// A kernel computes one function for the selected rows of a batch. Kernels are registered under the C symbol that
// PostgreSQL gives the function (pg_proc.prosrc), so that several entries of pg_proc share one; functions that
// PostgreSQL writes in SQL are registered under their signature. What has no kernel here is resolved all the same, and
// its call is 0A000 with the signature.
//
// # Invariants
//
//	I1  A kernel writes out only at selected rows and never reads rows that are not selected.
//	I2  A kernel of a strict function never sees a NULL argument: the evaluator narrows the selection.
//	I3  A kernel from Lookup may keep scratch memory: it serves one call site of one session at a time.
//	I4  Errors are *sqlerr.Error in PostgreSQL's words.
//	I5  No kernel reads a clock or a source of randomness but Ctx's.
//
// # Goroutines
//
// None. The registry is filled by init functions and read-only afterwards.
//
// # Files
//
//	ctx.go env.go      Ctx; Env: what a session does for functions
//	registry.go        Kernel, CallInfo, Lookup
//	lift.go row.go     kernels from functions of one row
//	compare.go         comparison operators of all types
//	numkernel.go       arithmetic and comparison of numeric without allocation
//	intarith.go floatarith.go numericfn.go mathfn.go   numbers
//	cast.go            casts and length coercions
//	textfn.go textmore.go format.go encode.go          strings
//	like.go regex.go regextrans.go regexfn.go          patterns
//	timefn.go timeparts.go tochar*.go                  dates and times
//	jsonfn.go jsonset.go jsonbuild.go                  JSON
//	arrayfn.go                                         arrays
//	sysinfo.go sysprivs.go sequences.go                session and catalog
//	agg*.go srf*.go    aggregates and set-returning functions
package funcs
