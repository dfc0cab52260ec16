package httpserve

import (
	"context"
	"errors"
	"fmt"
	stdlog "log"
	"net"
	"net/http"
	"strings"
	"sync"
)

// Server is one HTTP port. It is a lifecycle Runner, Starter and Closer.
type Server struct {
	settings Settings

	mu       sync.Mutex
	listener *listener // nil until Start, and when there is no port
}

// New returns a server that has nothing open.
func New(s Settings) *Server { return &Server{settings: s} }

// Start binds the port.
func (s *Server) Start(ctx context.Context) error {
	if s.settings.Address == "" {
		return nil
	}
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", s.settings.Address)
	if err != nil {
		return fmt.Errorf("%s: %w", s.settings.Key, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listener = newListener(ln, s.settings)
	return nil
}

func (s *Server) bound() *listener {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listener
}

// Addr returns the address that Start bound, or nil. It may be called at any time.
func (s *Server) Addr() net.Addr {
	if ln := s.bound(); ln != nil {
		return ln.Addr()
	}
	return nil
}

// Close lets go of the port. After Run it is closed already, which is no error.
func (s *Server) Close() error {
	ln := s.bound()
	if ln == nil {
		return nil
	}
	if err := ln.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// Run serves until ctx is done. The contexts of requests end then, and answers under way have half a second.
func (s *Server) Run(ctx context.Context) error {
	ln := s.bound()
	if ln == nil {
		<-ctx.Done()
		return nil
	}
	requests, cancelRequests := context.WithCancel(context.WithoutCancel(ctx))
	defer cancelRequests()
	var connections sync.WaitGroup
	server := s.httpServer()
	server.BaseContext = func(net.Listener) context.Context { return requests }
	server.ConnState = func(conn net.Conn, state http.ConnState) {
		conn.(*trackedConn).note(state)
		switch state {
		case http.StateNew:
			connections.Add(1)
		case http.StateClosed, http.StateHijacked:
			connections.Done()
		}
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(ln) }()

	var err error
	select {
	case err = <-served:
	case <-ctx.Done():
		cancelRequests() // what would take another minute ends
		drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
		defer cancel()
		_ = server.Shutdown(drain) // its error says only that the time was up
		err = <-served
	}
	_ = server.Close()
	connections.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("%s %s: %w", s.settings.Key, s.settings.Address, err)
}

func (s *Server) httpServer() *http.Server {
	return &http.Server{
		Handler:           s.settings.Handler,
		ReadHeaderTimeout: s.settings.HeaderTimeout,
		ReadTimeout:       s.settings.ReadTimeout,
		WriteTimeout:      s.settings.WriteTimeout,
		IdleTimeout:       s.settings.IdleTimeout,
		MaxHeaderBytes:    MaxHeaderBytes,
		ErrorLog:          stdlog.New(lineWriter(s.settings.Log), "", 0),
	}
}

// lineWriter takes what net/http's own log writes: one line at a time.
type lineWriter func(line string)

func (w lineWriter) Write(line []byte) (int, error) {
	w(strings.TrimSuffix(string(line), "\n"))
	return len(line), nil
}
