package partial

// findGroup returns the index of a group in its list, making the group if there is room. Otherwise it has counted the key among those past
// the limit, and returns a negative one.
func (s *Set) findGroup(home place, g *group) int32 {
	s.key = appendGroup(s.key[:0], home.number, g)
	if home.at < 0 {
		s.estimate(s.overall, g.family)
		return -1
	}
	key := s.key
	number, known := s.index[string(key)]
	if known && s.entries[number].generation == s.present {
		return s.entries[number].at
	}
	m := &s.services[home.at]
	if s.known == nil || !known || s.entries[number].bucket != s.bucket {
		has, nameless := s.placeFor(m, g)
		if !has {
			s.estimate(s.excessOf(home), g.family)
			return -1
		}
		if nameless {
			key = key[:len(key)-len(g.name)]
			number, known = s.index[string(key)]
			if known && s.entries[number].generation == s.present {
				return s.entries[number].at
			}
		}
	}
	if !known {
		number = s.addEntry(key)
	}
	s.counts[g.family]++
	e := s.enter(number, m.held(g.family))
	m.add(groupOf(e.key))
	return e.at
}

// placeFor says whether the group at hand, which is not in the present generation, has a place or, without its name, is there or has one.
func (s *Set) placeFor(m *Service, g *group) (has, nameless bool) {
	if s.known != nil {
		return s.known.group(s.service, s.key, g.family, len(g.name))
	}
	held, limit := m.held(g.family), s.limits.PerService.of(g.family)
	// A name that comes with a message had its place where that was made, and may only come after those without by the order of messages.
	if g.family == Dependencies && g.name != "" && !g.merged && held >= limit/2 {
		nameless = true
		number, known := s.index[string(s.key[:len(s.key)-len(g.name)])]
		if known && s.entries[number].generation == s.present {
			return true, true
		}
	}
	return held < limit && s.counts[g.family] < s.limits.Overall.of(g.family), nameless
}

// held returns how many groups of a family the service has.
func (m *Service) held(f Family) int {
	switch f {
	case Operations:
		return len(m.Operations)
	case Kinds:
		return len(m.Kinds)
	default:
		return len(m.Dependencies)
	}
}

// add makes a group, in the memory of one that was there before.
func (m *Service) add(g group) {
	switch g.family {
	case Operations:
		var o *Operation
		m.Operations, o = extend(m.Operations)
		o.Duration.Clear()
		*o = Operation{Name: g.name, Failed: g.failed, Duration: o.Duration}
	case Kinds:
		var k *Kind
		m.Kinds, k = extend(m.Kinds)
		k.Duration.Clear()
		*k = Kind{Kind: g.name, Duration: k.Duration}
	default:
		var d *Dependency
		m.Dependencies, d = extend(m.Dependencies)
		*d = Dependency{Name: g.name, Failed: g.failed, TargetKind: g.kind, Target: g.target}
	}
}

// estimate counts the key at hand among those that e stands for.
func (s *Set) estimate(e *Excess, f Family) {
	s.whole = append(append(s.whole[:0], s.service...), s.key[groupPrefix:]...)
	e.keys[f].Insert(s.whole)
}

// excessOf returns what takes the keys past the limit of a service, or of a service past the limit.
func (s *Set) excessOf(home place) *Excess {
	if home.at < 0 {
		return s.overall
	}
	if s.excess[home.at] == nil {
		s.excess[home.at] = s.newExcess()
	}
	return s.excess[home.at]
}

// newExcess returns an empty one, in the memory of one that was used before.
func (s *Set) newExcess() *Excess {
	n := len(s.spare)
	if n == 0 {
		return new(Excess)
	}
	e := s.spare[n-1]
	s.spare[n-1] = nil
	s.spare = s.spare[:n-1]
	for f := range e.keys {
		e.keys[f].Reset()
	}
	operations, kinds := e.Sums.OperationDuration, e.Sums.KindDuration
	operations.Clear()
	kinds.Clear()
	e.Sums = Overflow{OperationDuration: operations, KindDuration: kinds}
	return e
}
