package delivery

import (
	"time"

	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/sinks/diskqueue"
)

// What is counted of a queue on disk.
var (
	descReplayed = telemetry.Desc{
		Name: "sink.disk_replayed", Kind: telemetry.Counter, Unit: "items", Tags: []string{"sink", "signal"},
		Help: "Items that an earlier process had left on disk; they are among those offered.",
	}
	descStored = telemetry.Desc{
		Name: "sink.disk_waiting", Kind: telemetry.Gauge, Unit: "items", Tags: []string{"sink", "signal"},
		Help: "Items that wait on disk; they are among those waiting.",
	}
	descDiskBytes = telemetry.Desc{
		Name: "sink.disk_bytes", Kind: telemetry.Gauge, Unit: "bytes", Tags: []string{"sink", "signal"},
		Help: "Files of the queue on disk; max_bytes bounds them.",
	}
	descDiskRecords = telemetry.Desc{
		Name: "sink.disk_records", Kind: telemetry.Gauge, Unit: "records", Tags: []string{"sink", "signal"},
		Help: "Chunks that wait on disk.",
	}
	descDiskAge = telemetry.Desc{
		Name: "sink.disk_age", Kind: telemetry.Gauge, Unit: "seconds", Tags: []string{"sink", "signal"},
		Help: "The age of the oldest chunk on disk; near max_age, what comes next is lost.",
	}
	descDiskCorrupt = telemetry.Desc{
		Name: "sink.disk_corrupt", Kind: telemetry.Counter, Unit: "records", Tags: []string{"sink", "signal"}, Loss: true,
		Help: "Damaged chunks and cut ends of files in the queue on disk; one cut end after a crash is usual.",
	}
	descDiskErrors = telemetry.Desc{
		Name: "sink.disk_errors", Kind: telemetry.Counter, Unit: "errors", Tags: []string{"sink", "signal"},
		Help: "Writes, syncs and removals that failed, and directories that were found gone; while the disk takes nothing, the queue is in memory only.",
	}
	descDiskDropped = telemetry.Desc{
		Name: "sink.disk_dropped", Kind: telemetry.Counter, Unit: "items", Tags: []string{"sink", "signal", "reason"}, Loss: true,
		Help: "Items lost from the disk: full and too_large are among those that overflowed, age, damaged and removed (with the directory) among those expired.",
	}
)

// registerDisk makes the state of the queue on disk readable.
func (c *core) registerDisk(r *telemetry.Registry) {
	state := func(d *telemetry.Desc, field func(diskqueue.State) float64) {
		r.Func(d, func() float64 { return field(c.disk.state()) }, c.name, c.signal)
	}
	r.Func(&descReplayed, func() float64 { return float64(c.Ledger().Replayed) }, c.name, c.signal)
	r.Func(&descStored, func() float64 { return float64(c.Ledger().Stored) }, c.name, c.signal)
	state(&descDiskBytes, func(s diskqueue.State) float64 { return float64(s.Bytes) })
	state(&descDiskRecords, func(s diskqueue.State) float64 { return float64(s.Records) })
	state(&descDiskCorrupt, func(s diskqueue.State) float64 { return float64(s.Corrupt) })
	state(&descDiskErrors, func(s diskqueue.State) float64 { return float64(s.WriteErrors) })
	state(&descDiskAge, func(s diskqueue.State) float64 {
		if s.Oldest.IsZero() {
			return 0
		}
		return time.Since(s.Oldest).Seconds()
	})
}
