package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSections(t *testing.T) {
	const table = "| a |\n"
	section := beginMark + "\n\n| a |\n\n" + endMark
	for _, tt := range []struct{ name, document, want, err string }{
		{name: "no document", want: "# Performance\n\n## Under load\n\n" + section + "\n"},
		{name: "no section", document: "# P\n\ntext\n\n", want: "# P\n\ntext\n\n## Under load\n\n" + section + "\n"},
		{name: "an old one", document: "x\n" + beginMark + "\nold\n" + endMark + "\ny\n", want: "x\n" + section + "\ny\n"},
		{name: "the same again", document: "x\n" + section + "\ny", want: "x\n" + section + "\ny"},
		{name: "no end", document: "x" + beginMark, err: "do not stand there once each"},
		{name: "no beginning", document: "x" + endMark, err: "do not stand there once each"},
		{name: "the end first", document: endMark + beginMark, err: "do not stand there once each"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := withSection(tt.document, table)
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
	path := filepath.Join(t.TempDir(), "performance.md")
	require.NoError(t, writeSection(path, "one"))
	require.NoError(t, writeSection(path, "two"))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(text), "two"))
	require.NotContains(t, string(text), "one")
}

func TestTable(t *testing.T) {
	l := ladder{
		Machine: "CPU, 2 cores, Linux 6.1", Date: "2026-11-30", Revision: "0123456789abcdef0123+dirty",
		Rows: []row{
			{Title: "1 line", Series: 1_000_000, Rate: 1234567.8, PerMessage: 0.12345, RSSPeak: 70_400_000},
			{Title: "8 KiB", Series: 1000, Senders: 2, Rate: 1000},
			{Title: "1 line", Series: 1000, Senders: 4, Rate: 1000, Sender: true},
			{Title: "SSF", Series: 1000, Senders: 1, Rate: 99.9, Sender: true, Lost: 1500, Problems: verdict{"a", "b"}},
		},
		Stalls: &stalls{Flushes: 2, InFlush: 1.5, Median: 1.2, Otherwise: 0.7, Machine: 0.3}, StallRate: 500_000,
		Skipped: []string{"x", "y"},
	}
	require.Equal(t, `2026-11-30, revision 0123456789ab with changes, on CPU, 2 cores, Linux 6.1. The daemon has one reader and shares the cores with its senders.

| a datagram | series | loss-free, messages/s | held back by | CPU s a million messages | peak RSS | totals |
|---|--:|--:|---|--:|--:|---|
| 1 line | 1,000,000 | 1,234,567 | daemon | 0.123 | 70 MB | exact |
| 8 KiB | 1,000 | 1,000 | daemon, of 2 senders | – | – | exact |
| 1 line | 1,000 | 1,000 | 4 senders | – | – | exact |
| SSF | 1,000 | 99, of which 1,500 lost | sender | – | – | **wrong**: a; b |

The longest time that the daemon did not read, at 500,000 lines/s of 1 M series over a unix datagram socket: **1.50 ms** during 2 flushes (1.20 ms in the median one), **0.70 ms** otherwise. The machine made the sender itself wait for 0.30 ms.

Not measured for want of time: x, y.
`, l.markdown())
	require.False(t, l.exact())
	l.Rows = l.Rows[:1]
	require.True(t, l.exact())
	require.Equal(t, "unknown", shortRevision("unknown"))
}
