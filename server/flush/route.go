package flush

import (
	"slices"

	"github.com/veneurd/veneur/internal/config"
)

// RouteConfig sends the points it matches to some sinks and the others to others.
type RouteConfig struct {
	// Name is for people; nothing else reads it.
	Name string `yaml:"name"`
	// Match lists sets of points; a point matches the route when it is in any of them.
	Match []Match `yaml:"match"`
	// Sinks names the metric sinks that get the points.
	Sinks RouteSinks `yaml:"sinks"`
}

// RouteSinks names metric sinks.
type RouteSinks struct {
	// Matched get the points that the route matches.
	Matched []string `yaml:"matched"`
	// NotMatched get the points that it does not.
	NotMatched []string `yaml:"not_matched"`
}

// Validate reports an empty match list and every faulty matcher.
func (r *RouteConfig) Validate() error {
	var faults config.Faults
	if len(r.Match) == 0 {
		faults.Add("match", "must hold at least one matcher; {name: {kind: any}} matches every point")
	}
	for i := range r.Match {
		faults.AddIn(config.Index("match", i), r.Match[i].Validate())
	}
	return faults.Err()
}

// ValidateRoutes reports routes that are faulty or name a sink that is not among names.
func ValidateRoutes(routes []RouteConfig, names []string) error {
	var faults config.Faults
	for i := range routes {
		path := config.Index("metric_sink_routing", i)
		faults.AddIn(path, routes[i].Validate())
		for _, list := range []struct {
			key   string
			sinks []string
		}{{"matched", routes[i].Sinks.Matched}, {"not_matched", routes[i].Sinks.NotMatched}} {
			for j, name := range list.sinks {
				if !slices.Contains(names, name) {
					faults.Add(config.Join(path, config.Index("sinks."+list.key, j)), "no metric sink is named %q", name)
				}
			}
		}
	}
	return faults.Err()
}

// router decides which targets get what. It is the flusher's own.
type router struct {
	targets []string
	all     targetSet
	routes  []route
}

// targetSet has one bit a target.
type targetSet []uint64

type route struct {
	match               []matcher
	matched, notMatched targetSet
}

func newRouter(targets []string, routes []RouteConfig) *router {
	r := &router{targets: targets}
	r.all = r.set(targets)
	for i := range routes {
		compiled := route{matched: r.set(routes[i].Sinks.Matched), notMatched: r.set(routes[i].Sinks.NotMatched)}
		for _, m := range routes[i].Match {
			compiled.match = append(compiled.match, newMatcher(m))
		}
		r.routes = append(r.routes, compiled)
	}
	return r
}

func (r *router) set(names []string) targetSet {
	set := make(targetSet, (len(r.targets)+63)/64)
	for i, target := range r.targets {
		if slices.Contains(names, target) {
			set[i/64] |= 1 << (i % 64)
		}
	}
	return set
}

func (s targetSet) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

// routed says whether target i gets what has the given name and tags. sinkOnly goes before every route.
func (r *router) routed(i int, name string, tags []string, sinkOnly string) bool {
	if sinkOnly != "" {
		return r.targets[i] == sinkOnly
	}
	if len(r.routes) == 0 {
		return true
	}
	for j := range r.routes {
		sinks := r.routes[j].notMatched
		if r.routes[j].matches(name, tags) {
			sinks = r.routes[j].matched
		}
		if sinks.has(i) {
			return true
		}
	}
	return false
}

// exists says whether anybody can get what is for sinkOnly alone, or, when that is empty, for everybody.
func (r *router) exists(sinkOnly string) bool {
	return sinkOnly == "" && len(r.targets) > 0 || slices.Contains(r.targets, sinkOnly)
}

// anywhere says whether any target gets it.
func (r *router) anywhere(name string, tags []string, sinkOnly string) bool {
	if sinkOnly != "" || len(r.routes) == 0 {
		return r.exists(sinkOnly)
	}
	for i := range r.targets {
		if r.routed(i, name, tags, "") {
			return true
		}
	}
	return false
}

func (r *route) matches(name string, tags []string) bool {
	for i := range r.match {
		if r.match[i].match(name, tags) {
			return true
		}
	}
	return false
}
