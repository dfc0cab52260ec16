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

// fewTags is up to how many tags it is cheaper to compare each with all before it.
const fewTags = 16

// uniqueTags resolves, in place, keys that stand twice: the last value stands, where the key stood first.
func uniqueTags(tags []Tag) []Tag {
	if len(tags) > fewTags {
		return uniqueOfMany(tags)
	}
	n, seen := 0, uint64(0)
next:
	for i := range tags {
		// Nearly always all keys differ by what this bit is made of, and none is compared.
		bit := keyBit(tags[i].Key)
		if seen&bit != 0 {
			for j := range n {
				if tags[j].Key == tags[i].Key {
					tags[j].Value = tags[i].Value
					continue next
				}
			}
		}
		seen |= bit
		if n != i {
			tags[n] = tags[i]
		}
		n++
	}
	return tags[:n]
}

// keyBit is one of 64 bits, the same for equal keys.
func keyBit(key string) uint64 {
	if key == "" {
		return 1
	}
	return 1 << ((uint(len(key)) + 3*uint(key[0]) + 7*uint(key[len(key)-1])) % 64)
}

// uniqueOfMany is uniqueTags in time linear in the number of tags: a stranger may send a quarter of a million.
func uniqueOfMany(tags []Tag) []Tag {
	at := make(map[string]int, len(tags))
	for i := range tags {
		n := len(at)
		if first, ok := at[tags[i].Key]; ok {
			tags[first].Value = tags[i].Value
			continue
		}
		at[tags[i].Key] = n
		tags[n] = tags[i]
	}
	return tags[:len(at)]
}
