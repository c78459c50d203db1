// Package mem keeps the books of memory: process, session, statement, operator.
//
// # Purpose
//
// Whoever is about to hold memory that a client can make large asks first ([Account.Grow]) and gives back later
// ([Account.Shrink]). An account asks its parent in steps of [Step] bytes, so that the process-wide counter is touched
// once per step and not once per row. A refusal is [ErrLimit]; SQL turns it into 53200 or spills.
//
// # Invariants
//
//	I1  An account's Used never exceeds what it was granted, and the grants of the children never exceed the parent's
//	    Used.
//	I2  Close gives back everything, so a forgotten Shrink cannot leak beyond its statement.
//
// # Goroutines
//
// None. All methods may be called by several goroutines at once.
//
// # Files
//
//	account.go  Account
//	use.go      Uses: what the memory of a session is for
//	huge.go     huge pages for the heap
package mem
