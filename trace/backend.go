package trace

import (
	"context"
	"errors"
	"io"

	"github.com/veneurd/veneur/ssf"
)

// ClientBackend takes what a client recorded, in place of a socket. Its methods are called by the client's own goroutine, never two at
// once. SendSync must neither keep the span nor anything of it after it returns (Clone makes a copy), and should return when ctx ends. A
// span it returns an error for is dropped, counted as refused, and not tried again.
type ClientBackend interface {
	SendSync(ctx context.Context, span *ssf.SSFSpan) error
	Close() error
}

// FlushableClientBackend is a ClientBackend that keeps spans itself. FlushSync is called by Flush and Close, after the last span; Flush
// returns its error.
type FlushableClientBackend interface {
	ClientBackend
	FlushSync(ctx context.Context) error
}

// PacketBackend is a ClientBackend that takes spans in their encoded form, several at once, so that nothing has to be decoded. SendPackets
// sends from the first on, and returns how many it has sent. With fewer than all of them it returns an error: the first one that is left
// is dropped if errors.Is(err, ReasonRefused), and otherwise it and all after it are tried again after a pause. The packets must not be kept.
// SendSync is not called then.
type PacketBackend interface {
	ClientBackend
	SendPackets(ctx context.Context, packets [][]byte) (sent int, err error)
}

// backendTransport puts a backend in the place of a socket.
type backendTransport struct {
	backend ClientBackend
	packets PacketBackend // the same, when it is one
	batch   [][]byte
	decoder ssf.Decoder
}

const maxBatch = 64

func newBackendTransport(b ClientBackend) *backendTransport {
	packets, _ := b.(PacketBackend)
	return &backendTransport{backend: b, packets: packets, batch: make([][]byte, 0, maxBatch)}
}

func (t *backendTransport) send(ctx context.Context, b *buffer, did *counts) error {
	for b.waiting() > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		if t.packets == nil {
			t.one(ctx, b, did)
		} else if err := t.some(ctx, b, did); err != nil {
			return err
		}
	}
	return nil
}

func (t *backendTransport) one(ctx context.Context, b *buffer, did *counts) {
	span, err := t.decoder.Decode(b.packet(b.next, format{}))
	if err == nil {
		err = t.backend.SendSync(ctx, span)
	}
	if err != nil {
		did.refuse(b, err)
		return
	}
	did.send(b, 1)
}

func (t *backendTransport) some(ctx context.Context, b *buffer, did *counts) error {
	t.batch = t.batch[:0]
	for i := b.next; i < len(b.ends) && len(t.batch) < maxBatch; i++ {
		t.batch = append(t.batch, b.packet(i, format{}))
	}
	sent, err := t.packets.SendPackets(ctx, t.batch)
	did.send(b, min(max(sent, 0), len(t.batch)))
	switch {
	case sent >= len(t.batch):
		return nil
	case err == nil:
		return io.ErrShortWrite
	}
	if errors.Is(err, ReasonRefused) {
		did.refuse(b, err)
		return nil
	}
	return err
}

func (t *backendTransport) flush(ctx context.Context) error {
	if f, ok := t.backend.(FlushableClientBackend); ok {
		return f.FlushSync(ctx)
	}
	return nil
}

func (t *backendTransport) close() error { return t.backend.Close() }
