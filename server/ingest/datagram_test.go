package ingest

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const loopback = "udp://127.0.0.1:0"

func TestDatagrams(t *testing.T) {
	dir := t.TempDir()
	tests := []struct{ name, address string }{
		{"udp", loopback},
		{"udp without a scheme, B118", "127.0.0.1:0"},
		{"B092 IPv6", "udp://[::1]:0"},
		{"all addresses", "udp://:0"},
		{"unixgram", "unixgram://" + filepath.Join(dir, "d.sock")},
		{"abstract unixgram", "unixgram://@veneur-test-" + strconv.Itoa(os.Getpid())},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := statsd(tt.address)
			c.NumReaders = 3
			r := start(t, c)
			r.send(0, "a:1|c|#x:y\nbad\r\n\nb:2.5|g\n", "a:2|c|@0.5|#x:y")
			r.wait(4, "ingest.lines")
			r.stop()
			require.Equal(t, map[string]float64{"a{x:y}": 5, "b": 2.5}, r.flush().values)
			r.requireValue(3, "ingest.samples")
			r.requireValue(1, "ingest.refused", "protocol:dogstatsd", "reason:no_type")
			r.requireValue(2, "ingest.packets", "listener:"+tt.address)
			r.requireLaws()
		})
	}
}

func TestB092AddressesAreShownWithBrackets(t *testing.T) {
	r := start(t, statsd("udp://[::1]:0"))
	require.Regexp(t, `^udp://\[::1\]:\d+$`, r.in.Addrs()[0].Address)
	l := NewListener("udp://[fe80::1%lo]:8125")
	e, err := l.endpoint(serviceStatsd)
	require.NoError(t, err)
	require.Equal(t, endpoint{"udp6", "[fe80::1%lo]:8125"}, e)
}

func TestEventsAndChecksAreOwned(t *testing.T) {
	r := start(t, statsd(loopback))
	before := time.Now().Unix()
	r.send(0, "_e{1,3}:t|a|b|h:web|k:agg|p:low|s:src|t:error|#b,a,b,veneursinkonly:one\n"+
		`_sc|disk|2|d:1656581400|h:web|#b,a,veneurlocalonly|m:full\nvery`+"\n_sc|disk|0\n_sc|disk|1|#veneurlocalonly,veneurglobalonly\n_e{5,5}:t|x")
	r.wait(5, "ingest.lines")
	r.stop()
	got := r.flush()
	require.Len(t, got.events, 1)
	e := got.events[0]
	require.GreaterOrEqual(t, e.Time, before)
	require.Equal(t, []string{"t", "a|b", "web", "agg", "low", "error", "src", "one", "[a added:yes b]"},
		[]string{e.Title, e.Text, e.Host, e.AggregationKey, e.Priority, e.AlertType, e.SourceType, e.SinkOnly, fmt.Sprint(e.Tags)})
	require.Len(t, got.checks, 3, "B046: every check, in order")
	c := got.checks[0]
	require.Equal(t, "disk CRITICAL full\nvery 1656581400 web local [a added:yes b]",
		fmt.Sprint(c.Name, " ", c.Status, " ", c.Message, " ", c.Time, " ", c.Host, " ", c.Scope, " ", c.Tags))
	require.GreaterOrEqual(t, got.checks[1].Time, before)
	require.Equal(t, "local", got.checks[2].Scope.String())
	r.requireValue(1, "ingest.check_scope_conflicts")
	r.requireValue(1, "ingest.events")
	r.requireValue(3, "ingest.checks")
	r.requireValue(1, "ingest.refused", "reason:event_length")
	r.requireLaws()
}

func TestB068LargeDatagrams(t *testing.T) {
	for _, address := range []string{loopback, "unixgram://" + filepath.Join(t.TempDir(), "d.sock")} {
		r := start(t, statsd(address))
		var lines []string
		for i := range 420 {
			lines = append(lines, fmt.Sprintf("bn%03d:1|c", i))
		}
		r.send(0, strings.Join(lines, "\n"))
		r.wait(420, "ingest.samples")
		r.stop()
		require.Len(t, r.flush().values, 420)
		r.requireLaws()
	}
}

func TestB070LargestDatagrams(t *testing.T) {
	for _, tt := range []struct {
		address string
		size    int
	}{{loopback, 65_507}, {"udp://[::1]:0", 65_507}, {"unixgram://" + filepath.Join(t.TempDir(), "d.sock"), 65_535}} {
		r := start(t, statsd(tt.address))
		last := "last:1|c|#k:0123456789"
		r.send(0, strings.Repeat("x:1|c\n", (tt.size-len(last))/6)+strings.Repeat("\n", (tt.size-len(last))%6)+last)
		r.wait(1, "ingest.packets")
		r.stop()
		got := r.flush().values
		require.EqualValues(t, 1, got["last{k:0123456789}"])
		require.EqualValues(t, (tt.size-len(last))/6, got["x"])
		r.requireValue(float64(tt.size), "ingest.bytes")
		r.requireValue(0, "ingest.truncated")
	}
}

