package httpsend

import (
	"bytes"
	"io"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// bodies compresses what is sent into memory that is used again. There are no more at once than requests under way, so plain lists hold
// them: a pool would lose a megabyte of tables at each garbage collection.
type bodies struct {
	compression string
	level       int

	mu      sync.Mutex
	free    []*body
	gzips   []*gzip.Writer
	encoder *zstd.Encoder // for all at once
}

// body is one request's, as it is sent. The transport may read it until it closes its reader, even after the reply has come; the last
// one to let go gives the memory back.
type body struct {
	bytes []byte
	refs  atomic.Int32
	owner *bodies
}

const (
	maxFree     = 4       // bodies and compressors kept
	maxKeptBody = 4 << 20 // one huge body must not stay for ever
)

func newBodies(c *Config) *bodies {
	return &bodies{compression: c.Compression, level: c.CompressionLevel}
}

// encoding is the Content-Encoding.
func (bs *bodies) encoding() string {
	if bs.compression == compressNone {
		return ""
	}
	return bs.compression
}

// pack makes the body of plain, which is the caller's again. It starts with one reference, the caller's.
func (bs *bodies) pack(plain []byte) (*body, error) {
	b := bs.get()
	b.refs.Store(1)
	var err error
	switch {
	case len(plain) == 0:
	case bs.compression == compressGzip:
		err = bs.gzip(b, plain)
	case bs.compression == compressZstd:
		var encoder *zstd.Encoder
		if encoder, err = bs.zstd(); err == nil {
			b.bytes = encoder.EncodeAll(plain, b.bytes)
		}
	default:
		b.bytes = append(b.bytes, plain...)
	}
	if err != nil {
		b.release()
		return nil, err
	}
	return b, nil
}

func (bs *bodies) get() *body {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	if n := len(bs.free); n > 0 {
		b := bs.free[n-1]
		bs.free = bs.free[:n-1]
		return b
	}
	return &body{owner: bs}
}

func (bs *bodies) gzip(b *body, plain []byte) error {
	w, err := bs.writer()
	if err != nil {
		return err
	}
	w.Reset(b)
	if _, err = w.Write(plain); err == nil {
		err = w.Close()
	}
	bs.mu.Lock()
	defer bs.mu.Unlock()
	if len(bs.gzips) < maxFree {
		bs.gzips = append(bs.gzips, w)
	}
	return err
}

func (bs *bodies) writer() (*gzip.Writer, error) {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	if n := len(bs.gzips); n > 0 {
		w := bs.gzips[n-1]
		bs.gzips = bs.gzips[:n-1]
		return w, nil
	}
	return gzip.NewWriterLevel(io.Discard, bs.level)
}

func (bs *bodies) zstd() (*zstd.Encoder, error) {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	if bs.encoder != nil {
		return bs.encoder, nil
	}
	var err error
	bs.encoder, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(bs.level)), zstd.WithEncoderConcurrency(1))
	return bs.encoder, err
}

// Write appends to the body.
func (b *body) Write(p []byte) (int, error) {
	b.bytes = append(b.bytes, p...)
	return len(p), nil
}

func (b *body) len() int { return len(b.bytes) }

// open returns a reader with a reference of its own.
func (b *body) open() io.ReadCloser {
	b.refs.Add(1)
	return &bodyReader{Reader: *bytes.NewReader(b.bytes), body: b}
}

// reopen is open for http.Request.GetBody.
func (b *body) reopen() (io.ReadCloser, error) { return b.open(), nil }

func (b *body) release() {
	if b.refs.Add(-1) > 0 {
		return
	}
	b.owner.mu.Lock()
	defer b.owner.mu.Unlock()
	if cap(b.bytes) <= maxKeptBody && len(b.owner.free) < maxFree {
		b.bytes = b.bytes[:0]
		b.owner.free = append(b.owner.free, b)
	}
}

type bodyReader struct {
	bytes.Reader
	body   *body
	closed atomic.Bool
}

// Close lets go of the body, once.
func (r *bodyReader) Close() error {
	if !r.closed.Swap(true) {
		r.Reset(nil)
		r.body.release()
	}
	return nil
}
