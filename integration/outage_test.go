//go:build integration

package integration

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/veneurd/veneur/server/servertest"
)

const (
	downFor   = 60 * time.Second
	perSecond = 5000
)

// A node is down for a minute while five thousand spans come each second. With a queue on disk nothing is lost, and nothing is there
// twice; from memory alone what does not fit is lost, and counted.
func TestNodeDownForAMinute(t *testing.T) {
	node := startOpenSearch(t)
	sink := func(name, delivery string) string {
		return fmt.Sprintf(`  - kind: elasticsearch
    name: %s
    chunk_items: 4000
    chunk_bytes: 2000000
    retry_max: 2s
    expire_after: 5m
    %s
    config: {urls: [%q], proxy: none, dataset: %s, install_templates: true}
`, name, delivery, node.url, name)
	}
	d := servertest.Start(t, "hostname: it\ninterval: 10s\nssf_listen_addresses: [\"tcp://127.0.0.1:0\"]\nspan_sinks:\n"+
		sink("disk", "disk_queue: {path: '${DIR}/queue'}")+sink("memory", "queue_items: 20000"))
	explain(t, d)
	n := perSecond * int((downFor+3*time.Second)/time.Second)
	done := make(chan struct{})
	go func() {
		defer close(done)
		paced(t, d, plainSpans(1, n), perSecond)
	}()
	until(t, "taken", time.Minute, func() bool { return d.Value("sink.spans", "sink:disk", "outcome:sent") > 0 })
	node.process.kill()
	killed := time.Now()
	<-done
	for _, name := range []string{"disk", "memory"} {
		t.Logf("%s: %v waiting, %v bytes of memory", name, d.Value("sink.waiting", "sink:"+name), d.Value("sink.waiting_bytes", "sink:"+name))
	}
	assert.LessOrEqual(t, d.Value("sink.waiting", "sink:memory"), 20_000.0)
	if rest := downFor - time.Since(killed); rest > 0 {
		<-time.After(rest)
	}
	back := time.Now()
	node.startAgain()
	until(t, "settled", 4*time.Minute, func() bool {
		return d.Value("sink.offered") >= float64(2*n) && d.Value("sink.waiting") == 0
	})
	t.Logf("settled %s after the start", time.Since(back).Round(time.Second))
	spans := func(name, outcome string) int { return int(d.Value("sink.spans", "sink:"+name, "outcome:"+outcome)) }
	for _, name := range []string{"disk", "memory"} {
		t.Logf("%s: sent %d, overflow %d, expired %d, refused %d; %v existing", name, spans(name, "sent"), spans(name, "overflow"), spans(name, "expired"),
			spans(name, "refused"), d.Value("sink.existing", "sink:"+name))
		assert.Equal(t, n, spans(name, "sent")+spans(name, "overflow")+spans(name, "expired")+spans(name, "refused"), name)
		assert.Equal(t, spans(name, "sent"), node.count("traces-"+name+".otel-default"), name)
	}
	assert.Equal(t, n, spans("disk", "sent"), "something was lost in spite of the disk")
	assert.Positive(t, spans("memory", "overflow"))
}
