package httpsend_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/config"
	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/sinks/httpsend"
)

// authority signs certificates.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string
}

func newAuthority(t *testing.T) *authority {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return &authority{t, cert, key, write(t, "CERTIFICATE", der)}
}

func write(t *testing.T, kind string, der []byte) string {
	path := filepath.Join(t.TempDir(), "file.pem")
	require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
	return path
}

// issue returns the files of a certificate for the name, or for 127.0.0.1 when it is empty.
func (a *authority) issue(name string) (certFile, keyFile string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "host"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if name == "" {
		template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	} else {
		template.DNSNames = []string{name}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	require.NoError(a.t, err)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(a.t, err)
	return write(a.t, "CERTIFICATE", der), write(a.t, "PRIVATE KEY", pkcs8)
}

// serveTLS runs a backend with a certificate for name, changed if change is not nil. It answers with the protocol of the request.
func (a *authority) serveTLS(name string, change func(*tls.Config)) string {
	certFile, keyFile := a.issue(name)
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	require.NoError(a.t, err)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, r.Proto)
		for _, c := range r.TLS.PeerCertificates {
			_, _ = io.WriteString(w, " "+c.Subject.CommonName)
		}
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.EnableHTTP2 = true
	s.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	if change != nil {
		change(s.TLS)
	}
	s.StartTLS()
	a.t.Cleanup(s.Close)
	return s.URL
}

func TestTLS(t *testing.T) {
	a, other := newAuthority(t), newAuthority(t)
	certFile, keyFile := a.issue("")
	wantsOurs := func(c *tls.Config) {
		c.ClientAuth = tls.RequireAndVerifyClientCert
		c.ClientCAs = x509.NewCertPool()
		c.ClientCAs.AddCert(a.cert)
	}
	tests := []struct {
		name   string
		server string // name in its certificate
		change func(*tls.Config)
		tls    httpsend.TLS
		want   string // the reply, or part of the error
		class  string // "" for any: TLS 1.3 lets a client send before it hears the alert, which then may get lost
	}{
		{"HTTP/2 is used", "", nil, httpsend.TLS{CAFile: a.file}, "HTTP/2.0", "ok"},
		{"HTTP/1.1 too", "", func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} }, httpsend.TLS{CAFile: a.file}, "HTTP/1.1", "ok"},
		{"an authority that is not known", "", nil, httpsend.TLS{}, "unknown authority", "config"},
		{"another authority", "", nil, httpsend.TLS{CAFile: other.file}, "unknown authority", "config"},
		{"trusting whoever answers", "", nil, httpsend.TLS{InsecureSkipVerify: true}, "HTTP/2.0", "ok"},
		{"another name", "es.example", nil, httpsend.TLS{CAFile: a.file}, "127.0.0.1", "config"},
		{"the name that it should have", "es.example", nil, httpsend.TLS{CAFile: a.file, ServerName: "es.example"}, "HTTP/2.0", "ok"},
		{
			"our certificate", "", wantsOurs, httpsend.TLS{CAFile: a.file, CertFile: certFile, KeyFile: keyFile}, "HTTP/2.0 host", "ok",
		},
		{"our certificate is asked for and not there", "", wantsOurs, httpsend.TLS{CAFile: a.file}, "https://127.0.0.1", ""},
		{
			"TLS 1.1 is not spoken", "", func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS11 },
			httpsend.TLS{CAFile: a.file},
			"protocol version", "config",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, func(c *httpsend.Config) { c.TLS = tt.tls }, a.serveTLS(tt.server, tt.change))
			for range 3 {
				reply, err := r.post("x")
				if tt.class != "" {
					require.Equal(t, tt.class, classOf(err), "%v", err)
				}
				if err == nil {
					assert.Equal(t, tt.want, string(reply.Body))
				} else {
					assert.ErrorContains(t, err, tt.want)
				}
			}
		})
	}
}

func TestRenewedCertificateIsUsed(t *testing.T) {
	a, old := newAuthority(t), newAuthority(t)
	url := a.serveTLS("", func(c *tls.Config) {
		c.ClientAuth = tls.RequireAndVerifyClientCert
		c.ClientCAs = x509.NewCertPool()
		c.ClientCAs.AddCert(a.cert)
	})
	certFile, keyFile := old.issue("")
	r := newRig(t, func(c *httpsend.Config) {
		c.TLS = httpsend.TLS{CAFile: a.file, CertFile: certFile, KeyFile: keyFile}
	}, url)
	_, err := r.post("x")
	require.Error(t, err)
	newCert, newKey := a.issue("")
	require.NoError(t, os.Rename(newCert, certFile))
	require.NoError(t, os.Rename(newKey, keyFile))
	_, err = r.post("x")
	require.NoError(t, err)
}

func TestFilesThatAreWrong(t *testing.T) {
	a := newAuthority(t)
	certFile, keyFile := a.issue("")
	_, otherKey := a.issue("")
	empty := filepath.Join(t.TempDir(), "empty")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	for want, files := range map[string]httpsend.TLS{
		"tls.ca_file: open /nowhere: no such file":  {CAFile: "/nowhere"},
		"tls.ca_file: " + empty + " holds no":       {CAFile: empty},
		"tls.cert_file: open /nowhere: no such":     {CertFile: "/nowhere", KeyFile: keyFile},
		"tls.cert_file: " + certFile + " with key ": {CertFile: certFile, KeyFile: otherKey},
	} {
		c := httpsend.DefaultConfig()
		c.URLs, c.TLS = []string{"https://h"}, files
		require.NoError(t, c.Validate(), "which reads no file")
		_, err := httpsend.New(c, httpsend.Settings{Name: "out", Telemetry: telemetry.New()})
		require.ErrorContains(t, err, want)
	}
}

// A proxy gets the request of a plain URL whole, and a CONNECT for one of https.
func TestProxy(t *testing.T) {
	a := newAuthority(t)
	var asked []string
	proxy := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.Host+" "+r.Header.Get("Proxy-Authorization"))
		if r.Method != http.MethodConnect {
			return
		}
		there, err := net.Dial("tcp", r.Host)
		if !assert.NoError(t, err) {
			return
		}
		defer there.Close()
		w.WriteHeader(200)
		here, buffered, err := w.(http.Hijacker).Hijack()
		if !assert.NoError(t, err) {
			return
		}
		defer here.Close()
		go func() {
			defer there.Close()
			_, _ = io.Copy(there, bufio.NewReader(buffered))
		}()
		_, _ = io.Copy(here, there)
	})
	withProxy := func(c *httpsend.Config) {
		c.Proxy = config.Secret("http://me:secret@" + proxy[len("http://"):])
		c.TLS.CAFile = a.file
	}
	_, err := newRig(t, withProxy, "http://es.example:9200").post("x")
	require.NoError(t, err)
	url := a.serveTLS("", nil)
	_, err = newRig(t, withProxy, url).post("x")
	require.NoError(t, err)
	require.Equal(t, []string{
		"POST es.example:9200 Basic bWU6c2VjcmV0",
		"CONNECT " + url[len("https://"):] + " Basic bWU6c2VjcmV0",
	}, asked)
}
