package telemetry

import (
	"runtime/metrics"
	"time"

	"github.com/veneurd/veneur/internal/buildinfo"
)

// Figures of the process. Each is read when somebody looks and stops nothing.
var (
	descUptime = Desc{
		Name: "uptime_seconds", Kind: Gauge, Unit: "seconds",
		Help: "Time since the daemon was made; a drop is a restart.",
	}
	descGoroutines = Desc{
		Name: "goroutines", Kind: Gauge, Unit: "goroutines",
		Help: "Goroutines alive; growth without end is a leak.",
	}
	descHeap = Desc{
		Name: "heap_bytes", Kind: Gauge, Unit: "bytes",
		Help: "Memory of objects on the heap, dead ones not yet swept included.",
	}
	descGCCycles = Desc{
		Name: "gc_cycles", Kind: Counter, Unit: "cycles",
		Help: "Garbage collections completed.",
	}
	descBuild = Desc{
		Name: "build_info", Kind: Gauge, Unit: "builds", Tags: []string{"version", "revision", "go"},
		Help: "Always 1; the tags say which build is running.",
	}
)

// RegisterProcess adds the figures of the process and of its build. The uptime counts from the call.
func (r *Registry) RegisterProcess(build buildinfo.Info) {
	start := time.Now()
	r.Func(&descUptime, func() float64 { return time.Since(start).Seconds() })
	r.Func(&descGoroutines, func() float64 { return runtimeMetric("/sched/goroutines:goroutines") })
	r.Func(&descHeap, func() float64 { return runtimeMetric("/memory/classes/heap/objects:bytes") })
	r.Func(&descGCCycles, func() float64 { return runtimeMetric("/gc/cycles/total:gc-cycles") })
	r.Gauge(&descBuild, build.Version, build.Revision, build.Go).Set(1)
}

// runtimeMetric returns a whole-number metric of package runtime/metrics, and 0 when this Go does not have it.
func runtimeMetric(name string) float64 {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return float64(sample[0].Value.Uint64())
}
