//go:build unix

package main

import (
	"flag"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/server/servertest"
)

// block is a fenced block of the README.
type block struct{ kind, text string }

func readme(t *testing.T) (string, []block) {
	t.Helper()
	data, err := os.ReadFile("README.md")
	require.NoError(t, err)
	var blocks []block
	for _, m := range regexp.MustCompile("(?s)```([a-z]+)\n(.*?)```").FindAllStringSubmatch(string(data), -1) {
		blocks = append(blocks, block{m[1], m[2]})
	}
	return string(data), blocks
}

// waiting returns the packets that have arrived, a line each.
func waiting(t *testing.T, p *peer) string {
	t.Helper()
	const last = "last:1|c"
	conn, err := net.Dial("udp", p.datagram.LocalAddr().String())
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, last)
	require.NoError(t, err)
	var all strings.Builder
	for {
		packet := p.bytes()
		if string(packet) == last {
			return all.String()
		}
		requireParses(t, packet)
		all.Write(append(packet, '\n'))
	}
}

// measured stands for the times of commands.
func measured(s string) string {
	return regexp.MustCompile(`(?m)^(nap):[0-9.]+\|ms`).ReplaceAllString(s, "$1:…|ms")
}

// Every example of the README does what the README says.
func TestReadmeExamples(t *testing.T) {
	_, blocks := readme(t)
	d := startDaemon(t)
	lines, spans := d.hostports("DogStatsD"), d.hostports("SSF")
	through := startProxy(t, "")
	places := strings.NewReplacer(
		"udp://[::1]:8126", lines["udp.v6"], "tcp://127.0.0.1:8126", lines["tcp"], "127.0.0.1:8126", lines["udp"],
		"unix:///run/veneur/stream.sock", lines["unix"], "unixgram:///run/veneur/statsd.sock", lines["unixgram"],
		"grpc://127.0.0.1:8129", lines["grpc"], "127.0.0.1:8129", strings.TrimPrefix(lines["grpc"], "grpc://"),
		"127.0.0.1:3128", through.Addr().String())

	bin := t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(self, filepath.Join(bin, "veneur-emit")))
	p := listen(t, "udp")
	examples, elsewhere := 0, 0
	for i, b := range blocks {
		if b.kind != "sh" {
			continue
		}
		cmd := exec.CommandContext(t.Context(), "sh", "-c", places.Replace(b.text))
		cmd.Env = append(process(t).Env, "PATH="+bin+":"+os.Getenv("PATH"), envStatsd+"="+p.hostport, envSSF+"="+spans["udp"])
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s%s", b.text, out)
		said := string(out) + waiting(t, p)
		want := ""
		if blocks[i+1].kind == "text" {
			want = blocks[i+1].text
		}
		require.Equal(t, measured(want), measured(said), b.text)
		examples++
		elsewhere += strings.Count(b.text, "-hostport")
	}
	require.Equal(t, 11, examples)
	d.Await(4+4*9, "ingest.spans")
	records := d.stop()
	require.Equal(t, map[string]float64{"a": float64(elsewhere), "page.views": 3}, justSums(records))

	tree := map[string]servertest.Record{}
	for _, r := range records {
		if r.Kind == "span" {
			tree[r.Name] = r
		}
	}
	require.Equal(t, []string{"72", tree["deploy"].ID}, []string{tree["build"].TraceID, tree["build"].ParentID})
	require.Equal(t, int64(2_500_000_000), tree["checkout"].EndNS-tree["checkout"].StartNS)
}

// justSums returns the counters without the aggregates of timings.
func justSums(records []servertest.Record) map[string]float64 {
	sums := map[string]float64{}
	for _, r := range records {
		if r.Kind == "metric" && r.Type == "counter" && !strings.HasSuffix(r.Name, ".count") {
			sums[r.Name] += r.Value
		}
	}
	return sums
}

func TestReadmeHasEveryFlag(t *testing.T) {
	text, _ := readme(t)
	n := 0
	new(options).flagSet().VisitAll(func(f *flag.Flag) {
		n++
		require.Contains(t, text, "\n| `-"+f.Name+"` | ")
	})
	require.Equal(t, n, strings.Count(text, "\n| `-"), "a flag that is none")
}

func TestReadmeNamesTheDefaults(t *testing.T) {
	text, _ := readme(t)
	for _, address := range []string{defaultStatsd, defaultSSF} {
		require.Contains(t, text, "`"+address+"`")
		_, port, err := net.SplitHostPort(strings.TrimPrefix(address, "udp://"))
		require.NoError(t, err)
		require.Contains(t, text, "127.0.0.1:"+port+" over UDP")
	}
}
