package tdigest

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func decoded(t testing.TB, b []byte) *Digest {
	t.Helper()
	d := New(DefaultCompression)
	require.NoError(t, d.Decode(b))
	return d
}

// golden reads bytes written by the original's algorithm and gogo/protobuf.
func golden(t testing.TB, name string) []byte {
	text, err := os.ReadFile(filepath.Join("testdata", name+".hex"))
	require.NoError(t, err)
	_, digits, _ := bytes.Cut(text, []byte("\n"))
	b, err := hex.DecodeString(string(bytes.ReplaceAll(digits, []byte("\n"), nil)))
	require.NoError(t, err)
	return b
}

var goldens = []string{"one", "b056", "b057", "zero", "empty", "lognormal", "samples"}

func TestDecodeOfTheOriginal(t *testing.T) {
	one := decoded(t, golden(t, "one"))
	assert.Equal(t, 1.0, one.Count())
	assert.Equal(t, 42.5, one.Sum())
	assert.Equal(t, 42.5, one.Quantile(0.99))

	b056 := decoded(t, golden(t, "b056"))
	assert.Equal(t, 7.0, b056.Count())
	assert.Equal(t, 16.0, b056.Sum())
	assert.Equal(t, []float64{1, 3, 3}, []float64{b056.Quantile(0.1), b056.Quantile(0.5), b056.Quantile(0.99)})

	b057 := decoded(t, golden(t, "b057"))
	assert.Equal(t, 1001.0, b057.Count())
	assert.Equal(t, []float64{1, 1, 1e7}, []float64{b057.Quantile(0.5), b057.Quantile(0.999), b057.Quantile(1)})

	zero := decoded(t, golden(t, "zero"))
	assert.Equal(t, []float64{4, 9, -5, 7}, []float64{zero.Count(), zero.Sum(), zero.Min(), zero.Max()})
	assert.Equal(t, math.MaxFloat64, zero.ReciprocalSum())
	_, ok := zero.HMean()
	assert.False(t, ok)

	assert.Zero(t, decoded(t, golden(t, "empty")).Count())

	samples := decoded(t, golden(t, "samples"))
	assert.Equal(t, []float64{5, 25, 1, 9}, []float64{samples.Count(), samples.Sum(), samples.Min(), samples.Max()})
	assert.InEpsilon(t, 1+0.6+1./9, samples.ReciprocalSum(), 1e-15, "derived when missing")
	assert.InDelta(t, 5.0, samples.Quantile(0.5), 1e-9)

	ln := decoded(t, golden(t, "lognormal"))
	assert.EqualValues(t, 5000, ln.Count())
	assert.InEpsilon(t, 8381.732, ln.Sum(), 1e-12)
	assert.Equal(t, []float64{0.035, 35.049}, []float64{ln.Min(), ln.Max()})
	assert.Equal(t, 8130.13297964689, ln.ReciprocalSum())
	hmean, ok := ln.HMean()
	assert.True(t, ok)
	assert.InEpsilon(t, 5000/8130.13297964689, hmean, 1e-15)
	assert.InEpsilon(t, 0.9772842665912518, ln.Quantile(0.5), 0.005, "as the original reckons")
	assert.InEpsilon(t, 10.987416174734356, ln.Quantile(0.99), 0.02, "as the original reckons")
}

// What the original has written comes out as it went in, while nothing is added to it.
func TestAppendBinary(t *testing.T) {
	for _, name := range []string{"one", "b056", "lognormal"} {
		want := append([]byte("before"), golden(t, name)...)
		assert.Equal(t, want, decoded(t, golden(t, name)).AppendBinary([]byte("before")), name)
	}
	assert.Equal(t, golden(t, "one"), digestOf(plain(42.5)...).AppendBinary(nil))
	assert.Equal(t, golden(t, "b056"), digestOf(weighted(3, 4, 2, 1, 1, 2)...).AppendBinary(nil))
	assert.Equal(t, message(100, nil), New(100).AppendBinary(nil), "empty")
	assert.Equal(t, message(20, nil), New(1).AppendBinary(nil))
	assert.Equal(t, message(100, nil), new(Digest).AppendBinary(nil))
	// Zeros are left out: a mean, the max. The reciprocal sum never is infinite.
	assert.Equal(t,
		slices.Concat(entry(-1, 2), entry(0, 3), double(tagCompression, 50), double(tagMin, -1), double(tagReciprocal, math.MaxFloat64)),
		func() []byte {
			d := New(50)
			d.Add(0, 3)
			d.Add(-1, 2)
			return d.AppendBinary(nil)
		}())
}

// double, entry and message write the form by themselves.
func double(tag byte, v float64) []byte {
	return binary.LittleEndian.AppendUint64([]byte{tag}, math.Float64bits(v))
}

func entry(mean, weight float64) []byte {
	c := double(0x11, weight)
	if mean != 0 {
		c = append(double(0x09, mean), c...)
	}
	return append([]byte{0x0a, byte(len(c))}, c...)
}

