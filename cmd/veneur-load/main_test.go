package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/sirupsen/logrus"

	"github.com/veneurd/veneur/internal/leaktest"
	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/server"
)

// The test binary is a daemon when this is set: what is loaded is a process of its own, as always.
const beDaemon = "LOAD_TEST_BE_DAEMON"

func TestMain(m *testing.M) {
	if os.Getenv(beDaemon) == "" {
		leaktest.Main(m)
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, os.Args[2], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// serve runs a daemon as cmd/veneur does with -f.
func serve(ctx context.Context, file string, stderr io.Writer) error {
	c, _, err := server.Load(file, nil)
	if err != nil {
		return err
	}
	log := logrus.New()
	log.SetOutput(stderr)
	s, err := server.New(c, server.Deps{Log: log, Telemetry: telemetry.New(), Stdout: io.Discard})
	if err != nil {
		return err
	}
	return s.Run(ctx)
}
