package prometheus

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
)

// run starts the sink and runs it; the function it returns stops it, waits, and says how long that took.
func (r *rig) run() (stop func() time.Duration) {
	r.t.Helper()
	require.NoError(r.t, r.Start(r.t.Context()))
	ctx, cancel := context.WithCancel(r.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	stop = func() time.Duration {
		start := time.Now()
		cancel()
		require.NoError(r.t, <-ended)
		return time.Since(start)
	}
	r.t.Cleanup(func() { cancel() })
	return stop
}

func (r *rig) url() string { return "http://" + r.Addr().String() + "/metrics" }

// request asks for something without the client's own compression.
func request(t testing.TB, method, url string, header ...string) (*http.Response, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	client := &http.Client{Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}}
	resp, err := client.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp, body
}

const (
	textType  = "text/plain; version=0.0.4; charset=utf-8"
	protoType = "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"
)

func TestNegotiation(t *testing.T) {
	r := newRig(t, nil)
	r.points(counter("c", 1, "a:1"))
	stop := r.run()
	for _, tt := range []struct {
		name, accept, encoding string
		typ                    string
		gzip                   bool
	}{
		{name: "nothing asked", typ: textType},
		{name: "a browser", accept: "text/html,application/xhtml+xml,*/*;q=0.8", encoding: "gzip, deflate, br", typ: textType, gzip: true},
		{name: "nonsense", accept: "}{;;q=x,,", encoding: ";;q,", typ: textType},
		{
			name:   "Prometheus 3",
			accept: "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1",
			typ:    textType, encoding: "gzip", gzip: true,
		},
		{
			name:   "Prometheus with native histograms",
			accept: "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
			typ:    protoType, encoding: "gzip", gzip: true,
		},
		{name: "protobuf, not compressed", accept: strings.ReplaceAll(protoType, " ", ""), typ: protoType},
		{name: "JSON", accept: "application/json", typ: textType},
		{name: "no gzip", encoding: "gzip;q=0, identity", typ: textType},
		{name: "some gzip", encoding: "br;q=1.0, GZIP; q=0.5", typ: textType, gzip: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			resp, body := request(t, http.MethodGet, r.url(), "Accept", tt.accept, "Accept-Encoding", tt.encoding)
			require.Equal(t, http.StatusOK, resp.StatusCode)
			assert.Equal(t, tt.typ, resp.Header.Get("Content-Type"))
			assert.Equal(t, tt.gzip, resp.Header.Get("Content-Encoding") == "gzip")
			assert.Equal(t, strconv.Itoa(len(body)), resp.Header.Get("Content-Length"))
			if tt.gzip {
				z, err := gzip.NewReader(bytes.NewReader(body))
				require.NoError(t, err)
				body, err = io.ReadAll(z)
				require.NoError(t, err)
			}
			read := parsed
			if tt.typ == protoType {
				read = decoded
			}
			c := read(t, body)["c_total"].GetMetric()[0]
			assert.EqualValues(t, 1, c.GetCounter().GetValue())
			assert.Equal(t, tt.typ == protoType, c.GetCounter().GetCreatedTimestamp() != nil)
		})
	}
	assert.EqualValues(t, 9, r.registry.Value("sink.prometheus.scrapes"))
	stop()
}

func TestOtherRequests(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Path = "/a/b" })
	stop := r.run()
	base := "http://" + r.Addr().String()
	for _, tt := range []struct {
		method, path string
		code         int
		body         string
	}{
		{http.MethodGet, "/", 404, "metrics are at /a/b\n"},
		{http.MethodGet, "/a/b/", 404, "metrics are at /a/b\n"},
		{http.MethodGet, "/a/b?x=1", 200, ""},
		{http.MethodPost, "/a/b", 405, "metrics are read with GET\n"},
		{http.MethodHead, "/a/b", 200, ""},
	} {
		resp, body := request(t, tt.method, base+tt.path)
		assert.Equal(t, tt.code, resp.StatusCode, "%s %s", tt.method, tt.path)
		assert.Equal(t, tt.body, string(body), "%s %s", tt.method, tt.path)
	}
	stop()
}

func TestStartSaysWhatIsWrongAndWhereItServes(t *testing.T) {
	r := newRig(t, nil)
	stop := r.run()
	require.Equal(t, "serving "+r.url(), r.log.LastEntry().Message)
	second := newRig(t, func(c *Config) { c.ListenAddress = r.Addr().String() })
	require.ErrorContains(t, second.Start(t.Context()), "listen_address: listen tcp "+r.Addr().String()+": bind: address already in use")
	require.NoError(t, second.Close())
	stop()
	require.NoError(t, r.Close(), "as delivery does after Run")

	require.NoError(t, second.Start(t.Context()), "the port is free again")
	require.NoError(t, second.Close())
}

func TestIPv6(t *testing.T) {
	r := newRig(t, func(c *Config) { c.ListenAddress = "[::1]:0" })
	stop := r.run()
	resp, _ := request(t, http.MethodGet, r.url())
	assert.Equal(t, http.StatusOK, resp.StatusCode)
	stop()
}

// raw opens a connection and asks for the page without reading the answer.
func (r *rig) raw(ask string) net.Conn {
	r.t.Helper()
	conn, err := net.Dial("tcp", r.Addr().String())
	require.NoError(r.t, err)
	r.t.Cleanup(func() { _ = conn.Close() })
	_, err = io.WriteString(conn, ask)
	require.NoError(r.t, err)
	return conn
}

