package trace_test

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol"
	"github.com/veneurd/veneur/trace"
)

func TestTLS(t *testing.T) {
	web := httptest.NewTLSServer(nil) // for its certificate, which is for 127.0.0.1 and example.com
	defer web.Close()
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: web.TLS.Certificates, MinVersion: tls.VersionTLS12})
	require.NoError(t, err)
	defer l.Close()
	names := make(chan string, 10)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			in := bufio.NewReader(conn)
			for {
				packet, err := protocol.ReadFrame(in, nil)
				if err != nil {
					break
				}
				span, err := protocol.ParseSSF(packet)
				if err != nil {
					break
				}
				names <- span.Name
			}
			_ = conn.Close()
		}
	}()
	roots := x509.NewCertPool()
	roots.AddCert(web.Certificate())
	for _, tt := range []struct {
		name   string
		config *tls.Config
		ok     bool
	}{
		{"the address's name", &tls.Config{RootCAs: roots}, true},
		{"another name", &tls.Config{RootCAs: roots, ServerName: "example.com"}, true},
		{"a wrong name", &tls.Config{RootCAs: roots, ServerName: "example.org"}, false},
		{"unknown roots", &tls.Config{RootCAs: x509.NewCertPool()}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newClient(t, "tcp://"+l.Addr().String(), trace.WithTLS(tt.config))
			c.StartTrace(tt.name).Finish()
			if tt.ok {
				flush(t, c)
				require.Equal(t, tt.name, <-names)
				require.NoError(t, closeWithin(c, patience))
				return
			}
			require.Error(t, closeWithin(c, 100*time.Millisecond))
			require.ErrorContains(t, closeWithin(c, patience), "1 packets were not sent")
		})
	}
}
