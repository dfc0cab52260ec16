//go:build invariants

package invariants

// Enabled says that costly checks are compiled in.
const Enabled = true
