package tdigest

import (
	"encoding/binary"
	"math"
)

// Protobuf tags of the original's MergingDigestData and Centroid:
//
//	message MergingDigestData {
//	  repeated Centroid main_centroids = 1;
//	  double compression = 2;
//	  double min = 3;
//	  double max = 4;
//	  double reciprocalSum = 5;
//	}
//	message Centroid {
//	  double mean = 1;
//	  double weight = 2;
//	  repeated double samples = 3; // the original's debugging aid
//	}
const (
	tagCentroid    = 1<<3 | typeBytes
	tagCompression = 2<<3 | typeFixed64
	tagMin         = 3<<3 | typeFixed64
	tagMax         = 4<<3 | typeFixed64
	tagReciprocal  = 5<<3 | typeFixed64
	tagMean        = 1<<3 | typeFixed64
	tagWeight      = 2<<3 | typeFixed64

	typeVarint  = 0
	typeFixed64 = 1
	typeBytes   = 2
	typeFixed32 = 5
)

// AppendBinary appends the digest in the original's protobuf form, as gogo writes it: fields in order, zeros left out. Up
// to twice the compression the samples or centroids go as they are; more are gathered to some 125 (compression 100)
// first, on a copy. Count and Sum are not part of the form: the reader has them from the centroids.
func (d *Digest) AppendBinary(b []byte) []byte {
	d.Freeze()
	if d.raw() {
		var cs [maxRaw]centroid
		// A reader takes a centroid that is heavier than others for a cluster, unless it is at an end.
		b = d.appendCentroids(b, d.points(&cs, len(d.values) > d.enough()))
	} else {
		b = d.appendCentroids(b, d.rest.centroids)
	}
	b = appendDouble(b, tagCompression, d.wireCompression())
	b = appendDouble(b, tagMin, d.totals.min)
	b = appendDouble(b, tagMax, d.totals.max)
	return appendDouble(b, tagReciprocal, d.ReciprocalSum())
}

func (d *Digest) appendCentroids(b []byte, cs []centroid) []byte {
	if len(cs) > d.enough() {
		var scratch [maxKept]centroid
		cs = d.squeeze(append(scratch[:0], cs...), d.wireShape(), d.totals.count, false)
	}
	for _, c := range cs {
		size := byte(18)
		if c.mean == 0 {
			size = 9
		}
		b = append(b, tagCentroid, size)
		b = appendDouble(b, tagMean, c.mean)
		b = appendDouble(b, tagWeight, c.weight())
	}
	return b
}

func appendDouble(b []byte, tag byte, v float64) []byte {
	if v == 0 {
		return b
	}
	b = append(b, tag)
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
}
