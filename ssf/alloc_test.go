//go:build !invariants

// With invariants every packet has memory of its own.

package ssf_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/ssf"
	"github.com/veneurd/veneur/ssf/ssftest"
)

func TestDecodeDoesNotAllocate(t *testing.T) {
	var packets [][]byte
	for _, shape := range ssftest.Shapes() {
		packets = append(packets, ssf.AppendSpan(nil, shape.Span))
	}
	bad := append(bytes.Clone(packets[2]), 0x7f)
	var d ssf.Decoder
	n := testing.AllocsPerRun(100, func() {
		for _, p := range packets {
			if _, err := d.Decode(p); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := d.Decode(bad); err == nil {
			t.Fatal("not refused")
		}
	})
	require.Zero(t, n)
}

func TestAppendSpanDoesNotAllocate(t *testing.T) {
	shapes := ssftest.Shapes()
	b := make([]byte, 0, 4<<10)
	n := testing.AllocsPerRun(100, func() {
		for _, shape := range shapes {
			b = ssf.AppendSpan(b[:0], shape.Span)
		}
	})
	require.Zero(t, n)
}
