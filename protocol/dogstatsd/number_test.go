package dogstatsd

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseNumber(t *testing.T) {
	tests := []struct {
		name, in string
		want     float64
		left     string // what was not read
	}{
		{"zero", "0", 0, ""},
		{"no negative zero", "-0", 0, ""},
		{"no negative zero after underflow", "-1e-400", 0, ""},
		{"signs", "+4", 4, ""},
		{"negative", "-5", -5, ""},
		{"leading dot", ".5", 0.5, ""},
		{"trailing dot", "5.", 5, ""},
		{"leading zeros are decimal", "007", 7, ""},
		{"many leading zeros", strings.Repeat("0", 400) + "7", 7, ""},
		{"underflow", "1e-400", 0, ""},
		{"smallest", "5e-324", 5e-324, ""},
		{"largest", "1.7976931348623157e308", math.MaxFloat64, ""},
		{"half even", "9007199254740993", 9007199254740992, ""},
		{"19 digits", "9999999999999999999", 9999999999999999999, ""},
		{"20 digits", "18446744073709551616", 18446744073709551616, ""},
		{"B032 exponent", "1.0E-4", 0.0001, ""},
		{"B032 large exponent", "3.3E20", 3.3e20, ""},
		{"B032 more digits than float64", "0.1000000000000000055511151231257827", 0.1, ""},
		{"long tail of the exponent", "0.0" + strings.Repeat("0", 400) + "1e402", 1, ""},
		{"exponent with zeros", "1e+0002", 100, ""},
		{"zero with any exponent", "0e99999999999999999999", 0, ""},
		{"stops at a colon", "1.5e1:2", 15, ":2"},
		{"stops at what is no number", "1x", 1, "x"},
		{"stops at a second dot", "1.2.3", 1.2, ".3"},
		{"stops at an underscore", "1_000", 1, "_000"},
		{"stops at the x of hexadecimal", "0x1p4", 0, "x1p4"},
		{"stops at a comma", "1,5", 1, ",5"},
		{"stops at a blank", "1 ", 1, " "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, n, ok := parseNumber([]byte(tt.in))
			require.True(t, ok)
			require.Equal(t, tt.want, v)
			require.False(t, v == 0 && math.Signbit(v), "zero with a sign")
			require.Equal(t, tt.left, tt.in[n:])
		})
	}
}

func TestParseNumberRefuses(t *testing.T) {
	for _, in := range []string{
		"", "+", "-", ".", "-.", "e5", ".e5", "1e", "1e+", "1e-:", "--1", "+-1", " 1", "x", "NaN", "nan", "inf", "-Infinity",
		"+Inf", "1e400", "-1e400", "1.8e308", "?", "\ufffd", ":", "1e99999999999999999999", strings.Repeat("9", 400),
	} {
		_, _, ok := parseNumber([]byte(in))
		require.False(t, ok, "%q", in)
	}
}

// Every decimal reads as strconv reads it, whichever way it takes through a line.
func TestParseNumberAgreesWithStrconv(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	digits := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = '0' + byte(r.IntN(10))
		}
		return string(b)
	}
	var p Parser
	for range 100_000 {
		in := []string{"", "", "-", "+"}[r.IntN(4)] + digits(1+r.IntN(21))
		if r.IntN(2) == 0 {
			in += "." + digits(r.IntN(21))
		}
		if r.IntN(3) == 0 {
			in += []string{"e", "E", "e-", "E+"}[r.IntN(4)] + digits(1+r.IntN(3))
		}
		want, err := strconv.ParseFloat(in, 64)
		got, n, ok := parseNumber([]byte(in))
		require.Equal(t, err == nil, ok, in)
		if ok {
			require.Equal(t, want, got, in)
			require.Equal(t, len(in), n, in)
		}
		p.Reset([]byte("a:"+in+"|g"), testNow)
		l := p.Next()
		require.Equal(t, ok, l.Kind == MetricLine, in)
		if ok {
			require.Equal(t, []float64{want}, l.Sample.Values, in)
		}
	}
}

// Any float64 survives being written and read.
func TestNumberRoundTrip(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 100_000 {
		want := math.Float64frombits(r.Uint64())
		if math.IsNaN(want) || math.IsInf(want, 0) {
			continue
		}
		text := appendNumber(nil, want)
		got, n, ok := parseNumber(text)
		require.True(t, ok, "%s", text)
		require.Equal(t, want, got, "%s", text)
		require.Equal(t, len(text), n, "%s", text)
	}
}

func TestAppendNumber(t *testing.T) {
	for want, v := range map[string]float64{
		"0": 0, "3": 3, "-2.5": -2.5, "1000000": 1e6, "0.000001": 1e-6, "1e-07": 1e-7,
		"999999999999999900000": 9.999999999999999e20, "1e+21": 1e21, "1.7976931348623157e+308": math.MaxFloat64,
	} {
		require.Equal(t, want, string(appendNumber(nil, v)))
	}
}

func TestParseWhole(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want int64
		ok   bool
	}{
		{"0", 0, true},
		{"007", 7, true},
		{"9223372036854775807", math.MaxInt64, true},
		{"9223372036854775808", 0, false},
		{"99999999999999999999", 0, false},
		{"", 0, false},
		{"-1", 0, false},
		{"+1", 0, false},
		{"1.0", 0, false},
		{"1 ", 0, false},
	} {
		n, ok := parseWhole([]byte(tt.in))
		require.Equal(t, tt.ok, ok, tt.in)
		require.Equal(t, tt.want, n, tt.in)
	}
}
