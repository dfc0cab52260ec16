package spanmetrics

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/telemetry"
)

// childStore is the variable that makes the test's program a daemon to be killed: the directory of its store.
const childStore = "SPANMETRICS_TEST_STORE"

// childConfig commits often, into a bucket that is longer than the test.
func childConfig(path string) Config {
	c := testConfig(time.Hour, 2*time.Hour)
	c.StorePath, c.CommitInterval = path, 20*time.Millisecond
	return c
}

// runChild counts requests until it is killed, and tells how many, of which so many are committed. It says no in a process that is not to do so.
func runChild() bool {
	path, ok := os.LookupEnv(childStore)
	if !ok {
		return false
	}
	registry := telemetry.New()
	s := New(Settings{Config: childConfig(path), Sinks: []string{"a"}, Emit: func(*Closed) {}, Telemetry: registry, Log: logrus.New()})
	r := s.NewRecorder()
	if err := s.Keeper().Start(context.Background()); err != nil {
		fmt.Println(err)
		return true
	}
	go func() { _ = s.Run(context.Background()) }()
	for sent := 0; ; {
		for range 100 {
			r.Add(requestSpan("checkout", fmt.Sprint("GET /", sent%500), 10*time.Millisecond), time.Now().Unix())
			sent++
		}
		fmt.Println(sent, int(registry.Value("span_metrics.spans", "family:request")))
	}
}

// Case 15: kill -9 under load inside a bucket, three times, and then a start after the bucket's end: the sums are no less than what was committed,
// each time, and no more than what was sent.
func TestCase15KillInsideABucket(t *testing.T) {
	path := t.TempDir()
	least, most := 0, 0
	for range 3 {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), childStore+"="+path)
		out, err := child.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, child.Start())
		lines := bufio.NewScanner(out)
		sent, committed, seen, commits, killed := 0, 0, 0, 0, false
		for lines.Scan() {
			_, err := fmt.Sscan(lines.Text(), &sent, &committed)
			require.NoError(t, err, lines.Text())
			if committed > seen {
				seen = committed
				commits++
			}
			if commits >= 20 && !killed {
				killed = true
				require.NoError(t, child.Process.Signal(syscall.SIGKILL))
			}
		}
		require.ErrorContains(t, child.Wait(), "killed")
		least, most = least+committed, most+sent+100
	}
	r := newRig(t, childConfig(path), nil, func(s *Settings) { s.Now = func() time.Time { return time.Now().Add(2 * time.Hour) } })
	require.Eventually(t, func() bool { return len(r.emitted()) >= 2 }, time.Minute, time.Millisecond)
	r.stop()
	emitted := r.emitted()
	assert.Contains(t, emitted[0], " late: ")
	got := map[time.Duration]int{}
	for b, s := range r.results {
		got[b.Duration()] += int(s.requests)
		assert.Equal(t, time.Duration(s.requests)*10*time.Millisecond, s.duration)
	}
	t.Logf("sent %d, of which %d are known to be committed; emitted %d: %s", most, least, got[time.Hour], strings.Join(emitted, ", "))
	assert.GreaterOrEqual(t, got[time.Hour], least)
	assert.LessOrEqual(t, got[time.Hour], most)
}
