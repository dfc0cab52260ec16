package prometheus

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/sirupsen/logrus"

	"github.com/veneurd/veneur/internal/httpserve"
	"github.com/veneurd/veneur/internal/telemetry"
)

// Bounds against scrapers that are slow or mean harm. Further connections wait in the kernel's queue until there is room.
const (
	maxConnections = 64
	readTimeout    = 5 * time.Second // of a request, which has no body
	writeTimeout   = 30 * time.Second
	idleTimeout    = time.Minute
)

// server serves the page that it was shown last.
type server struct {
	*httpserve.Server
	config  Config
	log     logrus.FieldLogger
	scrapes *telemetry.Metric
	current atomic.Pointer[page]
	scraped atomic.Uint32 // the last interval of which a scraper got the page
}

func newServer(c Config, log logrus.FieldLogger, scrapes *telemetry.Metric) *server {
	s := &server{config: c, log: log, scrapes: scrapes}
	s.Server = httpserve.New(httpserve.Settings{
		Key:            "listen_address",
		Address:        c.ListenAddress,
		Handler:        http.HandlerFunc(s.serve),
		Log:            func(line string) { log.Debug(line) }, // a stranger's broken request is no warning
		MaxConnections: maxConnections,
		HeaderTimeout:  readTimeout,
		ReadTimeout:    readTimeout,
		WriteTimeout:   writeTimeout,
		IdleTimeout:    idleTimeout,
	})
	return s
}

// show makes p what is scraped from now on.
func (s *server) show(p *page) { s.current.Store(p) }

// Start binds the port.
func (s *server) Start(ctx context.Context) error {
	if err := s.Server.Start(ctx); err != nil {
		return err
	}
	s.log.Infof("serving http://%s%s", s.Addr(), s.config.Path)
	return nil
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
	page := s.current.Load()
	f, compressed := negotiate(r.Header, page.open)
	body, err := page.body(f)
	if err != nil {
		s.log.WithError(err).Error("encoding the page")
		http.Error(w, "the page cannot be encoded", http.StatusInternalServerError)
		return
	}
	round := page.round
	page = nil // a scraper that is slow keeps what it reads, and not all series of its time
	size, write := body.size, body.writePlain
	h := w.Header()
	h.Set("Content-Type", string(f.format()))
	h.Set("Vary", "Accept, Accept-Encoding")
	if compressed {
		size, write = body.pieces.size, body.writeCompressed
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Length", strconv.Itoa(size))
	if r.Method == http.MethodHead {
		return
	}
	if write(w) == nil { // an error is the scraper's to notice
		s.seen(round)
	}
}

// seen notes that a scraper got the page of an interval.
func (s *server) seen(round uint32) {
	for {
		before := s.scraped.Load()
		if round <= before || s.scraped.CompareAndSwap(before, round) {
			return
		}
	}
}

// negotiate returns the form that a request asks for, and whether it takes it compressed: text, unless it prefers protobuf, or OpenMetrics where
// that is open, as it is where there are exemplars, since nothing else is to be had by it.
func negotiate(h http.Header, open bool) (f form, compressed bool) {
	offers := []expfmt.Format{expfmt.FmtProtoDelim, expfmt.FmtText}
	if open {
		offers = append(offers, expfmt.FmtOpenMetrics_1_0_0)
	}
	switch expfmt.NegotiateAccept(h, offers...).FormatType() {
	case expfmt.TypeProtoDelim:
		f = protoForm
	case expfmt.TypeOpenMetrics:
		f = openForm
	}
	return f, takesGzip(h.Values("Accept-Encoding"))
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
