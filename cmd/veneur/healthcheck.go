package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

const healthTimeout = 2 * time.Second

// healthcheck asks a running daemon whether it is ready, so that an image without a shell can have a health check.
func healthcheck(ctx context.Context, address string, stderr io.Writer) int {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		fmt.Fprintln(stderr, "veneur: http_address is not set, so there is nothing to ask")
		return exitFailure
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	url := "http://" + net.JoinHostPort(host, port) + "/ready"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		fmt.Fprintln(stderr, "veneur:", err)
		return exitFailure
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		fmt.Fprintln(stderr, "veneur:", err)
		return exitFailure
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	if response.StatusCode != http.StatusOK {
		fmt.Fprintf(stderr, "veneur: %s answers %s\n", url, response.Status)
		return exitFailure
	}
	return exitOK
}
