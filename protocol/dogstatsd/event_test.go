package dogstatsd

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol/metric"
)

func TestEvent(t *testing.T) {
	runRows(t, new(Parser), []row{
		{"least", "_e{5,4}:title|text", is("_e{5,4}:title|text")},
		{
			"every field", "_e{5,4}:title|text|d:1656581400|h:web1|k:agg|p:low|s:src|t:error|#a:b,c|c:ci-x|e:it-true|card:high",
			is("_e{5,4}:title|text|d:1656581400|h:web1|k:agg|p:low|s:src|t:error|#a:b,c|c:ci-x|e:it-true|card:high"),
		},
		{"fields in any order, the last wins", "_e{1,1}:t|x|#a|t:error|h:a|h:b|#c|t:warning", is("_e{1,1}:t|x|h:b|t:warning|#c")},
		{"defaults said", "_e{1,1}:t|x|p:normal|t:info", is("_e{1,1}:t|x")},
		{"escaped newlines, counted as two bytes", `_e{4,6}:a\nb|a\nb c`, is(`_e{4,6}:a\nb|a\nb c`)},
		{"lengths are bytes of UTF-8", "_e{6,1}:títle|x", is("_e{6,1}:títle|x")},
		{"pipes inside title and text", "_e{3,5}:a|b|te|xt|p:low", is("_e{3,5}:a|b|te|xt|p:low")},
		{"text that looks like a header", "_e{4,8}:x}:y|_e{1,1}:|p:low", is("_e{4,8}:x}:y|_e{1,1}:|p:low")},
		{"no text", "_e{1,0}:t|", is("_e{1,0}:t|")},
		{"no text, a field", "_e{1,0}:t||p:low", is("_e{1,0}:t||p:low")},
		{"text that ends in a carriage return", "_e{1,2}:t|x\r|\n_e{1,2}:t|x\r\r\n", is("_e{1,2}:t|x\r\r ignored: 1", "_e{1,2}:t|x\r\r")},
		{"leading zeros", "_e{01,0001}:t|x", is("_e{1,1}:t|x")},

		{
			"bad and empty fields are ignored", "_e{1,1}:t|x|d:abc|d:0|d:-1|d:|p:high|t:fatal|h:|k:|s:|z:1|zz|T1|@1||c:",
			is("_e{1,1}:t|x ignored: 15"),
		},

		{"no title", "_e{0,4}:|text", is("refused: event_title")},
		{"text shorter than announced", "_e{5,9}:title|text\n_e{5,5}:title|text", is("refused: event_length", "refused: event_length")},
		{"text longer than announced", "_e{5,2}:title|text", is("refused: event_length")},
		{"title of another length", "_e{4,4}:title|text\n_e{6,3}:title|text", is("refused: event_length", "refused: event_length")},
		{"title takes all", "_e{5,0}:title\n_e{10,0}:title|text", is("refused: event_length", "refused: event_length")},
		{
			"B145 lengths that overflow", "_e{2147483647,2147483647}:t|x\n_e{9223372036854775807,9223372036854775807}:t|x\n" +
				"_e{1,9223372036854775807}:t|x\n_e{99999999999999999999,4}:title|text",
			is("refused: event_length", "refused: event_length", "refused: event_length", "refused: event_length"),
		},
		{
			"headers that are none", "_e{-5,4}:title|text\n_e{+5,4}:title|text\n_e{5}:title|text\n_e{5,4}title|text\n_e{,}:t|x\n_e{5,4,3}:title|text\n" +
				"_e{5,4\n_e{\n_e{ 5,4}:title|text\n_e{0x5,4}:title|text",
			is("refused: event_header", "refused: event_header", "refused: event_header", "refused: event_header", "refused: event_header",
				"refused: event_header", "refused: event_header", "refused: event_header", "refused: event_header", "refused: event_header"),
		},
		{
			"B030 not UTF-8 anywhere", "_e{2,1}:\xc3\x28|x\n_e{1,1}:t|\xff\n_e{1,1}:t|x|h:\xff\n_e{1,1}:é|x",
			is("refused: utf8", "refused: utf8", "refused: utf8", "refused: event_length"),
		},
	})
}

