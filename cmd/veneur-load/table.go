package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// What stands around the table in a document.
const (
	beginMark = "<!-- begin: written by make load -->"
	endMark   = "<!-- end: written by make load -->"
)

// markdown writes the table.
func (l *ladder) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, revision %s, on %s. The daemon has one reader and shares the cores with its senders.\n\n", l.Date,
		shortRevision(l.Revision), l.Machine)
	b.WriteString("| a datagram | series | loss-free, messages/s | held back by | CPU s a million messages | peak RSS | totals |\n")
	b.WriteString("|---|--:|--:|---|--:|--:|---|\n")
	for i := range l.Rows {
		r := &l.Rows[i]
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", r.Title, grouped(uint64(r.Series)), r.rate(), r.limit(), perMillionText(r.PerMessage),
			memoryText(r.RSSPeak), r.totals())
	}
	if s := l.Stalls; s != nil {
		fmt.Fprintf(&b, "\nThe longest time that the daemon did not read, at %s lines/s of 1 M series over a unix datagram socket: **%.2f ms** during "+
			"%d flushes (%.2f ms in the median one), **%.2f ms** otherwise. The machine made the sender itself wait for %.2f ms.\n",
			grouped(uint64(l.StallRate)), s.InFlush, s.Flushes, s.Median, s.Otherwise, s.Machine)
	}
	if len(l.Skipped) > 0 {
		fmt.Fprintf(&b, "\nNot measured for want of time: %s.\n", strings.Join(l.Skipped, ", "))
	}
	return b.String()
}

func (r *row) rate() string {
	if r.Lost > 0 {
		return fmt.Sprintf("%s, of which %s lost", grouped(uint64(r.Rate)), grouped(r.Lost))
	}
	return grouped(uint64(r.Rate))
}

func (r *row) limit() string {
	switch {
	case r.Sender && r.Senders > 1:
		return fmt.Sprintf("%d senders", r.Senders)
	case r.Sender:
		return "sender"
	case r.Senders > 1:
		return fmt.Sprintf("daemon, of %d senders", r.Senders)
	default:
		return "daemon"
	}
}

func (r *row) totals() string {
	if len(r.Problems) > 0 {
		return "**wrong**: " + strings.Join(r.Problems, "; ")
	}
	return "exact"
}

func perMillionText(v float64) string {
	if v == 0 {
		return "–"
	}
	return fmt.Sprintf("%.3f", v)
}

func memoryText(n int64) string {
	if n == 0 {
		return "–"
	}
	return fmt.Sprintf("%d MB", (n+500_000)/1_000_000)
}

// shortRevision is enough of a revision to tell it from others.
func shortRevision(s string) string {
	revision, dirty, _ := strings.Cut(s, "+")
	if len(revision) > 12 {
		revision = revision[:12]
	}
	if dirty != "" {
		return revision + " with changes"
	}
	return revision
}

// writeSection puts a section into a document, which need not exist.
func writeSection(path, section string) error {
	document, err := os.ReadFile(path) // #nosec G304 -- the flag says so
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	renewed, err := withSection(string(document), section)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, []byte(renewed), 0o644) // #nosec G306 -- a document for all to read
}

// withSection puts a section between the marks of a document, or at its end when it has none.
func withSection(document, section string) (string, error) {
	section = beginMark + "\n\n" + strings.TrimSpace(section) + "\n\n" + endMark
	before, rest, found := strings.Cut(document, beginMark)
	_, after, ended := strings.Cut(rest, endMark)
	switch {
	case found && ended && !strings.Contains(before, endMark):
		return before + section + after, nil
	case found || strings.Contains(document, endMark):
		return "", fmt.Errorf("%q and %q do not stand there once each, in this order", beginMark, endMark)
	case document == "":
		document = "# Performance\n"
	}
	return strings.TrimRight(document, "\n") + "\n\n## Under load\n\n" + section + "\n", nil
}
