package elasticsearch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/veneurd/veneur/internal/jsonappend"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/httpsend"
)

// item is one of a chunk.
type item struct {
	list  sinks.List
	index int
}

// document is one that stands in a bulk request.
type document struct {
	item
	end    int  // in the body
	extra  bool // a sample of a span: it never decides what becomes of the span
	stream *stream
}

// bulk gathers the documents of one chunk, sends them in as few requests as may be, and says what became of each item.
type bulk struct {
	*sink
	body   []byte
	docs   []document
	answer answer
	id     []byte

	troubled []*stream    // those with a problem, which the next chunk looks at again
	items    []sinks.Item // what is to be said of single ones
	homeless []document   // those for whose index there is no template
	misfit   error        // what was said of one such index
	dropped  [numReasons]int
	example  string // why one of them was dropped
	settled  int    // documents, from the first on, of which it is known what became
	retried  int
	existing int
}

// What one huge chunk or answer has grown beyond these is let go.
const (
	keptBody = 8 << 20
	keptDocs = 1 << 15
)

// reset begins a chunk.
func (b *bulk) reset() {
	if cap(b.body) > keptBody {
		b.body = nil
	}
	if cap(b.docs) > keptDocs {
		b.docs, b.items = nil, nil
	}
	if cap(b.backend.reply) > keptBody {
		b.backend.reply = nil
	}
	if cap(b.answer.Items) > keptDocs {
		b.answer.Items = nil
	}
	for _, s := range b.troubled {
		s.problem = nil
	}
	*b = bulk{
		sink: b.sink, body: b.body[:0], docs: b.docs[:0], answer: b.answer, id: b.id, items: b.items[:0],
		troubled: b.troubled[:0], homeless: b.homeless[:0],
	}
}

// action appends the line that says where the next document goes. id may be empty.
func (b *bulk) action(to *stream, id []byte) {
	b.body = append(b.body, to.action...)
	if len(id) > 0 {
		b.body = append(b.body, `,"_id":"`...)
		b.body = append(b.body, id...)
		b.body = append(b.body, '"')
	}
	b.body = append(b.body, '}', '}', '\n')
}

// fieldAction is action with the mapping that the field of a metric gets where it has none yet. There is no id: a time series data stream
// makes it of the dimensions and the time, and refuses any other.
func (b *bulk) fieldAction(to *stream, name, mapping string) {
	b.id = append(append(b.id[:0], "metrics."...), b.writer.metricKey(name)...)
	b.body = append(b.body, to.action...)
	b.body = append(b.body, `,"dynamic_templates":{`...)
	b.body = jsonappend.String(b.body, string(b.id))
	b.body = jsonappend.String(append(b.body, ':'), mapping)
	b.body = append(b.body, '}', '}', '}', '\n')
}

// end ends the document that began with its action line at start. err says that there is none.
func (b *bulk) end(start int, d document, err error) {
	switch {
	case err != nil:
		b.body = b.body[:start]
		b.drop(d, unwritten(err), err.Error())
	case len(b.body)+1-start > b.config.MaxRequestBytes:
		size := len(b.body) - start
		b.body = b.body[:start]
		b.drop(d, reasonTooLarge, fmt.Sprintf("a document of %d bytes is larger than max_request_bytes", size))
	default:
		b.body = append(b.body, '\n')
		d.end = len(b.body)
		b.docs = append(b.docs, d)
	}
}

// drop settles a document that will never be there. It is counted by account: if the whole chunk comes again, so does the document.
func (b *bulk) drop(d document, why reason, text string) {
	if b.dropped[why]++; b.example == "" {
		b.example = text
	}
	b.complain(why, d.stream, text)
	if !d.extra {
		b.items = append(b.items, sinks.Item{List: d.list, Index: d.index, Fate: sinks.Refused, Reason: reasons[why].as})
	}
}

// account counts what was dropped of a chunk that does not come again as it is.
func (b *bulk) account() {
	for why, n := range b.dropped {
		b.counts.dropped[why].Add(uint64(n))
	}
}

// retry has the item of a document be sent again.
func (b *bulk) retry(d *document) {
	b.counts.documents[again].Inc()
	b.retried++
	b.items = append(b.items, sinks.Item{List: d.list, Index: d.index, Fate: sinks.Retry})
}

