package httpsend

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/veneurd/veneur/internal/config"
)

// Config is what the user of a sink that speaks HTTP writes about the way there. It is embedded, inline, in the sink's own.
type Config struct {
	// URLs are the backend's hosts, such as https://es-1:9200, of which each request takes the next. A path in one stands before every path
	// that the sink asks for. Credentials do not belong here, see auth.
	URLs []string `yaml:"urls"`
	// Auth is how the backend knows who sends.
	Auth Auth `yaml:"auth"`
	// TLS is for URLs that begin with https.
	TLS TLS `yaml:"tls"`
	// Headers are sent with every request. Their values are kept as secrets.
	Headers map[string]config.Secret `yaml:"headers"`
	// Proxy is the URL of a proxy, http, https or socks5, with the credentials it asks for. "environment" takes HTTPS_PROXY, HTTP_PROXY and
	// NO_PROXY as other programs do; "none" uses none. It is kept as a secret, for its password.
	Proxy config.Secret `yaml:"proxy"`
	// Compression of what is sent: gzip, zstd or none.
	Compression string `yaml:"compression"`
	// CompressionLevel is 1 to 9 for gzip and 1 to 22 for zstd. Level 1 makes metrics and spans some ten times smaller already; higher ones
	// cost several times its CPU for a few percent.
	CompressionLevel int `yaml:"compression_level"`
	// ConnectTimeout bounds making a connection, TLS included. What remains of the sink's timeout bounds the rest.
	ConnectTimeout time.Duration `yaml:"connect_timeout"`
	// Retry500 tries again what was answered by 500 Internal Server Error. Turn it off for a backend that answers so to what it will never
	// take.
	Retry500 bool `yaml:"retry_500"`
}

// Auth is at most one way to prove who sends.
type Auth struct {
	// Username and password of basic authentication.
	Username string `yaml:"username"`
	// Password of the user. "file:/path" reads it from a file, as for every secret.
	Password config.Secret `yaml:"password"`
	// BearerToken is sent as "Authorization: Bearer …".
	BearerToken config.Secret `yaml:"bearer_token"`
	// APIKey is sent as "Authorization: ApiKey …", or in the header that api_key_header names.
	APIKey config.Secret `yaml:"api_key"`
	// APIKeyHeader is the header for the API key, such as X-Api-Key; it then holds nothing but the key.
	APIKeyHeader string `yaml:"api_key_header"`
}

// TLS says whom to trust and who we are.
type TLS struct {
	// CAFile holds the certificates, PEM, of the authorities that may sign the backend's; by default those of the system.
	CAFile string `yaml:"ca_file"`
	// CertFile is our own certificate, PEM, for backends that ask for one. It is read again at each new connection.
	CertFile string `yaml:"cert_file"`
	// KeyFile is the key of the certificate.
	KeyFile string `yaml:"key_file"`
	// ServerName is the name that the backend's certificate must have; by default the host of the URL.
	ServerName string `yaml:"server_name"`
	// InsecureSkipVerify trusts whoever answers, so that anybody on the way can read and change what is sent.
	InsecureSkipVerify bool `yaml:"insecure_skip_verify"`
}

// Values of Config.Proxy and Config.Compression.
const (
	proxyEnvironment = "environment"
	proxyNone        = "none"

	compressNone = "none"
	compressGzip = "gzip"
	compressZstd = "zstd"
)

// DefaultConfig compresses by gzip, level 1, uses the environment's proxy, and has no URL.
func DefaultConfig() Config {
	return Config{
		Proxy:            proxyEnvironment,
		Compression:      compressGzip,
		CompressionLevel: 1,
		ConnectTimeout:   5 * time.Second,
		Retry500:         true,
	}
}

