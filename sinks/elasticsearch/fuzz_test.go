package elasticsearch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/sinktest"
	"github.com/veneurd/veneur/ssf"
)

// Whatever a span says, its documents are lines of valid JSON in which no object has a key twice, and the same for the same span.
func FuzzSpanDocuments(f *testing.F) {
	for _, s := range append(sinktest.Spans(), full(), span(1, "a", "1", "a.b", "2", ".", "", "", ".", keyTruncated, "\xff")) {
		packet, err := s.Marshal()
		require.NoError(f, err)
		f.Add(packet)
	}
	var writers []*sink
	for _, settings := range []string{
		"", "samples: array", "layout: ecs", "layout: jaeger", "layout: jaeger\njaeger_tags_as_fields: true", "target: index\nmax_text_bytes: 10", "max_tag_keys: 3",
	} {
		writers = append(writers, benched(f, settings))
	}
	f.Fuzz(func(t *testing.T, packet []byte) {
		var d ssf.Decoder
		s, err := d.Decode(packet)
		if err != nil {
			return
		}
		for _, k := range writers {
			k.encoded(t, []*ssf.SSFSpan{s}, &sinks.Batch{})
			first := string(k.bulk.body)
			require.True(t, utf8.ValidString(first))
			require.Equal(t, 2*len(k.bulk.docs), strings.Count(first, "\n"), "%s", first)
			for line := range strings.Lines(first) {
				require.NoError(t, checkObject(json.NewDecoder(strings.NewReader(line))), "%s", line)
			}
			k.encoded(t, []*ssf.SSFSpan{s}, &sinks.Batch{})
			require.Equal(t, first, string(k.bulk.body))
		}
	})
}

// checkObject reads one value and nothing behind it.
func checkObject(d *json.Decoder) error {
	d.UseNumber()
	if err := checkValue(d); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something stands behind it")
	}
	return nil
}

// checkValue reads a value and reports a key that an object has twice.
func checkValue(d *json.Decoder) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	open, is := token.(json.Delim)
	if !is {
		return nil
	}
	seen := map[string]bool{}
	for d.More() {
		if open == '{' {
			key, err := d.Token()
			if err != nil {
				return err
			}
			if seen[key.(string)] {
				return fmt.Errorf("the key %q is there twice", key)
			}
			seen[key.(string)] = true
		}
		if err := checkValue(d); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}
