//go:build integration

package integration

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The node is what the other tests take it for: it answers, loses nothing when it is killed, and comes back where it was.
func TestOpenSearchSurvivesAKill(t *testing.T) {
	node := startOpenSearch(t)
	var about struct {
		Version struct{ Distribution, Number string }
	}
	node.must("GET", "/", "", &about)
	assert.Equal(t, "opensearch", about.Version.Distribution)
	assert.Equal(t, openSearchVersion, about.Version.Number)
	status, text := node.ask("PUT", "/kept/_doc/1?refresh=true", `{"a":"b"}`)
	require.Equal(t, 201, status, text)

	address := node.address
	node.process.kill()
	node.startAgain()
	require.Equal(t, address, node.address)
	until(t, "recovered", time.Minute, func() bool {
		status, _ := node.ask("GET", "/_cluster/health?wait_for_status=yellow&timeout=10s", "")
		return status == 200
	})
	var found struct {
		Source map[string]any `json:"_source"`
	}
	node.must("GET", "/kept/_doc/1", "", &found)
	assert.Equal(t, map[string]any{"a": "b"}, found.Source)
}

func TestVictoriaLogsAnswers(t *testing.T) {
	logs := startVictoriaLogs(t)
	status, text := logs.ask("POST", "/insert/elasticsearch/_bulk?_time_field=%40timestamp&_msg_field=m",
		`{"create":{"_index":"x"}}`+"\n"+`{"@timestamp":"2024-01-01T00:00:00.123456789Z","m":"said","a":{"b":"c"}}`+"\n")
	require.Equal(t, 200, status, text)
	until(t, "found", time.Minute, func() bool {
		_, text = logs.ask("GET", "/select/logsql/query?query=said", "")
		return text != ""
	})
	assert.Contains(t, text, `"a.b":"c"`)
	t.Log(text)
}
