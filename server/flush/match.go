package flush

import (
	"regexp"
	"strings"

	"github.com/veneurd/veneur/internal/config"
)

// How a matcher compares.
const (
	matchAny    = "any"
	matchExact  = "exact"
	matchPrefix = "prefix"
	matchRegex  = "regex"
)

// Match describes a set of points: those whose name and tags satisfy all of it.
type Match struct {
	// Name is compared with the whole name of a point, suffixes such as .min included. Without it, any name does.
	Name NameMatch `yaml:"name"`
	// Tags must all be satisfied.
	Tags []TagMatch `yaml:"tags"`
}

// NameMatch compares a name.
type NameMatch struct {
	// Kind is any, exact, prefix or regex (RE2 syntax, matching anywhere unless anchored).
	Kind string `yaml:"kind"`
	// Value is what the name is compared with.
	Value string `yaml:"value"`
}

// TagMatch compares the tags of a point, each as a whole: "key:value".
type TagMatch struct {
	// Kind is any, exact, prefix or regex (RE2 syntax, matching anywhere unless anchored).
	Kind string `yaml:"kind"`
	// Value is what each tag is compared with.
	Value string `yaml:"value"`
	// Unset turns the condition round: no tag may match.
	Unset bool `yaml:"unset"`
}

func validateMatch(faults *config.Faults, kind, value string) {
	switch kind {
	case matchAny:
	case matchExact, matchPrefix:
		if value == "" {
			faults.Add("value", "must be set for kind %s", kind)
		}
	case matchRegex:
		if _, err := regexp.Compile(value); err != nil {
			faults.Add("value", "%v", err)
		}
	case "":
		faults.Add("kind", "must be set: any, exact, prefix or regex")
	default:
		faults.Add("kind", "%q is none of any, exact, prefix, regex", kind)
	}
}

// Validate reports an unknown kind, a missing value and a regular expression that does not compile.
func (m *NameMatch) Validate() error {
	if *m == (NameMatch{}) {
		return nil
	}
	var faults config.Faults
	validateMatch(&faults, m.Kind, m.Value)
	return faults.Err()
}

// Validate is that of NameMatch.
func (m *TagMatch) Validate() error {
	var faults config.Faults
	validateMatch(&faults, m.Kind, m.Value)
	return faults.Err()
}

// Validate reports the faults of the name and of every tag.
func (m *Match) Validate() error {
	var faults config.Faults
	faults.AddIn("name", m.Name.Validate())
	for i := range m.Tags {
		faults.AddIn(config.Index("tags", i), m.Tags[i].Validate())
	}
	return faults.Err()
}

// test is a compiled comparison. It is a function so that a route pays only for the kind it uses.
type test func(s string) bool

func newTest(kind, value string) test {
	switch kind {
	case matchExact:
		return func(s string) bool { return s == value }
	case matchPrefix:
		return func(s string) bool { return strings.HasPrefix(s, value) }
	case matchRegex:
		return regexp.MustCompile(value).MatchString // Validate has compiled it once
	default:
		return func(string) bool { return true }
	}
}

// matcher is a compiled Match.
type matcher struct {
	name test
	tags []tagTest
}

type tagTest struct {
	matches test
	unset   bool
}

func newMatcher(m Match) matcher {
	compiled := matcher{name: newTest(m.Name.Kind, m.Name.Value)}
	for _, tag := range m.Tags {
		compiled.tags = append(compiled.tags, tagTest{newTest(tag.Kind, tag.Value), tag.Unset})
	}
	return compiled
}

func (m *matcher) match(name string, tags []string) bool {
	if !m.name(name) {
		return false
	}
	for i := range m.tags {
		if m.tags[i].any(tags) == m.tags[i].unset {
			return false
		}
	}
	return true
}

func (t *tagTest) any(tags []string) bool {
	for _, tag := range tags {
		if t.matches(tag) {
			return true
		}
	}
	return false
}
