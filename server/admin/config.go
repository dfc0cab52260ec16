package admin

import (
	"net"
	"strconv"

	"github.com/veneurd/veneur/internal/config"
)

// Config says what the HTTP port offers.
type Config struct {
	// HTTPAddress is the host:port of the HTTP port with /healthcheck, /ready, /metrics and the like. Empty, the default when there is a
	// configuration file, means that there is none. An empty host is all addresses of the machine.
	HTTPAddress string `yaml:"http_address"`

	// HTTPQuit lets a POST to /quitquitquit stop the daemon, as SIGTERM does. It is off by default, since anybody who reaches the port can.
	HTTPQuit bool `yaml:"http_quit"`

	// EnableProfiling serves /debug/pprof. It is off by default, since a profile costs time and shows the inside of the process.
	EnableProfiling bool `yaml:"enable_profiling"`
}

// DefaultConfig has no HTTP port.
func DefaultConfig() Config { return Config{} }

// Validate reports every fault at once, as config.Faults.
func (c *Config) Validate() error {
	var faults config.Faults
	if c.HTTPAddress != "" {
		_, port, err := net.SplitHostPort(c.HTTPAddress)
		if _, portErr := strconv.ParseUint(port, 10, 16); err != nil || portErr != nil {
			faults.Add("http_address", "%q: write host:port, such as 127.0.0.1:8127", c.HTTPAddress)
		}
	}
	return faults.Err()
}
