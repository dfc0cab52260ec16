package config

import (
	"errors"
	"net/netip"
	"time"
)

// sample has a field of every type that a configuration may have.
type sample struct {
	Interval   time.Duration     `yaml:"interval"`
	Hostname   string            `yaml:"hostname"`
	Sync       bool              `yaml:"synchronize_with_interval"`
	Readers    int               `yaml:"num_readers"`
	Small      int8              `yaml:"small"`
	Port       uint16            `yaml:"port"`
	Percents   []float64         `yaml:"percentiles"`
	Ratio      float32           `yaml:"ratio"`
	Addresses  []string          `yaml:"statsd_listen_addresses"`
	Labels     map[string]string `yaml:"labels"`
	Address    netip.Addr        `yaml:"address"`
	Key        Secret            `yaml:"tls_key"`
	TLS        *sampleTLS        `yaml:"tls"`
	Sinks      []sampleSink      `yaml:"metric_sinks"`
	Limits     map[string]limit  `yaml:"limits"`
	Listeners  []listener        `yaml:"listeners"`
	sampleHTTP `yaml:",inline"`
	Trace      sampleTrace `yaml:",inline"`
	Untagged   int
	Ignored    chan int `yaml:"-"`
}

type sampleTLS struct {
	Key  Secret `yaml:"key"`
	CA   string `yaml:"ca_file"`
	Wait *int   `yaml:"wait"`
}

type sampleSink struct {
	Kind   string   `yaml:"kind"`
	Name   string   `yaml:"name"`
	Strip  []string `yaml:"strip_tags"`
	Queue  int      `yaml:"queue"`
	Config Raw      `yaml:"config"`
}

func (s *sampleSink) SetDefaults() { s.Queue = 10 }

// listener is an address, or one with options.
type listener struct {
	Address string `yaml:"address"`
	Lines   int    `yaml:"lines"`
}

func (l *listener) SetDefaults() { l.Lines = 1 }

func (l *listener) UnmarshalText(text []byte) error {
	l.Address = string(text)
	return nil
}

func (l *listener) String() string { return l.Address }

type limit struct {
	Max int `yaml:"max"`
}

type sampleHTTP struct {
	HTTP string `yaml:"http_address" alias:"http_listen,http"`
}

func (sampleHTTP) ObsoleteKeys() []Obsolete {
	return []Obsolete{
		{Key: "features.*", Message: "always on"},
		{Key: "flush_max_per_body", Message: "each sink has its own"},
		{Key: "forward_address", Message: "comes with version 2", Error: true},
		{Key: "old.nested.key", Message: "went away"},
	}
}

type sampleTrace struct {
	Rate float64 `yaml:"trace_rate"`
}

func defaultSample() sample {
	wait := 3
	return sample{
		Interval: 10 * time.Second,
		Readers:  2,
		Percents: []float64{0.5, 0.99},
		Labels:   map[string]string{"a": "b"},
		TLS:      &sampleTLS{CA: "/etc/ca.pem", Wait: &wait},
		Trace:    sampleTrace{Rate: 0.25},
	}
}

// kindConfig is what a Raw is decoded into.
type kindConfig struct {
	URL     string        `yaml:"url"`
	APIKey  Secret        `yaml:"api_key"`
	Path    string        `yaml:"path" alias:"flush_file"`
	Timeout time.Duration `yaml:"timeout"`
	Headers []string      `yaml:"headers"`
	TLS     sampleTLS     `yaml:"tls"`
}

func (kindConfig) ObsoleteKeys() []Obsolete {
	return []Obsolete{{Key: "repeater_address", Message: "is a scrape endpoint now", Error: true}}
}

// load is what a daemon does: file, then the configurations of the sinks.
func load(text string, lookup func(string) (string, bool)) (sample, *Document, error) {
	c := defaultSample()
	doc, err := Parse("test.yaml", []byte(text))
	if err != nil {
		return c, nil, err
	}
	doc.Lookup = lookup
	return c, doc, errors.Join(loadInto(doc, &c)...)
}

func loadInto(doc *Document, c *sample) (errs []error) {
	if err := doc.Decode(c); err != nil {
		errs = append(errs, err)
	}
	for _, s := range c.Sinks {
		k := kindConfig{Timeout: time.Second}
		if err := s.Config.Decode(&k); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

func noVariables(string) (string, bool) { return "", false }
