package ingest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/veneurd/veneur/internal/invariants"
	"github.com/veneurd/veneur/internal/telemetry"
)

const (
	minReadPause = time.Millisecond
	maxReadPause = 100 * time.Millisecond
)

// datagrams receives on one address, by one reader a socket, each with a lane to itself.
type datagrams struct {
	*binding
	intakes    []*intake // one a reader
	buffer     int       // bytes asked of the kernel for each socket
	readErrors *telemetry.Metric

	mu      sync.Mutex
	sockets []*socket
	file    *socketFile // nil unless a unix socket with a file
}

// Start binds the sockets.
func (d *datagrams) Start(ctx context.Context) error {
	sockets, file, err := d.open(ctx)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sockets, d.file = sockets, file
	d.setAddr(sockets[0].conn.LocalAddr())
	return nil
}

func (d *datagrams) open(ctx context.Context) ([]*socket, *socketFile, error) {
	if d.network == "unixgram" {
		conn, file, err := d.listenUnixgram(ctx)
		if err != nil {
			return nil, nil, err
		}
		s, err := newSocket(conn)
		return []*socket{s}, file, d.failed(err)
	}
	sockets, granted, err := openUDP(ctx, d.network, d.address, len(d.intakes), d.buffer)
	if err != nil {
		return nil, nil, d.failed(err)
	}
	if granted < d.buffer {
		d.logger.Warnf("%s: the system grants a receive buffer of %d bytes, not %d: raise net.core.rmem_max, or bursts will be dropped",
			d.src.name, granted, d.buffer)
	}
	return sockets, nil, nil
}

// Close lets go of what Start bound.
func (d *datagrams) Close() error {
	if d.file != nil {
		d.file.remove()
	}
	var errs []error
	for _, s := range d.sockets {
		errs = append(errs, s.close())
	}
	return errors.Join(errs...)
}

// Run reads until ctx is done, then what has arrived by then, and closes the sockets.
func (d *datagrams) Run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		if d.file != nil {
			d.file.remove() // whoever connects from now on finds nobody
		}
		for _, s := range d.sockets {
			_ = s.conn.SetReadDeadline(time.Unix(1, 0))
		}
	})
	defer stop()
	errs := make([]error, len(d.sockets))
	var group sync.WaitGroup
	for i, s := range d.sockets {
		group.Go(func() {
			errs[i] = d.read(ctx, s, d.intakes[i])
			d.drain(s, d.intakes[i])
		})
	}
	group.Wait()
	if err := d.Close(); err != nil {
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%s: %w", d.src.name, err)
	}
	return nil
}

// read returns nil when ctx is done. An error of a receive call is tried again after a pause, unless it says that the socket is gone.
func (d *datagrams) read(ctx context.Context, s *socket, in *intake) error {
	pause := time.Duration(0)
	for {
		packets, err := s.receive()
		switch {
		case err == nil:
			pause = 0
			d.take(in, packets)
			if ctx.Err() != nil {
				return nil // a flood would never let it get to a wait, which is what a deadline ends
			}
			continue
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, net.ErrClosed):
			return err
		}
		d.readErrors.Inc()
		d.log.Note("receive failed", []byte(err.Error()))
		pause = min(max(2*pause, minReadPause), maxReadPause)
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

// drain reads what the kernel has queued by now.
func (d *datagrams) drain(s *socket, in *intake) {
	for end, look := time.Now().Add(drainTime), true; look; look = time.Now().Before(end) {
		packets, err := s.pending()
		if err != nil || len(packets) == 0 {
			return
		}
		d.take(in, packets)
	}
}

// take hands on what was just received, after which it is not valid any more.
func (d *datagrams) take(in *intake, packets []packet) {
	in.datagrams(d.src, packets, time.Now())
	if invariants.Enabled {
		for i := range packets {
			invariants.Mangle(packets[i].data)
		}
	}
}

// drops returns how many datagrams the kernel has thrown away.
func (d *datagrams) drops() (sum uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.sockets {
		sum += s.drops()
	}
	return sum
}
