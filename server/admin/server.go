package admin

import (
	"context"
	"errors"
	"fmt"
	stdlog "log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/veneurd/veneur/internal/buildinfo"
	"github.com/veneurd/veneur/internal/telemetry"
)

// Bounds against clients that are slow or mean harm. None is configurable: who asks this port asks for a page.
const (
	maxConnections = 256
	maxHeaderBytes = 16 << 10
	headerTimeout  = 5 * time.Second
	bodyTimeout    = 2 * time.Second // nothing here takes a long one
	writeTimeout   = 10 * time.Second
	idleTimeout    = 30 * time.Second
	drainTimeout   = 500 * time.Millisecond // for answers under way when Run is told to end
)

// Settings is what the daemon gives its HTTP port. All functions may be called from many goroutines at once.
type Settings struct {
	Config   Config
	Registry *telemetry.Registry
	Log      logrus.FieldLogger
	Build    buildinfo.Info

	// Ready says whether the daemon can take traffic, and a line or more about it: what is missing, which sinks fail.
	Ready func() (ok bool, body string)

	// ConfigYAML and ConfigJSON return the configuration with its secrets hidden.
	ConfigYAML, ConfigJSON func() []byte

	// Stop begins the end of the daemon, and does not wait for it.
	Stop func()
}

// Server is the HTTP port. It is a lifecycle Runner, Starter and Closer.
type Server struct {
	settings Settings
	listener net.Listener // nil until Start, and when there is no port
}

// New returns a server that has nothing open.
func New(s Settings) *Server { return &Server{settings: s} }

// Start binds the port.
func (s *Server) Start(ctx context.Context) error {
	if s.settings.Config.HTTPAddress == "" {
		return nil
	}
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", s.settings.Config.HTTPAddress)
	if err != nil {
		return fmt.Errorf("http_address: %w", err)
	}
	s.listener = newBoundedListener(ln, maxConnections, s.settings.Registry.Counter(&descRefused, reasonTooMany))
	return nil
}

// Close lets go of the port when Run will not be called.
func (s *Server) Close() error {
	if s.listener == nil {
		return nil
	}
	return s.listener.Close()
}

// Addr returns the address that Start bound, or nil.
func (s *Server) Addr() net.Addr {
	if s.listener == nil {
		return nil
	}
	return s.listener.Addr()
}

// Run serves until ctx is done; answers under way then have half a second.
func (s *Server) Run(ctx context.Context) error {
	if s.listener == nil {
		<-ctx.Done()
		return nil
	}
	requests, cancelRequests := context.WithCancel(context.WithoutCancel(ctx))
	defer cancelRequests()
	var connections sync.WaitGroup
	server := s.httpServer()
	server.BaseContext = func(net.Listener) context.Context { return requests }
	server.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			connections.Add(1)
		case http.StateClosed, http.StateHijacked:
			connections.Done()
		}
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(s.listener) }()

	var err error
	select {
	case err = <-served:
	case <-ctx.Done():
		cancelRequests() // a profile that would take another minute ends
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
	return fmt.Errorf("http_address %s: %w", s.settings.Config.HTTPAddress, err)
}

func (s *Server) httpServer() *http.Server {
	return &http.Server{
		Handler:           s.handler(),
		ReadHeaderTimeout: headerTimeout,
		WriteTimeout:      writeTimeout, // net/http/pprof knows it and asks for more
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          stdlog.New(logWriter{s.settings.Log}, "", 0),
	}
}

// logWriter takes the lines of net/http's own log.
type logWriter struct{ log logrus.FieldLogger }

func (w logWriter) Write(line []byte) (int, error) {
	w.log.Warn(strings.TrimSuffix(string(line), "\n"))
	return len(line), nil
}
