package httpsend

import "net/http"

// Request is one request. Everything in it is the caller's again when Do has returned.
type Request struct {
	Method      string
	Path        string // stands behind the path of the host's URL; begins with a slash and may hold a query
	ContentType string // of Body
	Accept      string // what the reply may be; "" says nothing
	Body        []byte
	Reply       []byte // memory for the reply; may be nil
}

// Response is what a host answered.
type Response struct {
	Status int // 0 when there was no answer
	Header http.Header
	Body   []byte // whole and plain, in the memory of Request.Reply when it is large enough
	Host   string // which of the hosts it was, as host:port
}