func TestTruncatedDatagramKeepsItsWholeLines(t *testing.T) {
	for _, tt := range []struct {
		name, tail string
		refused    float64
	}{
		{"cut inside a line", "x:1|c|#" + strings.Repeat("t", 30_000), 1},
		{"cut at the end of a line", strings.Repeat("\n", 30_000), 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := start(t, statsd("unixgram://"+filepath.Join(t.TempDir(), "d.sock")))
			conn := r.dial(0)
			require.NoError(t, conn.(*net.UnixConn).SetWriteBuffer(1<<20))
			write(t, conn, strings.Repeat("a:1|c\n", 9000)+tt.tail)
			r.wait(1, "ingest.truncated")
			r.stop()
			require.Equal(t, map[string]float64{"a": 9000}, r.flush().values)
			r.requireValue(tt.refused, "ingest.refused", "reason:truncated")
			r.requireLaws()
		})
	}
}

func TestB071EmptyDatagrams(t *testing.T) {
	c := statsd(loopback)
	c.SSFListenAddresses = []Listener{NewListener(loopback)}
	r := start(t, c)
	for n := range 2 {
		conn := r.dial(n)
		_, err := conn.Write(nil)
		require.NoError(t, err)
	}
	r.send(0, "\n", "\r\n", "\n\n\n", "a:1|c")
	r.wait(1, "ingest.lines")
	r.stop()
	r.requireValue(1, "ingest.lines")
	r.requireValue(0, "ingest.refused")
}

func TestB080KernelDropsAreCounted(t *testing.T) {
	c := statsd(loopback)
	c.NumReaders = 2
	c.ReadBufferSizeBytes = 64 << 10
	r := start(t, c)
	const sent = 5000
	// The readers stand still while the lanes are locked, and the kernel's buffers fill.
	for _, lane := range r.in.Lanes() {
		lane.mu.Lock()
	}
	conn := r.dial(0)
	for range sent {
		write(t, conn, "a:1|c")
	}
	r.in.ReadDrops()
	require.Positive(t, r.reg.Value("ingest.kernel_drops", "listener:"+loopback))
	for _, lane := range r.in.Lanes() {
		lane.mu.Unlock()
	}
	r.stop()
	require.EqualValues(t, sent, r.reg.Value("ingest.packets")+r.reg.Value("ingest.kernel_drops"))
	require.Equal(t, r.reg.Value("ingest.lines"), r.flush().values["a"])
}

func TestB080SmallerBufferIsLogged(t *testing.T) {
	c := statsd(loopback)
	c.NumReaders = 1
	c.ReadBufferSizeBytes = maxReadBuffer // a little more than any system grants
	r := start(t, c)
	require.Contains(t, r.log.String(), "raise net.core.rmem_max")
}

func TestB151SecondDaemonOnTheSameAddress(t *testing.T) {
	c := statsd(loopback)
	c.NumReaders = 2
	first := start(t, c)
	network, address := first.addr(0)
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	for _, tt := range []struct {
		address string
		readers int
	}{
		{network + "://" + address, 1},
		{network + "://" + address, 2},
		{network + "://" + address, 4},
		{"udp://0.0.0.0:" + port, 2},
		{"udp://:" + port, 2},
		{"udp://[::]:" + port, 2},
	} {
		c := statsd(tt.address)
		c.NumReaders = tt.readers
		second := build(t, c)
		d := second.in.datagrams[0]
		require.ErrorIs(t, d.Start(context.Background()), syscall.EADDRINUSE, tt.address)
		require.EqualError(t, d.Start(context.Background()), "listen on "+tt.address+": bind: address already in use")
	}
	const sent = 1000
	for n := range 10 {
		conn := first.dial(0)
		for range sent / 10 {
			write(t, conn, "a:1|c")
		}
		first.wait(sent/10*float64(n+1), "ingest.samples") // more might be more than the kernel keeps
	}
	first.stop()
	again := build(t, c)
	again.in.datagrams[0].address = address
	require.NoError(t, again.in.datagrams[0].Start(context.Background()), "free again")
	require.NoError(t, again.in.datagrams[0].Close())
}

