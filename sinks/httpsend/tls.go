package httpsend

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/veneurd/veneur/internal/config"
)

// client returns the TLS configuration of connections. It reads the files, so that a mistake in them is one in the configuration.
func (t *TLS) client() (*tls.Config, error) {
	var faults config.Faults
	c := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		ServerName:         t.ServerName,
		InsecureSkipVerify: t.InsecureSkipVerify, //nolint:gosec // the user's choice, documented
	}
	if t.CAFile != "" {
		pem, err := readFile(t.CAFile)
		if err != nil {
			faults.Add("ca_file", "%v", err)
		} else if c.RootCAs = x509.NewCertPool(); !c.RootCAs.AppendCertsFromPEM(pem) {
			faults.Add("ca_file", "%s holds no certificate", t.CAFile)
		}
	}
	if t.CertFile != "" {
		if _, err := t.pair(); err != nil {
			faults.Add("cert_file", "%v", err)
		}
		// Read anew for each connection: certificates of some hours' life are renewed in place.
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return t.pair() }
	}
	return c, faults.Err()
}

func (t *TLS) pair() (*tls.Certificate, error) {
	certificate, err := readFile(t.CertFile)
	if err != nil {
		return nil, err
	}
	key, err := readFile(t.KeyFile)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("%s with key %s: %w", t.CertFile, t.KeyFile, err)
	}
	return &pair, nil
}

// maxPEM bounds what is read of a file.
const maxPEM = 4 << 20

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	content, err := io.ReadAll(io.LimitReader(f, maxPEM+1))
	if err == nil && len(content) > maxPEM {
		err = errors.New("too large for certificates")
	}
	return content, err
}

// Bounds of connections. A sink has one request under way at a time for each of its signals.
const (
	maxIdlePerHost  = 2
	maxConnsPerHost = 4
	idleTimeout     = 90 * time.Second
	pingAfter       = 15 * time.Second // of silence on an HTTP/2 connection, or one that died unnoticed would eat whole timeouts
	maxHeaderBytes  = 64 << 10
)

// newTransport makes the connections. It is the client's own: http.DefaultTransport belongs to everybody.
func newTransport(c *Config, t *tls.Config) *http.Transport {
	dialer := &net.Dialer{Timeout: c.ConnectTimeout, KeepAlive: 30 * time.Second}
	transport := &http.Transport{
		DialContext:            dialer.DialContext,
		TLSClientConfig:        t,
		TLSHandshakeTimeout:    c.ConnectTimeout,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // replies are inflated here, bounded
		MaxIdleConns:           maxIdlePerHost * len(c.URLs),
		MaxIdleConnsPerHost:    maxIdlePerHost,
		MaxConnsPerHost:        maxConnsPerHost,
		IdleConnTimeout:        idleTimeout,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: maxHeaderBytes,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingAfter},
	}
	switch proxy := c.Proxy.Reveal(); proxy {
	case proxyNone:
	case proxyEnvironment:
		transport.Proxy = http.ProxyFromEnvironment
	default:
		if u, err := url.Parse(proxy); err == nil { // as Validate has made sure
			transport.Proxy = http.ProxyURL(u)
		}
	}
	return transport
}
