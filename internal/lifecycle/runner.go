package lifecycle

import "context"

// Runner works until ctx is done and returns nil then; any other return is a failure that ends the program. A Runner owns every
// goroutine it starts: none is left when Run has returned.
type Runner interface {
	Run(ctx context.Context) error
}

// Starter is implemented by a Runner that must get hold of something before it works, such as a socket. Start is called once, before
// Run, must not block for long, and must not rely on another's: Starts go on after one that failed, to find all faults at once. Then nothing
// runs, and every Closer that was started is closed.
type Starter interface {
	Start(ctx context.Context) error
}

// Closer lets go of what Start got, when Run will never be called. Where Run is called, Run itself lets go.
type Closer interface {
	Close() error
}

// RunFunc is a function used as a Runner.
type RunFunc func(ctx context.Context) error

// Run calls f.
func (f RunFunc) Run(ctx context.Context) error { return f(ctx) }