func TestB086ReaderEndsWhenItsSocketIsGone(t *testing.T) {
	r := build(t, statsd(loopback))
	d := r.in.datagrams[0]
	require.NoError(t, d.Start(context.Background()))
	done := make(chan error, 1)
	go func() { done <- d.Run(context.Background()) }()
	for _, s := range d.sockets {
		require.NoError(t, s.conn.Close())
	}
	select {
	case err := <-done:
		require.ErrorIs(t, err, net.ErrClosed)
	case <-time.After(patience):
		require.Fail(t, "still reading")
	}
	r.requireValue(0, "ingest.read_errors")
}

func TestB086FailedReceiveIsTriedAgain(t *testing.T) {
	peer, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	address := peer.LocalAddr().(*net.UDPAddr)
	require.NoError(t, peer.Close())
	// A connected socket is told when nobody is there, by an error of its next receive call.
	conn, err := net.DialUDP("udp4", nil, address)
	require.NoError(t, err)
	r := build(t, statsd(loopback))
	d := r.in.datagrams[0]
	s, err := newSocket(conn)
	require.NoError(t, err)
	d.sockets = []*socket{s}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	write(t, conn, "anybody there?")
	r.wait(1, "ingest.read_errors")
	require.Less(t, r.reg.Value("ingest.read_errors"), 10.0)

	peer, err = net.ListenUDP("udp4", address)
	require.NoError(t, err)
	defer peer.Close()
	_, err = peer.WriteTo([]byte("a:1|c"), conn.LocalAddr())
	require.NoError(t, err)
	r.wait(1, "ingest.samples")
	cancel()
	require.NoError(t, <-done)
}

func TestWhatTheKernelHoldsAtTheStopIsRead(t *testing.T) {
	for _, address := range []string{loopback, "unixgram://" + filepath.Join(t.TempDir(), "d.sock")} {
		r := start(t, statsd(address))
		conn := r.dial(0)
		for _, lane := range r.in.Lanes() {
			lane.mu.Lock()
		}
		sent := 9 // a unix socket takes ten, and then makes its sender wait
		for range sent {
			write(t, conn, "a:1|c")
		}
		r.cancel()
		for _, lane := range r.in.Lanes() {
			lane.mu.Unlock()
		}
		r.stop()
		r.requireValue(float64(sent), "ingest.samples")
	}
}

func TestSendersAreSpreadOverReaders(t *testing.T) {
	c := statsd(loopback)
	c.NumReaders = 4
	r := start(t, c)
	require.Len(t, r.in.Lanes(), 4)
	const senders = 64
	for range senders {
		r.send(0, "a:1|c")
	}
	r.wait(senders, "ingest.samples")
	r.stop()
	require.EqualValues(t, senders, r.flush().values["a"])
	busy := 0
	for _, in := range r.in.datagrams[0].intakes {
		if in.src != nil {
			busy++
		}
	}
	if runtime.GOOS == "linux" {
		require.Greater(t, busy, 1)
	}
}

func TestGaugeDeltasIsAnOptionOfTheListener(t *testing.T) {
	c := statsd(loopback)
	plain := NewListener(loopback)
	c.StatsdListenAddresses[0].GaugeDeltas = true
	c.StatsdListenAddresses = append(c.StatsdListenAddresses, plain)
	r := start(t, c)
	r.send(0, "delta:10|g\ndelta:+5|g\ndelta:-1|g")
	r.send(1, "plain:10|g\nplain:+5|g\nplain:-1|g")
	r.wait(6, "ingest.samples")
	r.stop()
	require.Equal(t, map[string]float64{"delta": 14, "plain": -1}, r.flush().values)
	require.Equal(t, loopback+"#2", r.in.Addrs()[1].Listener)
}

func BenchmarkReceive(b *testing.B) {
	for _, size := range []int{40, 1400, 8 << 10} {
		b.Run(fmt.Sprintf("%d bytes", size), func(b *testing.B) {
			sockets, _, err := openUDP(b.Context(), "udp4", "127.0.0.1:0", 1, defaultReadBuffer)
			require.NoError(b, err)
			defer sockets[0].close()
			conn, err := net.Dial("udp4", sockets[0].conn.LocalAddr().String())
			require.NoError(b, err)
			defer conn.Close()
			payload := make([]byte, size)
			datagrams := min(64*60, defaultReadBuffer/2/(2*size+1024)) // what the buffer holds
			b.ReportAllocs()
			var receiving time.Duration // stopping the timer would cost more than what is measured
			for b.Loop() {
				for range datagrams {
					_, _ = conn.Write(payload)
				}
				begin := time.Now()
				for got := 0; got < datagrams; {
					packets, err := sockets[0].receive()
					require.NoError(b, err)
					got += len(packets)
				}
				receiving += time.Since(begin)
			}
			b.ReportMetric(float64(receiving.Nanoseconds())/float64(b.N*datagrams), "ns/datagram")
		})
	}
}
