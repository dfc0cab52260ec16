package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

const (
	adminTimeout = 10 * time.Second // the daemon shares its cores with us
	maxPage      = 64 << 20
)

// admin is the HTTP port of a daemon.
type admin struct {
	url    string
	client *http.Client
}

func newAdmin(url string) *admin {
	transport := &http.Transport{MaxIdleConns: 1, IdleConnTimeout: adminTimeout}
	return &admin{url: strings.TrimSuffix(url, "/"), client: &http.Client{Transport: transport, Timeout: adminTimeout}}
}

func (a *admin) close() { a.client.CloseIdleConnections() }

func (a *admin) do(ctx context.Context, method, path string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, method, a.url+path, nil)
	if err != nil {
		return "", err
	}
	response, err := a.client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	body, err := io.ReadAll(io.LimitReader(response.Body, maxPage))
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s%s answers %s", a.url, path, response.Status)
	}
	return string(body), err
}

// metrics reads what the daemon counts.
func (a *admin) metrics(ctx context.Context) (metrics, error) {
	page, err := a.do(ctx, http.MethodGet, "/metrics")
	if err != nil {
		return nil, err
	}
	return parseMetrics(page)
}

// counters reads the part of it that accounts for what was sent.
func (a *admin) counters(ctx context.Context) (counters, error) {
	m, err := a.metrics(ctx)
	return countersOf(m), err
}

// quit asks the daemon to stop.
func (a *admin) quit(ctx context.Context) error {
	_, err := a.do(ctx, http.MethodPost, "/quitquitquit")
	return err
}
