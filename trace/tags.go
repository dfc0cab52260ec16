package trace

import "github.com/veneurd/veneur/ssf"

// fewTags is up to how many tags it is cheaper to compare each with those before it.
const fewTags = 32

// tagPlaces says where the tags of a span stand that has more than a few, whose keys all differ; nil, or empty, that nobody has asked yet.
type tagPlaces map[string]int

// of returns the places of tags, which are more than a few.
func (p *tagPlaces) of(tags []ssf.Tag) tagPlaces {
	if *p == nil {
		*p = make(tagPlaces, 2*fewTags)
	}
	for i := len(*p); i < len(tags); i++ {
		(*p)[tags[i].Key] = i
	}
	return *p
}

// reset lets go of the keys, and of the memory when it is more than most spans need.
func (p *tagPlaces) reset() {
	if len(*p) > keptTags {
		*p = nil
	}
	clear(*p)
}

// setTag gives the tag its value: where the key stands, or behind the others.
func (st *state) setTag(key, value string) {
	if len(st.span.Tags) <= fewTags {
		st.span.SetTag(key, value)
		return
	}
	st.setOfMany(key, value)
}

func (st *state) setOfMany(key, value string) {
	if i, ok := st.places.of(st.span.Tags)[key]; ok {
		st.span.Tags[i].Value = value
		return
	}
	st.span.Tags = append(st.span.Tags, ssf.Tag{Key: key, Value: value})
}

// tag returns the value of a tag.
func (st *state) tag(key string) (value string, ok bool) {
	if len(st.span.Tags) <= fewTags {
		return st.span.Tag(key)
	}
	i, ok := st.places.of(st.span.Tags)[key]
	if !ok {
		return "", false
	}
	return st.span.Tags[i].Value, true
}
