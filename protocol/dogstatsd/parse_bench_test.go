package dogstatsd

import (
	"strings"
	"testing"
)

// benchLines are packets of one line each, as services send them.
var benchLines = []struct{ name, packet string }{
	{"0tags", "api.requests.total:1|c"},
	{"3tags", "api.requests.total:1|c|#env:prod,service:checkout,region:us-east-1"},
	{"10tags", "api.requests.total:1|c|#env:prod,service:checkout,region:us-east-1,zone:us-east-1a,version:1.24.3," +
		"method:POST,status:200,endpoint:/v1/orders,customer:enterprise,team:payments"},
}

func BenchmarkParseLine(b *testing.B) {
	for _, tt := range benchLines {
		b.Run(tt.name, func(b *testing.B) {
			var p Parser
			packet := []byte(tt.packet)
			b.SetBytes(int64(len(packet)))
			b.ReportAllocs()
			for b.Loop() {
				p.Reset(packet, testNow)
				for p.Next() != nil {
				}
			}
		})
	}
}

// BenchmarkParsePacket takes 8 KiB datagrams, and counts by the line.
func BenchmarkParsePacket(b *testing.B) {
	for _, tt := range benchLines {
		b.Run(tt.name, func(b *testing.B) {
			var p Parser
			lines := 8192 / (len(tt.packet) + 1)
			packet := []byte(strings.Repeat(tt.packet+"\n", lines))
			b.SetBytes(int64(len(packet)))
			b.ReportAllocs()
			for b.Loop() {
				p.Reset(packet, testNow)
				for p.Next() != nil {
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(lines), "ns/line")
		})
	}
}