func TestCheck(t *testing.T) {
	runRows(t, new(Parser), []row{
		{"least", "_sc|n|0", is("_sc|n|0")},
		{
			"every field", "_sc|Redis connection|2|d:1656581400|h:web1|#env:dev|c:ci-x|m:timed out after 10s",
			is("_sc|Redis connection|2|d:1656581400|h:web1|#env:dev|m:timed out after 10s|c:ci-x"),
		},
		{"every status", "_sc|n|0\n_sc|n|1\n_sc|n|2\n_sc|n|3", is("_sc|n|0", "_sc|n|1", "_sc|n|2", "_sc|n|3")},
		{"escaped newline", `_sc|n|2|m:a\nb`, is(`_sc|n|2|m:a\nb`)},
		{"B024 fields after the message", "_sc|n|2|m:a|#x", is("_sc|n|2|#x|m:a")},
		{"B024 a pipe in the message", "_sc|disk|2|m:disk: 90|full", is("_sc|disk|2|m:disk: 90 ignored: 1")},
		{"B046 each check stands for itself", "_sc|chk|2|m:bad\n_sc|chk|0", is("_sc|chk|2|m:bad", "_sc|chk|0")},
		{"bad and empty fields are ignored", "_sc|n|2|d:x|d:0|h:|z:1||k:x", is("_sc|n|2 ignored: 6")},
		{
			"bad status", "_sc|n|4\n_sc|n|00\n_sc|n|-1\n_sc|n|\n_sc|n\n_sc|n||m:x",
			is("refused: check_status", "refused: check_status", "refused: check_status", "refused: check_status", "refused: check_status",
				"refused: check_status"),
		},
		{"no name", "_sc||0\n_sc|", is("refused: name", "refused: name")},
		{"B030 not UTF-8 anywhere", "_sc|\xff|0\n_sc|n|0|m:\xff\n_sc|n|0|#\xff", is("refused: utf8", "refused: utf8", "refused: utf8")},
	})
}

// TestEventFields holds what the rows above see only through AppendLine.
func TestEventFields(t *testing.T) {
	var p Parser
	p.Reset([]byte(`_e{4,8}:a\nb|x\\ny\nz|#t
_sc|n|3|m:\n\n
_e{1,1}:t|x`), testNow)

	l := p.Next()
	require.Equal(t, EventLine, l.Kind)
	require.Equal(t, Event{Title: []byte("a\nb"), Text: []byte("x\\\ny\nz"), Priority: "normal", AlertType: "info", Tags: []byte("t")}, l.Event)

	l = p.Next()
	require.Equal(t, CheckLine, l.Kind)
	require.Equal(t, Check{Name: []byte("n"), Status: metric.Unknown, Message: []byte("\n\n")}, l.Check)

	l = p.Next()
	require.Equal(t, Event{Title: []byte("t"), Text: []byte("x"), Priority: "normal", AlertType: "info"}, l.Event, "nothing is left of the event before")
}

// TestUnescapeManyTimes lets the memory for texts grow while a text of the same line lies in it already.
func TestUnescapeManyTimes(t *testing.T) {
	var p Parser
	title := strings.Repeat(`a\n`, 3)
	text := strings.Repeat(`b\n`, 5000)
	l := Line{Kind: EventLine, Event: Event{Title: []byte("a\na\na\n"), Text: []byte(strings.Repeat("b\n", 5000))}}
	packet := AppendLine(nil, &l)
	require.Contains(t, string(packet), title+"|"+text)
	p.Reset(packet, testNow)
	got := p.Next()
	require.Equal(t, string(l.Event.Title), string(got.Event.Title))
	require.Equal(t, string(l.Event.Text), string(got.Event.Text))
}
