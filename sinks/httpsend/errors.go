package httpsend

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/veneurd/veneur/internal/config"
	"github.com/veneurd/veneur/sinks"
)

// StatusError is an answer that is not a success.
type StatusError struct {
	Method, URL string // the URL without its query
	Status      int
	Text        string // how the body begins, on one line and without our credentials
	Hint        string // what to do about it, for some
}

func (e *StatusError) Error() string {
	text := fmt.Sprintf("%s %s: %d %s", e.Method, e.URL, e.Status, http.StatusText(e.Status))
	if e.Hint != "" {
		text += ": " + e.Hint
	}
	if e.Text != "" {
		text += ": " + e.Text
	}
	return text
}

// RequestError is a request without an answer, or without a whole one.
type RequestError struct {
	Method, URL string // the URL without its query
	Err         error
}

func (e *RequestError) Error() string { return fmt.Sprintf("%s %s: %v", e.Method, e.URL, e.Err) }

// Unwrap returns what went wrong.
func (e *RequestError) Unwrap() error { return e.Err }

// Classify returns the error of the class of package sinks that an HTTP status stands for, or nil for a success. header may be nil, err
// is what it wraps.
//
//	2xx                                nil
//	3xx, 401, 402, 403, 404, 405, 407, 410  *sinks.ConfigError
//	408, 421, 425, 429, 5xx            *sinks.RetryAfter with a Retry-After, else err itself
//	413                                *sinks.TooLargeError
//	501, 505, other 4xx                refused for good
//
// Whether 500 is retried is up to Config.Retry500, so it is left to the client.
func Classify(status int, header http.Header, err error) error {
	switch status {
	case http.StatusRequestEntityTooLarge:
		return &sinks.TooLargeError{Err: err}
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed,
		http.StatusProxyAuthRequired, http.StatusGone:
		return &sinks.ConfigError{Err: err}
	case http.StatusRequestTimeout, http.StatusMisdirectedRequest, http.StatusTooEarly, http.StatusTooManyRequests:
		return later(header, err)
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return sinks.Refusal(sinks.ReasonUnsupported, err)
	}
	switch status / 100 {
	case 2:
		return nil
	case 3:
		return &sinks.ConfigError{Err: err}
	case 4:
		return sinks.Refusal(sinks.ReasonInvalid, err)
	default:
		return later(header, err)
	}
}

func later(header http.Header, err error) error {
	if after, ok := retryAfter(header); ok {
		return &sinks.RetryAfter{After: after, Err: err}
	}
	return err
}

// judge makes the error of an answer.
func (c *Client) judge(h *host, r *Request, reply *http.Response, body []byte) error {
	status := reply.StatusCode
	if status/100 == 2 {
		return nil
	}
	err := &StatusError{Method: r.Method, URL: h.shown(r.Path), Status: status, Text: c.secrets.scrub(excerpt(body))}
	switch {
	case status/100 == 3:
		err.Hint = "redirects are not followed; set urls to where it leads"
		if to := reply.Header.Get("Location"); to != "" {
			to, _, _ = strings.Cut(to, "?")
			err.Hint += ", " + c.secrets.scrub(config.RedactURL(excerpt([]byte(to))))
		}
	case status == http.StatusInternalServerError && !c.config.Retry500:
		return sinks.Refusal(sinks.ReasonOther, err)
	}
	return Classify(status, reply.Header, err)
}

// classifyFailure gives an error that only a person can end its class: a certificate that we do not accept, or a TLS alert by which the
// other side does not accept ours, or our version. All others are worth another attempt as they are.
func classifyFailure(err error) error {
	var untrusted *tls.CertificateVerificationError
	var alert *net.OpError
	if errors.As(err, &untrusted) || errors.As(err, &alert) && alert.Op == alertOp {
		return &sinks.ConfigError{Err: err}
	}
	return err
}

// alertOp is the operation of errors that are an alert of the other side; crypto/tls exports no type for it.
const alertOp = "remote error"

const maxExcerpt = 256

// excerpt is how a body begins, as one line of text.
func excerpt(body []byte) string {
	cut := len(body) > maxExcerpt
	if cut {
		body = body[:maxExcerpt]
	}
	text := strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, string(body))
	text = strings.Join(strings.Fields(text), " ")
	if cut {
		text += "…"
	}
	return text
}
