package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/ssf"
)

// packets is a sender that keeps what it is given, and fails where fail says so.
type packets struct {
	max  int
	got  []string
	fail func(packet string) error
}

func (p *packets) packet(_ context.Context, packet []byte) error {
	if p.fail != nil {
		if err := p.fail(string(packet)); err != nil {
			return err
		}
	}
	p.got = append(p.got, string(packet))
	return nil
}

func (p *packets) span(context.Context, *ssf.SSFSpan) error { return errors.ErrUnsupported }
func (p *packets) limit() int                               { return p.max }
func (p *packets) finish(context.Context) error             { return nil }

func (p *packets) take(in io.Reader) (stderr string, err error) {
	var b bytes.Buffer
	lines := lineSender{to: p, stderr: &b}
	err = lines.send(context.Background(), in)
	return b.String(), err
}

// counter returns a counter line of the given length.
func counter(n, length int) string {
	line := fmt.Sprintf("n%d.", n)
	return line + strings.Repeat("x", length-len(line)-len(":1|c")) + ":1|c"
}

func TestLines(t *testing.T) {
	long := counter(1, maxMessage)
	for _, tt := range []struct {
		name, in string
		want     []string
		told     string
		err      string
	}{
		{"nothing", "", nil, "", ""},
		{"empty lines", "\n\r\n\n", nil, "", ""},
		{"one", "a:1|c\n", []string{"a:1|c"}, "", ""},
		{"no final newline", "a:1|c\nb:2|c", []string{"a:1|c", "b:2|c"}, "", ""},
		{"CRLF", "a:1|c\r\nb:2|c\r\n", []string{"a:1|c\nb:2|c"}, "", ""},
		{"an event and a check", "_e{1,1}:a|b\n_sc|c|0\n", []string{"_e{1,1}:a|b\n_sc|c|0"}, "", ""},
		{"as they are", "a b:1|c|@0.5|#x:y|c:ci-1\n", []string{"a b:1|c|@0.5|#x:y|c:ci-1"}, "", ""},
		{
			"a bad line between good ones", "a:1|c\nbad\nb:2|c\n",
			[]string{"a:1|c\nb:2|c"},
			"veneur-emit: line 2 not sent (no_type): \"bad\"\n", "1 of 3 lines were not sent",
		},
		{"numbers count empty lines", "\n\nbad\n", nil, "veneur-emit: line 3 not sent (no_type): \"bad\"\n", "1 of 1 lines"},
		{"a bad line without newline", "a:1|c\na:1|x", []string{"a:1|c"}, "veneur-emit: line 2 not sent (type): \"a:1|x\"\n", "1 of 2 lines"},
		{"a zero byte in a name", "a\x00b:1|c\n", []string{"a\x00b:1|c"}, "", ""},
		{"zero bytes alone", "\x00\x00\na:1|c\n", []string{"a:1|c"}, "veneur-emit: line 1 not sent (no_type): \"\\x00\\x00\"\n", "1 of 2 lines"},
		{"not UTF-8", "_sc|\xff|0\n", nil, "veneur-emit: line 1 not sent (utf8): \"_sc|\\xff|0\"\n", "1 of 1 lines"},
		{"B127 as long as may be", long + "\na:1|c\n", []string{long, "a:1|c"}, "", ""},
		{"B127 as long as may be, CRLF, no final newline", "a:1|c\r\n" + long + "\r", []string{"a:1|c", long}, "", ""},
		{
			"B127 one byte too long", "a:1|c\n" + counter(2, maxMessage+1) + "\nb:1|c\n",
			[]string{"a:1|c", "b:1|c"},
			"veneur-emit: line 2 not sent (too_long): \"n2." + strings.Repeat("x", 61) + "\"\n", "1 of 3 lines",
		},
		{
			"B127 70,000 bytes", "a:1|c\n" + counter(2, 70_000) + "\r\nb:1|c\n",
			[]string{"a:1|c", "b:1|c"},
			"veneur-emit: line 2 not sent (too_long): \"n2." + strings.Repeat("x", 61) + "\"\n", "1 of 3 lines",
		},
		{
			"B127 200,000 bytes without newline", "a:1|c\n" + counter(2, 200_000),
			[]string{"a:1|c"},
			"veneur-emit: line 2 not sent (too_long): \"n2." + strings.Repeat("x", 61) + "\"\n", "1 of 2 lines",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, reader := range []io.Reader{strings.NewReader(tt.in), iotest.HalfReader(strings.NewReader(tt.in)), iotest.DataErrReader(strings.NewReader(tt.in))} {
				p := packets{max: maxMessage}
				told, err := p.take(reader)
				require.Equal(t, strings.Join(tt.want, "\n"), strings.Join(p.got, "\n"))
				require.Equal(t, tt.told, told)
				if tt.err == "" {
					require.NoError(t, err)
					continue
				}
				require.ErrorContains(t, err, tt.err)
			}
			p := packets{max: maxMessage}
			_, _ = p.take(strings.NewReader(tt.in))
			require.Equal(t, tt.want, p.got)
		})
	}
}

// Packets hold as many lines as fit, in their order; a line that is longer than that has one to itself.
func TestB127PacketsStayWithinTheLimit(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for _, limit := range []int{1432, 8192} {
		var in strings.Builder
		for n := range 2000 {
			length := 20 + random.IntN(400)
			if random.IntN(50) == 0 {
				length = limit - 2 + random.IntN(5)
			}
			in.WriteString(counter(n, length) + "\n")
		}
		p := packets{max: limit}
		told, err := p.take(strings.NewReader(in.String()))
		require.NoError(t, err)
		require.Empty(t, told)
		require.Equal(t, in.String(), strings.Join(p.got, "\n")+"\n")
		for _, packet := range p.got {
			if strings.Contains(packet, "\n") {
				require.LessOrEqual(t, len(packet), limit)
			}
		}
		require.Less(t, len(p.got), 2*in.Len()/limit, "packets are filled")
	}
}

