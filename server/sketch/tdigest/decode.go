package tdigest

import (
	"cmp"
	"math"
	"slices"
)

// DecodeError is the reason why bytes were refused: one of the constants, fit to be counted under.
type DecodeError string

// The reasons of Decode.
const (
	ErrTruncated    DecodeError = "truncated"
	ErrWireType     DecodeError = "wire_type"
	ErrCompression  DecodeError = "compression"
	ErrRange        DecodeError = "min_max"
	ErrMean         DecodeError = "mean"
	ErrWeight       DecodeError = "weight"
	ErrTooManyParts DecodeError = "centroids"
)

func (e DecodeError) Error() string { return "tdigest: bad " + string(e) }

// maxCentroids is how many centroids a digest of that compression has at most, here and on the wire. The original's has
// no more than twice its compression; five times as much leaves room for others, and 1024 for samples not yet gathered.
func maxCentroids(compression float64) int { return max(2*maxRaw, int(10*compression)) }

// Decode replaces the contents by what b, in the original's protobuf form, says. It keeps nothing of b, and takes memory
// as centroids arrive, never by what is announced.
//
// Everything is checked: 20 <= compression <= 1000, a bounded count of centroids, weights positive and finite, min, max
// and means finite and means within [min, max] (a mean outside by no more than rounding is put inside). The error is a
// DecodeError, and then the digest is empty.
//
// What the form does not carry is derived: Count and Sum from the centroids, the reciprocal sum too when it is missing,
// as from older senders. A centroid counts as one sample's when nothing speaks against it: when it weighs no more than 1
// or than the lightest end that is a sample for certain, or when its mean is min or max. A message without centroids is
// an empty digest.
func (d *Digest) Decode(b []byte) error {
	d.Reset()
	if err := d.decode(b); err != nil {
		d.Reset()
		return err
	}
	return nil
}

func (d *Digest) decode(b []byte) error {
	r := d.needRest()
	var head [4]float64 // compression, min, max, reciprocal sum
	for f := (fields{b: b}); ; {
		tag, err := f.next()
		if err != nil {
			return err
		}
		switch tag {
		case 0:
			d.compression = head[0]
			return d.load(head[1], head[2], head[3])
		case tagCentroid:
			if len(r.centroids) == maxCentroids(MaxCompression) {
				return ErrTooManyParts
			}
			c, err := decodeCentroid(f.bytes)
			if err != nil {
				return err
			}
			r.centroids = append(r.centroids, c)
		case tagCompression, tagMin, tagMax, tagReciprocal:
			head[tag>>3-2] = math.Float64frombits(f.fixed)
		default:
			if tag>>3 <= 5 {
				return ErrWireType
			}
		}
	}
}

func decodeCentroid(b []byte) (c centroid, err error) {
	for f := (fields{b: b}); ; {
		tag, err := f.next()
		if err != nil {
			return c, err
		}
		switch tag {
		case 0:
			return c, nil
		case tagMean:
			c.mean = math.Float64frombits(f.fixed) + 0
		case tagWeight:
			c.mass = math.Float64frombits(f.fixed)
		default:
			if tag>>3 <= 2 {
				return c, ErrWireType
			}
		}
	}
}

// load checks the decoded centroids and makes the digest of them.
func (d *Digest) load(least, most, reciprocal float64) error {
	r := d.rest
	cs := r.centroids
	if !(d.compression >= MinCompression && d.compression <= MaxCompression) {
		d.compression = 0
		return ErrCompression
	}
	if len(cs) > maxCentroids(d.compression) {
		return ErrTooManyParts
	}
	if len(cs) == 0 {
		return nil
	}
	if !finite(least) || !finite(most) || least > most {
		return ErrRange
	}
	least, most = least+0, most+0
	rounding := 1e-9 * max(math.Abs(least), math.Abs(most))
	for i, c := range cs {
		if !(c.mean >= least-rounding && c.mean <= most+rounding) || !finite(c.mean) {
			return ErrMean
		}
		if !(c.mass > 0 && c.mass <= math.MaxFloat64) {
			return ErrWeight
		}
		cs[i].mean = within(c.mean, least, most)
	}
	byMean := func(x, y centroid) int { return cmp.Compare(x.mean, y.mean) }
	if !slices.IsSortedFunc(cs, byMean) {
		slices.SortStableFunc(cs, byMean)
	}
	points := markClusters(cs, least, most)
	if d.sumCentroids(least, most, reciprocal) && points && len(cs) <= maxRaw {
		d.unpack(cs)
		return nil
	}
	r.coarse = true
	return nil
}

// markClusters turns the mass negative where a centroid is not one sample's, and says whether all samples are there.
func markClusters(cs []centroid, least, most float64) (points bool) {
	first, last := cs[0], cs[len(cs)-1]
	lightest := first.mass
	for _, c := range cs {
		lightest = min(lightest, c.mass)
	}
	single := 1.0
	if first.mean == least && first.mass == lightest || last.mean == most && last.mass == lightest {
		single = max(single, lightest)
	}
	points = first.mean == least && last.mean == most
	for i, c := range cs {
		if c.mass > single && c.mean != least && c.mean != most {
			cs[i].mass, points = -c.mass, false
		}
	}
	return points
}

// sumCentroids sets base from the centroids and the message's own fields. It says whether the reciprocal sum is that of
// the centroids, so that these may stand for it.
func (d *Digest) sumCentroids(least, most, reciprocal float64) (same bool) {
	var b base
	hasZero := false
	for _, c := range d.rest.centroids {
		w := c.weight()
		one := base{count: pair{hi: w}, sum: pair{hi: saturate(w * c.mean)}, min: least, max: most}
		if c.mean != 0 {
			one.reciprocal.hi = saturate(w / c.mean)
		} else if c.mass > 0 {
			hasZero = true
		}
		if b.add(&one) || !finite(w*c.mean) {
			d.saturated = true
		}
	}
	derived := b.reciprocal.value()
	// The original's sum is infinite, or NaN, after a sample of 0; ours is MaxFloat64.
	unbounded := !(math.Abs(reciprocal) < math.MaxFloat64)
	d.zero = hasZero || unbounded
	if reciprocal != 0 && !unbounded {
		b.reciprocal = pair{hi: reciprocal}
	}
	d.rest.base = b
	return reciprocal == 0 || unbounded && hasZero || math.Abs(reciprocal-derived) <= 1e-9*math.Abs(derived)
}

// unpack puts the centroids, samples all, among the waiting values, where they came from.
func (d *Digest) unpack(cs []centroid) {
	d.rest.centroids, d.rest.base = cs[:0], base{}
	d.saturated, d.zero = false, false
	for _, c := range cs {
		d.Add(c.mean, c.mass)
	}
}
