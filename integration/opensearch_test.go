//go:build integration

package integration

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// openSearchVersion is the one in the pom.
const openSearchVersion = "2.19.4"

var openSearchLibraries installed

// installOpenSearch fetches the libraries of a node and returns their folder.
func installOpenSearch(ctx context.Context) (string, error) {
	mvn, missing := program("mvn", "install Apache Maven, such as Debian's maven; it fetches OpenSearch")
	_, noJava := java()
	if err := errors.Join(missing, noJava); err != nil {
		return "", err
	}
	return cached(ctx, "opensearch-"+openSearchVersion, func(ctx context.Context, dir string) error {
		return run(exec.CommandContext(ctx, mvn, "--batch-mode", "--quiet",
			"--file", filepath.Join("testdata", "opensearch", "pom.xml"),
			"-Dopensearch.version="+openSearchVersion,
			"dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory="+dir))
	})
}

// openSearch is a node. It can be killed and started again where it was, with its data and on its port.
type openSearch struct {
	backend
	t        testing.TB
	home     string
	settings []string
	process  *process
	address  string // host:port
}

// startOpenSearch starts a node with its own empty home. Settings are name=value.
func startOpenSearch(t testing.TB, settings ...string) *openSearch {
	t.Helper()
	o := &openSearch{t: t, home: t.TempDir(), settings: settings}
	o.run("0")
	o.backend = backend{t: t, url: "http://" + o.address}
	return o
}

// startAgain starts the node that was killed.
func (o *openSearch) startAgain() {
	o.t.Helper()
	o.run(o.address[strings.LastIndex(o.address, ":")+1:])
}

var addressLine = regexp.MustCompile(`(?m)^address (127\.0\.0\.1:\d+)$`)

func (o *openSearch) run(port string) {
	o.t.Helper()
	libraries := openSearchLibraries.get(o.t, installOpenSearch)
	java, err := java()
	require.NoError(o.t, err)
	args := append([]string{
		"-Xms512m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
		"-cp", filepath.Join(libraries, "*"), filepath.Join("testdata", "opensearch", "SingleNode.java"),
		"path.home=" + o.home, "http.port=" + port, "transport.port=0",
	}, o.settings...)
	o.process = start(o.t, exec.Command(java, args...))
	o.process.await("ready", 2*time.Minute, func() bool {
		found := addressLine.FindStringSubmatch(o.process.said.String())
		if found != nil {
			o.address = found[1]
		}
		return found != nil
	})
}
