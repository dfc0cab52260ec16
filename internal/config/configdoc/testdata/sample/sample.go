// Package sample is a configuration with one field of each shape.
package sample

import (
	"time"

	"github.com/veneurd/veneur/internal/config"
)

// Config is the whole.
type Config struct {
	// Interval is how long samples are gathered before they are sent. It must be above zero; the default is what
	// the original had.
	//
	// A plain number is seconds.
	Interval time.Duration `yaml:"interval"`
	// Addresses to listen on, a|b.
	Addresses []string `yaml:"listen_addresses" alias:"addresses,listen"`
	Hostname  string   `yaml:"hostname"` // Hostname overrides that of the system.
	TLS       TLS      `yaml:"tls"`      // TLS of the listeners.
	// Sinks in the order they are started.
	Sinks []Sink `yaml:"sinks"`
	// Listeners are addresses, some with options.
	Listeners []Listener `yaml:"listeners"`
	// Limits by the prefix of a name.
	Limits map[string]Limit `yaml:"limits"`
	// Percentiles between 0 and 1.
	Percentiles []float64 `yaml:"percentiles"`
	Inlined     `yaml:",inline"`
	Unlisted    int
}

// TLS is a struct below a key.
type TLS struct {
	Key    config.Secret `yaml:"key"`     // Key in PEM.
	CAFile string        `yaml:"ca_file"` // CAFile holds the authorities.
}

// Sink is an element of a list.
type Sink struct {
	Kind   string     `yaml:"kind"`   // Kind of the sink.
	Queue  int        `yaml:"queue"`  // Queue in points.
	Config config.Raw `yaml:"config"` // Config of the kind.
	Then   []Sink     `yaml:"then"`   // Then come these.
}

// SetDefaults makes the queue useful.
func (s *Sink) SetDefaults() { s.Queue = 1000 }

// Limit is an element of a map.
type Limit struct {
	Max *uint16 `yaml:"max"` // Max series.
}

// Listener has a short form.
type Listener struct {
	Address string `yaml:"address"` // Address in the short form.
	Lines   bool   `yaml:"lines"`   // Lines end with a newline.
}

// UnmarshalText reads the short form.
func (l *Listener) UnmarshalText(text []byte) error {
	l.Address = string(text)
	return nil
}

// Inlined stands beside the others.
type Inlined struct {
	Debug bool    `yaml:"debug"` // Debug says more.
	Ratio float64 `yaml:"ratio"` // Ratio of what is kept.
}

// ObsoleteKeys of earlier versions.
func (Inlined) ObsoleteKeys() []config.Obsolete {
	return []config.Obsolete{{Key: "trace", Message: "always on"}, {Key: "forward", Message: "comes later", Error: true}}
}

// Uncommented has two fields that nobody explained.
type Uncommented struct {
	A int `yaml:"a"`
	B int `yaml:"b"` // B is explained.
	C int `yaml:"c"`
}

// Default returns the defaults.
func Default() Config {
	return Config{Interval: 10 * time.Second, Percentiles: []float64{0.5, 0.99}, TLS: TLS{CAFile: "/etc/ca.pem"}, Inlined: Inlined{Ratio: 1}}
}
