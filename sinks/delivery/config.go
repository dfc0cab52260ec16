package delivery

import (
	"time"

	"github.com/veneurd/veneur/internal/config"
	"github.com/veneurd/veneur/sinks/diskqueue"
)

// Config is how a metric sink's data is delivered.
type Config struct {
	Common `yaml:",inline"`

	// MaxNameLength drops points, digests and checks whose name has more bytes; 0 is no limit.
	MaxNameLength int `yaml:"max_name_length"`
	// MaxTagLength drops points, digests and checks with a tag ("key:value") of more bytes; 0 is no limit.
	MaxTagLength int `yaml:"max_tag_length"`
	// MaxTags drops points, digests and checks with more tags; 0 is no limit.
	MaxTags int `yaml:"max_tags"`
}

// SpanConfig is how a span sink's data is delivered.
type SpanConfig struct {
	Common `yaml:",inline"`

	// Linger is how long a span waits for others to be sent with, at most; 0 sends what there is.
	Linger time.Duration `yaml:"linger"`
}

// Common is what metric and span sinks have in common. Sizes in bytes are of items in memory, estimated; encoded, before
// compression, items are seldom larger.
type Common struct {
	// QueueItems bounds what waits for the sink in memory, what is being sent included. When it is full the oldest goes first, counted as
	// overflow; the newest interval is always taken.
	QueueItems int `yaml:"queue_items"`
	// QueueBytes bounds the same by the memory that it holds, estimated: an item counts with its structure, texts and tags.
	QueueBytes int `yaml:"queue_bytes"`
	// ChunkItems is how many items are sent at once, at most.
	ChunkItems int `yaml:"chunk_items"`
	// ChunkBytes is their size by the same estimate, at most; encoded they are seldom larger. A larger item goes alone. A chunk that the backend still finds too large is
	// halved until it fits.
	ChunkBytes int `yaml:"chunk_bytes"`
	// Timeout bounds one attempt, connecting included. The interval (or a second, if that is longer) bounds it too, since a sink that
	// needs more falls behind for ever.
	Timeout time.Duration `yaml:"timeout"`
	// ExpireAfter is the age at which data is given up. The default outlasts the restart of a backend; the queue's limits bound what it
	// costs.
	ExpireAfter time.Duration `yaml:"expire_after"`
	// RetryAttempts is how often a chunk is tried before it is given up; 0 tries until it expires, 1 never tries again.
	RetryAttempts int `yaml:"retry_attempts"`
	// RetryInitial bounds the wait after a first failed attempt. The bound doubles with each further one, and the wait is a random
	// part of it, so that many daemons do not come back at once. A backend that asks for a longer wait gets it, up to
	// expire_after; what would expire before it is over is given up at once.
	RetryInitial time.Duration `yaml:"retry_initial"`
	// RetryMax is where the bound stops doubling.
	RetryMax time.Duration `yaml:"retry_max"`
	// DiskQueue keeps what waits on disk, where it outlives the daemon.
	DiskQueue diskqueue.Config `yaml:"disk_queue"`
}

// DefaultConfig returns the defaults of a metric sink: half a million items or 128 MiB queued, ten minutes of trying.
func DefaultConfig() Config {
	return Config{Common: Common{
		QueueItems:   500_000,
		QueueBytes:   128 << 20,
		ChunkItems:   5_000,
		ChunkBytes:   1_000_000,
		Timeout:      10 * time.Second,
		ExpireAfter:  10 * time.Minute,
		RetryInitial: 100 * time.Millisecond,
		RetryMax:     time.Minute,
		DiskQueue:    diskqueue.DefaultConfig(),
	}}
}

// DefaultSpanConfig returns the defaults of a span sink: a hundred thousand spans or 64 MiB queued, chunks of a thousand, sent after a second
// at most.
func DefaultSpanConfig() SpanConfig {
	c := SpanConfig{Common: DefaultConfig().Common, Linger: time.Second}
	c.QueueItems = 100_000
	c.QueueBytes = 64 << 20
	c.ChunkItems = 1_000
	return c
}

// Validate reports every fault.
func (c *Config) Validate() error {
	var faults config.Faults
	c.validate(&faults)
	faults.AtLeast("max_name_length", c.MaxNameLength, 0)
	faults.AtLeast("max_tag_length", c.MaxTagLength, 0)
	faults.AtLeast("max_tags", c.MaxTags, 0)
	return faults.Err()
}

// Validate reports every fault.
func (c *SpanConfig) Validate() error {
	var faults config.Faults
	c.validate(&faults)
	if c.Linger < 0 || c.Linger >= c.ExpireAfter {
		faults.Add("linger", "%s is not between 0 and expire_after, which is %s", c.Linger, c.ExpireAfter)
	}
	return faults.Err()
}

func (c *Common) validate(faults *config.Faults) {
	faults.AtLeast("chunk_items", c.ChunkItems, 1)
	faults.AtLeast("chunk_bytes", c.ChunkBytes, 1)
	// A queue smaller than a chunk would drop what is about to be sent.
	faults.AtLeast("queue_items", c.QueueItems, max(1, c.ChunkItems))
	faults.AtLeast("queue_bytes", c.QueueBytes, max(1, c.ChunkBytes))
	faults.AtLeast("retry_attempts", c.RetryAttempts, 0)
	if c.Timeout <= 0 {
		faults.Add("timeout", "%s is not above 0", c.Timeout)
	}
	if c.ExpireAfter < c.Timeout {
		faults.Add("expire_after", "%s is less than timeout, which is %s", c.ExpireAfter, c.Timeout)
	}
	if c.RetryInitial <= 0 {
		faults.Add("retry_initial", "%s is not above 0", c.RetryInitial)
	}
	if c.RetryMax < c.RetryInitial {
		faults.Add("retry_max", "%s is less than retry_initial, which is %s", c.RetryMax, c.RetryInitial)
	}
	faults.AddIn("disk_queue", c.DiskQueue.Validate())
	if c.DiskQueue.On() && c.DiskQueue.MaxAge < c.Timeout {
		faults.Add("disk_queue.max_age", "%s is less than timeout, which is %s", c.DiskQueue.MaxAge, c.Timeout)
	}
}
