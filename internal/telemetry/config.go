package telemetry

import (
	"errors"
	"net"
	"strconv"
	"strings"

	"github.com/veneurd/veneur/internal/config"
)

// Config says where the daemon's own metrics go, beside /metrics, which is always right.
type Config struct {
	// StatsAddress is the DogStatsD server that the daemon's own metrics are sent to each interval: host:port or udp://host:port, or unix:///path
	// of a datagram or stream socket. Empty, the default, sends them nowhere.
	StatsAddress string `yaml:"stats_address"`

	// VeneurMetricsAdditionalTags are put on the daemon's own metrics wherever they are sent, as key:value.
	VeneurMetricsAdditionalTags []string `yaml:"veneur_metrics_additional_tags"`

	// LoopSelfMetrics counts the daemon's own metrics in the daemon itself, so that its sinks get them too. It is off by default, since
	// they mix with what is measured.
	LoopSelfMetrics bool `yaml:"loop_self_metrics"`
}

// DefaultConfig sends nothing.
func DefaultConfig() Config { return Config{} }

// Validate reports every fault at once, as config.Faults.
func (c *Config) Validate() error {
	var faults config.Faults
	if c.StatsAddress != "" {
		if _, _, err := parseStatsAddress(c.StatsAddress); err != nil {
			faults.Add("stats_address", "%q: %v", c.StatsAddress, err)
		}
	}
	for i, tag := range c.VeneurMetricsAdditionalTags {
		if tag == "" || strings.ContainsAny(tag, ",|\r\n") {
			faults.Add(config.Index("veneur_metrics_additional_tags", i), "%q is no tag: write key:value without , and |", tag)
		}
	}
	return faults.Err()
}

var errStatsAddress = errors.New("write host:port, udp://host:port or unix:///path")

// parseStatsAddress returns the network, udp or unix or unixgram, and what to dial.
func parseStatsAddress(s string) (network, address string, err error) {
	scheme, rest, found := strings.Cut(s, "://")
	if !found {
		scheme, rest = "udp", s
	}
	switch scheme {
	case "unix", "unixgram":
		if rest == "" {
			return "", "", errStatsAddress
		}
		return scheme, rest, nil
	case "udp":
		host, port, err := net.SplitHostPort(rest)
		n, portErr := strconv.ParseUint(port, 10, 16)
		if err != nil || portErr != nil || n == 0 || strings.ContainsAny(host, "/@ ") {
			return "", "", errStatsAddress
		}
		return "udp", rest, nil
	}
	return "", "", errStatsAddress
}