// Validate reports every fault. It reads no file; New does.
func (c *Config) Validate() error {
	var faults config.Faults
	if len(c.URLs) == 0 {
		faults.Add("urls", "must be set: a list of URLs, such as https://backend.example:9200")
	}
	for i, text := range c.URLs {
		if fault := faultOfURL(text); fault != "" {
			faults.Add(config.Index("urls", i), "%s", fault)
		} else if first := slices.Index(c.URLs, text); first < i {
			faults.Add(config.Index("urls", i), "is the same as the one at index %d", first)
		}
	}
	c.Auth.validate(&faults)
	c.TLS.validate(&faults)
	c.validateHeaders(&faults)
	if fault := faultOfProxy(c.Proxy.Reveal()); fault != "" {
		faults.Add("proxy", "%s", fault)
	}
	switch c.Compression {
	case compressNone:
	case compressGzip, compressZstd:
		most := 9
		if c.Compression == compressZstd {
			most = 22
		}
		if c.CompressionLevel < 1 || c.CompressionLevel > most {
			faults.Add("compression_level", "%d is not between 1 and %d", c.CompressionLevel, most)
		}
	default:
		faults.Add("compression", "%q is none of gzip, zstd, none", c.Compression)
	}
	if c.ConnectTimeout <= 0 {
		faults.Add("connect_timeout", "%s is not above 0", c.ConnectTimeout)
	}
	return faults.Err()
}

// faultOfURL says what is wrong with a URL of a host without repeating it, since it may hold what it should not.
func faultOfURL(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return "is not a URL, such as https://backend.example:9200"
	case u.Scheme != "http" && u.Scheme != "https":
		return "must begin with http:// or https://"
	case u.User != nil:
		return "holds a user or a password: write them under auth"
	case u.Hostname() == "":
		return "has no host"
	case !isPort(u.Port()):
		return "has a port that is none"
	case u.Fragment != "":
		return "has a fragment, which is never sent"
	}
	return ""
}

func isPort(text string) bool {
	if text == "" {
		return true
	}
	port, err := strconv.ParseUint(text, 10, 16)
	return err == nil && port > 0
}

func faultOfProxy(text string) string {
	switch text {
	case proxyEnvironment, proxyNone:
		return ""
	case "":
		return `must be "environment", "none" or a URL`
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || !slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme) {
		return `is not "environment", "none" or a URL that begins with http://, https:// or socks5://`
	}
	return ""
}

func (a *Auth) validate(faults *config.Faults) {
	ways := 0
	for _, set := range []bool{a.Username != "" || a.Password != "", a.BearerToken != "", a.APIKey != ""} {
		if set {
			ways++
		}
	}
	if ways > 1 {
		faults.Add("auth", "has more than one of username and password, bearer_token, api_key")
	}
	if a.Username == "" && a.Password != "" {
		faults.Add("auth.username", "must be set when a password is")
	}
	if strings.Contains(a.Username, ":") {
		faults.Add("auth.username", "holds a colon, which basic authentication cannot send")
	}
	if a.APIKeyHeader != "" && a.APIKey == "" {
		faults.Add("auth.api_key", "must be set when api_key_header is")
	}
	if a.APIKeyHeader != "" && !httpguts.ValidHeaderFieldName(a.APIKeyHeader) {
		faults.Add("auth.api_key_header", "%q is not the name of a header", a.APIKeyHeader)
	}
	for path, secret := range map[string]config.Secret{"bearer_token": a.BearerToken, "api_key": a.APIKey} {
		if !httpguts.ValidHeaderFieldValue(secret.Reveal()) {
			faults.Add("auth."+path, "holds a character that no header can")
		}
	}
}

func (t *TLS) validate(faults *config.Faults) {
	if (t.CertFile == "") != (t.KeyFile == "") {
		faults.Add("tls", "cert_file and key_file go together")
	}
}

// ours are headers that are made here.
var ours = []string{"Content-Type", "Content-Length", "Content-Encoding", "Transfer-Encoding", "Accept-Encoding", "Connection"}

func (c *Config) validateHeaders(faults *config.Faults) {
	for name, value := range c.Headers {
		path := config.Join("headers", name)
		canonical := canonicalName(name)
		switch {
		case !httpguts.ValidHeaderFieldName(name):
			faults.Add(path, "is not the name of a header")
		case slices.Contains(ours, canonical):
			faults.Add(path, "is set by the daemon")
		case canonical == "Authorization" && c.Auth != Auth{}:
			faults.Add(path, "is set by auth")
		case !httpguts.ValidHeaderFieldValue(value.Reveal()):
			faults.Add(path, "holds a character that no header can")
		}
	}
}
