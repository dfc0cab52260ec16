package ssf_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/ssf"
)

func TestTagsAsAMap(t *testing.T) {
	s := ssf.SSFSpan{Tags: []ssf.Tag{{Key: "a", Value: "1"}, {Key: "b", Value: "2"}, {Key: "a", Value: "3"}}}

	v, ok := s.Tag("a")
	require.True(t, ok)
	require.Equal(t, "3", v, "the last of equal keys")
	_, ok = s.Tag("c")
	require.False(t, ok)

	s.SetTag("a", "4")
	v, _ = s.Tag("a")
	require.Equal(t, "4", v)
	require.Len(t, s.Tags, 3)

	s.SetTag("c", "5")
	s.DeleteTag("a")
	require.Equal(t, []ssf.Tag{{Key: "b", Value: "2"}, {Key: "c", Value: "5"}}, s.Tags)

	var m ssf.SSFSample
	m.SetTag("a", "1")
	v, ok = m.Tag("a")
	require.True(t, ok)
	require.Equal(t, "1", v)
	m.DeleteTag("a")
	require.Empty(t, m.Tags)
}

func TestTagsFromMap(t *testing.T) {
	require.Nil(t, ssf.TagsFromMap(nil))
	require.Equal(t, []ssf.Tag{{Key: "a", Value: "2"}, {Key: "b", Value: "1"}}, ssf.TagsFromMap(map[string]string{"b": "1", "a": "2"}))
}
