package jsonappend

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// FuzzFloat takes the bits of a float64, and half of them as those of a float32.
func FuzzFloat(f *testing.F) {
	for _, v := range []float64{
		0, math.Copysign(0, -1), 1, -1, 3, 0.1, 0.2, 0.3, 1.5, 12.5, 99.99, 1e-6, 9.99e-7, 1e-7, 1.5e-7, 1e-10, 1e20, 1e21, 1.5e21, 1e22, 1e100, 5e-324, math.MaxFloat64, 1 << 53, 1<<53 + 2,
		1 << 24, 1<<24 + 2, 16777216.5, 1.0 / 3, 1.4285714285714286, 123456.789, 0.000123, 4503599627370496.5, 999999.9999999999, 2.2250738585072014e-308,
	} {
		f.Add(math.Float64bits(v))
		f.Add(uint64(math.Float32bits(float32(v))))
	}
	f.Fuzz(func(t *testing.T, bits uint64) {
		for _, v := range []any{math.Float64frombits(bits), math.Float32frombits(uint32(bits)), math.Float32frombits(uint32(bits >> 32))} {
			short, ok := float([]byte("x"), v, ShortFloats)
			pointed, _ := float([]byte("x"), v, PointedFloats)
			want, err := json.Marshal(v)
			require.Equal(t, err == nil, ok)
			if !ok {
				require.Equal(t, "x", string(short))
				require.Equal(t, "x", string(pointed))
				continue
			}
			require.Equal(t, "x"+string(want), string(short))
			if text := string(want); strings.ContainsAny(text, ".e") {
				require.Equal(t, "x"+text, string(pointed))
			} else {
				require.Equal(t, "x"+text+".0", string(pointed))
			}
		}
	})
}

func float(dst []byte, v any, f Floats) ([]byte, bool) {
	if v, ok := v.(float32); ok {
		return Float32(dst, v, f)
	}
	return Float64(dst, v.(float64), f)
}

// TestDecimals has what people write: every number of few digits.
func TestDecimals(t *testing.T) {
	for places := range 8 {
		scale := math.Pow10(places)
		for i := range 4_000 {
			m := i
			if i >= 2_000 {
				m = (i - 2_000) * 504_729
			}
			v := float64(m) / scale
			want, err := json.Marshal(v)
			require.NoError(t, err)
			got, _ := Float64(nil, -v, ShortFloats)
			if v != 0 {
				require.Equal(t, "-"+string(want), string(got))
			}
			want, err = json.Marshal(float32(v))
			require.NoError(t, err)
			got, _ = Float32(nil, float32(v), ShortFloats)
			require.Equal(t, string(want), string(got))
		}
	}
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
		{1e-7, "1e-7"},
		{math.MaxFloat64, "1.7976931348623157e+308"},
		{1.4285714285714286, "1.4285714285714286"},
		{math.NaN(), "null"},
		{math.Inf(-1), "null"},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, string(Float(nil, tt.v)))
	}
}

func TestIntegers(t *testing.T) {
	for shift := range 64 {
		for _, d := range []uint64{0, 1, math.MaxUint64} {
			v := uint64(1)<<shift + d
			assert.Equal(t, strconv.FormatUint(v, 10), string(Uint(nil, v)))
			assert.Equal(t, strconv.FormatInt(int64(v), 10), string(Int(nil, int64(v))))
			assert.Equal(t, strconv.FormatInt(-int64(v), 10), string(Int(nil, -int64(v))))
		}
	}
	for v, n := uint64(1), 0; n < 20; v, n = v*10, n+1 {
		for d := range uint64(3) {
			assert.Equal(t, strconv.FormatUint(v+d-1, 10), string(Uint(nil, v+d-1)))
		}
	}
}
