package flush

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPercentileSuffix(t *testing.T) {
	tests := []struct {
		q    float64
		want string
	}{
		{0.5, "50percentile"},
		{0.75, "75percentile"},
		{0.99, "99percentile"},
		{0.999, "999percentile"},
		{0.9999, "9999percentile"},
		{0.29, "29percentile"}, // 100*0.29 is 28.999999999999996
		{0.57, "57percentile"}, // 100*0.57 is 56.99999999999999
		{0.05, "5percentile"},
		{0.1, "10percentile"},
		{0.001, "01percentile"},
		{0.075, "75percentile"},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, percentileSuffix(tt.q), "%v", tt.q)
	}
}
