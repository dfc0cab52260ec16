package prometheus

import (
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/veneurd/veneur/internal/config"
)

// How histograms are shown.
const (
	asSummary = "summary"
	asNative  = "native"
	asPoints  = "points"
)

// Config says where the page is, and what it shows.
type Config struct {
	// ListenAddress is the host:port that is scraped, such as 127.0.0.1:9125; it must be set. An empty host is every address of the
	// machine, port 0 any free port, which the log names.
	ListenAddress string `yaml:"listen_address"`
	// Path of the page.
	Path string `yaml:"path"`
	// Prefix stands before every name, the underscore at its end included: "app_" makes app_requests_total of requests.
	Prefix string `yaml:"prefix"`
	// Histograms says what becomes of histograms and timers. summary is quantiles with a cumulative sum and count; native is
	// native histograms, whose buckets only a scraper that speaks protobuf sees; points is the points that every sink gets
	// (x.min, x.count, x.99percentile) as gauges and counters.
	Histograms string `yaml:"histograms"`
	// Percentiles are the quantiles of a summary, from 0 to 1; they are those of the last interval in which the histogram had samples.
	Percentiles []float64 `yaml:"percentiles"`
	// ExpireAfter is for how long a series that gets no more samples stays on the page, with its last value; 0 is for ever. A counter
	// that comes back later starts from 0. It must be at least two intervals; a series of a longer one, as span metrics have them, stays for
	// two of its own, and any may leave earlier when there is no more room, see max_series.
	ExpireAfter time.Duration `yaml:"expire_after"`
	// MaxSeries is how many series are held, counted as they come in: by type, name and tags. When a further one comes, those make room that have
	// had no value for more than one and a half of their own intervals, whatever expire_after says: up to a sixteenth of the limit at a
	// time, first those whose last value a scraper has seen, and of them those first that have missed the most intervals. A series that makes
	// room is as one that has expired. While all may still come again, points of further ones are refused. A series costs some 400 bytes
	// with a hundred of name and tags, and a native histogram up to three kilobytes more. The default has room for 50,000 series beside as
	// many as span metrics have at their default limits (see docs/spanmetrics.md).
	MaxSeries int `yaml:"max_series"`
}

// DefaultConfig returns summaries on /metrics that leave after five minutes without samples; there is no default address.
func DefaultConfig() Config {
	return Config{
		Path:        "/metrics",
		Histograms:  asSummary,
		Percentiles: []float64{0.5, 0.75, 0.99},
		ExpireAfter: 5 * time.Minute,
		MaxSeries:   300_000,
	}
}

// ObsoleteKeys lists what the original's prometheus sink had, which sent statsd to an exporter of somebody else.
func (*Config) ObsoleteKeys() []config.Obsolete {
	return []config.Obsolete{
		{
			Key: "repeater_address", Error: true,
			Message: "the kind prometheus is an endpoint to scrape now and repeats nothing: give it a listen_address, and scrape that instead of the exporter",
		},
		{Key: "network_type", Message: "has no effect: the kind prometheus is an endpoint to scrape now"},
	}
}

const maxPercentiles = 50

// Validate reports every fault.
func (c *Config) Validate() error {
	var faults config.Faults
	if c.ListenAddress == "" {
		faults.Add("listen_address", "must be set: the host:port to scrape, such as 127.0.0.1:9125")
	} else if _, port, err := net.SplitHostPort(c.ListenAddress); err != nil || !isPort(port) {
		faults.Add("listen_address", "%q: write host:port, such as 127.0.0.1:9125", c.ListenAddress)
	}
	if !strings.HasPrefix(c.Path, "/") || strings.ContainsAny(c.Path, "?# \t\r\n") {
		faults.Add("path", "%q is not a path such as /metrics", c.Path)
	}
	if c.Prefix != "" && appendName(nil, c.Prefix) != c.Prefix {
		faults.Add("prefix", "%q is not letters, digits and underscores, the first no digit", c.Prefix)
	}
	if c.Histograms != asSummary && c.Histograms != asNative && c.Histograms != asPoints {
		faults.Add("histograms", "%q is none of summary, native, points", c.Histograms)
	}
	c.validatePercentiles(&faults)
	if c.ExpireAfter < 0 {
		faults.Add("expire_after", "%s is less than 0", c.ExpireAfter)
	}
	faults.AtLeast("max_series", c.MaxSeries, 1)
	return faults.Err()
}

func (c *Config) validatePercentiles(faults *config.Faults) {
	if len(c.Percentiles) > maxPercentiles {
		faults.Add("percentiles", "%d are more than %d", len(c.Percentiles), maxPercentiles)
	}
	seen := map[float64]bool{}
	for i, q := range c.Percentiles {
		path := config.Index("percentiles", i)
		switch {
		case !(q >= 0 && q <= 1):
			faults.Add(path, "%v is not between 0 and 1", q)
		case seen[q]:
			faults.Add(path, "%v stands here twice", q)
		}
		seen[q] = true
	}
}

func isPort(s string) bool {
	_, err := strconv.ParseUint(s, 10, 16)
	return err == nil
}
