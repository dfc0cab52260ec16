package main

import (
	"context"
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAmounts(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want amount // 0 is an error
	}{
		{"1", 1},
		{"5000", 5000},
		{"5k", 5000},
		{"1.5M", 1_500_000},
		{"0.5k", 500},
		{"1e3", 1000},
		{"", 0},
		{"0", 0},
		{"-1", 0},
		{"1.5", 0},
		{"k", 0},
		{"1G", 0},
		{"NaN", 0},
		{"Inf", 0},
		{"1e300", 0},
	} {
		t.Run(tt.in, func(t *testing.T) {
			var a amount
			err := a.Set(tt.in)
			require.Equal(t, tt.want == 0, err != nil, "%v", err)
			require.Equal(t, tt.want, a)
		})
	}
}

func TestPaces(t *testing.T) {
	var p pace
	require.NoError(t, p.Set("250k"))
	require.Equal(t, "250000", p.String())
	require.NoError(t, p.Set("max"))
	require.Equal(t, "max", p.String())
	require.ErrorContains(t, p.Set("fast"), "or max")
}

func TestMixes(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want mix
		err  string
	}{
		{in: "c", want: mix{1}},
		{in: "s,c", want: mix{1, 0, 0, 1}},
		{in: "c:70,g:10,ms:15,s:5", want: mix{70, 10, 15, 5}},
		{in: "h", err: `"h" is none of c, g, ms, s`},
		{in: "", err: `"" is none of`},
		{in: "c:0", err: `the weight in "c:0"`},
		{in: "c:x", err: "the weight in"},
		{in: "c,c:2", err: "c stands there twice"},
	} {
		t.Run(tt.in, func(t *testing.T) {
			var m mix
			err := m.Set(tt.in)
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, m)
			var again mix
			require.NoError(t, again.Set(m.String()))
			require.Equal(t, m, again)
		})
	}
	var got mix
	for i := range 1000 {
		got[(&mix{7, 0, 2, 1}).of(i)]++
	}
	require.Equal(t, mix{700, 0, 200, 100}, got)
}

func TestFaultsOfTheCommandLine(t *testing.T) {
	target := "-target udp://127.0.0.1:8126 -admin http://127.0.0.1:8127 "
	for _, tt := range []struct{ args, want string }{
		{"", "say which daemon"},
		{"-target udp://127.0.0.1:8126", "say which daemon"},
		{"-veneur v extra", `unexpected argument "extra"`},
		{"-veneur v -target udp://127.0.0.1:1", "-veneur starts a daemon, -target is about one that runs"},
		{target + "-readers 2", "-readers needs -veneur"},
		{"-target udp://192.0.2.1:8126 -admin x", "only daemons of this host are loaded"},
		{"-target udp://metrics.example.com:8126 -admin x", "only daemons of this host are loaded"},
		{"-target udp://:8126 -admin x", "only daemons of this host are loaded"},
		{"-target grpc://127.0.0.1:8126 -admin x", "gRPC is not among"},
		{"-target nowhere -admin x", `address "nowhere"`},
		{"-veneur v -series 0", "not a whole number above 0"},
		{"-veneur v -series 5M", "-series: 4000001 is not between 1 and 4000000"},
		{"-veneur v -tags 33", "-tags: 33 is not between 0 and 32"},
		{"-veneur v -senders 0", "-senders: 0 is not between"},
		{"-veneur v -batch 5000", "-batch: 5000 is not between"},
		{"-veneur v -bytes 70000", "-bytes: 70000 is not between"},
		{"-veneur v -duration 0s", "-duration: 0s is not above 0"},
		{"-veneur v -lines 2 -bytes 1400", "give one of them"},
		{"-veneur v -ssf typical -bytes 1400", "a datagram holds one span"},
		{"-veneur v -ssf typical -tags 2", "-tags is for lines"},
		{"-veneur v -ssf huge", "none of typical, heavy, tree"},
		{"-veneur v -ssf tree -mix ms", "the spans of a tree have none"},
		{"-veneur v -ssf tree -series 5", "the spans of a tree have none"},
		{"-veneur v -gso -network tcp", "-gso is for udp"},
		{"-veneur v -stalls", "-stalls needs a sender that can be held up"},
		{"-veneur v -network sctp", "none of udp, unixgram, unix, tcp"},
		{"-veneur v -only x", "-only needs -ladder"},
		{"-ladder", "-ladder needs -veneur"},
		{"-ladder -veneur v -rate 5", "-rate has no place beside -ladder"},
		{"-ladder -veneur v -only (", "missing closing"},
		{"-ladder -veneur v -only x -write y", "the table would lose its other lines"},
		{"-nosuch", "not defined: -nosuch"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			var out strings.Builder
			_, err := parse(strings.Fields(tt.args), &out)
			require.ErrorContains(t, err, tt.want)
			require.Empty(t, out.String())

			var stderr strings.Builder
			require.Equal(t, exitUsage, run(context.Background(), strings.Fields(tt.args), &out, &stderr))
			require.Contains(t, stderr.String(), tt.want)
			require.Contains(t, stderr.String(), "-help lists the flags")
		})
	}
}

func TestDefaults(t *testing.T) {
	o, err := parse([]string{"-veneur", "v"}, nil)
	require.NoError(t, err)
	assert.Equal(t, 10*time.Second, o.duration, "a load always ends")
	assert.Equal(t, "1000 series of c:1, 3 tags, 1 lines a packet, 1 senders at max/s", o.describe())
	assert.Equal(t, limits{messages: 1}, o.limits())
	assert.Equal(t, oneCall, o.batch)
	o, err = parse(strings.Fields("-veneur v -gso -bytes 1400 -mix c:2,g"), nil)
	require.NoError(t, err)
	assert.Equal(t, maxBatch, o.batch)
	assert.Equal(t, "1000 series of c:2,g:1, 3 tags, packets of 1400 bytes, 1 senders at max/s", o.describe())
	o, err = parse(strings.Fields("-target unix:///run/x.sock -admin http://127.0.0.1:1 -ssf heavy -lines 5"), nil)
	require.NoError(t, err)
	assert.Equal(t, limits{messages: 5, stream: true}, o.limits())
	assert.Equal(t, "1000 series of c:1, heavy spans, 1 senders at max/s", o.describe())
	o, err = parse(strings.Fields("-veneur v -ssf tree"), nil)
	require.NoError(t, err)
	assert.Equal(t, "1000 traces of 9 spans, 1 senders at max/s", o.describe())
}

func TestHelp(t *testing.T) {
	var out strings.Builder
	_, err := parse([]string{"-help"}, &out)
	require.ErrorIs(t, err, flag.ErrHelp)
	for _, want := range []string{"usage: veneur-load -veneur PROGRAM", "-target address", "-gso", "-ladder", "-stalls", "or tree (traces of 9 spans"} {
		require.Contains(t, out.String(), want)
	}
	require.Equal(t, exitOK, run(context.Background(), []string{"-help"}, &out, &out))
}
