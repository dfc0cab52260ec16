package admin

import (
	"io"
	"net/http"
	"net/http/pprof"
	"strings"
	"time"

	"github.com/veneurd/veneur/internal/telemetry"
)

const textType = "text/plain; charset=utf-8"

// handler returns the pages of the port. They are registered here, and nowhere on http.DefaultServeMux.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	var index strings.Builder
	page := func(path, about string, serve http.HandlerFunc) {
		mux.HandleFunc("GET "+path, serve)
		index.WriteString(path + strings.Repeat(" ", max(1, 18-len(path))) + about + "\n")
	}
	page("/healthcheck", "200 while the daemon lives", text(func() string { return "ok" }))
	page("/ready", "200 when it takes traffic, 503 before and while it drains", s.serveReady)
	page("/metrics", "what it counts, for Prometheus", s.serveMetrics)
	page("/version", "which build it is", text(func() string { return s.settings.Build.Version }))
	page("/builddate", "of when its source is", text(func() string { return s.settings.Build.Date }))
	page("/config", "its configuration, secrets hidden", s.serveYAML)
	page("/config/yaml", "the same", s.serveYAML)
	page("/config/json", "the same as JSON", s.serveJSON)
	if s.settings.Config.EnableProfiling {
		page("/debug/pprof/", "profiles", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
		mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("POST /debug/pprof/symbol", pprof.Symbol)
	}
	if s.settings.Config.HTTPQuit {
		// A page in somebody's browser must not be able to stop a daemon on that machine.
		sameOrigin := http.NewCrossOriginProtection()
		mux.Handle("POST /quitquitquit", sameOrigin.Handler(http.HandlerFunc(s.serveQuit)))
		index.WriteString("/quitquitquit     POST: stops it, as SIGTERM does\n")
	}
	mux.HandleFunc("GET /{$}", text(index.String))
	return guard(mux)
}

// guard is around every page.
func guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		if r.ContentLength != 0 {
			// net/http reads what is left of a body after the answer, and would wait for it as long as it takes.
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTimeout))
		}
		next.ServeHTTP(w, r)
	})
}

// text is a page of plain text.
func text(body func() string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { writeText(w, http.StatusOK, body()) }
}

func writeText(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", textType)
	w.WriteHeader(status)
	// Here and below a failing write means that the client has gone.
	_, _ = io.WriteString(w, strings.TrimSuffix(body, "\n")+"\n")
}

func (s *Server) serveReady(w http.ResponseWriter, _ *http.Request) {
	status := http.StatusServiceUnavailable
	ok, body := s.settings.Ready()
	if ok {
		status = http.StatusOK
	}
	writeText(w, status, body)
}

func (s *Server) serveMetrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", telemetry.TextContentType)
	_ = s.settings.Registry.WriteText(w)
}

func (s *Server) serveYAML(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", textType) // so that browsers show it
	_, _ = w.Write(s.settings.ConfigYAML())
}

func (s *Server) serveJSON(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(s.settings.ConfigJSON())
}

func (s *Server) serveQuit(w http.ResponseWriter, _ *http.Request) {
	writeText(w, http.StatusOK, "stopping")
	s.settings.Stop()
}
