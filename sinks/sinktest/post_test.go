package sinktest

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/veneurd/veneur/internal/config"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/ssf"
)

// postConfig configures a small sink that does everything as it should, but for what a test breaks in it.
type postConfig struct {
	URL    string        `yaml:"url"`
	APIKey config.Secret `yaml:"api_key"`
	Plain  string        `yaml:"plain"` // a secret of the wrong type
	CAFile string        `yaml:"ca_file"`

	fault   string
	release <-chan struct{} // closed when the test is over
}

func (c *postConfig) Validate() error {
	var faults config.Faults
	if c.URL == "" && c.fault == "fault without a path" {
		faults.Add("", "something is wrong")
	} else if c.URL == "" {
		faults.Add("url", "must be set")
	}
	return faults.Err()
}

func postKind(fault string, release <-chan struct{}) sinks.Kind {
	return sinks.Define("post", func() postConfig { return postConfig{fault: fault, release: release} },
		func(c postConfig, s sinks.Settings) (sinks.MetricSink, error) { return newPost(c, s), nil },
		func(c postConfig, s sinks.Settings) (sinks.SpanSink, error) { return newPost(c, s), nil })
}

type post struct {
	postConfig
	settings sinks.Settings
	client   *http.Client
}

func newPost(c postConfig, s sinks.Settings) *post {
	p := &post{postConfig: c, settings: s, client: &http.Client{Transport: &http.Transport{}}}
	if c.fault != "follows redirects" {
		p.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	if c.CAFile != "" {
		pem, err := os.ReadFile(c.CAFile)
		if err == nil {
			roots := x509.NewCertPool()
			roots.AppendCertsFromPEM(pem)
			p.client.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: roots}
		}
	}
	if c.fault == "speaks when built" {
		resp, err := http.Get(c.URL)
		if err == nil {
			resp.Body.Close()
		}
		http.DefaultClient.CloseIdleConnections()
	}
	return p
}

func (p *post) Start(context.Context) error {
	if p.fault == "leaks" {
		go func() { <-p.release }()
	}
	return nil
}

func (p *post) Send(ctx context.Context, chunk *sinks.Batch) error {
	switch p.fault {
	case "changes":
		chunk.Points[0].Value++
	case "changes a tag":
		if tags := chunk.Points[0].Series.Tags; len(tags) > 0 {
			tags[0] = "changed"
		}
	}
	var b bytes.Buffer
	for _, point := range chunk.Points {
		fmt.Fprintf(&b, "%q %q %v %s\n", point.Name, point.Series.Tags, point.Value, point.Type)
	}
	for _, event := range chunk.Events {
		fmt.Fprintf(&b, "event %q %q\n", event.Title, event.Tags)
	}
	for _, check := range chunk.Checks {
		fmt.Fprintf(&b, "check %q %s\n", check.Name, check.Status)
	}
	return p.post(ctx, &b)
}

func (p *post) SendSpans(ctx context.Context, spans []*ssf.SSFSpan) error {
	var b bytes.Buffer
	for _, span := range spans {
		if err := json.NewEncoder(&b).Encode(span); err != nil {
			return sinks.Permanent(err)
		}
	}
	return p.post(ctx, &b)
}

func (p *post) post(ctx context.Context, body io.Reader) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.URL, body)
	if err != nil {
		return sinks.Permanent(err)
	}
	req.Header.Set("Api-Key", p.APIKey.Reveal())
	if p.fault == "logs a secret" {
		p.settings.Log.Debugf("posting with %s", p.APIKey.Reveal())
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(resp.Body)
	if p.fault == "keeps no connection" {
		defer p.client.CloseIdleConnections()
	}
	if err == nil && resp.StatusCode == http.StatusMultiStatus && p.fault != "ignores the answer" {
		return partial(said)
	}
	return p.class(resp)
}

// partial reads an answer of a letter for each item: t taken, e existing, r refused, a again.
func partial(said []byte) error {
	p := &sinks.PartialError{Err: errors.New("207")}
	for i, letter := range said {
		if fate := strings.IndexByte("tera", letter); letter != 't' {
			p.Items = append(p.Items, sinks.Item{Index: i, Fate: sinks.Fate(fate)})
		}
	}
	return p
}

// answerPartially is the backend's side of it.
func answerPartially(w http.ResponseWriter, r *http.Request, _ string, fate func(int) sinks.Fate) {
	w.WriteHeader(http.StatusMultiStatus)
	body, _ := io.ReadAll(r.Body)
	for i := range bytes.Count(body, []byte("\n")) {
		_, _ = io.WriteString(w, "tera"[fate(i):fate(i)+1])
	}
}

func (p *post) class(resp *http.Response) error {
	code := resp.StatusCode
	err := fmt.Errorf("answered %s", resp.Status)
	switch {
	case p.fault == "ignores the answer":
		return nil
	case p.fault == "retries everything" && code >= 400:
		return err
	case p.fault == "retries nothing" && code >= 400:
		return sinks.Permanent(err)
	case code == http.StatusRequestEntityTooLarge:
		return &sinks.TooLargeError{Err: err}
	case code == http.StatusTooManyRequests && p.fault != "ignores Retry-After":
		seconds, notANumber := strconv.Atoi(resp.Header.Get("Retry-After"))
		if date, err := http.ParseTime(resp.Header.Get("Retry-After")); notANumber != nil && err == nil {
			seconds = int(time.Until(date).Seconds()) + 1
		}
		return &sinks.RetryAfter{After: time.Duration(seconds) * time.Second, Err: err}
	case code/100 == 3:
		return &sinks.ConfigError{Err: err}
	case code == http.StatusUnauthorized || code == http.StatusForbidden || code == http.StatusNotFound:
		return &sinks.ConfigError{Err: err}
	case code >= 500 || code == http.StatusTooManyRequests || code == http.StatusRequestTimeout:
		return err
	case code >= 400:
		return sinks.Permanent(err)
	}
	return nil
}

func (p *post) Close() error {
	p.client.CloseIdleConnections()
	return nil
}
