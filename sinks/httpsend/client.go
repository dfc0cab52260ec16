package httpsend

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptrace"
	"time"

	"github.com/veneurd/veneur/internal/config"
	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/sinks"
)

// Settings is what the daemon gives a client.
type Settings struct {
	Name      string // the sink's, for telemetry
	Telemetry *telemetry.Registry
}

// Client sends requests to the hosts of one Config. It may be used by many goroutines at once.
type Client struct {
	config    Config
	hosts     *hosts
	transport *http.Transport
	bodies    *bodies
	replies   *replies
	header    http.Header // of every request
	hostname  string      // "" takes that of the URL
	secrets   *secrets
	counts    counts
}

// New builds a client and reads the files that c names, which must be valid. It connects to nobody. The error is config.Faults with paths
// relative to c.
func New(c Config, s Settings) (*Client, error) {
	var faults config.Faults
	tls, err := c.TLS.client()
	faults.AddIn("tls", err)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	client := &Client{
		config:  c,
		bodies:  newBodies(&c),
		replies: &replies{},
		secrets: newSecrets(&c),
		counts:  newCounts(s),
	}
	client.hosts = newHosts(c.URLs, func() { client.counts.paused.Inc() })
	client.header, client.hostname = c.header(client.bodies.encoding())
	client.transport = newTransport(&c, tls)
	return client, nil
}

// Close lets go of the connections. No request may be under way.
func (c *Client) Close() error {
	c.transport.CloseIdleConnections()
	return nil
}

// Do sends one request and returns the reply, read to its end. The error is nil for the statuses 2xx and otherwise of the classes of
// package sinks, see [Classify]; the response is filled beside it when there was one. ctx bounds all of it and must have a deadline.
//
// A host that cannot be reached is passed over for the next one, as long as nothing was sent.
func (c *Client) Do(ctx context.Context, r Request) (Response, error) {
	payload, err := c.bodies.pack(r.Body)
	if err != nil {
		return Response{}, err
	}
	defer payload.release()
	for tried := []*host(nil); ; {
		h := c.hosts.take(time.Now(), tried)
		response, sent, err := c.exchange(ctx, h, &r, payload)
		c.hosts.judge(h, err, time.Now())
		if tried = append(tried, h); err == nil || sent || ctx.Err() != nil || len(tried) == c.hosts.len() {
			return response, err
		}
	}
}

// exchange sends the request to one host. sent is false only if nothing of it can have arrived there.
func (c *Client) exchange(ctx context.Context, h *host, r *Request, payload *body) (response Response, sent bool, err error) {
	connected := false
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected = true }})
	req, err := c.request(ctx, h, r, payload)
	if err != nil {
		return Response{}, false, err
	}
	defer func() { c.counts.note(response.Status, len(r.Body), payload.len()) }()
	// The transport itself, not an http.Client around it: that would follow redirects, keep cookies, and put the URL in errors.
	reply, err := c.transport.RoundTrip(req)
	if err != nil {
		return Response{}, connected, c.failure(ctx, h, r, err)
	}
	response = Response{Status: reply.StatusCode, Header: reply.Header, Host: h.name}
	response.Body, err = c.replies.read(reply, r.Reply)
	if err != nil {
		return response, true, c.failure(ctx, h, r, err)
	}
	return response, true, c.judge(h, r, reply, response.Body)
}

// request makes the request for one host. What it reads of payload is its own, since the transport may read on after it has returned.
func (c *Client) request(ctx context.Context, h *host, r *Request, payload *body) (*http.Request, error) {
	u, err := h.at(r.Path)
	if err != nil {
		return nil, sinks.Permanent(err)
	}
	header := make(http.Header, len(c.header)+2)
	for name, values := range c.header {
		header[name] = values
	}
	req := (&http.Request{
		Method: r.Method, URL: u, Host: c.hostname, Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(ctx)
	if r.Accept != "" {
		header.Set("Accept", r.Accept)
	}
	if len(r.Body) == 0 {
		header.Del("Content-Encoding")
		return req, nil
	}
	if r.ContentType != "" {
		header.Set("Content-Type", r.ContentType)
	}
	req.Body, req.GetBody, req.ContentLength = payload.open(), payload.reopen, int64(payload.len())
	return req, nil
}

// failure is the error for a request without a whole answer.
func (c *Client) failure(ctx context.Context, h *host, r *Request, err error) error {
	if cause := ctx.Err(); cause != nil && !errors.Is(err, cause) {
		err = cause // "use of closed connection" and the like are what the end of the context looks like
	}
	return classifyFailure(&RequestError{Method: r.Method, URL: h.shown(r.Path), Err: c.secrets.error(err)})
}
