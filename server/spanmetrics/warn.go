package spanmetrics

import (
	"strconv"

	"github.com/sirupsen/logrus"

	"github.com/veneurd/veneur/server/spanmetrics/partial"
)

// warn says which services have keys past a limit, once a service, family and bucket, and how many services have no place.
func (s *Stage) warn(c *Closed) {
	interval := intervalName(c.Duration())
	for i, service := range c.Set.Services() {
		e := c.Set.Excess(i)
		if e == nil {
			continue
		}
		for _, f := range partial.Families() {
			if keys := e.Keys(f); keys > 0 {
				s.s.Log.WithFields(logrus.Fields{
					"service": strconv.QuoteToASCII(service.Name), "family": f.String(), "keys": keys, "interval": interval,
				}).Warn("span metrics: more keys than the limits allow; what they gave is added up under _other")
			}
		}
	}
	if _, services := c.Set.Overall(); services > 0 {
		s.s.Log.WithFields(logrus.Fields{"services": services, "interval": interval}).
			Warn("span metrics: more services than the limit allows; what they gave is added up under the service _other")
	}
}
