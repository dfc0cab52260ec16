package flush

import (
	"maps"
	"slices"
	"strings"

	"github.com/veneurd/veneur/internal/config"
)

// Rules change the tags of what one sink gets. Series that become equal by them are merged as series, before points are made: two
// counters add up, and an average or a percentile is that of all their values.
type Rules struct {
	// StripTags removes the tags that any of these matches.
	StripTags []StripTag `yaml:"strip_tags"`
	// AddTags adds tags; one whose key a series already has is left alone.
	AddTags map[string]string `yaml:"add_tags"`
}

// StripTag names tags to remove.
type StripTag struct {
	// Kind is any, exact, prefix or regex (RE2 syntax, matching anywhere unless anchored).
	Kind string `yaml:"kind"`
	// Value is what each tag is compared with, as a whole: "key:value".
	Value string `yaml:"value"`
}

// Validate is that of NameMatch.
func (t *StripTag) Validate() error {
	var faults config.Faults
	validateMatch(&faults, t.Kind, t.Value)
	return faults.Err()
}

// Validate reports every faulty matcher and every tag that could not be told from two.
func (r *Rules) Validate() error {
	var faults config.Faults
	for i := range r.StripTags {
		faults.AddIn(config.Index("strip_tags", i), r.StripTags[i].Validate())
	}
	for _, key := range slices.Sorted(maps.Keys(r.AddTags)) {
		if key == "" {
			faults.Add("add_tags", "a tag needs a key")
		}
		if strings.ContainsAny(key, ":,\n") {
			faults.Add("add_tags", "key %q holds a colon, a comma or a newline", key)
		}
		if strings.ContainsAny(r.AddTags[key], ",|\n") {
			faults.Add(config.Join("add_tags", key), "%q holds a comma, a bar or a newline", r.AddTags[key])
		}
	}
	return faults.Err()
}