func message(compression float64, head []float64, centroids ...float64) (b []byte) {
	for ; len(centroids) > 0; centroids = centroids[2:] {
		b = append(b, entry(centroids[0], centroids[1])...)
	}
	b = append(b, double(0x11, compression)...)
	for i, v := range head {
		b = append(b, double([]byte{0x19, 0x21, 0x29}[i], v)...)
	}
	return b
}

func TestWireSize(t *testing.T) {
	for _, tt := range []struct {
		name    string
		samples []sample
		most    int
	}{
		{"one sample", plain(1), 20 + 36},
		{"200 samples, exact", upTo(200), 200*20 + 36},
		{"201 samples, gathered", upTo(201), 3600},
		{"100,000 samples", upTo(100_000), 3600},
		{"100,000 samples of one value", times(100_000, 7), 20 + 36},
		{"100 samples of one value", times(100, 7), 20 + 36},
		{"few values at the ends", append(times(100, 7), times(90, 8)...), 40 + 36},
		{"few values in the middle, exact", append(append(times(50, 7), times(50, 8)...), times(50, 9)...), 52*20 + 36},
	} {
		b := digestOf(tt.samples...).AppendBinary(nil)
		assert.LessOrEqual(t, len(b), tt.most, tt.name)
		d := decoded(t, b)
		assert.EqualValues(t, len(tt.samples), d.Count(), tt.name)
		if len(tt.samples) <= 200 {
			assert.Equal(t, digestOf(tt.samples...).Quantile(0.77), d.Quantile(0.77), tt.name)
		}
	}
}

// Centroids that stand for one sample are told from clusters.
func TestDecodedPoints(t *testing.T) {
	for _, tt := range []struct {
		name      string
		centroids []float64
		q, want   float64
	}{
		{"of weight 1", []float64{1, 1, 2, 1, 3, 1, 4, 1}, 0.6, 3},
		{"as light as the lightest end", []float64{1, 10, 2, 10, 3, 10}, 0.4, 2},
		{"heavier ends", []float64{1, 20, 2, 10, 3, 10}, 0.6, 2},
		{"inside a cluster", []float64{1, 1, 3, 6, 5, 1}, 0.75, 4}, // 6 of 8: halfway from the middle at 4 to the edge at 7 is 5.5
		{"ends heavy by themselves", []float64{0, 500, 3, 100, 9, 500}, 0.5, 3},
	} {
		d := decoded(t, message(100, []float64{tt.centroids[0], tt.centroids[len(tt.centroids)-2]}, tt.centroids...))
		if tt.name == "inside a cluster" {
			assert.InDelta(t, 3+2*(6.-4)/(7-4), d.Quantile(tt.q), 1e-9, tt.name)
			continue
		}
		assert.InDelta(t, tt.want, d.Quantile(tt.q), 1e-9, tt.name)
	}
}

func TestDecode(t *testing.T) {
	for _, tt := range []struct {
		name  string
		b     []byte
		count float64
	}{
		{"nothing but a compression", message(100, nil), 0},
		{"fields in another order", append(message(100, []float64{1, 2}), message(100, nil, 1, 1, 2, 1)...), 2},
		{"the last of a repeated field holds", append(message(5000, []float64{9, 2}, 1, 1, 2, 1), message(100, []float64{1, 2})...), 2},
		{"unknown fields", slices.Concat([]byte{0x30, 0x05, 0x3a, 0x02, 'h', 'i', 0x45, 1, 2, 3, 4}, message(100, []float64{1, 2}, 1, 1, 2, 1)), 2},
		{"centroids out of order", message(100, []float64{1, 3}, 3, 1, 1, 1, 2, 1), 3},
		{"a mean past the max by rounding", message(100, []float64{0.1, 0.3}, 0.1, 1, math.Nextafter(0.3, 1), 1), 2},
		{"a fourth field of a centroid", slices.Concat([]byte{0x0a, 20}, double(9, 1), double(0x11, 1), []byte{0x20, 1}, message(100, []float64{1, 1})), 1},
		{"reciprocal sum of another size", message(100, []float64{1, 2, 77}, 1, 1, 2, 1), 2},
		{"NaN as reciprocal sum, as the original's after 0 and -0", message(100, []float64{0, 2, math.NaN()}, 0, 1, 2, 1), 2},
		{"weights that sum past a float64", message(100, []float64{1, 3}, 1, 1e308, 2, 1.5e308, 3, 1), math.MaxFloat64},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := decoded(t, tt.b)
			assert.Equal(t, tt.count, d.Count())
			if tt.count > 0 {
				checkSane(t, d)
			}
		})
	}
	outside := decoded(t, message(100, []float64{1, 9}, 2, 1, 3, 1))
	assert.Equal(t, []float64{1, 9}, []float64{outside.Min(), outside.Max()}, "the sender's are kept")
	assert.Equal(t, 77.0, decoded(t, message(100, []float64{1, 2, 77}, 1, 1, 2, 1)).ReciprocalSum(), "the sender's is kept")
}

