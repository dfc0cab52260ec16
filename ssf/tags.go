package ssf

import (
	"maps"
	"slices"
)

// Tag gives the value of the span's tag, "" if it has no such tag. Of a key that stands twice the last one counts, as in a map.
func (m *SSFSpan) Tag(key string) (value string, ok bool) { return tagValue(m.Tags, key) }

// SetTag gives the span's tag its value, and adds it if there is none.
func (m *SSFSpan) SetTag(key, value string) { m.Tags = setTag(m.Tags, key, value) }

// DeleteTag removes every tag of the key and keeps the order of the others.
func (m *SSFSpan) DeleteTag(key string) { m.Tags = deleteTag(m.Tags, key) }

// Tag gives the value of the sample's tag, "" if it has no such tag. Of a key that stands twice the last one counts, as in a map.
func (m *SSFSample) Tag(key string) (value string, ok bool) { return tagValue(m.Tags, key) }

// SetTag gives the sample's tag its value, and adds it if there is none.
func (m *SSFSample) SetTag(key, value string) { m.Tags = setTag(m.Tags, key, value) }

// DeleteTag removes every tag of the key and keeps the order of the others.
func (m *SSFSample) DeleteTag(key string) { m.Tags = deleteTag(m.Tags, key) }

// TagsFromMap lists a map's entries by key, so that equal maps give equal bytes.
func TagsFromMap(m map[string]string) []Tag {
	if len(m) == 0 {
		return nil
	}
	tags := make([]Tag, 0, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		tags = append(tags, Tag{Key: key, Value: m[key]})
	}
	return tags
}

func lastTag(tags []Tag, key string) int {
	for i := len(tags) - 1; i >= 0; i-- {
		if tags[i].Key == key {
			return i
		}
	}
	return -1
}

func tagValue(tags []Tag, key string) (string, bool) {
	if i := lastTag(tags, key); i >= 0 {
		return tags[i].Value, true
	}
	return "", false
}

func setTag(tags []Tag, key, value string) []Tag {
	if i := lastTag(tags, key); i >= 0 {
		tags[i].Value = value
		return tags
	}
	return append(tags, Tag{Key: key, Value: value})
}

func deleteTag(tags []Tag, key string) []Tag {
	return slices.DeleteFunc(tags, func(t Tag) bool { return t.Key == key })
}
