package elasticsearch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/httpsend"
)

// backend is what is known of the other side, and how it is asked.
type backend struct {
	client *httpsend.Client
	config *Config

	known      bool
	openSearch bool
	major      int // of the version; 0 when nobody said
	minor      int
	installed  bool // templates, or they are not to be
	reply      []byte
}

const contentJSON = "application/json"

// ask sends one request about indexes and templates. The error is that of the client, nil for a success.
func (b *backend) ask(ctx context.Context, method, path string, body []byte) (int, []byte, error) {
	response, err := b.client.Do(ctx, httpsend.Request{
		Method: method, Path: path, ContentType: contentJSON, Accept: contentJSON, Body: body, Reply: b.reply,
	})
	b.reply = response.Body
	return response.Status, response.Body, err
}

// prepare finds out what the other side is, and installs the templates when that is asked for. It does so once; an error is worth another try.
func (b *backend) prepare(ctx context.Context) error {
	if !b.known {
		if err := b.recognise(ctx); err != nil {
			return err
		}
	}
	if !b.installed {
		if err := b.install(ctx); err != nil {
			return err
		}
	}
	return nil
}

// recognise asks which program and version it is, unless the configuration says so. The header that Elastic's own clients insist on is not looked
// for.
func (b *backend) recognise(ctx context.Context) error {
	switch b.config.Flavour {
	case flavourOpenSearch:
		b.openSearch, b.known = true, true
		return nil
	case flavourElasticsearch:
		b.known = true
		return nil
	}
	status, body, err := b.ask(ctx, http.MethodGet, "/", nil)
	if err != nil {
		return configError(status, fmt.Errorf("cannot see what is there (set flavour if it must not say): %w", err))
	}
	var about struct {
		Version struct {
			Distribution string `json:"distribution"`
			Number       string `json:"number"`
		} `json:"version"`
	}
	if json.Unmarshal(body, &about) != nil || about.Version.Number == "" {
		return &sinks.ConfigError{Err: errors.New("what answers is neither Elasticsearch nor OpenSearch; set flavour if it speaks their protocol")}
	}
	b.openSearch = about.Version.Distribution == flavourOpenSearch
	major, rest, _ := strings.Cut(about.Version.Number, ".")
	minor, _, _ := strings.Cut(rest, ".")
	b.major, _ = strconv.Atoi(major)
	b.minor, _ = strconv.Atoi(minor)
	b.known = true
	return nil
}

// atLeast says whether the other side is Elasticsearch of a version. One that was named and not asked is taken for a new one.
func (b *backend) atLeast(major, minor int) bool {
	return !b.openSearch && (b.major == 0 || b.major > major || b.major == major && b.minor >= minor)
}

// bulkPath is where documents go. The answer has what is read of it and no more.
func (b *backend) bulkPath() string {
	const path = "/_bulk?filter_path=errors,items.*.status,items.*.error.type,items.*.error.reason,items.*.failure_store"
	if b.config.target() == targetDataStream && b.config.RequireDataStream && b.atLeast(8, 13) {
		return path + "&require_data_stream=true"
	}
	return path
}

// install makes the templates that are not there.
func (b *backend) install(ctx context.Context) error {
	if b.config.InstallTemplates {
		for _, t := range templates(b.config, b) {
			body, err := json.Marshal(t.body)
			if err != nil {
				return sinks.Permanent(err)
			}
			status, said, err := b.ask(ctx, http.MethodPut, "/_index_template/"+url.PathEscape(t.name)+"?create=true", body)
			if err != nil && (status != http.StatusBadRequest || !saysExists(said)) {
				return configError(status, fmt.Errorf("index template %s: %w", t.name, err))
			}
		}
	}
	b.installed = true
	return nil
}

// ensure makes sure that the backend has a template for a stream that is written to for the first time. A *sinks.ConfigError says that it has
// not; any other error that nobody knows.
func (b *backend) ensure(ctx context.Context, s *stream) error {
	switch {
	case !b.config.CheckTemplates:
		return nil
	case b.config.target() == targetDataStream:
		return b.ensureDataStream(ctx, s.name)
	default:
		return b.ensureIndex(ctx, s.name)
	}
}

// ensureDataStream creates the data stream, which needs a template. Who may only append to it may not do that; where the bulk request itself
// asks for a data stream, the answer to that will tell.
func (b *backend) ensureDataStream(ctx context.Context, name string) error {
	status, said, err := b.ask(ctx, http.MethodPut, "/_data_stream/"+url.PathEscape(name), nil)
	switch {
	case err == nil:
		return nil
	case status == http.StatusBadRequest && saysExists(said):
		return nil
	case status == http.StatusForbidden && b.atLeast(8, 13) && b.config.RequireDataStream:
		return nil
	case status == http.StatusBadRequest:
		return missingTemplate(name, errorOf(said).Error.Reason)
	}
	return configError(status, fmt.Errorf("data stream %s: %w", name, err))
}

// ensureIndex asks for the index, and if there is none for the mapping that it would get.
func (b *backend) ensureIndex(ctx context.Context, name string) error {
	status, _, err := b.ask(ctx, http.MethodHead, "/"+url.PathEscape(name), nil)
	if err == nil {
		return nil
	}
	if status != http.StatusNotFound {
		return configError(status, fmt.Errorf("index %s: %w", name, err))
	}
	status, said, err := b.ask(ctx, http.MethodPost, "/_index_template/_simulate_index/"+url.PathEscape(name), nil)
	if err != nil {
		return configError(status, fmt.Errorf("index %s: %w", name, err))
	}
	var simulated struct {
		Template struct {
			Mappings map[string]any `json:"mappings"`
		} `json:"template"`
	}
	if json.Unmarshal(said, &simulated) != nil || len(simulated.Template.Mappings) == 0 {
		return missingTemplate(name, "no index template matches, or it has no mappings")
	}
	return nil
}

func missingTemplate(name, said string) error {
	return &sinks.ConfigError{Err: fmt.Errorf("%s has no template, without which types would be guessed from the first document"+
		" (set install_templates, or install one, or turn check_templates off): %s", name, said)}
}

// configError has a refusal of a request about templates be tried again slowly: nothing of the data was refused, so that the error must not
// be, or wrap, one that says so.
func configError(status int, err error) error {
	if status >= 400 && status < 500 && status != http.StatusTooManyRequests && status != http.StatusRequestTimeout {
		return &sinks.ConfigError{Err: errors.New(err.Error())}
	}
	return err
}

// requestError is how the backend refuses a request as a whole.
type requestError struct {
	Error struct {
		Type   string `json:"type"`
		Reason string `json:"reason"`
	} `json:"error"`
}

func errorOf(body []byte) (e requestError) {
	_ = json.Unmarshal(body, &e) // what cannot be read says nothing
	return e
}

func saysExists(body []byte) bool {
	e := errorOf(body)
	return e.Error.Type == "resource_already_exists_exception" ||
		e.Error.Type == "illegal_argument_exception" && strings.HasSuffix(e.Error.Reason, "already exists")
}
