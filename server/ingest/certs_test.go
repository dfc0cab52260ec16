package ingest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/config"
)

// authority signs certificates of servers and clients.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
	pool *x509.CertPool
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, pool: x509.NewCertPool()}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	var err error
	a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	require.NoError(t, err)
	a.cert, err = x509.ParseCertificate(der)
	require.NoError(t, err)
	a.pem = encode("CERTIFICATE", der)
	a.pool.AddCert(a.cert)
	return a
}

// issue returns a certificate for 127.0.0.1 and its key.
func (a *authority) issue() (certificate, key []byte) {
	a.t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "leaf"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, private.Public(), a.key)
	require.NoError(a.t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(a.t, err)
	return encode("CERTIFICATE", der), encode("PRIVATE KEY", keyDER)
}

// serve makes c speak TLS, and ask clients for a certificate if mutual.
func (a *authority) serve(c *Config, mutual bool) {
	certificate, key := a.issue()
	c.TLSCertificate, c.TLSKey = string(certificate), config.Secret(key)
	if mutual {
		c.TLSAuthorityCertificate = string(a.pem)
	}
}

// client returns what a client needs to trust the server, and a certificate of its own if it is to have one.
func (a *authority) client(own bool) *tls.Config {
	c := &tls.Config{RootCAs: a.pool, MinVersion: tls.VersionTLS12}
	if own {
		pair, err := tls.X509KeyPair(a.issue())
		require.NoError(a.t, err)
		c.Certificates = []tls.Certificate{pair}
	}
	return c
}

func encode(kind string, der []byte) []byte {
	var b bytes.Buffer
	_ = pem.Encode(&b, &pem.Block{Type: kind, Bytes: der})
	return b.Bytes()
}
