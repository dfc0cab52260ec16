package config_test

import (
	"fmt"
	"time"

	"github.com/veneurd/veneur/internal/config"
)

// Config is what a package keeps beside what it configures.
type Config struct {
	// Interval between two flushes.
	Interval time.Duration `yaml:"interval"`
	// APIKey is sent with every request.
	APIKey config.Secret `yaml:"api_key"`
	// Chunk is how many points go into one request.
	Chunk int `yaml:"chunk" alias:"flush_max_per_body"`
}

func DefaultConfig() Config { return Config{Interval: 10 * time.Second, Chunk: 1000} }

// Validate says everything that is out of bounds.
func (c *Config) Validate() error {
	var faults config.Faults
	if c.Interval <= 0 {
		faults.Add("interval", "must be above 0")
	}
	if c.Chunk < 1 {
		faults.Add("chunk", "%d is less than 1", c.Chunk)
	}
	return faults.Err()
}

func Example() {
	doc, err := config.Parse("veneur.yaml", []byte("# my daemon\ninterval: 0s\napi_key: hunter2\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	c := DefaultConfig()
	if err := doc.Decode(&c); err != nil {
		fmt.Println(err)
		return
	}
	warnings, err := doc.ApplyEnv(&c, []string{"VENEUR_CHUNK=-1", "VENEUR_INTERVALL=1s"})
	fmt.Println(warnings, err)

	var faults config.Faults
	faults.AddIn("", c.Validate())
	fmt.Println(doc.Locate(faults))

	c.Interval, c.Chunk = 15*time.Second, 100
	fmt.Print(string(config.AppendYAML(nil, c)))
	// Output:
	// VENEUR_INTERVALL: no such setting; did you mean VENEUR_INTERVAL? <nil>
	// line 2: interval: must be above 0
	// VENEUR_CHUNK: chunk: -1 is less than 1
	// interval: 15s
	// api_key: REDACTED
	// chunk: 100
}
