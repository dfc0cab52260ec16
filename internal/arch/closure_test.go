package arch

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// light are the packages that services link; heavy is what they must not get by that, by whatever way.
const light = "ssf protocol protocol/metric protocol/dogstatsd trace"

var heavy = []string{
	"github.com/sirupsen/logrus",
	"github.com/DataDog/datadog-go",
	"github.com/stretchr/testify",
	"go.yaml.in/yaml",
	"google.golang.org/grpc",
	module + "/server",
	module + "/sinks",
}

func TestClientsLinkNothingHeavy(t *testing.T) {
	exist := map[string]bool{}
	for _, f := range tree(t) {
		if !f.test && matches(light, f.pkg) {
			exist[f.pkg] = true
		}
	}
	for pkg := range exist {
		t.Run(pkg, func(t *testing.T) {
			// #nosec G204 -- the packages are those of light
			out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", module+"/"+pkg).Output()
			require.NoError(t, err)
			for dep := range strings.FieldsSeq(string(out)) {
				for _, h := range heavy {
					if matches(h+"/...", dep) {
						t.Errorf("%s links %s: see who imports it with: go mod why %s", pkg, dep, dep)
					}
				}
			}
		})
	}
}
