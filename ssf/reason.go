package ssf

// Reason names why a packet, span or sample was refused. It is an error by itself, so that refusing costs no allocation however
// much rubbish arrives, and a fit value for a metric tag: there are only the constants below and those of package protocol.
type Reason string

// Error says that it was SSF and why it was refused.
func (r Reason) Error() string { return "ssf: " + string(r) }

// What Decoder refuses: the bytes are no SSFSpan.
const (
	// ReasonTruncated: the packet, or a message inside it, ends in the middle of a field.
	ReasonTruncated Reason = "truncated"
	// ReasonVarint: a number of more than ten bytes.
	ReasonVarint Reason = "varint"
	// ReasonLength: a length that is negative or past what any packet can hold.
	ReasonLength Reason = "length"
	// ReasonField: a field number of 0 or past 2^29-1.
	ReasonField Reason = "field_number"
	// ReasonWireType: a wire type that does not exist, or not the one of a known field.
	ReasonWireType Reason = "wire_type"
	// ReasonGroup: the end of a group that has not begun, or of another one than the innermost.
	ReasonGroup Reason = "group"
	// ReasonDepth: groups nested deeper than 100.
	ReasonDepth Reason = "depth"
	// ReasonElements: more than 262,144 samples and tags together.
	ReasonElements Reason = "elements"
)

// What ValidateTrace, ValidateSpan and ValidateSample refuse.
const (
	// ReasonNoTraceID: the trace id is zero.
	ReasonNoTraceID Reason = "no_trace_id"
	// ReasonNoID: the span id is zero.
	ReasonNoID Reason = "no_id"
	// ReasonNoStart: the start is zero.
	ReasonNoStart Reason = "no_start"
	// ReasonNoEnd: the end is zero.
	ReasonNoEnd Reason = "no_end"
	// ReasonNoName: the name of a span or sample is empty.
	ReasonNoName Reason = "no_name"
	// ReasonEmpty: neither a sample nor anything of a trace.
	ReasonEmpty Reason = "empty"
	// ReasonUTF8: a text that is not UTF-8.
	ReasonUTF8 Reason = "utf8"
	// ReasonMetric: a metric that does not exist.
	ReasonMetric Reason = "metric"
	// ReasonStatus: a status that does not exist.
	ReasonStatus Reason = "status"
	// ReasonScope: a scope that does not exist.
	ReasonScope Reason = "scope"
	// ReasonValue: a value that is not finite.
	ReasonValue Reason = "value"
	// ReasonRate: a sample rate outside of 0 < rate <= 1.
	ReasonRate Reason = "rate"
	// ReasonNoMember: a set's sample without a member in its message.
	ReasonNoMember Reason = "no_member"
)
