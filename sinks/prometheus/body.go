package prometheus

import (
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// body is the page in one form, compressed: that is a tenth to a twentieth of it, and inflating it for who does not take it so costs a
// tenth of encoding it again. What it holds never changes.
type body struct {
	once   sync.Once
	err    error
	pieces pieces
	size   int // inflated, bytes
}

// body returns the page in one form, which it encodes if nobody has asked for it before.
func (p *page) body(f form) (*body, error) {
	b := &p.bodies[f]
	b.once.Do(func() {
		z, err := gzip.NewWriterLevel(&b.pieces, gzip.BestSpeed)
		if err != nil {
			b.err = err
			return
		}
		plain := &counted{w: z}
		if b.err = p.encode(plain, f); b.err == nil {
			b.err = z.Close()
		}
		b.size = plain.n
	})
	return b, b.err
}

// writeCompressed writes it as it is.
func (b *body) writeCompressed(w io.Writer) error {
	for _, piece := range b.pieces.list {
		if _, err := w.Write(piece); err != nil {
			return err
		}
	}
	return nil
}

// writePlain writes it inflated.
func (b *body) writePlain(w io.Writer) error {
	z, err := gzip.NewReader(&pieceReader{list: b.pieces.list})
	if err != nil {
		return err
	}
	_, err = io.Copy(w, struct{ io.Reader }{z}) // by a small buffer, and not by one that z grows
	return err
}

const pieceSize = 64 << 10 // bytes

// pieces is a text that grows by pieces.
type pieces struct {
	list [][]byte
	size int
}

func (p *pieces) Write(b []byte) (int, error) {
	all := len(b)
	p.size += all
	for len(b) > 0 {
		n := len(p.list)
		if n == 0 || len(p.list[n-1]) == pieceSize {
			p.list = append(p.list, nil)
			n++
		}
		last := p.list[n-1]
		part := b[:min(len(b), pieceSize-len(last))]
		p.list[n-1] = append(last, part...)
		b = b[len(part):]
	}
	return all, nil
}

// pieceReader reads pieces. It is an io.ByteReader, so that nobody puts a buffer before it.
type pieceReader struct {
	list [][]byte // those after the one at hand
	rest []byte   // of the one at hand
}

// next says whether there is more, which is in rest then.
func (r *pieceReader) next() bool {
	for len(r.rest) == 0 && len(r.list) > 0 {
		r.rest, r.list = r.list[0], r.list[1:]
	}
	return len(r.rest) > 0
}

func (r *pieceReader) Read(b []byte) (int, error) {
	if !r.next() {
		return 0, io.EOF
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func (r *pieceReader) ReadByte() (byte, error) {
	if !r.next() {
		return 0, io.EOF
	}
	c := r.rest[0]
	r.rest = r.rest[1:]
	return c, nil
}

// counted counts what is written.
type counted struct {
	w io.Writer
	n int
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += n
	return n, err
}
