package ingest

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/veneurd/veneur/internal/config"
)

// tlsConfig returns the TLS configuration of listeners, or nil when there is none. It reads the files that the configuration names.
func (c *Config) tlsConfig() (*tls.Config, error) {
	if c.TLSKey == "" && c.TLSCertificate == "" && c.TLSAuthorityCertificate == "" {
		return nil, nil
	}
	var faults config.Faults
	read := func(path, value string) []byte {
		content, err := pemText(value)
		if err != nil {
			faults.Add(path, "%v", err)
		}
		return content
	}
	key := read("tls_key", c.TLSKey.Reveal())
	certificate := read("tls_certificate", c.TLSCertificate)
	authority := read("tls_authority_certificate", c.TLSAuthorityCertificate)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		faults.Add("tls_certificate", "does not fit tls_key: %v", err)
		return nil, faults.Err()
	}
	t := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}}
	if len(authority) > 0 {
		t.ClientAuth = tls.RequireAndVerifyClientCert
		t.ClientCAs = x509.NewCertPool()
		if !t.ClientCAs.AppendCertsFromPEM(authority) {
			faults.Add("tls_authority_certificate", "holds no certificate")
			return nil, faults.Err()
		}
	}
	return t, nil
}

// pemText returns a value that is PEM text itself, or the content of the file that it names.
func pemText(value string) ([]byte, error) {
	if value == "" || strings.Contains(value, "-----BEGIN ") {
		return []byte(value), nil
	}
	content, err := readPEM(value)
	if err != nil {
		// Without the path that such errors tell: a key whose first line was lost would be in it.
		var path *fs.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		return nil, fmt.Errorf("is neither PEM text nor a file: %w", err)
	}
	return content, nil
}

// maxPEM bounds what is read of a file: keys and certificates have some kilobytes, and /dev/zero has no end.
const maxPEM = 1 << 20

func readPEM(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // nothing was written to it
	content, err := io.ReadAll(io.LimitReader(f, maxPEM+1))
	if err == nil && len(content) > maxPEM {
		err = errors.New("larger than a megabyte")
	}
	return content, err
}
