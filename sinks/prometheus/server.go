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
	f := negotiate(r.Header, page.exemplars)
	body, err := page.encoded(f)
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

// negotiate returns the form that a request asks for: text, unless it prefers protobuf, or OpenMetrics where there are exemplars, since nothing
// else is to be had by that.
func negotiate(h http.Header, exemplars bool) form {
	offers := []expfmt.Format{expfmt.FmtProtoDelim, expfmt.FmtText}
	if exemplars {
		offers = append(offers, expfmt.FmtOpenMetrics_1_0_0)
	}
	f := textForm
	switch expfmt.NegotiateAccept(h, offers...).FormatType() {
	case expfmt.TypeProtoDelim:
		f = protoForm
	case expfmt.TypeOpenMetrics:
		f = openForm
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
