package prometheus

import (
	"bytes"
	"encoding/binary"
	"io"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// form is an encoding of the page.
type form int

const (
	textForm form = iota
	protoForm
	openForm
	numForms
)

func (f form) format() expfmt.Format {
	switch f {
	case protoForm:
		return expfmt.FmtProtoDelim
	case openForm:
		return expfmt.FmtOpenMetrics_1_0_0
	}
	return expfmt.FmtText
}

// encode writes the page. It needs little memory however long the page is, and writes little at a time.
func (p *page) encode(w io.Writer, f form) error {
	m := &messages{percentiles: p.percentiles}
	m.pacer.Begin()
	if f == protoForm {
		return p.encodeProto(w, m)
	}
	return p.encodeText(w, m, f.format())
}

// encodeText writes one of the formats of text.
func (p *page) encodeText(w io.Writer, m *messages, format expfmt.Format) error {
	out := &lineSkipper{w: w}
	// Every name is one that needs no escaping; said so, no family is looked through for others.
	enc := expfmt.NewEncoder(out, format+"; escaping=allow-utf-8")
	for from := 0; from < p.samples.n; {
		to := p.familyEnd(from)
		for lines := 0; from < to; lines = 2 {
			var piece *dto.MetricFamily
			piece, from = m.piece(p, from, to)
			out.skip = lines // HELP and TYPE stand before the first piece
			if err := enc.Encode(piece); err != nil {
				return err
			}
		}
	}
	if end, ok := enc.(expfmt.Closer); ok {
		return end.Close() // OpenMetrics has a last line
	}
	return nil
}

// lineSkipper writes everything but the next lines.
type lineSkipper struct {
	w    io.Writer
	skip int
}

func (s *lineSkipper) Write(b []byte) (int, error) {
	all := len(b)
	for ; s.skip > 0; s.skip-- {
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			return all, nil
		}
		b = b[end+1:]
	}
	if _, err := s.w.Write(b); err != nil {
		return 0, err
	}
	return all, nil
}

// metricField is the number of MetricFamily.metric.
const metricField = 4

// encodeProto writes delimited messages. A family is one message, whose length stands before it: it is measured first, and then written piece by
// piece.
func (p *page) encodeProto(w io.Writer, m *messages) error {
	var buf []byte
	for from := 0; from < p.samples.n; {
		to := p.familyEnd(from)
		length := 0
		for i := from; i < to; {
			var piece *dto.MetricFamily
			piece, i = m.piece(p, i, to)
			for _, metric := range piece.Metric {
				length += protowire.SizeTag(metricField) + protowire.SizeBytes(proto.Size(metric))
			}
		}
		f := p.samples.at(from).family
		head, err := proto.Marshal(&dto.MetricFamily{Name: &f.name, Help: &f.help, Type: &f.typ})
		if err != nil {
			return err
		}
		buf = append(binary.AppendUvarint(buf[:0], uint64(len(head)+length)), head...)
		for from < to {
			var piece *dto.MetricFamily
			piece, from = m.piece(p, from, to)
			for _, metric := range piece.Metric {
				buf = protowire.AppendTag(buf, metricField, protowire.BytesType)
				buf = protowire.AppendVarint(buf, uint64(proto.Size(metric)))
				if buf, err = (proto.MarshalOptions{UseCachedSize: true}).MarshalAppend(buf, metric); err != nil {
					return err
				}
				if len(buf) < 16<<10 {
					continue
				}
				if _, err = w.Write(buf); err != nil {
					return err
				}
				buf = buf[:0]
			}
		}
		if _, err = w.Write(buf); err != nil {
			return err
		}
	}
	return nil
}
