package config

import (
	"errors"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// text returns the text of a plain value with ${NAME} replaced, or reports that something else was expected.
func (d *decoder) text(what string, n *node) (string, bool) {
	if n.kind != scalar {
		d.expected(what, n)
		return "", false
	}
	if n.variable != "" {
		return n.text, true
	}
	text, err := d.doc.expand(n.text)
	if err != nil {
		d.fault("%v", err)
		return "", false
	}
	return text, true
}

func (d *decoder) scalar(n *node, v reflect.Value) {
	kind := v.Kind()
	what := typeName(v.Type())
	text, ok := d.text(what, n)
	if !ok {
		return
	}
	var err error
	switch {
	case kind == reflect.String:
		v.SetString(text)
	case kind == reflect.Bool:
		var b bool
		if b, err = parseBool(text); err == nil {
			v.SetBool(b)
		}
	case v.CanInt():
		var i int64
		if i, err = parseInt(text, v.Type().Bits()); err == nil {
			v.SetInt(i)
		}
	case v.CanUint():
		var u uint64
		if u, err = parseUint(text, v.Type().Bits()); err == nil {
			v.SetUint(u)
		}
	case v.CanFloat():
		var f float64
		if f, err = parseFloat(text, v.Type().Bits()); err == nil {
			v.SetFloat(f)
		}
	default:
		d.fault("the program has a type here that no value can be written over: %v", v.Type())
	}
	d.notParsed(what, n, err)
}

// notParsed reports an error of the parse functions. It shows the value as it stands in the file, not what a variable held.
func (d *decoder) notParsed(what string, n *node, err error) {
	var out *rangeError
	switch {
	case err == nil:
	case errors.As(err, &out):
		d.fault("%s is out of range: it can be %s to %s", quote(n.text), out.low, out.high)
	case errors.Is(err, errLeadingZero):
		d.fault("%s begins with a zero: write 0o for octal, or leave the zero out", quote(n.text))
	default:
		d.expected(what, n)
	}
}

// typeName says in words what a type takes.
func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return "a whole number"
	default:
		return t.String()
	}
}

var (
	errSyntax      = errors.New("not a value of the type")
	errLeadingZero = errors.New("leading zero")
)

// rangeError holds the bounds that a number is outside of.
type rangeError struct{ low, high string }

func (e *rangeError) Error() string { return "out of range" }

// parseBool takes the words of YAML 1.1 too, since files of the original use them.
func parseBool(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "true", "yes", "on":
		return true, nil
	case "false", "no", "off":
		return false, nil
	}
	return false, errSyntax
}

func parseInt(text string, bits int) (int64, error) {
	if leadingZero(strings.TrimLeft(text, "+-")) {
		return 0, errLeadingZero
	}
	i, err := strconv.ParseInt(text, 0, bits)
	if errors.Is(err, strconv.ErrRange) {
		low, high := int64(math.MinInt64)>>(64-bits), int64(math.MaxInt64)>>(64-bits)
		err = &rangeError{strconv.FormatInt(low, 10), strconv.FormatInt(high, 10)}
	}
	return i, err
}

func parseUint(text string, bits int) (uint64, error) {
	text = strings.TrimPrefix(text, "+")
	if leadingZero(text) {
		return 0, errLeadingZero
	}
	u, err := strconv.ParseUint(text, 0, bits)
	if digits, ok := strings.CutPrefix(text, "-"); ok {
		// Negative numbers are out of range, which says more than that they are no numbers.
		if _, err = strconv.ParseUint(digits, 0, 64); err == nil {
			err = strconv.ErrRange
		}
	}
	if errors.Is(err, strconv.ErrRange) {
		err = &rangeError{"0", strconv.FormatUint(uint64(math.MaxUint64)>>(64-bits), 10)}
	}
	return u, err
}

func leadingZero(digits string) bool {
	return len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9'
}

func parseFloat(text string, bits int) (float64, error) {
	f, err := strconv.ParseFloat(text, bits)
	if errors.Is(err, strconv.ErrRange) {
		high := strconv.FormatFloat(math.MaxFloat64, 'g', 3, 64)
		if bits == 32 {
			high = strconv.FormatFloat(math.MaxFloat32, 'g', 3, 64)
		}
		return 0, &rangeError{"-" + high, high}
	}
	if err == nil && (math.IsInf(f, 0) || math.IsNaN(f)) {
		return 0, errSyntax
	}
	return f, err
}

func (d *decoder) duration(n *node, v reflect.Value) {
	const what = "a duration such as 10s"
	text, ok := d.text(what, n)
	if !ok {
		return
	}
	duration, err := parseDuration(text)
	if err == nil {
		v.SetInt(int64(duration))
	}
	d.notParsed(what, n, err)
}

// parseDuration takes Go's notation, and a plain number as seconds.
func parseDuration(text string) (time.Duration, error) {
	if d, err := time.ParseDuration(text); err == nil {
		return d, nil
	}
	seconds, err := parseFloat(text, 64)
	if err != nil {
		return 0, errSyntax
	}
	nanoseconds := math.Round(seconds * float64(time.Second))
	if math.Abs(nanoseconds) >= math.MaxInt64 {
		high := time.Duration(math.MaxInt64).Truncate(time.Hour)
		return 0, &rangeError{(-high).String(), high.String()}
	}
	return time.Duration(nanoseconds), nil
}