func TestB127PacketsOfEveryTransport(t *testing.T) {
	for _, tt := range []struct {
		network string
		limit   int
	}{{"udp", 1432}, {"unixgram", 8192}, {"tcp", maxMessage}, {"unix", maxMessage}} {
		t.Run(tt.network, func(t *testing.T) {
			p := listen(t, tt.network)
			var in strings.Builder
			for n := range 100 {
				in.WriteString(counter(n, 160) + "\n")
			}
			in.WriteString(counter(100, 1999))
			ended := emitting(t, in.String(), "-hostport", p.hostport, "-")
			all := p.packet()
			for p.datagram != nil && strings.Count(all, "\n") < 100 {
				packet := p.packet()
				if strings.Contains(packet, "\n") {
					require.LessOrEqual(t, len(packet), tt.limit)
				}
				all += "\n" + packet
			}
			require.Equal(t, in.String(), all)
			requireSent(t, <-ended)
		})
	}
}

// What a system takes less of than others is dropped alone, and told.
func TestB127MessageTooLongForTheSystem(t *testing.T) {
	p := packets{max: 20, fail: func(packet string) error {
		if len(packet) > 15 {
			return fmt.Errorf("write: %w", syscall.EMSGSIZE)
		}
		return nil
	}}
	told, err := p.take(strings.NewReader("a:1|c\nb:1|c\n" + counter(3, 16) + "\nc:1|c\n"))
	require.ErrorContains(t, err, "1 of 4 lines were not sent")
	require.Equal(t, []string{"a:1|c\nb:1|c", "c:1|c"}, p.got)
	require.Equal(t, "veneur-emit: line 3 not sent (too_long): \"n3.xxxxxxxxx:1|c\"\n", told)
}

func TestAFailedSendEndsIt(t *testing.T) {
	p := packets{max: 10, fail: func(string) error { return io.ErrClosedPipe }}
	_, err := p.take(strings.NewReader("a:1|c\nb:1|c\n"))
	require.EqualError(t, err, "line 1: "+io.ErrClosedPipe.Error())
}

func TestAFailedReadIsToldAfterSending(t *testing.T) {
	p := packets{max: 100}
	_, err := p.take(io.MultiReader(strings.NewReader("a:1|c\n"), iotest.ErrReader(os.ErrInvalid)))
	require.ErrorIs(t, err, os.ErrInvalid)
	require.Equal(t, []string{"a:1|c"}, p.got)
}

// Through a pipe that stays open each line arrives as soon as it is whole, also while the next one has begun.
func TestALongLivedPipe(t *testing.T) {
	for _, network := range []string{"udp", "unixgram"} {
		t.Run(network, func(t *testing.T) {
			p := listen(t, network)
			in, out := io.Pipe()
			ended := make(chan int)
			go func() {
				ended <- run(t.Context(), []string{"-hostport", p.hostport, "-"}, nil, streams{in, io.Discard, io.Discard})
			}()
			for _, step := range []struct{ write, want string }{
				{"a:1|c\n", "a:1|c"},
				{"b:1|c\nc:1", "b:1|c"},
				{"|c\n", "c:1|c"},
				{"d:1|c\ne:1|c\nf", "d:1|c\ne:1|c"},
			} {
				_, err := io.WriteString(out, step.write)
				require.NoError(t, err)
				require.Equal(t, step.want, p.packet())
			}
			_, err := io.WriteString(out, ":1|c")
			require.NoError(t, err)
			require.NoError(t, out.Close())
			require.Equal(t, "f:1|c", p.packet())
			require.Equal(t, exitOK, <-ended)
		})
	}
}

// The same over a stream, of which the other side need not wait for the end.
func TestALongLivedPipeToAStream(t *testing.T) {
	p := listen(t, "unix")
	in, out := io.Pipe()
	ended := make(chan int)
	go func() {
		ended <- run(t.Context(), []string{"-hostport", p.hostport, "-"}, nil, streams{in, io.Discard, io.Discard})
	}()
	conn, err := p.stream.Accept()
	require.NoError(t, err)
	defer conn.Close()
	for range 3 {
		_, err = io.WriteString(out, "a:1|c\n")
		require.NoError(t, err)
		buf := make([]byte, 6)
		_, err = io.ReadFull(conn, buf)
		require.NoError(t, err)
		require.Equal(t, "a:1|c\n", string(buf))
	}
	require.NoError(t, out.Close())
	n, err := conn.Read(make([]byte, 1))
	require.Zero(t, n)
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, conn.Close())
	require.Equal(t, exitOK, <-ended)
}

// Good lines are sent although bad ones make the exit code 1, and what the connection says at the end is told beside them.
func TestBadLinesAndTheExitCode(t *testing.T) {
	p := listen(t, "udp")
	r := emitWith(t, "a:1|c\nbad\nb:1|c\n", nil, "-hostport", p.hostport, "-")
	require.Equal(t, result{exitFailure, "", "veneur-emit: line 2 not sent (no_type): \"bad\"\nveneur-emit: 1 of 3 lines were not sent\n"}, r)
	require.Equal(t, "a:1|c\nb:1|c", p.packet())
}
