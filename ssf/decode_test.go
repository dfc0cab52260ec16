package ssf_test

import (
	"bytes"
	"encoding/hex"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/ssf"
	"github.com/veneurd/veneur/ssf/ssftest"
)

// wireCase is a packet in hexadecimal. Blanks are for the reader.
type wireCase struct {
	name, hex string
	reason    ssf.Reason
}

func (c wireCase) packet() []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(c.hex, " ", ""))
	if err != nil {
		panic(c.name + ": " + err.Error())
	}
	return b
}

var (
	groups100 = strings.Repeat("a306", 100) + strings.Repeat("a406", 100)
	groups101 = strings.Repeat("a306", 101) + strings.Repeat("a406", 101)
)

var hostile = []wireCase{
	{"key cut short", "80", ssf.ReasonTruncated},
	{"key of eleven bytes", "ffffffffffffffffffff01", ssf.ReasonVarint},
	{"number missing", "10", ssf.ReasonTruncated},
	{"number cut short", "10 8080", ssf.ReasonTruncated},
	{"number cut short after nine bytes", "10 808080808080808080", ssf.ReasonTruncated},
	{"number of eleven bytes", "10 8080808080808080808001", ssf.ReasonVarint},
	{"number of eleven bytes in an unknown field", "78 8080808080808080808001", ssf.ReasonVarint},
	{"text without a length", "42", ssf.ReasonTruncated},
	{"text cut short", "42 05 6162", ssf.ReasonTruncated},
	{"text of length 2^31-1", "42 ffffffff07 6162", ssf.ReasonTruncated},
	{"text of length 2^31", "42 8080808008 6162", ssf.ReasonLength},
	{"text of length 2^63-1", "42 ffffffffffffffff7f 6162", ssf.ReasonLength},
	{"text of length -1", "42 ffffffffffffffffff01 6162", ssf.ReasonLength},
	{"text length of eleven bytes", "42 8080808080808080808001", ssf.ReasonVarint},
	{"text length cut short", "42 80", ssf.ReasonTruncated},
	{"sample without a length", "52", ssf.ReasonTruncated},
	{"sample cut short", "52 05 12", ssf.ReasonTruncated},
	{"sample of length 2^31-1", "52 ffffffff07", ssf.ReasonTruncated},
	{"sample of length -1", "52 ffffffffffffffffff01", ssf.ReasonLength},
	{"field past the end of its sample", "52 03 12 05 61 626364", ssf.ReasonTruncated},
	{"value cut short", "52 04 1d 000000", ssf.ReasonTruncated},
	{"value missing", "52 01 1d", ssf.ReasonTruncated},
	{"tag of a sample cut short", "52 04 42 05 0a01", ssf.ReasonTruncated},
	{"tag without a length", "5a", ssf.ReasonTruncated},
	{"tag of length -1", "5a ffffffffffffffffff01", ssf.ReasonLength},
	{"tag's key of length -1", "5a 0b 0a ffffffffffffffffff01", ssf.ReasonLength},
	{"tag's key past the end of the tag", "5a 04 0a 05 6b31 12 02 7631", ssf.ReasonTruncated},
	{"tag's value past the end of the tag", "5a 06 0a 01 6b 12 05 76 313233", ssf.ReasonTruncated},
	{"tag's key as a number", "5a 02 08 01", ssf.ReasonWireType},
	{"field 0", "00 00", ssf.ReasonField},
	{"field 0 as text", "02 00", ssf.ReasonField},
	{"field 0 in a sample", "52 02 00 00", ssf.ReasonField},
	{"field 0 in a tag", "5a 02 00 00", ssf.ReasonField},
	{"field 0 in a group", "7b 00 00 7c", ssf.ReasonField},
	{"field 2^29", "8080808010 00", ssf.ReasonField},
	{"field 2^32+2", "9080808080 01 07", ssf.ReasonField},
	{"wire type 6", "7e", ssf.ReasonWireType},
	{"wire type 7", "7f", ssf.ReasonWireType},
	{"wire type 6 in a group", "7b 7e 7c", ssf.ReasonWireType},
	{"wire type 7 in a sample", "52 01 5f", ssf.ReasonWireType},
	{"known field with the wire type of text", "12 01 61", ssf.ReasonWireType},
	{"known field with the wire type of a number", "40 01", ssf.ReasonWireType},
	{"known field as a group", "53 54", ssf.ReasonWireType},
	{"value as a double", "52 09 19 0000000000000000", ssf.ReasonWireType},
	{"end of a group that has not begun", "7c", ssf.ReasonGroup},
	{"end of a group in a sample", "52 01 5c", ssf.ReasonGroup},
	{"end of another group", "7b 8401", ssf.ReasonGroup},
	{"group without an end", "7b", ssf.ReasonTruncated},
	{"group that ends after its sample", "52 01 5b 5c", ssf.ReasonTruncated},
	{"fixed64 cut short", "79 00000000000000", ssf.ReasonTruncated},
	{"fixed32 cut short", "7d 000000", ssf.ReasonTruncated},
	{"fixed64 cut short in a group", "7b 79 00", ssf.ReasonTruncated},
	{"unknown bytes of length -1", "7a ffffffffffffffffff01", ssf.ReasonLength},
	{"unknown bytes of length -1 in a group", "7b 7a ffffffffffffffffff01 7c", ssf.ReasonLength},
	{"unknown bytes cut short", "7a 03 00", ssf.ReasonTruncated},
	{"101 groups deep", groups101, ssf.ReasonDepth},
	{"101 groups deep in a sample", "52 9403" + groups101, ssf.ReasonDepth},
}

