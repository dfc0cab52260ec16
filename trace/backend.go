package trace

import (
	"context"
	"errors"

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
// puts what went wrong with packets[i] into errs[i], which are nil at first. The packet is dropped if that is a ReasonRefused, by errors.Is,
// and otherwise tried again after a pause. The packets must not be kept. SendSync is not called then.
type PacketBackend interface {
	ClientBackend
	SendPackets(ctx context.Context, packets [][]byte, errs []error)
}

// backendTransport puts a backend in the place of a socket.
type backendTransport struct {
	backend ClientBackend
	packets PacketBackend // the same, when it is one
	decoder ssf.Decoder

	// The packets of a PacketBackend that are under way. They need not be those that are next in the buffer: of some that were sent at once
	// the first may have failed, and only it is sent again.
	batch  [][]byte
	errs   [maxBatch]error
	loaded int // packets of the buffer that have been in the batch
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

func (t *backendTransport) some(ctx context.Context, b *buffer, did *counts) (broken error) {
	if len(t.batch) == 0 {
		t.loaded = b.next
	}
	for ; t.loaded < len(b.ends) && len(t.batch) < maxBatch; t.loaded++ {
		t.batch = append(t.batch, b.packet(t.loaded, format{}))
	}
	errs := t.errs[:len(t.batch)]
	clear(errs)
	t.packets.SendPackets(ctx, t.batch, errs)
	left := t.batch[:0]
	for i, err := range errs {
		switch {
		case err == nil:
			did.sent++
			did.bytes += uint64(len(t.batch[i]))
		case errors.Is(err, ReasonRefused):
			did.dropped[dropRefused]++
			did.refusal = err
		default:
			broken = err
			left = append(left, t.batch[i])
			continue
		}
		b.next++
	}
	t.batch = left
	return broken
}

func (t *backendTransport) flush(ctx context.Context) error {
	if f, ok := t.backend.(FlushableClientBackend); ok {
		return f.FlushSync(ctx)
	}
	return nil
}

func (t *backendTransport) close() error { return t.backend.Close() }
