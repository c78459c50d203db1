package invariant

// Assert stops the process with msg when cond is false. msg says what should have held; it must be a constant so
// that a passing check costs one branch.
func Assert(cond bool, msg string) {
	if !cond {
		fail(msg)
	}
}

// Unreachable stops the process: the caller stands on a path that its own reasoning excludes.
func Unreachable(msg string) {
	fail(msg)
}

// fail is kept out of line so that Assert stays small enough to be inlined.
//
//go:noinline
func fail(msg string) {
	panic("invariant broken: " + msg)
}