const ask = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"

func TestScrapersThatDoNotReadHoldUpNobody(t *testing.T) {
	r := newRig(t, nil)
	big := &sinks.Batch{}
	for i := range 20_000 {
		big.Points = append(big.Points, gauge("g", float64(i), fmt.Sprintf("n:%0200d", i)))
	}
	r.interval(big)
	stop := r.run()
	for range 20 {
		r.raw(ask)
	}
	for range 3 {
		r.interval(big)
		resp, body := request(t, http.MethodGet, r.url())
		require.Equal(t, http.StatusOK, resp.StatusCode)
		require.Greater(t, len(body), 4_000_000)
	}
	assert.Less(t, stop(), 25*time.Second)
}

func TestConnectionsAreBounded(t *testing.T) {
	r := newRig(t, nil)
	stop := r.run()
	conns := make([]net.Conn, maxConnections)
	for i := range conns {
		conns[i] = r.raw(ask)
		_, err := http.ReadResponse(bufio.NewReader(conns[i]), nil)
		require.NoError(t, err)
	}
	further := r.raw(ask)
	_, err := http.ReadResponse(bufio.NewReader(further), nil)
	require.NoError(t, err, "an idle connection makes room")
	closed := make(chan struct{}, len(conns))
	for _, conn := range conns {
		go func() {
			_, _ = conn.Read(make([]byte, 1)) // nothing comes but the end
			closed <- struct{}{}
		}()
	}
	<-closed // one of those idle longest; which, the server has seen in an order of its own
	stop()
}

func TestNonsenseOnThePort(t *testing.T) {
	r := newRig(t, nil)
	stop := r.run()
	for _, text := range []string{"\x16\x03\x01\x02", "a:1|c\n\n", "GET /metrics HTTP/1.1\r\nX: " + strings.Repeat("x", 100_000) + "\r\n\r\n"} {
		conn := r.raw("")
		_, _ = io.WriteString(conn, text) // a long one may be cut off while it is written
		_, _ = io.WriteString(conn, "\r\n\r\n")
		answer, _ := io.ReadAll(conn)
		assert.Contains(t, string(answer), "HTTP/1.1 4", "%.20q", text)
	}
	resp, _ := request(t, http.MethodGet, r.url())
	assert.Equal(t, http.StatusOK, resp.StatusCode)
	stop()
}

// TestNoScrapeSeesHalfAnInterval sends intervals in chunks, one value for all points of an interval, while others look.
func TestNoScrapeSeesHalfAnInterval(t *testing.T) {
	const chunks, size = 10, 20
	r := newRig(t, nil)
	stop := r.run()
	done := make(chan struct{})
	var scrapers sync.WaitGroup
	for range 2 {
		scrapers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				body, err := encoded(r.current.Load(), textForm)
				if !assert.NoError(t, err) {
					return
				}
				families := parsed(t, body)
				seen := map[float64]bool{}
				n := 0
				for _, m := range families["g"].GetMetric() {
					seen[m.GetGauge().GetValue()] = true
					n++
				}
				for _, m := range families["c_total"].GetMetric() {
					seen[m.GetCounter().GetValue()] = true
					n++
				}
				if !assert.LessOrEqual(t, len(seen), 1) || n != 0 && !assert.Equal(t, chunks*size*2, n) {
					return
				}
			}
		})
	}
	for i := range 100 {
		for chunk := range chunks {
			b := &sinks.Batch{End: time.Unix(int64(i), 0), More: chunk < chunks-1}
			for j := range size {
				tag := fmt.Sprintf("n:%d.%d", chunk, j)
				b.Points = append(b.Points, gauge("g", float64(i+1), tag), counter("c", 1, tag))
			}
			require.NoError(t, r.Send(t.Context(), b))
		}
	}
	close(done)
	scrapers.Wait()
	stop()
}

func TestIntervalWhoseLastChunkNeverCameIsShownWithTheNext(t *testing.T) {
	r := newRig(t, nil)
	require.NoError(t, r.Send(t.Context(), &sinks.Batch{End: time.Unix(10, 0), More: true, Points: []metric.Point{counter("c", 1)}}))
	assert.Empty(t, r.lines())
	require.NoError(t, r.Send(t.Context(), &sinks.Batch{End: time.Unix(20, 0), More: true, Points: []metric.Point{counter("c", 1)}}))
	assert.Equal(t, []string{"c_total 1"}, r.lines())
	require.NoError(t, r.Send(t.Context(), &sinks.Batch{End: time.Unix(20, 0), Points: []metric.Point{counter("c", 1)}}))
	assert.Equal(t, []string{"c_total 3"}, r.lines())
	more := &sinks.Batch{End: time.Unix(30, 0), Interval: time.Minute, More: true, Points: []metric.Point{counter("c", 1)}}
	require.NoError(t, r.Send(t.Context(), more))
	assert.Equal(t, []string{"c_total 3"}, r.lines())
	more.Interval = interval
	require.NoError(t, r.Send(t.Context(), more))
	assert.Equal(t, []string{"c_total 4"}, r.lines(), "another one that ends at the same time")
}
