package debug

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// cell is one column of one row. Its text has no control characters; color may be "".
type cell struct {
	text  string
	color string
	right bool
}

// table collects rows and writes them with their columns aligned.
type table struct {
	paint painter
	buf   []byte
	rows  [][]cell
}

const maxKept = 1 << 20 // a buffer that one huge interval has grown is let go

// take returns what was written, which is valid until the next table is begun.
func (t *table) take() []byte {
	b := t.buf
	t.buf = t.buf[:0]
	if cap(t.buf) > maxKept {
		t.buf = nil
	}
	return b
}

func (t *table) title(end time.Time, what string) {
	line := what
	if !end.IsZero() {
		line = end.UTC().Format("2006-01-02 15:04:05 UTC") + "  " + what
	}
	t.buf = append(t.buf, t.paint.paint(green, "== "+line)...)
	t.buf = append(t.buf, '\n')
}

func (t *table) header(names ...string) {
	row := make([]cell, len(names))
	for i, name := range names {
		row[i] = cell{text: name, color: dim, right: name == "VALUE" || name == "DURATION"}
	}
	t.rows = append(t.rows[:0], row)
}

func (t *table) row(cells ...cell) { t.rows = append(t.rows, cells) }

// flush writes the rows, then how many of the total were left out.
func (t *table) flush(total int) {
	shown := len(t.rows) - 1
	if shown > 0 { // a header alone says nothing
		widths := make([]int, len(t.rows[0]))
		for _, row := range t.rows {
			for i := range row {
				if n := utf8.RuneCountInString(row[i].text); n <= maxWidth {
					widths[i] = max(widths[i], n)
				}
			}
		}
		for _, row := range t.rows {
			t.write(row, widths)
		}
	}
	if left := total - shown; left > 0 {
		t.buf = append(t.buf, t.paint.paint(yellow, fmt.Sprintf("… and %d more (max_rows)", left))...)
		t.buf = append(t.buf, '\n')
	}
	clear(t.rows)
	t.rows = t.rows[:0]
}

// maxWidth is of the longest text that a column is made wide enough for. A longer one pushes its own row aside, and no other.
const maxWidth = 72

func (t *table) write(row []cell, widths []int) {
	last := len(row) - 1
	for last > 0 && row[last].text == "" {
		last--
	}
	for i := range row[:last+1] {
		c := &row[i]
		pad := strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(c.text)))
		text := t.paint.paint(c.color, c.text)
		switch {
		case c.right:
			text = pad + text
		case i < last:
			text += pad
		}
		t.buf = append(t.buf, text...)
		if i < last {
			t.buf = append(t.buf, "  "...)
		}
	}
	t.buf = append(t.buf, '\n')
}
