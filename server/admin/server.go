package admin

import (
	"time"

	"github.com/sirupsen/logrus"

	"github.com/veneurd/veneur/internal/buildinfo"
	"github.com/veneurd/veneur/internal/httpserve"
	"github.com/veneurd/veneur/internal/telemetry"
)

// Bounds against clients that are slow or mean harm. None is configurable: who asks this port asks for a page.
const (
	maxConnections = 256
	busyGrace      = 2 * time.Second // by then a page is sent, or its reader is slow
	headerTimeout  = 5 * time.Second
	bodyTimeout    = 2 * time.Second // nothing here takes a long one
	writeTimeout   = 10 * time.Second
	idleTimeout    = 30 * time.Second
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
	*httpserve.Server
	settings Settings
}

// New returns a server that has nothing open.
func New(s Settings) *Server {
	server := &Server{settings: s}
	server.Server = httpserve.New(httpserve.Settings{
		Key:            "http_address",
		Address:        s.Config.HTTPAddress,
		Handler:        server.handler(),
		Log:            func(line string) { s.Log.Warn(line) },
		MaxConnections: maxConnections,
		BusyGrace:      busyGrace,
		Refused:        s.Registry.Counter(&descRefused, reasonTooMany).Inc, // a health check that hangs is worse than one that fails
		HeaderTimeout:  headerTimeout,
		WriteTimeout:   writeTimeout, // net/http/pprof knows it and asks for more
		IdleTimeout:    idleTimeout,
	})
	return server
}
