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
//	ctx.go env.go                 Ctx; Env: what a session does for functions
//	registry.go                   Kernel, CallInfo, Lookup
//	lift.go row.go                kernels from functions of one row
//	compare.go                    comparison operators of all types
//	intarith.go floatarith.go mathfn.go   integers, floats, mathematics
//	numericfn.go numkernel.go decimal.go   numeric; its kernels without allocation; columns of one scale as integers
//	cast.go                       casts and length coercions
//	textfn.go textmore.go encode.go ident.go   strings, bit strings, encodings, identifiers
//	like.go                       LIKE and SIMILAR TO
//	regex.go regexparse.go regexclass.go regexmatch.go regexfn.go   regular expressions
//	timefn.go timeparts.go        dates and times: arithmetic, zones, fields
//	tocharparse.go tochardate.go tocharnum.go tonumber.go todate.go todatefield.go   templates
//	jsonfn.go jsonset.go jsonbuild.go jsonrecord.go   JSON
//	jsonpathfn.go jsonpathdate.go  jsonpath: functions, templates of .datetime()
//	arrayfn.go                    arrays
//	hashfn.go                     PostgreSQL's hash functions
//	sysfn.go sysfnmore.go sysfnobject.go sysfnpriv.go sysfnsize.go   session and catalog
//	agg.go aggsum.go aggpick.go aggpicknum.go aggcollect.go aggorder.go aggstat.go aggjson.go   aggregates
//	sqlcall.go                    functions in SQL that the session runs
//	srf.go srfseries.go srfjson.go srfregex.go srfsys.go srfherd.go   set-returning functions
package funcs
