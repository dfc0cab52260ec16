package propagation

import "strconv"

const digits = "0123456789abcdef"

// appendHex appends 16 digits.
func appendHex(b []byte, v uint64) []byte {
	for shift := 60; shift >= 0; shift -= 4 {
		b = append(b, digits[v>>shift&15])
	}
	return b
}

// traceID returns an id in 32 digits, or in 16 when the upper half is zero.
func traceID(high uint64, low int64) string {
	var b []byte
	if high != 0 {
		b = appendHex(b, high)
	}
	return string(appendHex(b, uint64(low)))
}

func spanID(id int64) string { return string(appendHex(nil, uint64(id))) }

// parseHex reads 1 to 16 digits, of either case.
func parseHex(s string) (uint64, bool) {
	if s == "" || len(s) > 16 {
		return 0, false
	}
	var v uint64
	for i := range len(s) {
		d := s[i]
		switch {
		case d >= '0' && d <= '9':
			d -= '0'
		case d >= 'a' && d <= 'f':
			d -= 'a' - 10
		case d >= 'A' && d <= 'F':
			d -= 'A' - 10
		default:
			return 0, false
		}
		v = v<<4 | uint64(d)
	}
	return v, true
}

// parseTraceID reads 1 to 32 digits. An id of which the lower half is zero is refused: it is the half that we have room for.
func parseTraceID(s string) (high uint64, low int64, ok bool) {
	if cut := len(s) - 16; cut > 0 {
		if high, ok = parseHex(s[:cut]); !ok {
			return 0, 0, false
		}
		s = s[cut:]
	}
	v, ok := parseHex(s)
	return high, int64(v), ok && v != 0
}

func parseSpanID(s string) (int64, bool) {
	v, ok := parseHex(s)
	return int64(v), ok && v != 0
}

// parseDecimal reads an id as the original wrote it, signed, or as others do, unsigned.
func parseDecimal(s string) (int64, bool) {
	if v, err := strconv.ParseInt(s, 10, 64); err == nil {
		return v, v != 0
	}
	v, err := strconv.ParseUint(s, 10, 64)
	return int64(v), err == nil
}
