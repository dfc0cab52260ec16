package dogstatsd

import (
	"math"
	"strconv"
	"unsafe"
)

// maxMantissaDigits is how many decimal digits always fit a uint64.
const maxMantissaDigits = 19

// pow10 holds the powers of ten that are exact as float64.
var pow10 = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// parseNumber reads one decimal number at the start of s: an optional sign, digits with at most one point among or around them, an
// optional exponent. It gives the n bytes it read; the caller judges what follows them. No digit, an exponent without one, or a
// number past float64 is not ok. What is too small for float64 is 0, and 0 has no sign.
//
// The result is the float64 nearest to the decimal. Integers up to 19 digits convert with one rounding; a mantissa up to 2^53
// with a power of ten up to 22 takes one multiplication or division of exact operands (Clinger, How to Read Floating Point Numbers
// Accurately, 1990). Everything else is left to strconv, which by then cannot meet the forms it alone would allow: NaN, Inf, hexadecimal,
// underscores.
func parseNumber(s []byte) (v float64, n int, ok bool) {
	i := 0
	negative := false
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		negative = s[0] == '-'
		i = 1
	}
	var mantissa uint64 // wraps past 19 digits, and is not used then
	first := i
	for i < len(s) && s[i]-'0' <= 9 {
		mantissa = mantissa*10 + uint64(s[i]-'0')
		i++
	}
	digits := i - first
	exp := 0
	if i < len(s) && s[i] == '.' {
		i++
		first = i
		for i < len(s) && s[i]-'0' <= 9 {
			mantissa = mantissa*10 + uint64(s[i]-'0')
			i++
		}
		exp = first - i
		digits -= exp
	}
	if digits == 0 {
		return 0, i, false
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		e, width := parseExponent(s[i+1:])
		if width == 0 {
			return 0, i, false
		}
		i += 1 + width
		exp += e
	}
	switch {
	case digits > maxMantissaDigits:
		return parseSlow(s[:i])
	case exp == 0 || mantissa == 0:
		v = float64(mantissa)
	case exp > 308:
		// Past float64 for certain; strconv would allocate an error to say so.
		return 0, i, false
	case mantissa > 1<<53 || exp >= len(pow10) || -exp >= len(pow10):
		return parseSlow(s[:i])
	case exp > 0:
		v = float64(mantissa) * pow10[exp]
	default:
		v = float64(mantissa) / pow10[-exp]
	}
	if negative && v != 0 {
		v = -v
	}
	return v, i, true
}

// parseExponent reads a whole number with an optional sign; n is 0 when there is no digit.
func parseExponent(s []byte) (e, n int) {
	i := 0
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		i = 1
	}
	first := i
	for i < len(s) && s[i]-'0' <= 9 {
		// No number of a packet is long enough for its point to bring a larger exponent back into range.
		if e < 1_000_000 {
			e = e*10 + int(s[i]-'0')
		}
		i++
	}
	if i == first {
		return 0, 0
	}
	if s[0] == '-' {
		e = -e
	}
	return e, i
}

func parseSlow(s []byte) (v float64, n int, ok bool) {
	// A string header over borrowed bytes: ParseFloat keeps nothing, and a copy of a long number would be an allocation.
	v, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(s), len(s)), 64)
	if err != nil || math.IsInf(v, 0) {
		return 0, len(s), false
	}
	if v == 0 {
		v = 0 // drops the sign
	}
	return v, len(s), true
}

// parseWhole reads a whole number without a sign that fits an int64.
func parseWhole(s []byte) (n int64, ok bool) {
	for _, c := range s {
		d := int64(c - '0')
		if d > 9 || n > (math.MaxInt64-d)/10 {
			return 0, false
		}
		n = n*10 + d
	}
	return n, len(s) > 0
}
