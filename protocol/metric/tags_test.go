package metric

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTagSetParse(t *testing.T) {
	tests := []struct {
		name, raw string
		want      TagSet
	}{
		{"none", "", TagSet{}},
		{"B015 only commas", ",,,", TagSet{}},
		{"B015 empty items vanish", ",s:10.0.0.5", TagSet{Tags: []string{"s:10.0.0.5"}}},
		{"B016 empty value stays", "key:", TagSet{Tags: []string{"key:"}}},
		{"B047 order and duplicates do not matter", "b,a,b", TagSet{Tags: []string{"a", "b"}}},
		{"one key, two values", "a:2,a:1", TagSet{Tags: []string{"a:1", "a:2"}}},
		{"local scope", "veneurlocalonly,x", TagSet{Tags: []string{"x"}, Scope: Local}},
		{"global scope with a value", "veneurglobalonly:true", TagSet{Scope: Global}},
		{"B048 both scopes: local, a conflict", "veneurglobalonly,veneurlocalonly", TagSet{Scope: Local, Conflict: true}},
		{"B048 both scopes the other way round", "veneurlocalonly,veneurglobalonly", TagSet{Scope: Local, Conflict: true}},
		{"B049 a longer key is a tag", "veneurlocalonly_rollout:1", TagSet{Tags: []string{"veneurlocalonly_rollout:1"}}},
		{"B050 one sink only", "veneursinkonly:kafka,a", TagSet{Tags: []string{"a"}, SinkOnly: "kafka"}},
		{
			"B148 origin data is no tag", "dd.internal.entity_id:u,dd.internal.card:low,dd.internal.x:1,e:1",
			TagSet{Tags: []string{"e:1"}, EntityID: "u", Cardinality: "low"},
		},
		{"a url keeps its colons", "url:http://x:80/", TagSet{Tags: []string{"url:http://x:80/"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got TagSet
			require.True(t, got.Parse(TagsList, []byte(tt.raw)))
			if len(got.Tags) == 0 {
				got.Tags = nil
			}
			require.Equal(t, tt.want, got)

			var lent TagSet
			require.True(t, lent.ParseLent(TagsList, []byte(tt.raw)))
			if len(lent.Tags) == 0 {
				lent.Tags = nil
			}
			require.Equal(t, tt.want, lent)
		})
	}
}

func TestTagSetParsePairs(t *testing.T) {
	raw := AppendPair(nil, "b", "x,y:z")
	raw = AppendPair(raw, "a", "")
	raw = AppendPair(raw, "veneurglobalonly", "true")
	var got TagSet
	require.True(t, got.Parse(TagsPairs, raw))
	require.Equal(t, []string{"a:", "b:x,y:z"}, got.Tags)
	require.Equal(t, Global, got.Scope)

	var lent TagSet
	for range 2 { // the second time in the memory of the first
		require.True(t, lent.ParseLent(TagsPairs, raw))
		require.Equal(t, got.Tags, lent.Tags)
		require.Equal(t, Global, lent.Scope)
	}
}

// What Parse returns is the caller's; what ParseLent returns is as long as nobody writes to the bytes.
func TestTagSetCopiesUnlessLent(t *testing.T) {
	raw := []byte("b:1,a:2,veneursinkonly:x")
	var parsed, lent TagSet
	require.True(t, parsed.Parse(TagsList, raw))
	require.True(t, lent.ParseLent(TagsList, raw))
	copy(raw, "c:3,d:4,veneursinkonly:y")
	require.Equal(t, []string{"a:2", "b:1"}, parsed.Tags)
	require.Equal(t, []string{"d:4", "c:3"}, lent.Tags)
	require.Equal(t, "x", lent.SinkOnly)
}

func TestTagSetLeavesNoHugeText(t *testing.T) {
	var set TagSet
	require.True(t, set.ParseLent(TagsPairs, AppendPair(nil, "k", string(make([]byte, 2*maxLentText)))))
	require.True(t, set.ParseLent(TagsPairs, AppendPair(nil, "k", "v")))
	require.LessOrEqual(t, cap(set.text), maxLentText)
}

func TestTagSetRefusesBrokenBytes(t *testing.T) {
	var set TagSet
	require.False(t, set.Parse(TagsList, []byte("t:\xc3\x28")), "not UTF-8")
	require.False(t, set.ParseLent(TagsList, []byte("t:\xc3\x28")), "not UTF-8")
	require.False(t, set.ParseLent(TagsPairs, AppendPair(nil, "k", "\xff")), "not UTF-8")
	require.False(t, set.Parse(TagsPairs, AppendPair(nil, "k", "\xff")), "not UTF-8")
	require.False(t, set.Parse(TagsPairs, []byte{200, 1, 'a'}), "length past the end")
	require.False(t, set.Parse(TagsPairs, []byte{1, 'a'}), "no value")
	require.False(t, set.Parse(TagsPairs, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}), "length without end")
	require.True(t, set.Parse(TagsList, []byte("a")), "usable again")
}

func TestTagSetParseAllocatesOnce(t *testing.T) {
	var list, pairs []byte
	for i := range 100 {
		list = fmt.Appendf(list, "key%d:value,", i)
		pairs = AppendPair(pairs, fmt.Sprintf("key%d", i), "value")
	}
	for form, raw := range map[TagForm][]byte{TagsList: list, TagsPairs: pairs} {
		var set TagSet
		require.LessOrEqual(t, testing.AllocsPerRun(100, func() { set.Parse(form, raw) }), 1.0, "form %d", form)
		require.Len(t, set.Tags, 100)
		require.Zero(t, testing.AllocsPerRun(100, func() { set.ParseLent(form, raw) }), "form %d", form)
		require.Len(t, set.Tags, 100)
	}
}

func TestCountTags(t *testing.T) {
	pairs := AppendPair(AppendPair(nil, "a", ",,"), "", "")
	tests := []struct {
		form TagForm
		raw  string
		want int
	}{
		{TagsList, "", 0},
		{TagsList, "a", 1},
		{TagsList, "a,b:,veneurlocalonly", 3},
		{TagsList, ",,", 3},
		{TagsPairs, "", 0},
		{TagsPairs, string(pairs), 2},
		{TagsPairs, string(pairs) + "\x05a", 2},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, CountTags(tt.form, []byte(tt.raw)), "%q", tt.raw)
	}
}
