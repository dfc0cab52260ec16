package diskqueue

import (
	"time"

	"github.com/veneurd/veneur/internal/config"
)

// Config says where a sink's queue is kept on disk, if anywhere.
type Config struct {
	// Path of a directory that is this queue's alone. When it is set, everything that is offered to the sink is written there before it is
	// sent, and deleted when the backend has taken or refused it; what is there when the daemon starts, after a crash too, is sent first.
	// It is made when it is not there. Empty keeps the queue in memory only.
	Path string `yaml:"path"`
	// MaxBytes bounds the files. When it is reached, the oldest sixteenth goes, counted as overflow.
	MaxBytes int `yaml:"max_bytes"`
	// MaxAge is the age at which data from the disk is given up, in place of expire_after.
	MaxAge time.Duration `yaml:"max_age"`
	// FsyncInterval is how often files are synced: a crash of the daemon loses nothing that was written, a loss of power what was not synced.
	// 0 syncs after every record, which a disk takes some milliseconds for.
	FsyncInterval time.Duration `yaml:"fsync_interval"`
}

// minBytes has room for sixteen segments of some records.
const minBytes = 1 << 20

// DefaultConfig is off; switched on, it keeps 1 GiB for a day.
func DefaultConfig() Config {
	return Config{MaxBytes: 1 << 30, MaxAge: 24 * time.Hour, FsyncInterval: time.Second}
}

// Validate reports every fault. It looks at no file.
func (c *Config) Validate() error {
	var faults config.Faults
	faults.AtLeast("max_bytes", c.MaxBytes, minBytes)
	if c.MaxAge <= 0 {
		faults.Add("max_age", "%s is not above 0", c.MaxAge)
	}
	if c.FsyncInterval < 0 {
		faults.Add("fsync_interval", "%s is less than 0", c.FsyncInterval)
	}
	return faults.Err()
}

// On says whether there is a queue on disk.
func (c *Config) On() bool { return c.Path != "" }
