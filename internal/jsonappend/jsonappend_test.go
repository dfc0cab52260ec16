package jsonappend

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func FuzzString(f *testing.F) {
	for _, s := range []string{"", "plain", "q\"b\\", "a\nb\tc\rd", "\x00\x1f\x7f", "é☃😀", "\xff\xc3(", "\u2028\u2029"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text := String(nil, s)
		var back string
		require.NoError(t, json.Unmarshal(text, &back))
		require.Equal(t, string([]rune(s)), back)
		require.False(t, strings.ContainsAny(string(text), "\n\r"))
		require.True(t, utf8.Valid(text))
	})
}

func TestFloat(t *testing.T) {
	tests := []struct {
		v    float64
		want string
	}{
		{0, "0"},
		{3, "3"},
		{-1.5, "-1.5"},
		{1e20, "100000000000000000000"},
		{1e21, "1e+21"},
		{1e-7, "1e-07"},
		{math.MaxFloat64, "1.7976931348623157e+308"},
		{1.4285714285714286, "1.4285714285714286"},
		{math.NaN(), "null"},
		{math.Inf(-1), "null"},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, string(Float(nil, tt.v)))
	}
}

func TestStrings(t *testing.T) {
	require.Equal(t, `[]`, string(Strings(nil, nil)))
	require.Equal(t, `["a","b:\"c\""]`, string(Strings(nil, []string{"a", `b:"c"`})))
}

func TestNothingAllocates(t *testing.T) {
	buf := make([]byte, 0, 1024)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		buf = Float(Strings(String(buf[:0], "name\n"), []string{"a:b"}), 1.5)
	}))
}
