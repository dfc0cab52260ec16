package docs

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol/dogstatsd"
)

// reasonConstant is how the reasons of packages ssf and protocol are declared.
var reasonConstant = regexp.MustCompile(`Reason\w+ +(?:ssf\.)?Reason = "(\w+)"`)

// grpcReason is how those of gRPC calls are.
var grpcReason = regexp.MustCompile(`protocolGRPC, "(\w+)"`)

// Every reason for which something is refused is explained.
func TestReasonsAreExplained(t *testing.T) {
	text, err := os.ReadFile("wire.md")
	require.NoError(t, err)
	explained := func(protocol, reason string) {
		row := regexp.MustCompile("(?m)^\\| ((dogstatsd, )?" + protocol + "|" + protocol + ", grpc|both) \\| `" + reason + "` \\|")
		assert.True(t, row.Match(text), "wire.md has no row for %s %s", protocol, reason)
	}
	for reason := dogstatsd.ReasonNone + 1; reason < dogstatsd.NumReasons; reason++ {
		explained("dogstatsd", reason.String())
	}
	found := 0
	for _, name := range []string{"ssf/reason.go", "protocol/frame.go"} {
		source, err := os.ReadFile(root + "/" + name)
		require.NoError(t, err)
		for _, m := range reasonConstant.FindAllStringSubmatch(string(source), -1) {
			found++
			explained("ssf", m[1])
		}
	}
	require.Greater(t, found, 20)
	source, err := os.ReadFile(root + "/server/ingest/grpcobserver.go")
	require.NoError(t, err)
	calls := grpcReason.FindAllStringSubmatch(string(source), -1)
	require.Greater(t, len(calls), 3)
	for _, m := range calls {
		explained("grpc", m[1])
	}
}