// Lengths that lie, and everything else that is no protobuf, are errors: no panic, no memory by an announced length.
func TestB142LyingBytesAreRefused(t *testing.T) {
	for _, tt := range hostile {
		t.Run(tt.name, func(t *testing.T) {
			var d ssf.Decoder
			packet := tt.packet()
			var span *ssf.SSFSpan
			var err error
			require.Less(t, allocated(func() { span, err = d.Decode(packet) }), uint64(64<<10))
			require.Equal(t, tt.reason, err)
			require.Nil(t, span)
		})
	}
}

func TestB143NestedGroupsAreRefused(t *testing.T) {
	var d ssf.Decoder
	_, err := d.Decode(bytes.Repeat([]byte{0xa3, 0x06}, 8<<20))
	require.Equal(t, ssf.ReasonDepth, err)
}

// Two bytes of packet make an empty sample of 150 bytes of memory.
func TestManySmallElementsAreRefused(t *testing.T) {
	for _, tt := range []struct{ name, element string }{{"samples", "\x52\x00"}, {"tags", "\x5a\x00"}} {
		t.Run(tt.name, func(t *testing.T) {
			var d ssf.Decoder
			_, err := d.Decode([]byte(strings.Repeat(tt.element, 1<<18)))
			require.NoError(t, err)
			packet := []byte(strings.Repeat(tt.element, 8<<20))
			require.Less(t, allocated(func() { _, err = d.Decode(packet) }), uint64(300<<20))
			require.Equal(t, ssf.ReasonElements, err)
		})
	}
}

// Each sample and tag counts, by whichever way it is read, and whether there is room for it or not.
func TestElementsAreCountedInEveryForm(t *testing.T) {
	const (
		most        = 1 << 18
		sample      = "\x52\x00"
		sampleField = "\x52\x02\x08\x02"
		tag         = "\x5a\x06\x0a\x01k\x12\x01v"
		tagKey      = "\x5a\x03\x0a\x01k"
	)
	tags := strings.Repeat(tag, 1_000)
	tagged := "\x52\xc0\x3e" + strings.ReplaceAll(tags, "\x5a", "\x42") // 8,000 bytes
	samples := func(n int) string { return strings.Repeat(sample, n) }
	for _, tt := range []struct{ name, before, packet, more string }{
		{"samples", "", samples(most), sample},
		{"samples with a field", "", strings.Repeat(sampleField, most), sample},
		{"tags", "", strings.Repeat(tag, most), tag},
		{"tags without a value", "", strings.Repeat(tagKey, most), tagKey},
		{"tags of both forms", "", strings.Repeat(tag+tagKey, most/2), tag},
		{"tags that there is room for", tags, samples(most-1_000) + tags, tag},
		{"tags of a sample that there is room for", tagged, tagged + samples(most-1_001), sample},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var d ssf.Decoder
			_, err := d.Decode([]byte(tt.before))
			require.NoError(t, err)
			_, err = d.Decode([]byte(tt.packet))
			require.NoError(t, err)
			_, err = d.Decode([]byte(tt.before))
			require.NoError(t, err)
			_, err = d.Decode([]byte(tt.packet + tt.more))
			require.Equal(t, ssf.ReasonElements, err)
		})
	}
}

