package ssf_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/gogo/protobuf/proto"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/ssf"
	"github.com/veneurd/veneur/ssf/ssftest"
)

// A service may link this package and the original's, whose proto package is ssf. gogo's registry panics, before any test, when two
// packages register an enum of one name.
func TestOriginalCanBeLinked(t *testing.T) {
	for _, name := range []string{"SSFSpan", "SSFSample"} {
		require.NotNil(t, proto.MessageType("ssf."+name))
		require.NotNil(t, proto.MessageType("veneurd.ssf."+name))
		require.NotEqual(t, proto.MessageType("ssf."+name), proto.MessageType("veneurd.ssf."+name))
	}
	require.NotNil(t, proto.EnumValueMap("ssf.SSFSample_Metric"))
	require.Equal(t, proto.EnumValueMap("ssf.SSFSample_Metric"), proto.EnumValueMap("veneurd.ssf.SSFSample_Metric"))
	require.Equal(t, proto.EnumValueMap("ssf.SSFSample_Status"), proto.EnumValueMap("veneurd.ssf.SSFSample_Status"))
	require.Equal(t, proto.EnumValueMap("ssf.SSFSample_Scope"), proto.EnumValueMap("veneurd.ssf.SSFSample_Scope"))
}

// What the original writes is read here and written again without a changed byte; what is written here the original reads.
func TestBytesAreTheOriginals(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	var d ssf.Decoder
	for range 3_000 {
		want := randomSpan(r)

		// The order of a map is another one each time: whichever it is, the list of tags takes it over.
		packet, err := ssftest.ToOriginal(want).Marshal()
		require.NoError(t, err)
		got, err := d.Decode(packet)
		require.NoError(t, err)
		require.True(t, bytes.Equal(packet, ssf.AppendSpan(nil, got)), "%v", want)
		require.Equal(t, ssftest.ToOriginal(want), ssftest.ToOriginal(got))

		packet = ssf.AppendSpan(nil, want)
		var theirs ssftest.SSFSpan
		require.NoError(t, theirs.Unmarshal(packet))
		require.Equal(t, ssftest.ToOriginal(want), &theirs)

		got, err = d.Decode(packet)
		require.NoError(t, err)
		require.Equal(t, want, got.Clone())

		// The generated code of this schema leaves empty keys and values out, which means the same.
		packet, err = want.Marshal()
		require.NoError(t, err)
		got, err = d.Decode(packet)
		require.NoError(t, err)
		require.Equal(t, want, got.Clone())
	}
}

func TestAppendSpanKeepsWhatIsThere(t *testing.T) {
	for _, shape := range ssftest.Shapes() {
		packet := ssf.AppendSpan(nil, shape.Span)
		require.Equal(t, append([]byte("before"), packet...), ssf.AppendSpan([]byte("before"), shape.Span), shape.Name)
		require.Equal(t, packet, ssf.AppendSpan(nil, shape.Span), shape.Name)
	}
}

// The typical shape is the one that figures are given for.
func TestTypicalSpanHas310Bytes(t *testing.T) {
	require.InDelta(t, 310, len(ssf.AppendSpan(nil, ssftest.Shapes()[1].Span)), 10)
}

func randomSpan(r *rand.Rand) *ssf.SSFSpan {
	s := &ssf.SSFSpan{
		Version:            int32(randomInt(r)),
		TraceId:            randomInt(r),
		Id:                 randomInt(r),
		ParentId:           randomInt(r),
		StartTimestamp:     randomInt(r),
		EndTimestamp:       randomInt(r),
		Error:              r.IntN(2) == 0,
		Service:            randomText(r),
		Metrics:            []ssf.SSFSample{},
		Tags:               randomTags(r),
		Indicator:          r.IntN(2) == 0,
		Name:               randomText(r),
		RootStartTimestamp: randomInt(r),
	}
	for range r.IntN(4) {
		s.Metrics = append(s.Metrics, ssf.SSFSample{
			Metric:     ssf.SSFSample_Metric(r.IntN(5)),
			Name:       randomText(r),
			Value:      randomFloat(r),
			Timestamp:  randomInt(r),
			Message:    randomText(r),
			Status:     ssf.SSFSample_Status(r.IntN(4)),
			SampleRate: randomFloat(r),
			Tags:       randomTags(r),
			Unit:       randomText(r),
			Scope:      ssf.SSFSample_Scope(r.IntN(3)),
		})
	}
	return s
}

// randomInt is as likely to be of any number of bits as of another.
func randomInt(r *rand.Rand) int64 {
	return int64(r.Uint64()>>r.IntN(64)) * int64(r.IntN(2))
}

func randomFloat(r *rand.Rand) float32 {
	return [...]float32{0, 1, -1, 0.1, math.MaxFloat32, math.SmallestNonzeroFloat32, float32(r.NormFloat64())}[r.IntN(7)]
}

// randomText is now and then as long as it takes for a length of two or three bytes.
func randomText(r *rand.Rand) string {
	n := [...]int{0, 1, 10, 59, 60, 61, 123, 127, 128, 300}[r.IntN(10)]
	if r.IntN(200) == 0 {
		n = 16_380 + r.IntN(10)
	}
	return strings.Repeat(string(rune('a'+r.IntN(26))), n)
}

func randomTags(r *rand.Rand) []ssf.Tag {
	m := map[string]string{}
	for range r.IntN(6) {
		m[randomText(r)] = randomText(r)
	}
	tags := ssf.TagsFromMap(m)
	if tags == nil {
		tags = []ssf.Tag{}
	}
	return tags
}
