package jsonappend

import "strconv"

// Int appends v in decimal.
func Int(dst []byte, v int64) []byte {
	if uint64(v) < 10 {
		return append(dst, '0'+byte(v))
	}
	return strconv.AppendInt(dst, v, 10)
}

// Uint appends v in decimal.
func Uint(dst []byte, v uint64) []byte { return strconv.AppendUint(dst, v, 10) }

// Bool appends true or false.
func Bool(dst []byte, v bool) []byte { return strconv.AppendBool(dst, v) }
