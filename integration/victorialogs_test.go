//go:build integration

package integration

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const victoriaLogsVersion = "v1.52.1"

var victoriaLogsProgram installed

// installVictoriaLogs builds the program and returns its path.
func installVictoriaLogs(ctx context.Context) (string, error) {
	command, err := program("go", "the tests themselves need it")
	if err != nil {
		return "", err
	}
	dir, err := cached(ctx, "victorialogs-"+victoriaLogsVersion, func(ctx context.Context, dir string) error {
		cmd := exec.CommandContext(ctx, command, "install", "github.com/VictoriaMetrics/VictoriaLogs/app/victoria-logs@"+victoriaLogsVersion)
		cmd.Env = append(os.Environ(), "GOBIN="+dir, "CGO_ENABLED=0", "GOFLAGS=")
		return run(cmd)
	})
	return filepath.Join(dir, "victoria-logs"), err
}

// startVictoriaLogs starts a VictoriaLogs with its own empty storage.
func startVictoriaLogs(t testing.TB) backend {
	t.Helper()
	program := victoriaLogsProgram.get(t, installVictoriaLogs)
	address := freeAddress(t)
	p := start(t, exec.Command(program, "-httpListenAddr="+address, "-storageDataPath="+t.TempDir(), "-retentionPeriod=100y"))
	b := backend{t: t, url: "http://" + address}
	p.await("ready", time.Minute, func() bool {
		response, err := http.Get(b.url + "/health")
		if err != nil {
			return false
		}
		return response.Body.Close() == nil && response.StatusCode == http.StatusOK
	})
	return b
}

// freeAddress returns an address of the loopback interface on which nobody listens.
func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := l.Addr().String()
	require.NoError(t, l.Close())
	return address
}
