package jsonappend

import (
	"math"
	"strconv"
)

// Floats says how floats are written.
type Floats uint8

const (
	// ShortFloats writes a whole number without a point, as encoding/json does.
	ShortFloats Floats = iota
	// PointedFloats keeps ".0" on whole numbers, so that who guesses a field's type by its first value takes it for a float.
	PointedFloats
)

const (
	// exact64 and exact32 bound the whole numbers of which every digit is the float's own. Above them the shortest digits that read back as
	// the float are not all of the whole number's.
	exact64 = 1 << 53
	exact32 = 1 << 24
	// digits64 and digits32 bound the decimals no two of which are the same float: those of 15 and of 6 digits.
	digits64 = 1e15
	digits32 = 1e6
)

// Float64 appends the shortest decimal that reads back as v, with an exponent below 1e-6 and from 1e21 on, as encoding/json does. JSON has no
// word for NaN and infinities: of these nothing is appended and ok is false.
func Float64(dst []byte, v float64, f Floats) (_ []byte, ok bool) {
	if i := int64(v); float64(i) == v && uint64(i+exact64) <= 2*exact64 && (i != 0 || !math.Signbit(v)) {
		return appendWhole(dst, i, f), true
	}
	if m, places := decimal64(math.Abs(v)); places > 0 {
		return appendDecimal(dst, v < 0, m, places), true
	}
	if v-v != 0 {
		return dst, false
	}
	return appendFloat(dst, v, 64, f), true
}

// Float32 is Float64 for a number whose digits are those of a float32: 0.1 stays 0.1.
func Float32(dst []byte, v float32, f Floats) (_ []byte, ok bool) {
	if i := int64(v); float32(i) == v && uint64(i+exact32) <= 2*exact32 && (i != 0 || math.Float32bits(v) == 0) {
		return appendWhole(dst, i, f), true
	}
	if m, places := decimal32(float32(math.Abs(float64(v)))); places > 0 {
		return appendDecimal(dst, v < 0, m, places), true
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

func appendWhole(dst []byte, i int64, f Floats) []byte {
	dst = Int(dst, i)
	if f == PointedFloats {
		return append(dst, '.', '0')
	}
	return dst
}

// maxPlaces is how many digits after the point decimal64 and decimal32 try.
const maxPlaces = 6

// decimal64 finds m and places such that m/10^places is v, which is what most floats of people's are: 0.75, 12.5. It gives places 0 if there
// are none. Both m and the power are floats without rounding, so their quotient is the float next to the decimal; and since no
// other decimal of so few digits is that float, this one is the shortest. It takes a fifth of the general way's time.
func decimal64(v float64) (m uint64, places int) {
	if v < digits64/1e6 {
		for places, scale := range &[...]float64{1e1, 1e2, 1e3, 1e4, 1e5, 1e6} {
			x := v * scale
			whole := uint64(x + 0.5)
			// Most of what is no such decimal is told without a division.
			if d := x - float64(whole); d*d*(1<<80) <= x*x && float64(whole)/scale == v && whole > 0 {
				return whole, places + 1
			}
		}
	}
	return 0, 0
}

// decimal32 is decimal64 for the digits of a float32.
func decimal32(v float32) (m uint64, places int) {
	for places, scale := range &[...]float32{1e1, 1e2, 1e3, 1e4, 1e5, 1e6} {
		x := v * scale
		if !(x < digits32) {
			break
		}
		whole := uint32(x + 0.5)
		if whole < digits32 && float32(whole)/scale == v && whole > 0 {
			return uint64(whole), places + 1
		}
	}
	return 0, 0
}

// appendDecimal appends m/10^places. places is from 1 to maxPlaces.
func appendDecimal(dst []byte, negative bool, m uint64, places int) []byte {
	if negative {
		dst = append(dst, '-')
	}
	scale := uint64(1)
	for range places {
		scale *= 10
	}
	dst = Int(dst, int64(m/scale))
	rest := uint32(m % scale)
	var b [1 + maxPlaces]byte
	b[0] = '.'
	for i := places; i > 0; i-- {
		b[i] = '0' + byte(rest%10)
		rest /= 10
	}
	return append(dst, b[:1+places]...)
}

// appendFloat takes what is finite and not whole, or very large.
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
