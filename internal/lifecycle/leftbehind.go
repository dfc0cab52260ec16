package lifecycle

import (
	"fmt"
	"time"
)

// LeftBehindError is a Runner that did not end within its stage's grace. It is a failure: what it held is lost, and an exit code of 0 would say
// that all was well.
type LeftBehindError struct {
	Stage  string
	Runner string
	Grace  time.Duration
}

// Error names the stage and the Runner.
func (e *LeftBehindError) Error() string {
	return fmt.Sprintf("%s: %s did not end within %s and is left behind", e.Stage, e.Runner, e.Grace)
}
