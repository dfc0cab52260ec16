package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/veneurd/veneur/ssf"
	"github.com/veneurd/veneur/trace"
)

// charges answers requests for a charge.
type charges struct {
	requests *trace.Counter // made once, since it is counted often
	users    *trace.Set
}

func newCharges(client *trace.Client) *charges {
	return &charges{
		requests: client.Counter("charges.requests", nil),
		users:    client.Set("charges.users", nil),
	}
}

func (c *charges) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.requests.Inc()
	c.users.Add(r.PathValue("id"))
	amount, err := strconv.ParseFloat(r.FormValue("amount"), 32)
	if err != nil {
		http.Error(w, "what amount?", http.StatusBadRequest)
		return
	}
	if err := charge(r.Context(), float32(amount)); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = fmt.Fprintln(w, "charged", amount)
}

var errFunds = errors.New("no funds")

// charge knows nothing of a client: its span is one of the request's.
func charge(ctx context.Context, amount float32) (err error) {
	span, _ := trace.StartSpanFromContext(ctx, "charge")
	defer func() {
		span.Error(err)
		span.Finish()
	}()
	span.Add(ssf.Histogram("charges.amount", amount, nil, ssf.Unit("EUR")))
	if amount > 1000 {
		return errFunds
	}
	return nil
}
