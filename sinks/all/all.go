// Package all lists every kind of sink that is built into the daemon.
package all

import (
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/blackhole"
	"github.com/veneurd/veneur/sinks/debug"
	"github.com/veneurd/veneur/sinks/elasticsearch"
	"github.com/veneurd/veneur/sinks/localfile"
	"github.com/veneurd/veneur/sinks/prometheus"
)

// Kinds returns the kinds, in the order in which the reference lists them.
func Kinds() []sinks.Kind {
	return []sinks.Kind{
		debug.Kind(),
		localfile.Kind(),
		prometheus.Kind(),
		elasticsearch.Kind(),
		blackhole.Kind(),
	}
}
