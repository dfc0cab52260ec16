package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/veneurd/veneur/internal/buildinfo"
	"github.com/veneurd/veneur/internal/config"
	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/server"
)

// Exit codes. A supervisor restarts on exitFailure; a mistake on the command line would only repeat itself.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
)

type options struct {
	file        string
	validate    bool
	strict      bool
	print       bool
	version     bool
	healthcheck bool
}

func run(ctx context.Context, args, environ []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	if err != nil {
		return exitUsage
	}
	if o.version {
		b := buildinfo.Read()
		fmt.Fprintf(stdout, "veneur %s (revision %s of %s, %s)\n", b.Version, b.Revision, b.Date, b.Go)
		return exitOK
	}
	c, warnings, err := server.Load(o.file, environ)
	for _, w := range warnings {
		warn(stderr, o.file, w)
	}
	if err != nil {
		report(stderr, o.file, err)
		return exitFailure
	}
	if o.strict && len(warnings) > 0 {
		return exitFailure
	}
	for _, w := range c.Idle() {
		warn(stderr, o.file, w)
	}
	switch {
	case o.healthcheck:
		return healthcheck(ctx, c.Admin.HTTPAddress, stderr)
	case o.print:
		if _, err := stdout.Write(config.AppendYAML(nil, &c)); err != nil {
			fmt.Fprintln(stderr, "veneur:", err)
			return exitFailure
		}
		return exitOK
	}
	return serve(ctx, c, o, stdout, stderr)
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("veneur", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.file, "f", "", "configuration `file`; without one, the built-in defaults print what arrives on 127.0.0.1")
	flags.BoolVar(&o.validate, "validate-config", false, "check the configuration, build everything it names without opening anything, and exit")
	flags.BoolVar(&o.strict, "validate-config-strict", false, "the same, and obsolete keys are faults too")
	flags.BoolVar(&o.print, "print-config", false, "print the whole configuration as it will be used, with secrets hidden, and exit")
	flags.BoolVar(&o.version, "version", false, "print the version and exit")
	flags.BoolVar(&o.healthcheck, "healthcheck", false, "ask the daemon at http_address whether it is ready; exit 0 when it is")
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: veneur [-f config.yaml]")
		flags.PrintDefaults()
		fmt.Fprintln(stderr, "Every key of the file can be set by an environment variable: interval by VENEUR_INTERVAL. See docs/config.md.")
	}
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(stderr, "veneur: unexpected argument %q; a configuration file goes after -f\n", flags.Arg(0))
		return o, errors.New("unexpected argument")
	}
	return o, nil
}

func warn(stderr io.Writer, file, warning string) {
	if file != "" {
		warning = file + ": " + warning
	}
	fmt.Fprintln(stderr, "veneur: warning:", warning)
}

// report prints one line a fault.
func report(stderr io.Writer, file string, err error) {
	prefix := "veneur: "
	if file != "" && !strings.Contains(err.Error(), file) {
		prefix += file + ": "
	}
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintln(stderr, prefix+strings.TrimSuffix(line, "\n"))
	}
}

func serve(ctx context.Context, c server.Config, o options, stdout, stderr io.Writer) int {
	registry := telemetry.New()
	log := logrus.New()
	if c.Debug {
		log.SetLevel(logrus.DebugLevel)
	}
	endLog := startLog(log, stderr, registry)
	err := runServer(ctx, c, o, server.Deps{Log: log, Telemetry: registry, Stdout: stdout})
	endLog()
	if err != nil {
		report(stderr, "", err)
		return exitFailure
	}
	return exitOK
}

func runServer(ctx context.Context, c server.Config, o options, d server.Deps) error {
	s, err := server.New(c, d)
	if err != nil || o.validate || o.strict {
		return err
	}
	return s.Run(ctx)
}

// logPatience is how long the last lines of the log may take: standard error may be a pipe that nobody reads.
const logPatience = 200 * time.Millisecond

// startLog lets log write to stderr without ever waiting for it. end waits, for a while, until all has been written.
func startLog(log *logrus.Logger, stderr io.Writer, registry *telemetry.Registry) (end func()) {
	w := telemetry.NewLogWriter(stderr, registry)
	log.SetOutput(w)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = w.Run(ctx) // it has no errors
	}()
	return func() {
		cancel()
		select {
		case <-done:
		case <-time.After(logPatience):
		}
	}
}
