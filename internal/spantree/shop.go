package spantree

import "time"

// call is one request to a service, and what the service does to answer it: in that order, one after the other.
type call struct {
	service, name string
	own           time.Duration // what the service takes itself
	failsEach     int           // every so many-th fails; 0 is none
	calls         []call        // of other services
	targets       []target      // that are no services of ours
}

// target is something that is waited for and sends no spans itself.
type target struct {
	name, tag, value string
	took             time.Duration
}

// SpansPerTrace is how many spans a trace of the shop has.
const SpansPerTrace = 9

// Period is after how many traces durations and failures are those of the first again.
const Period = 100

// shop is the tree that is sent. Every 20th payment fails, and with it the checkout.
func shop() call {
	return call{
		service: "web", name: "POST /checkout", own: 12 * time.Millisecond,
		calls: []call{
			{
				service: "cart", name: "GET /cart", own: 3 * time.Millisecond,
				targets: []target{{"SELECT items", "db.instance", "carts", 5 * time.Millisecond}},
			},
			{
				service: "payments", name: "POST /charge", own: 8 * time.Millisecond, failsEach: 20,
				targets: []target{
					{"INSERT charges", "db.instance", "payments", 7 * time.Millisecond},
					{"POST", "http.host", "bank.example", 80 * time.Millisecond},
				},
			},
		},
		targets: []target{{"send", "messaging.destination", "orders", 2 * time.Millisecond}},
	}
}
