package elasticsearch

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// answer is what a bulk request is answered by, as far as it was asked for.
type answer struct {
	Errors bool     `json:"errors"`
	Items  []result `json:"items"`
}

// result is the answer to one action. The field is named by the operation; a proxy or a pipeline may have changed it.
type result struct {
	Create *outcome `json:"create"`
	Index  *outcome `json:"index"`
}

// outcome is what became of one document.
type outcome struct {
	Status       int    `json:"status"`
	FailureStore string `json:"failure_store"`
	Error        struct {
		Type   string `json:"type"`
		Reason string `json:"reason"`
	} `json:"error"`
}

var errNoOutcome = errors.New("an item of the answer says nothing")

// read reads an answer to n actions into a, whose memory is used again. What does not answer each of them is no answer: then
// nobody knows what was taken, and with deterministic ids it does no harm to ask again.
func (a *answer) read(body []byte, n int) error {
	items := a.Items
	clear(items[:cap(items)]) // an answer may have begun its list twice, and left more behind
	*a = answer{Items: items[:0]}
	if err := json.Unmarshal(body, a); err != nil {
		return fmt.Errorf("the answer is not that of a bulk request: %w", err)
	}
	if len(a.Items) != n {
		return fmt.Errorf("the answer has %d items for %d documents", len(a.Items), n)
	}
	for i := range a.Items {
		if o := a.Items[i].of(); o == nil || o.Status < http.StatusOK {
			return errNoOutcome
		}
	}
	return nil
}

func (r *result) of() *outcome {
	if r.Create != nil {
		return r.Create
	}
	return r.Index
}

// fate is what becomes of a document after an answer.
type fate uint8

const (
	indexed fate = iota
	stored       // it was refused, and is in the stream's failure store
	existing
	again
	dropped
)

// fate reads the status. 409 is success: the document was created by a request whose answer got lost.
func (o *outcome) fate() fate {
	switch {
	case o.Status == http.StatusOK || o.Status == http.StatusCreated:
		if o.FailureStore == "used" {
			return stored
		}
		return indexed
	case o.Status == http.StatusConflict:
		return existing
	case o.Status == http.StatusTooManyRequests || o.Status >= http.StatusInternalServerError:
		return again
	default:
		return dropped
	}
}
