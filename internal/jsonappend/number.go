package jsonappend

import (
	"math"
	"strconv"
)

// Int appends v in decimal.
func Int(dst []byte, v int64) []byte { return strconv.AppendInt(dst, v, 10) }

// Uint appends v in decimal.
func Uint(dst []byte, v uint64) []byte { return strconv.AppendUint(dst, v, 10) }

// Bool appends true or false.
func Bool(dst []byte, v bool) []byte { return strconv.AppendBool(dst, v) }

// Floats says how floats are written.
type Floats uint8

const (
	// ShortFloats writes a whole number without a point, as encoding/json does.
	ShortFloats Floats = iota
	// PointedFloats keeps ".0" on whole numbers, so that who guesses a field's type by its first value takes it for a float.
	PointedFloats
)

// Float64 appends the shortest decimal that reads back as v, with an exponent below 1e-6 and from 1e21 on, as encoding/json does. JSON has no
// word for NaN and infinities: of these nothing is appended and ok is false.
func Float64(dst []byte, v float64, f Floats) (_ []byte, ok bool) {
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 && (v != 0 || !math.Signbit(v)) {
		dst = strconv.AppendInt(dst, int64(v), 10)
		return point(dst, f), true
	}
	if v-v != 0 {
		return dst, false
	}
	return appendFloat(dst, v, 64, f), true
}

// Float32 is Float64 for a number whose digits are those of a float32: 0.1 stays 0.1.
func Float32(dst []byte, v float32, f Floats) (_ []byte, ok bool) {
	// From 2^24 on the shortest digits of a float32 are not all of the whole number's.
	if w := float64(v); w == math.Trunc(w) && math.Abs(w) < 1<<24 && (w != 0 || !math.Signbit(w)) {
		dst = strconv.AppendInt(dst, int64(w), 10)
		return point(dst, f), true
	}
	if v-v != 0 {
		return dst, false
	}
	return appendFloat(dst, float64(v), 32, f), true
}

// Float is Float64 with null for NaN and infinities.
func Float(dst []byte, v float64) []byte {
	dst, ok := Float64(dst, v, ShortFloats)
	if !ok {
		return append(dst, "null"...)
	}
	return dst
}

func point(dst []byte, f Floats) []byte {
	if f == PointedFloats {
		return append(dst, '.', '0')
	}
	return dst
}

func appendFloat(dst []byte, v float64, bits int, f Floats) []byte {
	format, start := byte('f'), len(dst)
	if abs := math.Abs(v); abs != 0 && (bits == 64 && (abs < 1e-6 || abs >= 1e21) || bits == 32 && (float32(abs) < 1e-6 || float32(abs) >= 1e21)) {
		format = 'e'
	}
	dst = strconv.AppendFloat(dst, v, format, -1, bits)
	if format == 'e' {
		// strconv writes two digits of an exponent at least: e-09 becomes e-9.
		if n := len(dst); n >= 4 && dst[n-4] == 'e' && dst[n-3] == '-' && dst[n-2] == '0' {
			dst[n-2] = dst[n-1]
			dst = dst[:n-1]
		}
		return dst
	}
	if f == PointedFloats {
		for _, c := range dst[start:] {
			if c == '.' {
				return dst
			}
		}
		return append(dst, '.', '0')
	}
	return dst
}
