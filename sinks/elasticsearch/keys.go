package elasticsearch

import (
	"strings"

	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/ssf"
)

// keySet is the keys of tags that an index has, as far as this sink knows.
type keySet map[string]struct{}

// keyFilter decides which tags are written. What it returns is lent until the next call.
type keyFilter struct {
	only, not map[string]struct{}
	most      int
	left      [numLeft]*telemetry.Metric
	pairs     []ssf.Tag
	texts     []string
}

// Why a tag is not written.
const (
	leftByRule  = iota // tag_keys or drop_tag_keys
	leftByLimit        // max_tag_keys
	numLeft
)

var leftNames = [numLeft]string{"rule", "limit"}

func newKeyFilter(c *Config) keyFilter {
	set := func(keys []string) map[string]struct{} {
		if len(keys) == 0 {
			return nil
		}
		m := map[string]struct{}{}
		for _, key := range keys {
			m[key] = struct{}{}
		}
		return m
	}
	return keyFilter{only: set(c.TagKeys), not: set(c.DropTagKeys), most: c.MaxTagKeys}
}

// takes says whether a tag is written to an index, and notes its key for that.
func (f *keyFilter) takes(key string, to *stream) bool {
	if f.only != nil {
		if _, listed := f.only[key]; !listed {
			f.left[leftByRule].Inc()
			return false
		}
	}
	if _, listed := f.not[key]; listed {
		f.left[leftByRule].Inc()
		return false
	}
	if f.most == 0 {
		return true
	}
	if _, known := to.keys[key]; known {
		return true
	}
	if len(to.keys) >= f.most {
		f.left[leftByLimit].Inc()
		return false
	}
	if to.keys == nil {
		to.keys = keySet{}
	}
	to.keys[strings.Clone(key)] = struct{}{} // the text of a span is a piece of much more
	return true
}

// spanTags returns those of tags that are written; tags itself if that is all.
func (f *keyFilter) spanTags(tags []ssf.Tag, to *stream) []ssf.Tag {
	for i := range tags {
		if f.takes(tags[i].Key, to) {
			continue
		}
		f.pairs = append(f.pairs[:0], tags[:i]...)
		for _, tag := range tags[i+1:] {
			if f.takes(tag.Key, to) {
				f.pairs = append(f.pairs, tag)
			}
		}
		return f.pairs
	}
	return tags
}

// seriesTags is spanTags for "key:value".
func (f *keyFilter) seriesTags(tags []string, to *stream) []string {
	for i, tag := range tags {
		if f.takes(keyOf(tag), to) {
			continue
		}
		f.texts = append(f.texts[:0], tags[:i]...)
		for _, tag := range tags[i+1:] {
			if f.takes(keyOf(tag), to) {
				f.texts = append(f.texts, tag)
			}
		}
		return f.texts
	}
	return tags
}

func keyOf(tag string) string {
	key, _, _ := strings.Cut(tag, ":")
	return key
}
