package sinks

import (
	"fmt"
	"time"
)

// PermanentError says that the backend refused the whole chunk and will refuse it again. It is not retried; its items are
// counted as refused, under Reason.
type PermanentError struct {
	Reason Reason
	Err    error
}

// Permanent marks err as not worth a retry. Permanent(nil) is nil.
func Permanent(err error) error { return Refusal("", err) }

// Refusal is Permanent with the reason under which the items are counted. Refusal(reason, nil) is nil.
func Refusal(reason Reason, err error) error {
	if err == nil {
		return nil
	}
	return &PermanentError{Reason: reason, Err: err}
}

func (e *PermanentError) Error() string { return "refused: " + e.Err.Error() }

// Unwrap returns what the backend said.
func (e *PermanentError) Unwrap() error { return e.Err }

// ConfigError says that nothing was taken, and that nothing will be until somebody changes something: a credential, a permission, an
// address, what is installed at the backend. The chunk is kept and tried again slowly until it expires, and the log and /ready say why;
// what a mistake in the configuration would lose is then seen in time.
type ConfigError struct{ Err error }

func (e *ConfigError) Error() string { return "not configured for this: " + e.Err.Error() }

// Unwrap returns what the backend said.
func (e *ConfigError) Unwrap() error { return e.Err }

// RetryAfter says that nothing was taken and that the backend asks to wait at least After. It gets that, but no more than the configured
// expire_after: what it refuses now will have expired by then.
type RetryAfter struct {
	After time.Duration
	Err   error
}

func (e *RetryAfter) Error() string { return fmt.Sprintf("retry after %s: %v", e.After, e.Err) }

// Unwrap returns what the backend said.
func (e *RetryAfter) Unwrap() error { return e.Err }

// TooLargeError says that the chunk is too large for the backend and that nothing was taken. Delivery halves the chunk and sends the
// halves; a single item that is still too large is refused alone.
type TooLargeError struct{ Err error }

func (e *TooLargeError) Error() string { return "too large: " + e.Err.Error() }

// Unwrap returns what the backend said.
func (e *TooLargeError) Unwrap() error { return e.Err }
