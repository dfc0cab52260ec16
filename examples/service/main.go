// Command service is an example of a service that is observed by Veneur: an HTTP server of which every request is an indicator span, with
// spans of what happens inside, samples on them, and metrics that are counted in the process.
//
//	go run ./cmd/veneur &
//	go run ./examples/service
//	curl 'localhost:8080/charges/5?amount=12.5'
//
// The daemon prints what it made of it at its next flush: the counters and histograms below, and the timer of the service's requests if it has
// an indicator_span_timer_name.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/veneurd/veneur/trace"
	"github.com/veneurd/veneur/trace/tracehttp"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], func(address string) { fmt.Println("listening on", address) })
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:forbidigo // this is the main function
	}
}

// run serves until ctx ends, and says where it listens.
func run(ctx context.Context, args []string, listening func(address string)) error {
	flags := flag.NewFlagSet("service", flag.ContinueOnError)
	address := flags.String("http", "127.0.0.1:8080", "where to listen")
	daemon := flags.String("veneur", trace.DefaultAddress, "where the daemon takes SSF")
	if err := flags.Parse(args); err != nil {
		return err
	}

	// One client for the process. It does not matter whether the daemon runs already.
	client, err := trace.NewClient(*daemon, trace.WithService("charges"), trace.WithStatistics())
	if err != nil {
		return err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		// Spans that were not sent, since no daemon runs, are worth a line and no failure of the service.
		if err := client.Close(closing); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}()

	listener, err := net.Listen("tcp", *address)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /charges/{id}", newCharges(client))
	server := &http.Server{Handler: tracehttp.Handler(client, mux), ReadHeaderTimeout: 5 * time.Second}
	drained := make(chan error, 1)
	context.AfterFunc(ctx, func() {
		draining, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		drained <- server.Shutdown(draining)
	})
	listening(listener.Addr().String())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	// Requests that are under way still have spans to finish.
	return <-drained
}
