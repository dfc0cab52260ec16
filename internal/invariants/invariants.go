// Package invariants compiles costly checks in with -tags invariants, and to nothing otherwise.
package invariants

// Mangle overwrites memory whose lease has ended, so that whoever kept it reads rubbish and a test fails. It does nothing unless
// Enabled.
func Mangle(b []byte) {
	if !Enabled {
		return
	}
	for i := range b {
		b[i] = 0xDB
	}
}
