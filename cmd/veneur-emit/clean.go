package main

import (
	"strings"

	"github.com/veneurd/veneur/protocol/dogstatsd"
	"github.com/veneurd/veneur/ssf"
)

// What was typed is cleaned the same way whatever it goes over, so that one command line makes one series: in a span a newline or a pipe
// would do no harm on the wire, but the series would be another one.

func cleanName(s string) string { return string(dogstatsd.AppendCleanName(nil, s)) }

func cleanText(s string) string { return string(dogstatsd.AppendCleanText(nil, s)) }

// cleanTags returns the tags of comma separated lists, as they stand in a line.
func cleanTags(lists ...string) []byte {
	return dogstatsd.AppendCleanTags(nil, strings.Split(strings.Join(lists, ","), ",")...)
}

// spanTags returns the tags of a comma separated list as keys and values. A tag without a colon has an empty value, as a span can say
// nothing else.
func spanTags(list string) []ssf.Tag {
	var tags []ssf.Tag
	for item := range strings.SplitSeq(string(cleanTags(list)), ",") {
		if item == "" {
			continue
		}
		key, value, _ := strings.Cut(item, ":")
		tags = append(tags, ssf.Tag{Key: key, Value: value})
	}
	return tags
}
