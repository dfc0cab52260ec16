package admin

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConfig(t *testing.T) {
	for _, tt := range []struct{ address, err string }{
		{"", ""},
		{"127.0.0.1:8127", ""},
		{":8127", ""},
		{"[::1]:0", ""},
		{"localhost:http", `http_address: "localhost:http": write host:port`},
		{"8127", `http_address: "8127": write host:port`},
		{"::1:8127", `http_address: "::1:8127": write host:port`},
		{"localhost:70000", `http_address: "localhost:70000": write host:port`},
	} {
		t.Run(tt.address, func(t *testing.T) {
			c := DefaultConfig()
			c.HTTPAddress = tt.address
			err := c.Validate()
			if tt.err == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.err)
		})
	}
}
