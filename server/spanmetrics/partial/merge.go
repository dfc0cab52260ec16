package partial

import (
	"slices"

	"github.com/veneurd/veneur/server/sketch/hll"
	"github.com/veneurd/veneur/server/sketch/loghist"
)

// Merge adds what another set held, given as the message that AppendTo made of it. The bytes may be overwritten as soon as Merge has returned. An
// error, of this package, says that they are no such message, and then nothing was added. A set whose keys are all known costs no allocation.
func (s *Set) Merge(wire []byte) error {
	if err := s.decoder.decode(wire, &s.scratch); err != nil {
		return err
	}
	from := &s.decoder.aggregate
	for i := range from.Services {
		s.mergeService(&from.Services[i])
	}
	if from.Overflow != nil {
		if s.overall == nil {
			s.overall = s.newExcess()
		}
		s.mergeExcess(s.overall, from.Overflow)
		s.unite(&s.nameless, from.OverflowedServices)
	}
	return nil
}

func (s *Set) mergeService(from *Service) {
	canonical(from.Tags)
	home := s.findService(from.Name, from.Tags)
	for i := range from.Operations {
		f := &from.Operations[i]
		if at := s.findGroup(home, &group{family: Operations, failed: f.Failed, name: f.Name}); at >= 0 {
			o := &s.services[home.at].Operations[at]
			o.Duration.Merge(&f.Duration)
			o.slowestOf(f.Slowest, f.SlowestTrace)
			o.latestOf(f.Latest, f.LatestTrace, f.LatestTook)
		} else {
			s.excessOf(home).Sums.OperationDuration.Merge(&f.Duration)
		}
	}
	for i := range from.Kinds {
		f := &from.Kinds[i]
		if at := s.findGroup(home, &group{family: Kinds, name: f.Kind}); at >= 0 {
			k := &s.services[home.at].Kinds[at]
			k.Duration.Merge(&f.Duration)
			k.Ok, k.Failed = loghist.Plus(k.Ok, f.Ok), loghist.Plus(k.Failed, f.Failed)
		} else {
			s.excessOf(home).addKind(&f.Duration, 0, 0, f.Ok, f.Failed)
		}
	}
	if s.known != nil {
		slices.SortStableFunc(from.Dependencies, namedFirst) // those without a name came when there was little room for names
	}
	for i := range from.Dependencies {
		f := &from.Dependencies[i]
		g := group{family: Dependencies, failed: f.Failed, kind: f.TargetKind, target: f.Target, name: f.Name, merged: true}
		if at := s.findGroup(home, &g); at >= 0 {
			d := &s.services[home.at].Dependencies[at]
			d.Weight, d.Sum = loghist.Plus(d.Weight, f.Weight), loghist.Plus(d.Sum, f.Sum)
		} else {
			s.excessOf(home).addDependency(f.Weight, f.Sum)
		}
	}
	if from.Overflow != nil {
		s.mergeExcess(s.excessOf(home), from.Overflow)
	}
}

func namedFirst(a, b Dependency) int {
	switch {
	case (a.Name == "") == (b.Name == ""):
		return 0
	case a.Name != "":
		return -1
	}
	return 1
}

func (s *Set) mergeExcess(into *Excess, from *Overflow) {
	into.Sums.OperationDuration.Merge(&from.OperationDuration)
	into.addKind(&from.KindDuration, 0, 0, from.Ok, from.Failed)
	into.addDependency(from.DependencyWeight, from.DependencySum)
	for f, estimator := range from.estimators() {
		s.unite(&into.keys[f], estimator)
	}
}

// unite adds the keys of an estimator, whose bytes were looked at before.
func (s *Set) unite(into *hll.Sketch, estimator []byte) {
	if len(estimator) > 0 && s.scratch.Decode(estimator) == nil {
		into.Merge(&s.scratch)
	}
}

// estimators returns the estimator of each family.
func (m *Overflow) estimators() [families][]byte {
	return [families][]byte{m.Operations, m.Kinds, m.Dependencies}
}
