package debug

import "github.com/veneurd/veneur/internal/config"

// When the table is coloured.
const (
	colorAuto   = "auto"
	colorAlways = "always"
	colorNever  = "never"
)

// Config says how the table looks.
type Config struct {
	// Color is auto (on a terminal, unless NO_COLOR is set in the environment), always or never.
	Color string `yaml:"color"`
	// MaxRows is how many points of one interval are printed, and how many events, service checks and spans; the number of the others
	// is printed below. 0 prints all.
	MaxRows int `yaml:"max_rows"`
}

// DefaultConfig returns colour on a terminal and a thousand rows.
func DefaultConfig() Config { return Config{Color: colorAuto, MaxRows: 1000} }

// Validate reports every fault.
func (c *Config) Validate() error {
	var faults config.Faults
	if c.Color != colorAuto && c.Color != colorAlways && c.Color != colorNever {
		faults.Add("color", "%q is none of auto, always, never", c.Color)
	}
	faults.AtLeast("max_rows", c.MaxRows, 0)
	return faults.Err()
}
