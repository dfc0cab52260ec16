package partial

import (
	"encoding/binary"
	"sync"
)

// Known is the keys that have a place in one bucket of time. The sets that are filled for the bucket share it (see [Set.Use]), so that what one of
// them has a group for is known to all, and stays known while they are emptied again and again. It is as large as the limits allow at most. Any
// goroutine may use it.
type Known struct {
	mu       sync.Mutex
	limits   Limits
	counts   [families]int // groups, over all services
	services map[string]*knownService
	groups   map[string]struct{} // keys as in a set, with the numbers of services here
	key      []byte
}

type knownService struct {
	number int32
	held   [families]int
}

// NewKnown returns one of a bucket that holds nothing.
func NewKnown(l Limits) *Known {
	return &Known{limits: l, services: map[string]*knownService{}, groups: map[string]struct{}{}}
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
		learn := func(g *group) {
			k.key = appendGroup(k.key[:0], service.number, g)
			if _, known := k.groups[string(k.key)]; !known {
				k.addGroup(service, g.family, k.key)
			}
		}
		for j := range m.Operations {
			learn(&group{family: Operations, failed: m.Operations[j].Failed, name: m.Operations[j].Name})
		}
		for j := range m.Kinds {
			learn(&group{family: Kinds, name: m.Kinds[j].Kind})
		}
		for j := range m.Dependencies {
			d := &m.Dependencies[j]
			learn(&group{family: Dependencies, failed: d.Failed, kind: d.TargetKind, target: d.Target, name: d.Name})
		}
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
	if len(k.services) >= k.limits.Services {
		return false
	}
	k.addService(key)
	return true
}

// group says whether a group of a service that has a place has one too, which it gets if there is room, and whether it is that of its key
// without the name, which is the key's last and so many bytes long. The key is that of any set.
func (k *Known) group(service, key []byte, f Family, name int) (has, nameless bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	home := k.services[string(service)]
	k.key = append(k.key[:0], key...)
	binary.LittleEndian.PutUint32(k.key[1:], uint32(home.number))
	key = k.key
	if _, known := k.groups[string(key)]; known {
		return true, false
	}
	held, limit := home.held[f], k.limits.PerService.of(f)
	if f == Dependencies && name > 0 && held >= limit/2 {
		key, nameless = key[:len(key)-name], true
		if _, known := k.groups[string(key)]; known {
			return true, true
		}
	}
	if held >= limit || k.counts[f] >= k.limits.Overall.of(f) {
		return false, false
	}
	k.addGroup(home, f, key)
	return true, nameless
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
