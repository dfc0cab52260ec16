package delivery_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/sinks/delivery"
)

func TestDefaultsAreValid(t *testing.T) {
	metrics, spans := delivery.DefaultConfig(), delivery.DefaultSpanConfig()
	require.NoError(t, metrics.Validate())
	require.NoError(t, spans.Validate())
}

func TestConfigFaults(t *testing.T) {
	tests := []struct {
		want   string
		change func(*delivery.Config)
	}{
		{"chunk_items: 0 is less than 1", func(c *delivery.Config) { c.ChunkItems = 0 }},
		{"chunk_bytes: -1 is less than 1", func(c *delivery.Config) { c.ChunkBytes = -1 }},
		{"queue_items: 10 is less than 5000", func(c *delivery.Config) { c.QueueItems = 10 }},
		{"queue_bytes: 0 is less than 1000000", func(c *delivery.Config) { c.QueueBytes = 0 }},
		{"timeout: 0s is not above 0", func(c *delivery.Config) { c.Timeout = 0 }},
		{"expire_after: 1s is less than timeout, which is 10s", func(c *delivery.Config) { c.ExpireAfter = time.Second }},
		{"retry_attempts: -1 is less than 0", func(c *delivery.Config) { c.RetryAttempts = -1 }},
		{"retry_initial: 0s is not above 0", func(c *delivery.Config) { c.RetryInitial = 0 }},
		{"retry_max: 1ms is less than retry_initial, which is 100ms", func(c *delivery.Config) { c.RetryMax = time.Millisecond }},
		{"max_name_length: -1 is less than 0", func(c *delivery.Config) { c.MaxNameLength = -1 }},
		{"max_tag_length: -1 is less than 0", func(c *delivery.Config) { c.MaxTagLength = -1 }},
		{"max_tags: -1 is less than 0", func(c *delivery.Config) { c.MaxTags = -1 }},
		{"timeout: -1ns is not above 0\nmax_tags: -5 is less than 0", func(c *delivery.Config) { c.Timeout, c.MaxTags = -1, -5 }},
	}
	for _, tt := range tests {
		t.Run(tt.want, func(t *testing.T) {
			c := delivery.DefaultConfig()
			tt.change(&c)
			require.EqualError(t, c.Validate(), tt.want)
		})
	}
}

func TestSpanConfigFaults(t *testing.T) {
	tests := []struct {
		want   string
		change func(*delivery.SpanConfig)
	}{
		{"linger: -1s is not between 0 and expire_after, which is 10m0s", func(c *delivery.SpanConfig) { c.Linger = -time.Second }},
		{"linger: 10m0s is not between 0 and expire_after, which is 10m0s", func(c *delivery.SpanConfig) { c.Linger = 10 * time.Minute }},
		{"chunk_items: 0 is less than 1", func(c *delivery.SpanConfig) { c.ChunkItems = 0 }},
	}
	for _, tt := range tests {
		t.Run(tt.want, func(t *testing.T) {
			c := delivery.DefaultSpanConfig()
			tt.change(&c)
			require.EqualError(t, c.Validate(), tt.want)
		})
	}
}
