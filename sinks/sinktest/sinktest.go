package sinktest

import (
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/sinks"
)

// Case is one kind of sink with one configuration that works.
type Case struct {
	// Name tells the cases of one kind apart: it stands before the names of their golden files, with a dot. The only case needs none.
	Name string
	Kind sinks.Kind
	// YAML is the configuration. {{url}} in it is the address of the fake backend, {{dir}} an empty directory.
	YAML string
	// Secrets are the values in YAML that must not be seen in any log, error or printed configuration.
	Secrets []string

	// Fake is a backend that is well, for a sink that speaks HTTP: it answers as the real one does when it has taken everything. The kit
	// puts the other answers before it. Without Fake the checks that need one are left out.
	Fake http.Handler
	// TLS is a configuration like YAML for a backend behind TLS: {{ca}} in it is the file of the certificate to trust. Without it TLS is not
	// checked.
	TLS string
	// Partial answers a request of one plain chunk item by item, for a backend that does: fate says what becomes of the i-th item, 0 that it is
	// taken. signal is "metrics" or "spans". Without it partial answers are not checked.
	Partial func(w http.ResponseWriter, r *http.Request, signal string, fate func(item int) sinks.Fate)
	// Output returns what the sink has written so far, for the golden file. It is asked while the sink runs. Without it, the requests
	// to Fake are what was written; without both there is no golden file.
	Output func(t testing.TB, e *Env) []byte
	// Refused is how many items of Batch a metric sink has no way to say, such as counters that go down. Its Send then returns a
	// sinks.PartialError.
	Refused int
	// Break makes the next Send fail and Mend makes the one after work again, for a sink that speaks no HTTP. Both may be nil.
	Break, Mend func(t testing.TB, e *Env)
}

// check is one thing the contract asks. It takes a testing.TB, so that the kit can be shown to fail where it should.
type check struct {
	name string
	run  func(t testing.TB)
}

// Run holds the kind to the contract, a subtest for each part. It must not run beside other tests, for it looks for leaked goroutines.
func Run(t *testing.T, c Case) {
	t.Helper()
	checks := c.checks(t)
	if c.Name != "" {
		t.Run(c.Name, func(t *testing.T) { runAll(t, checks) })
		return
	}
	runAll(t, checks)
}

func runAll(t *testing.T, checks []check) {
	for _, check := range checks {
		t.Run(check.name, func(t *testing.T) { check.run(t) })
	}
}

func (c *Case) checks(t testing.TB) []check {
	said := &Buffer{}
	checks := []check{
		{"defaults", c.checkDefaults},
		{"good files", func(t testing.TB) { c.checkGoodFiles(t, said) }},
		{"bad files", c.checkBadFiles},
		{"printed configuration", c.checkPrinted},
	}
	taken := 0
	for _, s := range signals {
		if !c.takes(t, s) {
			continue
		}
		taken++
		add := func(name string, run func(t testing.TB, sub *subject)) {
			checks = append(checks, check{s.name + "/" + name, func(t testing.TB) {
				run(t, c.newSubject(t, s, said))
			}})
		}
		add("building opens nothing", checkBuild)
		add("encoding", c.checkEncoding)
		add("life", func(t testing.TB, sub *subject) { c.checkLife(t, sub, said) })
		add("ended context", checkEndedContext)
		if c.Fake != nil {
			for _, a := range answers {
				add("answers/"+a.name, func(t testing.TB, sub *subject) { checkAnswers(t, sub, a) })
			}
			add("answers/413 above a size", checkTooLarge)
			add("connection is kept", checkConnection)
		}
		if c.Partial != nil {
			add("answers/item by item", c.checkPartial)
		}
		if c.TLS != "" {
			checks = append(checks, check{s.name + "/TLS", func(t testing.TB) { c.checkTLS(t, s, said) }})
		}
		if c.Break != nil {
			add("outage", c.checkOutage)
		}
	}
	require.NotZero(t, taken, "the kind takes neither metrics nor spans")
	return append(checks, check{"said", func(t testing.TB) { c.checkSecrets(t, "a log or an error", said.String()) }})
}

// takes says whether the kind takes the signal. A configuration that does not build is the business of the checks.
func (c *Case) takes(t testing.TB, s *signal) bool {
	t.Helper()
	env := newEnv(t, c, &Buffer{})
	configured, err := c.Kind.Configure(decoder(env.expand(c.YAML)))
	require.NoError(t, err, "the configuration of the case")
	_, _, err = s.build(configured, env.settings())
	return !errors.Is(err, sinks.ErrNoMetrics) && !errors.Is(err, sinks.ErrNoSpans)
}
