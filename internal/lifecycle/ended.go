package lifecycle

import "fmt"

// EndedError is a Runner that returned nil, or left its goroutine, before it was told to stop. It is a failure: a part of the daemon that is
// not there any more must not go unseen.
type EndedError struct {
	Stage  string
	Runner string
}

// Error names the stage and the Runner.
func (e *EndedError) Error() string {
	return fmt.Sprintf("%s: %s ended before it was told to", e.Stage, e.Runner)
}