func many(n int) (centroids []float64) {
	for i := range n {
		centroids = append(centroids, float64(i), 1)
	}
	return centroids
}

var refusals = []struct {
	name   string
	b      []byte
	reason DecodeError
}{
	{"no compression", entry(1, 1), ErrCompression},
	{"compression 0", message(0, nil), ErrCompression},
	{"compression 19", message(19, nil), ErrCompression},
	{"compression 1001", message(1001, nil), ErrCompression},
	{"compression NaN", message(math.NaN(), nil), ErrCompression},
	{"compression Inf", message(math.Inf(1), nil), ErrCompression},
	{"weight missing", slices.Concat([]byte{0x0a, 9}, double(9, 1), message(100, []float64{1, 1})), ErrWeight},
	{"weight 0", message(100, []float64{1, 1}, 1, 0), ErrWeight},
	{"weight negative", message(100, []float64{1, 1}, 1, -1), ErrWeight},
	{"weight NaN", message(100, []float64{1, 1}, 1, math.NaN()), ErrWeight},
	{"weight Inf", message(100, []float64{1, 1}, 1, math.Inf(1)), ErrWeight},
	{"mean NaN", message(100, []float64{1, 2}, math.NaN(), 1), ErrMean},
	{"mean Inf", message(100, []float64{1, 2}, math.Inf(1), 1), ErrMean},
	{"mean below the min", message(100, []float64{1, 2}, 0.5, 1), ErrMean},
	{"mean above the max", message(100, []float64{1, 2}, 2.1, 1), ErrMean},
	{"min above max", message(100, []float64{2, 1}, 1, 1), ErrRange},
	{"min NaN", message(100, []float64{math.NaN(), 1}, 1, 1), ErrRange},
	{"max Inf", message(100, []float64{1, math.Inf(1)}, 1, 1), ErrRange},
	{"min and max as of an empty one", message(100, []float64{math.Inf(1), math.Inf(-1)}, 1, 1), ErrRange},
	{"too many centroids", message(100, []float64{0, 2000}, many(1025)...), ErrTooManyParts},
	{"too many for any", message(1000, []float64{0, 20_000}, many(10_001)...), ErrTooManyParts},
	{"cut in a tag", []byte{0x91}, ErrTruncated},
	{"cut in a double", double(0x11, 100)[:5], ErrTruncated},
	{"cut in a centroid", entry(1, 1)[:10], ErrTruncated},
	{"cut inside a centroid", []byte{0x0a, 3, 9, 1, 2}, ErrTruncated},
	{"a length of 2^63", []byte{0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, ErrTruncated},
	{"a varint of 11 bytes", []byte{0x30, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, ErrWireType},
	{"an unknown field that is cut", []byte{0x45, 1, 2}, ErrTruncated},
	{"field 0", []byte{0x00, 1}, ErrWireType},
	{"a field number of 2^40", []byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01, 1}, ErrWireType},
	{"wire type 6", []byte{0x36, 1}, ErrWireType},
	{"a group", []byte{0x33, 0x34}, ErrWireType},
	{"a centroid as a number", []byte{0x08, 1}, ErrWireType},
	{"a compression as a number", []byte{0x10, 100}, ErrWireType},
	{"a mean as a number", []byte{0x0a, 2, 0x08, 1}, ErrWireType},
	{"text", []byte("h:1|ms"), ErrTruncated},
}

func TestRefusals(t *testing.T) {
	for _, tt := range refusals {
		t.Run(tt.name, func(t *testing.T) {
			d := digestOf(upTo(600)...)
			var got DecodeError
			require.ErrorAs(t, d.Decode(tt.b), &got)
			assert.Equal(t, tt.reason, got)
			assert.Equal(t, "tdigest: bad "+string(tt.reason), got.Error())
			assert.Zero(t, d.Count(), "left empty")
			d.Add(1, 1)
			assert.Equal(t, digestOf(plain(1)...).Quantile(0.5), d.Quantile(0.5), "of use again")
		})
	}
	for _, name := range []string{"b056", "lognormal"} {
		b := golden(t, name)
		for n := 1; n < len(b)-36; n += 1 + n/20 {
			require.Error(t, new(Digest).Decode(b[:n]), "%s cut at %d", name, n)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, name := range goldens {
		f.Add(golden(f, name))
	}
	for _, tt := range refusals {
		if len(tt.b) < 30_000 {
			f.Add(tt.b)
		}
	}
	f.Add(digestOf(upTo(3000)...).AppendBinary(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		d := New(DefaultCompression)
		if d.Decode(b) != nil {
			require.Zero(t, d.Count())
			return
		}
		if d.Count() == 0 {
			return
		}
		checkSane(t, d)
		again := decoded(t, d.AppendBinary(nil))
		require.Equal(t, d.Min(), again.Min())
		require.Equal(t, d.Max(), again.Max())
		again.Merge(d)
		checkSane(t, again)
		again.Add(1, 3)
		checkSane(t, again)
	})
}
