package prometheus

import (
	"context"
	"errors"
	"fmt"
	stdlog "log"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/sirupsen/logrus"
	"golang.org/x/net/netutil"

	"github.com/veneurd/veneur/internal/telemetry"
)

// Bounds against scrapers that are slow or mean harm. Further connections wait in the kernel's queue until there is room.
const (
	maxConnections = 64
	maxHeaderBytes = 16 << 10
	readTimeout    = 5 * time.Second // of a request, which has no body
	writeTimeout   = 30 * time.Second
	idleTimeout    = time.Minute
	drainTimeout   = 500 * time.Millisecond // for answers under way when Run is told to end
)

// server serves the page that it was shown last.
type server struct {
	config   Config
	log      logrus.FieldLogger
	scrapes  *telemetry.Metric
	current  atomic.Pointer[page]
	listener net.Listener // nil until Start
}

func newServer(c Config, log logrus.FieldLogger, scrapes *telemetry.Metric) *server {
	return &server{config: c, log: log, scrapes: scrapes}
}

// show makes p what is scraped from now on.
func (s *server) show(p *page) { s.current.Store(p) }

// Start binds the port.
func (s *server) Start(ctx context.Context) error {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", s.config.ListenAddress)
	if err != nil {
		return fmt.Errorf("listen_address: %w", err)
	}
	s.log.Infof("serving http://%s%s", ln.Addr(), s.config.Path)
	s.listener = netutil.LimitListener(ln, maxConnections)
	return nil
}

// Close lets go of the port. After Run it is closed already, which is no error.
func (s *server) Close() error {
	if s.listener == nil {
		return nil
	}
	if err := s.listener.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// Addr returns the address that Start bound, or nil.
func (s *server) Addr() net.Addr {
	if s.listener == nil {
		return nil
	}
	return s.listener.Addr()
}

// Run serves until ctx is done; answers under way then have half a second.
func (s *server) Run(ctx context.Context) error {
	var connections sync.WaitGroup
	h := &http.Server{
		Handler:           http.HandlerFunc(s.serve),
		ReadHeaderTimeout: readTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          stdlog.New(logWriter{s.log}, "", 0),
		ConnState: func(_ net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				connections.Add(1)
			case http.StateClosed, http.StateHijacked:
				connections.Done()
			}
		},
	}
	served := make(chan error, 1)
	go func() { served <- h.Serve(s.listener) }()

	var err error
	select {
	case err = <-served:
	case <-ctx.Done():
		drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
		defer cancel()
		_ = h.Shutdown(drain) // its error says only that the time was up
		err = <-served
	}
	_ = h.Close()
	connections.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("%s: %w", s.config.ListenAddress, err)
}

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != s.config.Path {
		http.Error(w, "metrics are at "+s.config.Path, http.StatusNotFound)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "metrics are read with GET", http.StatusMethodNotAllowed)
		return
	}
	s.scrapes.Inc()
	f := negotiate(r.Header)
	body, err := s.current.Load().encoded(f)
	if err != nil {
		s.log.WithError(err).Error("encoding the page")
		http.Error(w, "the page cannot be encoded", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", string(f.format()))
	h.Set("Vary", "Accept, Accept-Encoding")
	if f.compressed() {
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // an error is the scraper's to notice
}

// negotiate returns the form that a request asks for: text, unless it prefers protobuf.
func negotiate(h http.Header) form {
	f := textForm
	if expfmt.NegotiateAccept(h, expfmt.FmtProtoDelim, expfmt.FmtText).FormatType() == expfmt.TypeProtoDelim {
		f = protoForm
	}
	if takesGzip(h.Values("Accept-Encoding")) {
		f++
	}
	return f
}

func takesGzip(accept []string) bool {
	for coding := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		name, parameters, _ := strings.Cut(coding, ";")
		if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
			continue
		}
		weight, found := strings.CutPrefix(strings.ReplaceAll(parameters, " ", ""), "q=")
		q, err := strconv.ParseFloat(weight, 64)
		return !found || err == nil && q > 0
	}
	return false
}

// logWriter takes the lines of net/http's own log.
type logWriter struct{ log logrus.FieldLogger }

// Write logs a line.
func (w logWriter) Write(line []byte) (int, error) {
	w.log.Debug(strings.TrimSuffix(string(line), "\n")) // a stranger's broken request is no warning
	return len(line), nil
}
