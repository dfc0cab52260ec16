package tdigest

// fewPoints is how many samples are put among the waiting ones rather than merged at once: a daemon receives mostly
// digests of one or two.
const fewPoints = 64

// Merge adds what o has seen to d. Count, Sum, Min, Max and ReciprocalSum stay exact through any number of merges. o is
// frozen by the call, otherwise not changed, and may be d itself. The same digests in the same order give the same
// bytes.
func (d *Digest) Merge(o *Digest) {
	o.Freeze()
	if o.totals.count == 0 {
		return
	}
	if o == d {
		o = o.Clone()
	}
	d.saturated = d.saturated || o.saturated
	d.zero = d.zero || o.zero
	if o.raw() && (len(o.values) <= fewPoints || d.raw() && len(d.values)+len(o.values) <= maxRaw) {
		d.addValues(o)
		return
	}
	d.gather()
	d.frozen = false
	r := d.needRest()
	if o.raw() {
		d.mergeValues(o)
		return
	}
	if r.base.add(&o.rest.base) {
		d.saturated = true
	}
	r.coarse = r.coarse || o.rest.coarse
	d.absorb(o.rest.centroids, false)
}

// addValues adds the samples of o, all of which are still there, one by one.
func (d *Digest) addValues(o *Digest) {
	if !o.mixed() {
		for _, v := range o.values {
			d.Add(v, o.weight)
		}
		return
	}
	for i, v := range o.values {
		d.Add(v, o.rest.weights[i])
	}
}

// mergeValues merges the sorted samples of o into the centroids of d.
func (d *Digest) mergeValues(o *Digest) {
	var weights []float64
	if o.mixed() {
		weights = o.rest.weights
	}
	batch, saturated, _ := sumUp(o.values, weights, o.weight)
	if d.rest.base.add(&batch) || saturated {
		d.saturated = true
	}
	var cs [maxRaw]centroid
	d.absorb(o.points(&cs, true), false)
}
