package httpsend

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// MaxReply is the most that is read of a reply, inflated, in bytes.
const MaxReply = 16 << 20

var (
	errReplyTooLarge = errors.New("the reply is larger than 16 MiB")
	errReplyEncoding = errors.New("the reply has a content encoding that was not asked for")
)

// replies reads replies, with inflaters that are used again.
type replies struct {
	mu   sync.Mutex
	free []*gzip.Reader
}

// read returns the whole body of a reply, plain, in the memory of dst or new one. It is read to its end, so that the connection
// can be used again, unless it is too large.
func (rs *replies) read(reply *http.Response, dst []byte) ([]byte, error) {
	defer reply.Body.Close() //nolint:errcheck // whatever it says, all has been read
	switch encoding := strings.ToLower(reply.Header.Get("Content-Encoding")); encoding {
	case "", "identity":
		return readAll(reply.Body, dst[:0])
	case "gzip", "x-gzip":
		return rs.inflate(reply.Body, dst[:0])
	default:
		return dst[:0], errReplyEncoding
	}
}

func (rs *replies) inflate(r io.Reader, dst []byte) ([]byte, error) {
	zr := rs.get()
	defer rs.put(zr)
	if err := zr.Reset(r); err != nil {
		if errors.Is(err, io.EOF) {
			return dst, nil // an empty body, as to a HEAD
		}
		return dst, err
	}
	dst, err := readAll(zr, dst)
	if err != nil {
		return dst, err
	}
	// What the transport has after the last block, such as the end of its chunks.
	_, err = io.CopyN(io.Discard, r, 1)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return dst, err
}

func (rs *replies) get() *gzip.Reader {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if n := len(rs.free); n > 0 {
		zr := rs.free[n-1]
		rs.free = rs.free[:n-1]
		return zr
	}
	return new(gzip.Reader)
}

func (rs *replies) put(zr *gzip.Reader) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if len(rs.free) < maxFree {
		rs.free = append(rs.free, zr)
	}
}

// readAll appends what r gives, up to MaxReply.
func readAll(r io.Reader, dst []byte) ([]byte, error) {
	for {
		if len(dst) == cap(dst) {
			dst = append(dst, 0)[:len(dst)]
		}
		n, err := r.Read(dst[len(dst):min(cap(dst), MaxReply+1)])
		dst = dst[:len(dst)+n]
		switch {
		case len(dst) > MaxReply:
			return dst[:0], errReplyTooLarge
		case errors.Is(err, io.EOF):
			return dst, nil
		case err != nil:
			return dst, err
		}
	}
}
