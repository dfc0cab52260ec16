package jsonappend

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const nineDigits = `"2006-01-02T15:04:05.000000000Z"`

func FuzzTime(f *testing.F) {
	for _, s := range []int64{0, -1, 1, 951_782_399, 951_868_800, 1_709_164_800, 1_700_000_000, firstSecond, firstSecond - 1, lastSecond, lastSecond + 1, math.MinInt64, math.MaxInt64, -2_208_988_800, 4_107_542_400} {
		for _, n := range []int64{0, 1, -1, 999_999_999, 1_000_000_000, 123_456_789, math.MinInt64, math.MaxInt64} {
			f.Add(s, n)
		}
	}
	f.Fuzz(func(t *testing.T, seconds, nanos int64) {
		// The fuzzer's numbers are nearly all out of range.
		for _, s := range []int64{seconds, seconds % (2 * lastSecond), seconds % 100_000} {
			exact := new(big.Int).Add(new(big.Int).Mul(big.NewInt(s), big.NewInt(nanosPerSecond)), big.NewInt(nanos))
			first := new(big.Int).Mul(big.NewInt(firstSecond), big.NewInt(nanosPerSecond))
			end := new(big.Int).Mul(big.NewInt(lastSecond+1), big.NewInt(nanosPerSecond))
			got, ok := Time([]byte("x"), s, nanos)
			require.Equal(t, exact.Cmp(first) >= 0 && exact.Cmp(end) < 0, ok)
			if !ok {
				require.Equal(t, "x", string(got))
				continue
			}
			at := time.Unix(s, nanos).UTC()
			require.Equal(t, at.Format(nineDigits), string(got[1:]))

			// encoding/json leaves zeros out, and means the same.
			stdlib, err := json.Marshal(at)
			require.NoError(t, err)
			var back, back2 time.Time
			require.NoError(t, json.Unmarshal(got[1:], &back))
			require.NoError(t, json.Unmarshal(stdlib, &back2))
			require.True(t, back.Equal(back2))

			for _, form := range []Times{RFC3339, EpochMillis, EpochMillisNanos} {
				w := Writer{Style: Style{Times: form}}
				text, ok := w.Time(nil, s, nanos)
				require.True(t, ok)
				switch form {
				case RFC3339:
					require.Equal(t, got[1:], text)
				case EpochMillis:
					require.Equal(t, fmt.Sprint(at.UnixMilli()), string(text))
				case EpochMillisNanos:
					millis, ok := new(big.Rat).SetString(string(text[1 : len(text)-1]))
					require.True(t, ok)
					require.Equal(t, new(big.Rat).SetFrac(exact, big.NewInt(nanosPerMilli)), millis)
				}
			}
		}
		at := time.Unix(0, nanos).UTC()
		require.Equal(t, at.Format(nineDigits), string(TimeNanos(nil, nanos)))
		require.Equal(t, fmt.Sprint(at.UnixMilli()), string(Millis(nil, nanos)))
		for _, form := range []Times{RFC3339, EpochMillis, EpochMillisNanos} {
			w := Writer{Style: Style{Times: form}}
			want, ok := w.Time(nil, 0, nanos)
			require.True(t, ok)
			require.Equal(t, string(want), string(w.TimeNanos(nil, nanos)))
		}
	})
}

// TestEveryDay has the first and the last nanosecond of every day of two times 400 years, after which the calendar repeats itself, and of every
// 17th day of the others.
func TestEveryDay(t *testing.T) {
	var got, want []byte
	for s := int64(firstSecond); s <= lastSecond; s += secondsPerDay {
		if year := (s - firstSecond) / (365 * secondsPerDay); year > 401 && year < 1960 || year > 2410 && year < 9998 {
			s += 16 * secondsPerDay
		}
		got, _ = Time(got[:0], s, 0)
		want = time.Unix(s, 0).UTC().AppendFormat(want[:0], nineDigits)
		if string(got) != string(want) {
			t.Fatalf("got %s, want %s", got, want)
		}
		got, ok := Time(got[:0], s+secondsPerDay, -1)
		want = time.Unix(s+secondsPerDay, -1).UTC().AppendFormat(want[:0], nineDigits)
		if ok && string(got) != string(want) {
			t.Fatalf("got %s, want %s", got, want)
		}
	}
}

func TestMillisNanos(t *testing.T) {
	for nanos, want := range map[int64]string{
		0:                         `"0.000000"`,
		5:                         `"0.000005"`,
		1_700_000_000_123_456_789: `"1700000000123.456789"`,
		-1:                        `"-0.000001"`,
		-1_000_001:                `"-1.000001"`,
		-1_000_000_000:            `"-1000.000000"`,
		math.MinInt64:             `"-9223372036854.775808"`,
		math.MaxInt64:             `"9223372036854.775807"`,
	} {
		assert.Equal(t, want, string(MillisNanos(nil, nanos)))
	}
}

func TestIDs(t *testing.T) {
	for _, v := range []uint64{0, 1, 9, 10, 15, 16, 0x9a, 0xa9, 9007199254740993, math.MaxInt64, 1 << 63, math.MaxUint64, 0x0123456789abcdef, 0xfedcba9876543210} {
		assert.Equal(t, fmt.Sprintf(`"%016x"`, v), string(ID16(nil, v)))
		assert.Equal(t, fmt.Sprintf(`"%016x%016x"`, v, ^v), string(ID32(nil, v, ^v)))
	}
}

func TestBytes(t *testing.T) {
	for n := range 10 {
		b := []byte("\x00\xff\xfe>>>???\x01")[:n]
		want, err := json.Marshal(b)
		require.NoError(t, err)
		assert.Equal(t, string(want), string(Bytes(nil, b)))
	}
}
