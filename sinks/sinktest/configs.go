package sinktest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/config"
	"github.com/veneurd/veneur/sinks"
)

// checkDefaults: a kind works without any configuration or says which keys it needs.
func (c *Case) checkDefaults(t testing.TB) {
	_, err := c.Kind.Configure(func(any) error { return nil })
	if err == nil {
		return
	}
	var faults config.Faults
	require.ErrorAs(t, err, &faults, "what Validate returns is config.Faults")
	for _, fault := range faults {
		assert.NotEmpty(t, fault.Path, "a fault without a path: %s", fault)
	}
}

func (c *Case) checkGoodFiles(t testing.TB, said *Buffer) {
	for name, text := range files(t, "*.good.yaml") {
		assert.NoError(t, c.load(t, text, said), name)
	}
}

func (c *Case) checkBadFiles(t testing.TB) {
	for name, text := range files(t, "*.bad.yaml") {
		first, _, _ := strings.Cut(text, "\n")
		want, ok := strings.CutPrefix(first, "# ")
		if !assert.True(t, ok, "%s does not begin with a comment that holds the error", name) {
			continue
		}
		assert.ErrorContains(t, c.load(t, text, &Buffer{}), want, name)
	}
}

// load does with a configuration what the daemon does before it starts anything.
func (c *Case) load(t testing.TB, yaml string, said *Buffer) error {
	env := newEnv(t, c, said)
	configured, err := c.Kind.Configure(decoder(env.expand(yaml)))
	if err != nil {
		return err
	}
	for _, s := range signals {
		_, _, err := s.build(configured, env.settings())
		if err != nil && !errors.Is(err, sinks.ErrNoMetrics) && !errors.Is(err, sinks.ErrNoSpans) {
			return err
		}
	}
	return nil
}

func (c *Case) checkPrinted(t testing.TB) {
	env := newEnv(t, c, &Buffer{})
	configured, err := c.Kind.Configure(decoder(env.expand(c.YAML)))
	require.NoError(t, err)
	for _, secret := range c.Secrets {
		require.Contains(t, c.YAML, secret, "a secret of the case is not in its configuration")
	}
	// The struct itself too: a method on the pointer alone would not hide it.
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		c.checkSecrets(t, format, fmt.Sprintf(format, configured.Config))
	}
	asJSON, err := json.Marshal(configured.Config)
	require.NoError(t, err)
	c.checkSecrets(t, "JSON", string(asJSON))
	c.checkSecrets(t, "the dump as YAML", string(config.AppendYAML(nil, configured.Config)))
	c.checkSecrets(t, "the dump as JSON", string(config.AppendJSON(nil, configured.Config)))
}

func (c *Case) checkSecrets(t testing.TB, where, text string) {
	for _, secret := range c.Secrets {
		if strings.Contains(text, secret) {
			t.Errorf("a secret is seen in %s:\n%s", where, text)
		}
		if hexed := fmt.Sprintf("%x", secret); strings.Contains(text, hexed) {
			t.Errorf("a secret is seen in %s, as hexadecimal digits:\n%s", where, text)
		}
	}
}

// files returns the kind's own test files by name.
func files(t testing.TB, pattern string) map[string]string {
	names, err := filepath.Glob(filepath.Join("testdata", pattern))
	require.NoError(t, err)
	texts := map[string]string{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		texts[name] = string(text)
	}
	return texts
}
