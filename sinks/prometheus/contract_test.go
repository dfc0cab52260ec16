package prometheus

import (
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/sinks/sinktest"
)

// addressed is a sink that was started.
type addressed interface{ Addr() net.Addr }

func TestContract(t *testing.T) {
	for _, histograms := range []string{asSummary, asNative, asPoints} {
		sinktest.Run(t, sinktest.Case{
			Name: histograms,
			Kind: Kind(),
			YAML: "listen_address: 127.0.0.1:0\nhistograms: " + histograms,
			Output: func(t testing.TB, e *sinktest.Env) []byte {
				resp, err := http.Get("http://" + e.Sink.(addressed).Addr().String() + "/metrics")
				require.NoError(t, err)
				defer resp.Body.Close()
				body, err := io.ReadAll(resp.Body)
				require.NoError(t, err)
				http.DefaultClient.CloseIdleConnections()
				return body
			},
			Refused: 1, // a counter that goes down
		})
	}
}
