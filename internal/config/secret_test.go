package config

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
	"go.yaml.in/yaml/v3"
)

func TestB120SecretNeverShows(t *testing.T) {
	const hidden = "hunter2"
	secret := Secret(hidden)
	holder := kindConfig{APIKey: secret, TLS: sampleTLS{Key: secret}}
	printed := []string{}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%10s", "%T"} {
		printed = append(printed, fmt.Sprintf(verb, secret), fmt.Sprintf(verb, &secret), fmt.Sprintf(verb, holder), fmt.Sprintf(verb, &holder),
			fmt.Sprintf(verb, []Secret{secret}), fmt.Sprintf(verb, map[string]Secret{"a": secret}))
	}
	asJSON, err := json.Marshal(holder)
	require.NoError(t, err)
	asYAML, err := yaml.Marshal(holder)
	require.NoError(t, err)
	printed = append(printed, string(asJSON), string(asYAML), string(AppendYAML(nil, holder)), string(AppendJSON(nil, &holder)),
		secret.String(), secret.GoString(), fmt.Sprint(errors.New(secret.String())))
	func() {
		defer func() { printed = append(printed, fmt.Sprint(recover())) }()
		panic(holder)
	}()
	for _, p := range printed {
		assert.NotContains(t, p, hidden)
		assert.NotContains(t, p, fmt.Sprintf("%x", hidden))
	}
	assert.Equal(t, hidden, secret.Reveal())
	assert.Equal(t, `REDACTED "REDACTED" "REDACTED"`, fmt.Sprintf("%v %q %#v", secret, secret, secret))
	assert.Equal(t, ` "" ""`, fmt.Sprintf("%v %q %#v", Secret(""), Secret(""), Secret("")), "empty shows as empty")
}

func TestB120FaultsDoNotShowSecrets(t *testing.T) {
	_, _, err := load("interval: ${KEY}\nhostname: ${KEY} ${NOT_SET}\ntls_key: {a: hunter2}\nnum_readers: https://user:hunter2@x/?api_key=hunter2",
		func(name string) (string, bool) { return "hunter2", name == "KEY" })
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "hunter2")
	assert.Contains(t, err.Error(), `line 4: num_readers: expected a whole number, found "https://REDACTED@x/?api_key=REDACTED"`)
}

func TestB120RedactURL(t *testing.T) {
	tests := []struct{ in, want string }{
		{"https://x.com/api", "https://x.com/api"},
		{"no url ?api_key=1", "no url ?api_key=1"},
		{"https://x.com/v1/series?api_key=abc&x=y", "https://x.com/v1/series?api_key=REDACTED&x=y"},
		{"https://x.com/?a=b&Access-Token=abc;SIGNATURE=1#frag", "https://x.com/?a=b&Access-Token=REDACTED;SIGNATURE=REDACTED#frag"},
		{"https://x.com/?api%5Fkey=abc", "https://x.com/?api%5Fkey=REDACTED"},
		{"https://x.com/?api_key=", "https://x.com/?api_key="},
		{"https://user:pw@x.com:80/p@q", "https://REDACTED@x.com:80/p@q"},
		{"https://token@x.com", "https://REDACTED@x.com"},
		{"https://a:b@c@x.com/", "https://REDACTED@x.com/"},
		{"https://user:p/w@x.com/", "https://REDACTED@x.com/"},
		{"http://[::1]:80/a@b", "http://[::1]:80/a@b"},
		{`Post "https://x.com/?api_key=abc": dial tcp: https://y.com?key=1 z`, `Post "https://x.com/?api_key=REDACTED": dial tcp: https://y.com?key=REDACTED z`},
		{`parse "http://user:p%zz@x": invalid URL escape`, `parse "http://REDACTED@x": invalid URL escape`},
		{"", ""},
		{"://", "://"},
		{"https://x.com?", "https://x.com?"},
	}
	for _, tt := range tests {
		assert.Equal(t, tt.want, RedactURL(tt.in), tt.in)
	}
	assert.Equal(t, `line 1: url: bad: "http://REDACTED@x"`, Fault{Path: "url", Line: 1, Message: `bad: "http://a:b@x"`}.String())
}

func TestSecretFromFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		return filepath.ToSlash(path)
	}
	for _, in := range []string{"file:" + write("a", "hunter2\n"), "file:" + write("b", "hunter2\r\n\n"), "file://" + write("c", "hunter2"), "hunter2"} {
		c, _, err := load(`tls_key: "`+in+`"`, noVariables)
		assert.NoError(t, err, in)
		assert.Equal(t, "hunter2", c.Key.Reveal(), in)
	}
	large := write("large", strings.Repeat("x", maxSecretFile+1))
	tests := []struct{ in, want string }{
		{"file:" + dir + "/none", "line 2: tls_key: secret: "},
		{"file:" + dir, "is no regular file"},
		{"file:" + large, "has more than 65536 bytes"},
	}
	for _, tt := range tests {
		c, _, err := load("hostname: x\ntls_key: '"+tt.in+"'", noVariables)
		assert.ErrorContains(t, err, tt.want)
		assert.Empty(t, c.Key)
	}
}

func TestExpand(t *testing.T) {
	env := map[string]string{"A": "1", "EMPTY": "", "B_2": "x y: z", "D": "${A}"}
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	tests := []struct{ in, want, err string }{
		{in: "x${A}y${A}", want: "x1y1"},
		{in: "${B_2}", want: "x y: z"},
		{in: "${D}", want: "${A}"}, // once only
		{in: "${EMPTY}", want: ""},
		{in: "${EMPTY:-d}", want: "d"},
		{in: "${NONE:-d:-e}f", want: "d:-ef"},
		{in: "${NONE:-}", want: ""},
		{in: "$${A} $A $$ $ $$$${A}", want: "${A} $A $$ $ $$${A}"},
		{in: "a }{ b", want: "a }{ b"},
		{in: "${NONE}", err: "line 2: hostname: the environment variable NONE is not set"},
		{in: "${A", err: `line 2: hostname: "${A" is no ${NAME} or ${NAME:-text}; write $${ for a plain ${`},
		{in: "${}", err: `line 2: hostname: "${}" is no ${NAME}`},
		{in: "${a b}", err: `line 2: hostname: "${a b}" is no ${NAME}`},
	}
	for _, tt := range tests {
		c, _, err := load("num_readers: ${A}\nhostname: '"+tt.in+"'", lookup)
		if tt.err != "" {
			assert.ErrorContains(t, err, tt.err, tt.in)
			continue
		}
		assert.NoError(t, err, tt.in)
		assert.Equal(t, tt.want, c.Hostname, tt.in)
		assert.Equal(t, 1, c.Readers)
	}
	t.Setenv("VENEUR_CONFIG_TEST", "from the process")
	c, _, err := load("hostname: ${VENEUR_CONFIG_TEST}", nil)
	require.NoError(t, err)
	assert.Equal(t, "from the process", c.Hostname)

	_, _, err = load("statsd_listen_addresses:"+strings.Repeat("\n- ${LONG}", 20),
		func(string) (string, bool) { return strings.Repeat("x", 1<<20), true })
	assert.ErrorContains(t, err, "line 18: statsd_listen_addresses[16]: variables add too much text to the file")
}
