//go:build invariants

package invariant

// Enabled is true in builds with the tag "invariants": dear checks run.
const Enabled = true
