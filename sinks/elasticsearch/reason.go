package elasticsearch

import (
	"errors"
	"strings"

	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/jsondoc"
)

var errUnsupported = errors.New("the layout has no document for it")

// reason says why a document was dropped: the value of a tag, mostly the backend's own error.type.
type reason uint8

const (
	reasonOther reason = iota
	reasonMapperParsing
	reasonDocumentParsing
	reasonStrictMapping
	reasonFieldLimit
	reasonImmenseTerm
	reasonIllegalArgument
	reasonTimestamp
	reasonIndexName
	reasonIndexNotFound
	reasonIndexClosed
	reasonBlocked
	reasonSecurity
	reasonNoTemplate
	reasonRequest
	reasonTooLarge
	reasonTime
	reasonValue
	reasonUnsupported
	numReasons
)

// reasons says, for each, the value of the tag and what it is to delivery.
var reasons = [numReasons]struct {
	name string
	as   sinks.Reason
	loud bool // somebody has to change something
}{
	reasonOther:           {"other", sinks.ReasonOther, false},
	reasonMapperParsing:   {"mapper_parsing_exception", sinks.ReasonConflict, false},
	reasonDocumentParsing: {"document_parsing_exception", sinks.ReasonConflict, false},
	reasonStrictMapping:   {"strict_dynamic_mapping_exception", sinks.ReasonConflict, false},
	reasonFieldLimit:      {"field_limit", sinks.ReasonLimit, false},
	reasonImmenseTerm:     {"immense_term", sinks.ReasonTooLarge, false},
	reasonIllegalArgument: {"illegal_argument_exception", sinks.ReasonInvalid, false},
	reasonTimestamp:       {"timestamp_error", sinks.ReasonTime, false},
	reasonIndexName:       {"invalid_index_name_exception", sinks.ReasonNoTarget, true},
	reasonIndexNotFound:   {"index_not_found_exception", sinks.ReasonNoTarget, true},
	reasonIndexClosed:     {"index_closed_exception", sinks.ReasonNoTarget, true},
	reasonBlocked:         {"cluster_block_exception", sinks.ReasonDenied, true},
	reasonSecurity:        {"security_exception", sinks.ReasonDenied, true},
	reasonNoTemplate:      {"no_template", sinks.ReasonNoTarget, true},
	reasonRequest:         {"request", sinks.ReasonInvalid, false},
	reasonTooLarge:        {"too_large", sinks.ReasonTooLarge, false},
	reasonTime:            {"time", sinks.ReasonTime, false},
	reasonValue:           {"value", sinks.ReasonUnsupported, false},
	reasonUnsupported:     {"unsupported", sinks.ReasonUnsupported, false},
}

func (r reason) String() string { return reasons[r].name }

// reasonOf finds the reason of an item's error. Several things that differ have the type illegal_argument_exception, and are told
// apart by how their text begins.
func reasonOf(kind, text string) reason {
	if kind == "illegal_argument_exception" || kind == "document_parsing_exception" || kind == "mapper_parsing_exception" {
		switch {
		case strings.HasPrefix(text, "Limit of total fields"):
			return reasonFieldLimit
		case strings.HasPrefix(text, "Document contains at least one immense term"):
			return reasonImmenseTerm
		}
	}
	for r := range numReasons {
		if reasons[r].name == kind {
			return r
		}
	}
	return reasonOther
}

// unwritten is the reason of a document that was not even written.
func unwritten(err error) reason {
	switch err { //nolint:errorlint // they are constants
	case jsondoc.ReasonTime:
		return reasonTime
	case jsondoc.ReasonValue:
		return reasonValue
	}
	return reasonUnsupported
}
