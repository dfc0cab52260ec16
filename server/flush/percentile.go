package flush

import (
	"math"
	"strconv"
	"strings"
)

// percentileSuffix returns the suffix of the series that carries quantile q: the shortest decimal of 100q without its dot, then
// "percentile". 0.5 gives "50percentile", 0.999 "999percentile", 0.29 "29percentile". The digits are moved rather than multiplied,
// since 100*0.29 is 28.999999999999996 in float64.
func percentileSuffix(q float64) string {
	digits := strconv.FormatFloat(q, 'f', -1, 64)
	whole, fraction, _ := strings.Cut(digits, ".")
	for len(fraction) < 2 {
		fraction += "0"
	}
	digits = strings.TrimLeft(whole+fraction[:2], "0")
	if digits == "" {
		digits = "0"
	}
	return digits + fraction[2:] + "percentile"
}

func validQuantile(q float64) bool {
	return !math.IsNaN(q) && q > 0 && q < 1
}
