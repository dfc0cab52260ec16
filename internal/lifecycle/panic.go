package lifecycle

import (
	"context"
	"fmt"
	"runtime/debug"
)

// PanicError is a panic in a Runner's Run or Start.
type PanicError struct {
	Stage  string
	Runner string
	Value  any
	Stack  []byte // as debug.Stack gives it; many lines
}

// Error returns what was thrown and, on further lines, the stack.
func (e *PanicError) Error() string {
	return fmt.Sprintf("%s: %s: panic: %v\n\n%s", e.Stage, e.Runner, e.Value, e.Stack)
}

// protect calls f, a method of r, and makes an error of a panic.
func protect(ctx context.Context, stage string, r Runner, f func(context.Context) error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Stage: stage, Runner: nameOf(r), Value: v, Stack: debug.Stack()}
		}
	}()
	return f(ctx)
}
