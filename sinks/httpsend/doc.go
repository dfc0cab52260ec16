// Package httpsend is the HTTP client of every sink that crosses a network.
//
// A sink embeds [Config] in its own configuration, builds a [Client] of it once, and calls [Client.Do] in its Send:
//
//	type Config struct {
//		httpsend.Config `yaml:",inline"`
//		Dataset         string `yaml:"dataset"`
//	}
//
//	func (s *sink) Send(ctx context.Context, chunk *sinks.Batch) error {
//		s.body = s.encode(s.body[:0], chunk)
//		reply, err := s.client.Do(ctx, httpsend.Request{
//			Method: http.MethodPost, Path: "/v1/points", ContentType: "application/json", Body: s.body, Reply: s.reply,
//		})
//		s.reply = reply.Body
//		return err
//	}
//
//	func (s *sink) Close() error { return s.client.Close() }
//
// The error is of the classes of package sinks already, so a sink returns it as it is, unless a reply of success says more.
//
// # What it does
//
// Connections are kept, HTTP/2 is used where the backend speaks it, and TLS is 1.2 or later. Bodies are compressed. Of several hosts
// each request takes the next one; a host that fails is left alone for a while. A request is tried on another host only while nothing of it
// was sent, and is never sent twice: whether to try again is the business of package delivery. Redirects are not followed, since a POST that
// is redirected arrives as a GET, or somewhere nobody meant it to. Replies are read to their end and bounded. No credential gets into an
// error.
//
// # What it does not
//
// It has no goroutine of its own, no queue and no retry, and it logs nothing.
package httpsend
