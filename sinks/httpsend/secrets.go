package httpsend

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"

	"github.com/veneurd/veneur/internal/buildinfo"
	"github.com/veneurd/veneur/internal/config"
)

// header returns what every request carries.
func (c *Config) header(encoding string) (h http.Header, host string) {
	h = http.Header{}
	if encoding != "" {
		h.Set("Content-Encoding", encoding)
	}
	h.Set("Accept-Encoding", compressGzip)
	h.Set("User-Agent", "veneur/"+buildinfo.Read().Version)
	for name, value := range c.Headers {
		if canonicalName(name) == "Host" {
			host = value.Reveal()
			continue
		}
		h.Set(name, value.Reveal())
	}
	switch a := &c.Auth; {
	case a.Username != "":
		h.Set("Authorization", "Basic "+basic(a))
	case a.BearerToken != "":
		h.Set("Authorization", "Bearer "+a.BearerToken.Reveal())
	case a.APIKey != "" && a.APIKeyHeader != "":
		h.Set(a.APIKeyHeader, a.APIKey.Reveal())
	case a.APIKey != "":
		h.Set("Authorization", "ApiKey "+a.APIKey.Reveal())
	}
	return h, host
}

func canonicalName(name string) string { return http.CanonicalHeaderKey(name) }

func basic(a *Auth) string {
	return base64.StdEncoding.EncodeToString([]byte(a.Username + ":" + a.Password.Reveal()))
}

// secrets takes out of a text what nobody may see, such as a backend's answer that quotes the request.
type secrets struct{ replacer *strings.Replacer }

// minSecret keeps a one-letter password from being replaced in every word.
const minSecret = 4

func newSecrets(c *Config) *secrets {
	var pairs []string
	hide := func(text string) {
		if len(text) >= minSecret {
			pairs = append(pairs, text, config.Redacted)
		}
	}
	a := &c.Auth
	if a.Password != "" {
		hide(basic(a))
	}
	for _, secret := range []config.Secret{a.Password, a.BearerToken, a.APIKey} {
		hide(secret.Reveal())
	}
	for _, value := range c.Headers {
		hide(value.Reveal())
	}
	if u, err := url.Parse(c.Proxy.Reveal()); err == nil && u.User != nil {
		password, _ := u.User.Password()
		hide(u.User.String())
		hide(password)
	}
	for _, text := range c.URLs {
		if u, err := url.Parse(text); err == nil {
			hide(u.RawQuery)
		}
	}
	return &secrets{strings.NewReplacer(pairs...)}
}

func (s *secrets) scrub(text string) string { return s.replacer.Replace(text) }

// error hides secrets in the text of err, and keeps what it wraps.
func (s *secrets) error(err error) error {
	text := s.scrub(config.RedactURL(err.Error()))
	if text == err.Error() {
		return err
	}
	return &scrubbed{text, err}
}

type scrubbed struct {
	text string
	err  error
}

func (e *scrubbed) Error() string { return e.text }

func (e *scrubbed) Unwrap() error { return e.err }