func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Bytes that are unusual but right, and the span they mean.
var forms = []struct {
	wireCase
	want ssf.SSFSpan
}{
	{wireCase{name: "nothing"}, ssf.SSFSpan{}},
	{wireCase{name: "fields in any order", hex: "6a 01 62 42 01 61"}, ssf.SSFSpan{Service: "a", Name: "b"}},
	{wireCase{name: "the last of equal fields", hex: "10 01 10 02 42 01 61 42 00"}, ssf.SSFSpan{TraceId: 2}},
	{wireCase{name: "a number longer than need be", hex: "10 81808000"}, ssf.SSFSpan{TraceId: 1}},
	{wireCase{name: "a number of ten bytes", hex: "10 ffffffffffffffffff01"}, ssf.SSFSpan{TraceId: -1}},
	{wireCase{name: "bits past the 64th are dropped", hex: "10 ffffffffffffffffff7f"}, ssf.SSFSpan{TraceId: -1}},
	{wireCase{name: "a key longer than need be", hex: "9000 05"}, ssf.SSFSpan{TraceId: 5}},
	{wireCase{name: "a version past 32 bits", hex: "08 8180808010"}, ssf.SSFSpan{Version: 1}},
	{wireCase{name: "true as 2", hex: "38 02 60 8001"}, ssf.SSFSpan{Error: true, Indicator: true}},
	{wireCase{name: "the reserved field 9", hex: "48 01 10 07"}, ssf.SSFSpan{TraceId: 7}},
	{wireCase{name: "unknown fields of every type", hex: "78 01 79 0000000000000000 7a 01 00 7b 08 01 7c 7d 00000000 10 07"}, ssf.SSFSpan{TraceId: 7}},
	{wireCase{name: "100 groups deep", hex: groups100 + "10 07"}, ssf.SSFSpan{TraceId: 7}},
	{wireCase{name: "the highest field number", hex: "f8ffffff0f 01 10 07"}, ssf.SSFSpan{TraceId: 7}},
	{wireCase{name: "an empty sample", hex: "52 00"}, ssf.SSFSpan{Metrics: []ssf.SSFSample{{}}}},
	{wireCase{name: "an unknown metric, status and scope", hex: "52 06 08 07 30 08 50 09"}, ssf.SSFSpan{Metrics: []ssf.SSFSample{{Metric: 7, Status: 8, Scope: 9}}}},
	{wireCase{name: "a tag without a value", hex: "5a 03 0a 01 6b"}, ssf.SSFSpan{Tags: []ssf.Tag{{Key: "k"}}}},
	{wireCase{name: "a tag without a key", hex: "5a 03 12 01 76"}, ssf.SSFSpan{Tags: []ssf.Tag{{Value: "v"}}}},
	{wireCase{name: "an empty tag", hex: "5a 00"}, ssf.SSFSpan{Tags: []ssf.Tag{{}}}},
	{wireCase{name: "a tag with its value first", hex: "5a 06 12 01 76 0a 01 6b"}, ssf.SSFSpan{Tags: []ssf.Tag{{Key: "k", Value: "v"}}}},
	{wireCase{name: "a tag with two keys", hex: "5a 09 0a 01 6a 12 01 76 0a 01 6b"}, ssf.SSFSpan{Tags: []ssf.Tag{{Key: "k", Value: "v"}}}},
	{wireCase{name: "a tag with two values", hex: "5a 06 12 01 6b 12 01 76"}, ssf.SSFSpan{Tags: []ssf.Tag{{Value: "v"}}}},
	{
		// Its length, 1,297, ends in the byte that a short tag's key begins with, and 17, its other seven bits, fit what stands inside.
		wireCase{name: "a long tag that looks like a short one", hex: "5a 910a 0a 14 616161616161616161 1203 616161616161616161 12 f809" + strings.Repeat("62", 1272)},
		ssf.SSFSpan{Tags: []ssf.Tag{{Key: "aaaaaaaaa\x12\x03aaaaaaaaa", Value: strings.Repeat("b", 1272)}}},
	},
	{wireCase{name: "a tag with an unknown field", hex: "5a 08 0a 01 6b 12 01 76 18 01"}, ssf.SSFSpan{Tags: []ssf.Tag{{Key: "k", Value: "v"}}}},
	{wireCase{name: "tags apart from each other", hex: "5a 06 0a 01 6a 12 01 76 10 07 5a 06 0a 01 6b 12 01 77"}, ssf.SSFSpan{TraceId: 7, Tags: []ssf.Tag{{Key: "j", Value: "v"}, {Key: "k", Value: "w"}}}},
	{wireCase{name: "one key twice", hex: "5a 06 0a 01 6b 12 01 76 5a 06 0a 01 6b 12 01 77"}, ssf.SSFSpan{Tags: []ssf.Tag{{Key: "k", Value: "v"}, {Key: "k", Value: "w"}}}},
	{wireCase{name: "text that is not UTF-8", hex: "42 01 ff"}, ssf.SSFSpan{Service: "\xff"}},
}

func TestDecodeForms(t *testing.T) {
	var d ssf.Decoder
	for _, tt := range forms {
		t.Run(tt.name, func(t *testing.T) {
			got, err := d.Decode(tt.packet())
			require.NoError(t, err)
			require.Equal(t, tt.want.Clone(), got.Clone())
		})
	}
}

// Whatever came before, a packet gives the same span.
func TestDecodeLeavesNothingStale(t *testing.T) {
	shapes := ssftest.Shapes()
	var d ssf.Decoder
	for _, first := range shapes {
		for _, second := range shapes {
			_, err := d.Decode(ssf.AppendSpan(nil, first.Span))
			require.NoError(t, err)
			_, err = d.Decode(append(ssf.AppendSpan(nil, first.Span), 0x7f))
			require.Equal(t, ssf.ReasonWireType, err)
			got, err := d.Decode(ssf.AppendSpan(nil, second.Span))
			require.NoError(t, err)
			require.Equal(t, second.Span.Clone(), got.Clone(), "%s after %s", second.Name, first.Name)
		}
	}
}

// The packet is the caller's again once Decode has returned.
func TestDecodeCopiesThePacket(t *testing.T) {
	want := ssftest.Shapes()[1].Span
	packet := ssf.AppendSpan(nil, want)
	var d ssf.Decoder
	got, err := d.Decode(packet)
	require.NoError(t, err)
	clear(packet)
	require.Equal(t, want.Clone(), got.Clone())
}
