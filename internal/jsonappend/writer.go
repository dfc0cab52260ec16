package jsonappend

// Style says how values are written. The zero value is encoding/json's way, but for what the package's comment lists.
type Style struct {
	Floats  Floats
	Times   Times
	Escapes Escapes
	// MaxText is how many bytes of a string value are written, see Cut, those of base64 included; 0 is any number.
	MaxText int
	// Keys are the rules for keys that strangers have chosen. Fields of a document's own are none.
	Keys Keys
}

// Times says how instants are written.
type Times uint8

const (
	// RFC3339 is a string with nine digits after the point, in UTC.
	RFC3339 Times = iota
	// EpochMillis is a number of whole milliseconds since 1970, rounded down.
	EpochMillis
	// EpochMillisNanos is a string of milliseconds since 1970 with six digits after the point, see MillisNanos.
	EpochMillisNanos
)

// Counts is what happened to values on their way. They only grow.
type Counts struct {
	// DuplicateKeys were left out, since the same key came again later, or was the same once written.
	DuplicateKeys uint64
	// RewrittenKeys were changed by the rules for paths and dots.
	RewrittenKeys uint64
	// ReservedKeys were moved out of the way of a field of the document.
	ReservedKeys uint64
	// CutKeys and CutTexts were longer than the limits.
	CutKeys, CutTexts uint64
	// NonFinite are NaN and infinities, which were left out, or are null in a list.
	NonFinite uint64
}

// Add adds other's counts.
func (c *Counts) Add(other *Counts) {
	c.DuplicateKeys += other.DuplicateKeys
	c.RewrittenKeys += other.RewrittenKeys
	c.ReservedKeys += other.ReservedKeys
	c.CutKeys += other.CutKeys
	c.CutTexts += other.CutTexts
	c.NonFinite += other.NonFinite
}

// Writer appends values in a style and counts what happens to them. It must not be used by two goroutines at once.
type Writer struct {
	Style
	Counts Counts
	order  Order
}

// Text appends a string value.
func (w *Writer) Text(dst []byte, s string) []byte {
	if w.MaxText > 0 {
		if cut := Cut(s, w.MaxText); len(cut) < len(s) {
			s = cut
			w.Counts.CutTexts++
		}
	}
	if w.Escapes != 0 {
		return StringEscaped(dst, s, w.Escapes)
	}
	return String(dst, s)
}

// Bytes appends a string value in base64. What is cut is cut where the base64 of the rest is still one.
func (w *Writer) Bytes(dst, b []byte) []byte {
	if most := w.MaxText / 4 * 3; w.MaxText > 0 && len(b) > most {
		b = b[:most]
		w.Counts.CutTexts++
	}
	return Bytes(dst, b)
}

// Float64 appends a number; of what is not finite, which is counted, nothing is appended and ok is false.
func (w *Writer) Float64(dst []byte, v float64) (_ []byte, ok bool) {
	if dst, ok = Float64(dst, v, w.Floats); !ok {
		w.Counts.NonFinite++
	}
	return dst, ok
}

// Float32 is Float64 for a float32.
func (w *Writer) Float32(dst []byte, v float32) (_ []byte, ok bool) {
	if dst, ok = Float32(dst, v, w.Floats); !ok {
		w.Counts.NonFinite++
	}
	return dst, ok
}

// Time appends an instant in the style's form. nanos may be any number and count from the second on. Outside of the years 0 to 9999
// nothing is appended, whatever the form, and ok is false.
func (w *Writer) Time(dst []byte, seconds, nanos int64) (_ []byte, ok bool) {
	carry := floorDiv(nanos, nanosPerSecond)
	if seconds < firstSecond-carry || seconds > lastSecond-carry {
		return dst, false
	}
	seconds, nanos = seconds+carry, nanos-carry*nanosPerSecond
	switch w.Times {
	case EpochMillis:
		return Int(dst, seconds*1000+nanos/nanosPerMilli), true
	case EpochMillisNanos:
		return appendMillisNanos(dst, seconds, nanos), true
	}
	return appendTime(dst, seconds, uint32(nanos)), true
}

// TimeNanos is Time for nanoseconds since 1970, which are always in range.
func (w *Writer) TimeNanos(dst []byte, nanos int64) []byte {
	switch w.Times {
	case EpochMillis:
		return Millis(dst, nanos)
	case EpochMillisNanos:
		return MillisNanos(dst, nanos)
	}
	return TimeNanos(dst, nanos)
}

// Order gives the writer's own Order, emptied. It is lent until the next call of Order or Tree.
func (w *Writer) Order() *Order {
	w.order.Reset()
	return &w.order
}
