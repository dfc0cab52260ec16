package sinks

import (
	"fmt"
	"time"
)

// PermanentError says that the backend refused the whole chunk and will refuse it again. It is not retried; its items are
// counted as refused.
type PermanentError struct{ Err error }

// Permanent marks err as not worth a retry. Permanent(nil) is nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &PermanentError{Err: err}
}

func (e *PermanentError) Error() string { return "refused: " + e.Err.Error() }

// Unwrap returns what the backend said.
func (e *PermanentError) Unwrap() error { return e.Err }

// RetryAfter says that nothing was taken and that the backend asks to wait at least After. It gets that, but no more than the configured
// expire_after: what it refuses now will have expired by then.
type RetryAfter struct {
	After time.Duration
	Err   error
}

func (e *RetryAfter) Error() string { return fmt.Sprintf("retry after %s: %v", e.After, e.Err) }

// Unwrap returns what the backend said.
func (e *RetryAfter) Unwrap() error { return e.Err }

// PartialError says that the backend took the chunk but for Refused items, which it will refuse again. Nothing of the chunk is
// retried.
type PartialError struct {
	Refused int
	Err     error
}

func (e *PartialError) Error() string { return fmt.Sprintf("%d items refused: %v", e.Refused, e.Err) }

// Unwrap returns what the backend said.
func (e *PartialError) Unwrap() error { return e.Err }

// TooLargeError says that the chunk is too large for the backend and that nothing was taken. Delivery halves the chunk and sends the
// halves; a single item that is still too large is refused alone.
type TooLargeError struct{ Err error }

func (e *TooLargeError) Error() string { return "too large: " + e.Err.Error() }

// Unwrap returns what the backend said.
func (e *TooLargeError) Unwrap() error { return e.Err }
