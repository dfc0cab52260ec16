package httpsend_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/config"
	"github.com/veneurd/veneur/sinks/httpsend"
)

func TestConfig(t *testing.T) {
	tests := []struct{ yaml, err string }{
		{`urls: [http://h]`, ""},
		{`urls: ["https://[::1]:9200/prefix?x=y", http://b]`, ""},
		{`urls: []`, "urls: must be set"},
		{`urls: [es:9200]`, "urls[0]: must begin with http://"},
		{`urls: [ftp://h]`, "urls[0]: must begin with http://"},
		{`urls: ["http://h:99999"]`, "urls[0]: has a port that is none"},
		{`urls: ["http://h:0"]`, "urls[0]: has a port that is none"},
		{`urls: ["http://"]`, "urls[0]: has no host"},
		{`urls: ["http://h/%zz"]`, "urls[0]: is not a URL"},
		{`urls: ["http://h/#a"]`, "urls[0]: has a fragment"},
		{`urls: [http://a, http://me:hunter2@h]`, "urls[1]: holds a user or a password: write them under auth"},
		{`urls: [http://a, http://b, http://a]`, "urls[2]: is the same as the one at index 0"},
		{"auth: {username: me, password: hunter2}", ""},
		{"auth: {username: me}", ""},
		{"auth: {password: hunter2}", "auth.username: must be set when a password is"},
		{"auth: {username: 'a:b', password: hunter2}", "auth.username: holds a colon"},
		{"auth: {username: me, api_key: hunter2}", "auth: has more than one of"},
		{"auth: {bearer_token: hunter2, api_key: hunter2}", "auth: has more than one of"},
		{`auth: {bearer_token: "hunter2\nX: y"}`, "auth.bearer_token: holds a character that no header can"},
		{"auth: {api_key: hunter2, api_key_header: X-Api-Key}", ""},
		{"auth: {api_key_header: X-Api-Key}", "auth.api_key: must be set"},
		{"auth: {api_key: hunter2, api_key_header: 'x y'}", `auth.api_key_header: "x y" is not the name`},
		{"headers: {X-A: hunter2}", ""},
		{"headers: {'x y': hunter2}", "headers.x y: is not the name of a header"},
		{"headers: {content-type: hunter2}", "headers.content-type: is set by the daemon"},
		{"{headers: {authorization: hunter2}, auth: {username: me}}", "headers.authorization: is set by auth"},
		{"headers: {authorization: hunter2}", ""},
		{`headers: {a: "hunter2\r"}`, "headers.a: holds a character that no header can"},
		{"proxy: none", ""},
		{"proxy: http://me:hunter2@proxy:3128", ""},
		{"proxy: socks5://proxy:1080", ""},
		{"proxy: ''", `proxy: must be "environment"`},
		{"proxy: me:hunter2@proxy", `proxy: is not "environment"`},
		{"compression: zstd", ""},
		{"{compression: zstd, compression_level: 22}", ""},
		{"{compression: none, compression_level: 0}", ""},
		{"compression: brotli", `compression: "brotli" is none of`},
		{"compression_level: 10", "compression_level: 10 is not between 1 and 9"},
		{"{compression: zstd, compression_level: 23}", "compression_level: 23 is not between 1 and 22"},
		{"compression_level: 0", "compression_level: 0 is not between"},
		{"connect_timeout: 0s", "connect_timeout: 0s is not above 0"},
		{"tls: {cert_file: a}", "tls: cert_file and key_file go together"},
		{"tls: {key_file: a}", "tls: cert_file and key_file go together"},
	}
	for _, tt := range tests {
		t.Run(tt.yaml, func(t *testing.T) {
			doc, err := config.Parse("test.yaml", []byte(tt.yaml))
			require.NoError(t, err)
			c := httpsend.DefaultConfig()
			c.URLs = []string{"http://h"}
			require.NoError(t, doc.Decode(&c))
			err = c.Validate()
			if tt.err == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, tt.err)
				require.NotContains(t, err.Error(), "hunter2")
			}
			require.NotContains(t, string(config.AppendYAML(nil, &c)), "hunter2")
		})
	}
	c := httpsend.DefaultConfig()
	require.ErrorContains(t, c.Validate(), "urls: must be set")
}
