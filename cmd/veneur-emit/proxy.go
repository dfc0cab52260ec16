package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

var errProxy = errors.New("-proxy: write host:port, or http://host:port, with user:password@ before the host if it asks for them")

// parseProxy reads -proxy. An error does not repeat the address, which may hold a password.
func parseProxy(s string) (*url.URL, error) {
	if host, port, err := net.SplitHostPort(s); err == nil && host != "" && port != "" {
		return &url.URL{Scheme: "http", Host: s}, nil
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" || u.Hostname() == "" || u.Port() == "" || u.Path != "" && u.Path != "/" {
		return nil, errProxy
	}
	return u, nil
}

// dialThrough connects to target by the proxy's method CONNECT (RFC 9110, section 9.3.6). The proxy looks names up.
func dialThrough(ctx context.Context, proxy *url.URL, target string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", proxy.Host)
	if err != nil {
		return nil, fmt.Errorf("proxy: %w", err)
	}
	// When ctx ends, so does waiting for a proxy that says nothing.
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	reader := bufio.NewReader(conn)
	err = askFor(target, proxy, conn, reader)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("proxy %s: %w", proxy.Host, err), conn.Close())
	}
	return &buffered{conn, reader}, nil
}

func askFor(target string, proxy *url.URL, conn net.Conn, reader *bufio.Reader) error {
	request := &http.Request{Method: http.MethodConnect, URL: &url.URL{Host: target}, Host: target, Header: http.Header{}}
	if user := proxy.User; user != nil {
		password, _ := user.Password()
		secret := base64.StdEncoding.EncodeToString([]byte(user.Username() + ":" + password))
		request.Header.Set("Proxy-Authorization", "Basic "+secret)
	}
	if err := request.Write(conn); err != nil {
		return err
	}
	response, err := http.ReadResponse(reader, request)
	if err != nil {
		return err
	}
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("%s for %s", response.Status, target)
	}
	return nil
}

// buffered reads first what came right behind the proxy's answer.
type buffered struct {
	net.Conn
	reader *bufio.Reader
}

func (b *buffered) Read(p []byte) (int, error) { return b.reader.Read(p) }