// send sends all documents and returns what Send returns.
func (b *bulk) send(ctx context.Context) error {
	b.counts.takeWriter(b.writer)
	if b.misfit != nil {
		if !slices.ContainsFunc(b.docs, func(d document) bool { return !d.extra }) {
			return b.failed(b.misfit, append(b.homeless, b.docs...))
		}
		// One index that nobody made must not hold up all others.
		for _, d := range b.homeless {
			b.drop(d, reasonNoTemplate, b.misfit.Error())
		}
	}
	for most := len(b.docs); b.settled < len(b.docs); {
		from := b.settled
		to := b.fitting(from, most)
		err := b.request(ctx, from, to)
		var large *sinks.TooLargeError
		switch {
		case err == nil:
		case !errors.As(err, &large) || b.docs[from].item != b.docs[to-1].item:
			return b.failed(err, b.docs[from:])
		case to-from > 1: // delivery halves chunks, but no item
			most = (to - from) / 2
		default:
			b.drop(b.docs[from], reasonTooLarge, err.Error())
			b.settled++
		}
	}
	return b.result(nil)
}

// fitting returns where a request that begins with the document from ends: behind most documents at most, and within max_request_bytes.
func (b *bulk) fitting(from, most int) int {
	offset, to := b.offset(from), from+1
	for to < len(b.docs) && to-from < most && b.docs[to].end-offset <= b.config.MaxRequestBytes {
		to++
	}
	return to
}

// offset is where a document begins in the body.
func (b *bulk) offset(of int) int {
	if of == 0 {
		return 0
	}
	return b.docs[of-1].end
}

// request sends the documents [from, to) and settles them. With an error they are as they were.
func (b *bulk) request(ctx context.Context, from, to int) error {
	begun := time.Now()
	body := b.body[b.offset(from):b.docs[to-1].end]
	response, err := b.backend.client.Do(ctx, httpsend.Request{
		Method: http.MethodPost, Path: b.bulkPath, ContentType: "application/x-ndjson", Accept: contentJSON, Body: body, Reply: b.backend.reply,
	})
	b.backend.reply = response.Body
	b.counts.requests.Inc()
	b.counts.bytes.Add(uint64(len(body)))
	b.counts.nanos.Add(int64(time.Since(begun)))
	if err != nil {
		return err
	}
	if err := b.answer.read(response.Body, to-from); err != nil {
		return err
	}
	b.settled += to - from
	for i := range b.answer.Items {
		b.settle(&b.docs[from+i], b.answer.Items[i].of())
	}
	return nil
}

func (b *bulk) settle(d *document, o *outcome) {
	switch f := o.fate(); f {
	case dropped:
		why := reasonOf(o.Error.Type, o.Error.Reason)
		if why == reasonIndexNotFound {
			b.streams.forget()
		}
		b.drop(*d, why, fmt.Sprintf("%d %s: %s", o.Status, o.Error.Type, o.Error.Reason))
	case again:
		b.retry(d)
		if b.example == "" {
			b.example = fmt.Sprintf("%d %s: %s", o.Status, o.Error.Type, o.Error.Reason)
		}
	case existing:
		b.counts.documents[existing].Inc()
		b.existing++
		if !d.extra {
			b.items = append(b.items, sinks.Item{List: d.list, Index: d.index, Fate: sinks.Existing})
		}
	default:
		b.counts.documents[f].Inc()
	}
}

// failed is what Send returns when a request failed, after which docs were not taken, or nobody knows. If nothing has been settled before,
// err says all.
func (b *bulk) failed(err error, docs []document) error {
	var refused *sinks.PermanentError
	permanent := errors.As(err, &refused)
	whole := len(b.items) == 0 && b.settled == 0
	switch {
	case permanent:
		for i := range docs {
			b.drop(docs[i], reasonRequest, err.Error())
		}
	default:
		for i := range docs {
			b.retry(&docs[i])
		}
	}
	if !whole {
		return b.result(err)
	}
	if b.retried == 0 {
		b.account()
	}
	return err
}

// result is what Send returns when something was answered. err is what ended it early.
func (b *bulk) result(err error) error {
	b.account()
	if len(b.items) == 0 {
		return nil
	}
	if err == nil {
		err = errors.New(b.summary())
	}
	return &sinks.PartialError{Items: b.items, Err: err}
}

// summary says what happened to documents, in one line.
func (b *bulk) summary() string {
	var said []string
	for why, n := range b.dropped {
		if n > 0 {
			said = append(said, fmt.Sprintf("%d %s", n, reason(why)))
		}
	}
	if b.retried > 0 {
		said = append(said, fmt.Sprintf("%d to be sent again", b.retried))
	}
	if b.existing > 0 {
		said = append(said, fmt.Sprintf("%d already there", b.existing))
	}
	text := strings.Join(said, ", ")
	if b.example != "" {
		text += "; one: " + b.example
	}
	return text
}
