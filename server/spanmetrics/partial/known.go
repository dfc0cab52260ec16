package partial

import (
	"encoding/binary"
	"slices"
	"sync"
)

// Known is the keys that have a place in one bucket of time. The sets that are filled for the bucket share it (see [Set.Use]), so that what one of
// them has a group for is known to all, and stays known while they are emptied again and again. Any goroutine may use it.
//
// What is counted in a bucket goes on into longer ones, where nobody can tell apart any more what had no group. So a key that has a place in one of
// those has one here too, past the limits, and one that gets a place here gets one there, if there is room. It is as large, at most, as the limits
// allow, and as much again for each longer bucket.
type Known struct {
	mu       sync.Mutex
	limits   Limits
	longer   []*Known      // each is locked while this one is, and locks none
	counts   [families]int // groups, over all services
	services map[string]*knownService
	groups   map[string]struct{} // keys as in a set, with the numbers of services here
	key      []byte
}

type knownService struct {
	number int32
	held   [families]int
}

// NewKnown returns one of a bucket that holds nothing, and of which what is counted goes on into longer ones.
func NewKnown(l Limits, longer ...*Known) *Known {
	return &Known{limits: l, longer: longer, services: map[string]*knownService{}, groups: map[string]struct{}{}}
}

// Learn has everything known that a set, of the same bucket, holds.
func (k *Known) Learn(s *Set) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range s.services {
		m := &s.services[i]
		s.service = appendService(s.service[:0], m.Name, m.Tags)
		service := k.services[string(s.service)]
		if service == nil {
			service = k.addService(s.service)
		}
		m.each(func(g *group) {
			k.key = appendGroup(k.key[:0], service.number, g)
			if _, known := k.groups[string(k.key)]; !known {
				k.addGroup(service, g.family, k.key)
			}
		})
	}
}

// Admit gives what a set holds, of a shorter bucket that goes on into this one, places as far as there is room.
func (k *Known) Admit(s *Set) {
	for i := range s.services {
		m := &s.services[i]
		s.service = appendService(s.service[:0], m.Name, m.Tags)
		k.service(s.service)
		m.each(func(g *group) {
			s.key = appendGroup(s.key[:0], 0, g)
			k.admit(s.service, s.key, g.family, len(g.name))
		})
	}
}

// each calls f for each group of the service. What it is called with is lent for the call.
func (m *Service) each(f func(*group)) {
	for i := range m.Operations {
		f(&group{family: Operations, failed: m.Operations[i].Failed, name: m.Operations[i].Name})
	}
	for i := range m.Kinds {
		f(&group{family: Kinds, name: m.Kinds[i].Kind})
	}
	for i := range m.Dependencies {
		d := &m.Dependencies[i]
		f(&group{family: Dependencies, failed: d.Failed, kind: d.TargetKind, target: d.Target, name: d.Name})
	}
}

func (k *Known) addService(key []byte) *knownService {
	service := &knownService{number: int32(len(k.services))}
	k.services[string(key)] = service
	return service
}

func (k *Known) addGroup(service *knownService, f Family, key []byte) {
	k.groups[string(key)] = struct{}{}
	service.held[f]++
	k.counts[f]++
}

// service says whether a service has a place, which it gets if there is room.
func (k *Known) service(key []byte) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.services[string(key)] != nil {
		return true
	}
	if len(k.services) >= k.limits.Services && !slices.ContainsFunc(k.longer, func(l *Known) bool { return l.hasService(key) }) {
		return false
	}
	k.addService(key)
	for _, l := range k.longer {
		l.service(key)
	}
	return true
}

func (k *Known) hasService(key []byte) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.services[string(key)] != nil
}

// group says whether a group of a service that has a place has one too, which it gets if there is room, and whether it is that of its key
// without the name, which is the key's last and so many bytes long. The key is that of any set.
func (k *Known) group(service, key []byte, f Family, name int) (has, nameless bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	home := k.services[string(service)]
	key = k.own(home, key)
	if _, known := k.groups[string(key)]; known {
		return true, false
	}
	if k.inLonger(service, key) {
		k.enter(home, service, f, key, name)
		return true, false
	}
	without := key[:len(key)-name]
	held, limit := home.held[f], k.limits.PerService.of(f)
	if f == Dependencies && name > 0 && held >= limit/2 {
		nameless = true
		if _, known := k.groups[string(without)]; known {
			return true, true
		}
	}
	if held >= limit || k.counts[f] >= k.limits.Overall.of(f) {
		if f == Dependencies && name > 0 && k.inLonger(service, without) {
			k.enter(home, service, f, without, 0)
			return true, true
		}
		return false, false
	}
	if nameless {
		key, name = without, 0
	}
	k.enter(home, service, f, key, name)
	return true, nameless
}

// own returns a key as it is here.
func (k *Known) own(home *knownService, key []byte) []byte {
	k.key = append(k.key[:0], key...)
	binary.LittleEndian.PutUint32(k.key[1:], uint32(home.number))
	return k.key
}

// enter gives a group a place here, and where it goes on to as far as there is room.
func (k *Known) enter(home *knownService, service []byte, f Family, key []byte, name int) {
	k.addGroup(home, f, key)
	for _, l := range k.longer {
		l.admit(service, key, f, name)
	}
}

// admit gives a group a place if there is room.
func (k *Known) admit(service, key []byte, f Family, name int) {
	if k.hasService(service) {
		k.group(service, key, f, name)
	}
}

// inLonger says whether a group has a place where it goes on to.
func (k *Known) inLonger(service, key []byte) bool {
	return slices.ContainsFunc(k.longer, func(l *Known) bool { return l.hasGroup(service, key) })
}

func (k *Known) hasGroup(service, key []byte) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	home := k.services[string(service)]
	if home == nil {
		return false
	}
	_, has := k.groups[string(k.own(home, key))]
	return has
}

// Use has the set, which is empty, filled for the bucket of k from now on: not what it holds counts towards the limits but what is known there. It
// asks once for each key, and again for one that gets no place or that loses its name.
func (s *Set) Use(k *Known) {
	if s.known != k {
		s.known = k
		s.bucket++
		s.kept = 0
	}
}

// letIn says whether the service at hand, which is not in the present generation, has a place.
func (s *Set) letIn(number int32, known bool) bool {
	if s.known == nil {
		return len(s.services) < s.limits.Services
	}
	return known && s.entries[number].bucket == s.bucket || s.known.service(s.service)
}
