package aggregate

import (
	"cmp"
	"hash/maphash"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/veneurd/veneur/protocol/metric"
)

// offenders remembers which metrics, from which listeners, the limits on series keep out most, in bounded memory: the space-saving
// algorithm of Metwally, Agrawal and El Abbadi ("Efficient Computation of Frequent and Top-k Elements in Data Streams", 2005). A newcomer to
// a full list takes the place of the least and inherits its count, so that no count is too low. It may be used by many goroutines.
type offenders struct {
	mu        sync.Mutex
	seed      maphash.Seed
	items     []offender
	listeners []string
	fresh     uint64 // notes since the last report
}

const (
	maxOffenders    = 32
	shownOffenders  = 10
	loggedOffenders = 3
	maxOffenderTags = 16
	maxOffenderName = 200 // bytes
	reportPeriod    = time.Minute
)

// SelfListener is the listener of what the daemon adds itself, in Add.
const SelfListener = math.MaxUint16

type offender struct {
	name     string
	listener uint16
	count    uint64
	tags     []tagValues
}

// tagValues estimates how many values a tag key has: the ranks of a small HyperLogLog.
type tagValues struct {
	key   string
	ranks [64]uint8
}

func (o *offenders) setListeners(names []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.listeners = names
}

// note counts one key that a limit kept out. It allocates for newcomers to the list only.
func (o *offenders) note(name []byte, tags []string, listener uint16) {
	if len(name) > maxOffenderName {
		name = name[:maxOffenderName]
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.seed == (maphash.Seed{}) {
		o.seed = maphash.MakeSeed()
	}
	o.fresh++
	item := o.item(name, listener)
	item.count++
	for _, tag := range tags {
		item.addTag(tag, maphash.String(o.seed, tag))
	}
}

func (o *offenders) item(name []byte, listener uint16) *offender {
	least := 0
	for i := range o.items {
		if o.items[i].listener == listener && o.items[i].name == string(name) {
			return &o.items[i]
		}
		if o.items[i].count < o.items[least].count {
			least = i
		}
	}
	if len(o.items) < maxOffenders {
		o.items = append(o.items, offender{})
		least = len(o.items) - 1
	}
	item := &o.items[least]
	clear(item.tags)
	*item = offender{name: string(name), listener: listener, count: item.count, tags: item.tags[:0]}
	return item
}

func (o *offender) addTag(tag string, hash uint64) {
	key := metric.TagKey(tag)
	i := slices.IndexFunc(o.tags, func(t tagValues) bool { return t.key == key })
	if i < 0 {
		if len(o.tags) == maxOffenderTags || len(key) > maxOffenderName {
			return
		}
		o.tags = append(o.tags, tagValues{key: strings.Clone(key)})
		i = len(o.tags) - 1
	}
	rank := uint8(bits.LeadingZeros64(hash|63) + 1)
	at := &o.tags[i].ranks[hash&63]
	*at = max(*at, rank)
}

// mostValues returns the key of the tag with most values, "" when there are no tags.
func (o *offender) mostValues() (key string) {
	most := -1.0
	for i := range o.tags {
		if n := o.tags[i].estimate(); n > most {
			key, most = o.tags[i].key, n
		}
	}
	return key
}

// estimate is Flajolet's, with linear counting for small numbers.
func (t *tagValues) estimate() float64 {
	const m = float64(len(t.ranks))
	sum, zeros := 0.0, 0.0
	for _, r := range t.ranks {
		sum += math.Ldexp(1, -int(r))
		if r == 0 {
			zeros++
		}
	}
	n := 0.709 * m * m / sum
	if n <= 2.5*m && zeros > 0 {
		return m * math.Log(m/zeros)
	}
	return n
}

// top returns the first n items by count, the highest first. The lock is held.
func (o *offenders) top(n int) []offender {
	sorted := slices.Clone(o.items)
	slices.SortStableFunc(sorted, func(a, b offender) int { return cmp.Compare(b.count, a.count) })
	return sorted[:min(n, len(sorted))]
}

// emit gives the worst to telemetry.
func (o *offenders) emit(emit func(value float64, tagValues ...string)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, item := range o.top(shownOffenders) {
		emit(float64(item.count), strings.ToValidUTF8(item.name, ""), item.mostValues(), o.listener(item.listener))
	}
}

func (o *offenders) listener(i uint16) string {
	if i == SelfListener {
		return "self"
	}
	if int(i) < len(o.listeners) {
		return o.listeners[i]
	}
	return strconv.Itoa(int(i))
}

// report returns what to log of the time since the last report, nil when there was nothing, and lets the past fade.
func (o *offenders) report() (fields logrus.Fields) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.fresh > 0 {
		var worst []string
		for _, item := range o.top(loggedOffenders) {
			worst = append(worst, strconv.QuoteToASCII(item.name)+" (tag "+strconv.QuoteToASCII(item.mostValues())+", from "+
				o.listener(item.listener)+", about "+strconv.FormatUint(item.count, 10)+")")
		}
		fields = logrus.Fields{"kept_out": o.fresh, "worst": strings.Join(worst, ", ")}
	}
	o.fresh = 0
	for i := range o.items {
		o.items[i].count /= 2
	}
	o.items = slices.DeleteFunc(o.items, func(item offender) bool { return item.count == 0 })
	return fields
}

// reportOffenders logs, at most once a minute, whom the limits on series hit.
func (c *Collector) reportOffenders() {
	now := time.Now()
	if now.Sub(c.lastReport) < reportPeriod {
		return
	}
	c.lastReport = now
	fields := c.in.offenders.report()
	if fields == nil {
		return
	}
	c.in.log.WithFields(fields).Warn("too many series: samples of new ones are counted in overflow series, or refused")
}
