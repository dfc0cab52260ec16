package main

import (
	"fmt"
	"strconv"
	"strings"
)

// The environment through which a timed command learns of which span it is a part.
const (
	envTraceID  = "VENEUR_EMIT_TRACE_ID"
	envParentID = "VENEUR_EMIT_PARENT_SPAN_ID"
)

// fromEnvironment takes the trace and the parent that the flags do not name. The parent is taken only with its own trace: in another
// one it would be nobody.
func (o *options) fromEnvironment(environ []string) error {
	traceID, err := lookupID(environ, envTraceID)
	if err != nil {
		return err
	}
	parentID, err := lookupID(environ, envParentID)
	if err != nil {
		return err
	}
	if o.span.traceID == 0 {
		o.span.traceID = traceID
	}
	if o.span.traceID == traceID && !o.given["parent_span_id"] {
		o.span.parentID = parentID
	}
	return nil
}

// withSpan returns environ for a command that is timed as the given span.
func withSpan(environ []string, traceID, spanID int64) []string {
	return append(append([]string(nil), environ...),
		envTraceID+"="+strconv.FormatInt(traceID, 10),
		envParentID+"="+strconv.FormatInt(spanID, 10))
}

// lookupID returns the id in a variable, or 0 without one. The last of several entries counts, as it does for a command.
func lookupID(environ []string, name string) (int64, error) {
	value := ""
	for _, entry := range environ {
		if rest, ok := strings.CutPrefix(entry, name+"="); ok {
			value = rest
		}
	}
	if value == "" {
		return 0, nil
	}
	id, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %q is not a whole number", name, value)
	}
	return id, nil
}
