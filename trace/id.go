package trace

import "math/rand/v2"

// newID is random, positive and never zero. The generator is the runtime's, of which each thread has its own: no lock is shared.
func newID() int64 { return max(int64(rand.Uint64()>>1), 1) }
