package server

import (
	"cmp"
	_ "embed" // for the configuration without a file
	"os"
	"slices"
	"strings"

	"github.com/veneurd/veneur/internal/config"
)

//go:embed default.yaml
var defaultFile []byte

// Load reads a configuration: defaults, then the file at path (or, without one, what the daemon does out of the box), then the environment,
// "NAME=value" each. Every fault is reported at once; an unusable file is one. Warnings are for the log.
func Load(path string, environ []string) (c Config, warnings []string, err error) {
	var doc *config.Document
	if path == "" {
		doc, err = config.Parse("built-in defaults", defaultFile)
	} else {
		doc, err = config.ParseFile(path)
	}
	if err != nil {
		return Config{}, nil, err
	}
	return decode(doc, environ)
}

func decode(doc *config.Document, environ []string) (Config, []string, error) {
	doc.Lookup = func(name string) (string, bool) { return lookup(environ, name) }
	c := DefaultConfig()
	var faults config.Faults
	faults.AddIn("", doc.Decode(&c))
	fromEnv, err := doc.ApplyEnv(&c, environ)
	faults.AddIn("", err)
	c.nameSinks()
	var invalid config.Faults
	invalid.AddIn("", c.Validate())
	faults = append(faults, doc.Locate(invalid)...)
	if err := c.setHostname(); err != nil {
		faults.AddIn("hostname", err)
	}
	var warnings []string
	for _, w := range append(doc.Warnings(), fromEnv...) {
		warnings = append(warnings, w.String())
	}
	slices.SortStableFunc(faults, func(a, b config.Fault) int { return cmp.Compare(a.Line, b.Line) })
	return c, warnings, faults.Err()
}

// Idle says what a valid configuration leaves out without which the daemon does nothing, or throws away what it does.
func (c *Config) Idle() (warnings []string) {
	if i := &c.Ingest; len(i.StatsdListenAddresses)+len(i.SSFListenAddresses)+len(i.GRPCListenAddresses) == 0 {
		warnings = append(warnings, "nothing is listened to: statsd_listen_addresses, ssf_listen_addresses and grpc_listen_addresses are empty")
	}
	if len(c.MetricSinks) == 0 {
		warnings = append(warnings, "metric_sinks: none is listed: every metric is thrown away")
	}
	return warnings
}

// lookup finds a variable in an environment; of two of one name the last counts.
func lookup(environ []string, name string) (value string, ok bool) {
	for _, entry := range environ {
		if rest, found := strings.CutPrefix(entry, name+"="); found {
			value, ok = rest, true
		}
	}
	return value, ok
}

// setHostname fills in the system's name where the configuration gives none and does not want to go without.
func (c *Config) setHostname() error {
	if c.Hostname != "" || c.OmitEmptyHostname {
		return nil
	}
	name, err := os.Hostname()
	if err != nil {
		return err
	}
	c.Hostname = name
	return nil
}
