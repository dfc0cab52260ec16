package sinks_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/veneurd/veneur/internal/config"
	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
)

// LinesConfig is what a user writes below "config:".
type LinesConfig struct {
	// Separator stands between the name and the value.
	Separator string `yaml:"separator"`
}

// Validate reports every fault.
func (c *LinesConfig) Validate() error {
	var faults config.Faults
	if c.Separator == "" {
		faults.Add("separator", "must be set")
	}
	return faults.Err()
}

// DefaultLinesConfig returns a space.
func DefaultLinesConfig() LinesConfig { return LinesConfig{Separator: " "} }

type lines struct {
	separator string
	out       io.Writer
}

// Send writes a line for each point, all of them at once.
func (l *lines) Send(_ context.Context, chunk *sinks.Batch) error {
	var b strings.Builder
	for _, p := range chunk.Points {
		fmt.Fprintf(&b, "%s%s%v\n", p.Name, l.separator, p.Value)
	}
	_, err := io.WriteString(l.out, b.String())
	return err
}

// LinesKind is what package sinks/all would list.
func LinesKind() sinks.Kind {
	return sinks.Define("lines", DefaultLinesConfig,
		func(c LinesConfig, s sinks.Settings) (sinks.MetricSink, error) {
			return &lines{separator: c.Separator, out: s.Stdout}, nil
		},
		nil) // takes no spans
}

// A whole kind of sink, and what the daemon does with it.
func Example() {
	doc, err := config.Parse("veneur.yaml", []byte(`separator: " = "`))
	if err != nil {
		panic(err)
	}
	configured, err := LinesKind().Configure(doc.Decode)
	if err != nil {
		panic(err)
	}
	sink, err := configured.Metrics(sinks.Settings{Name: "out", Stdout: os.Stdout})
	if err != nil {
		panic(err)
	}
	requests := &metric.Series{Name: "requests", Tags: []string{"env:prod"}}
	err = sink.Send(context.Background(), &sinks.Batch{
		End: time.Now(), Interval: 10 * time.Second,
		Points: []metric.Point{{Series: requests, Name: "requests", Value: 3, Type: metric.CounterPoint}},
	})
	if err != nil {
		panic(err)
	}
	// Output: requests = 3
}
