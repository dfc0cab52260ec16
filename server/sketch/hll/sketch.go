// Package hll counts distinct members in bounded memory, and unites with the sets of the original Veneur: the HyperLogLog
// of Flajolet et al. with 2^14 registers and the hash, the split of its bits and the bytes of axiomhq/hyperloglog.
//
// A [Sketch] has three forms, each entered when the one before is full:
//
//   - exact: the hashes themselves, up to 1024. The count is exact; two members of one hash are not to be expected.
//   - sparse: keys of 32 bits, of which 25 tell members apart, up to 3328. It is also what comes by the wire from small
//     sets, and is next to exact.
//   - dense: a byte for each of the 16384 registers. The standard error is 0.81 %.
//
// One member takes 48 bytes; no form takes more than 16 KiB and a header. Which form a set has, and so its estimate,
// depends on what is in it and not on the order of inserts and merges: the union is commutative, associative and
// idempotent.
//
// A Sketch has one owner at a time; while it is not changed any number of goroutines may read it. The package does no
// I/O and keeps no state of its own.
package hll

import "github.com/dgryski/go-metro"

const (
	// Precision is the number of hash bits that choose a register.
	Precision = 14

	registers = 1 << Precision
	seed      = 1337 // of the hash, as axiomhq/hyperloglog has it

	maxWords  = registers / 8 // 16 KiB: a dense sketch, and as large a table as the other forms need
	maxExact  = 1024
	maxSparse = 2 * maxWords * loadNum / loadDen
	// A table is at most 13/16 full: not much waste, and probes stay short.
	loadNum, loadDen = 13, 16
)

type form uint8

const (
	exact form = iota
	sparse
	dense
)

// Sketch is a set of which only the number of members can be told. The zero value is empty. It must not be copied by
// value after its first use: see CopyFrom and Clone.
type Sketch struct {
	// words hold, by form, a table of hashes, a table of keys (two a word), or registers (eight a word).
	words []uint64
	n     int32 // entries of the table
	form  form
	zero  bool // exact: the hash 0, which marks a free slot, is a member
}

// New returns an empty sketch.
func New() *Sketch { return new(Sketch) }

// Insert adds a member, which is not kept. It allocates only while the set grows through its forms.
func (s *Sketch) Insert(member []byte) { s.InsertHash(metro.Hash64(member, seed)) }

// InsertString is Insert for a string.
func (s *Sketch) InsertString(member string) { s.InsertHash(metro.Hash64Str(member, seed)) }

// InsertHash adds a member by its hash, which must be that of Insert for sets that are merged with others.
func (s *Sketch) InsertHash(h uint64) {
	switch s.form {
	case dense:
		s.raise(position(h))
	case exact:
		s.insertExact(h)
	default:
		s.insertKey(keyOf(h))
	}
}

// Merge unites s with o, which is not changed.
func (s *Sketch) Merge(o *Sketch) {
	switch o.form {
	case exact:
		if o.zero {
			s.InsertHash(0)
		}
		for _, h := range o.words {
			if h != 0 {
				s.InsertHash(h)
			}
		}
	case sparse:
		s.toSparse()
		o.eachKey(s.insertKey)
	default:
		s.toDense()
		for i, w := range o.words {
			s.words[i] = maxBytes(s.words[i], w)
		}
	}
}

// Reset empties the sketch and keeps its memory.
func (s *Sketch) Reset() {
	*s = Sketch{words: s.words[:0]}
}

// CopyFrom makes s equal to o, in the memory of s.
func (s *Sketch) CopyFrom(o *Sketch) {
	words := append(s.words[:0], o.words...)
	*s = *o
	s.words = words
}

// Clone returns a copy of s that shares nothing with it.
func (s *Sketch) Clone() *Sketch {
	c := new(Sketch)
	c.CopyFrom(s)
	return c
}

// Size returns the bytes of memory the sketch holds, for pools that let the large ones go.
func (s *Sketch) Size() int { return 32 + 8*cap(s.words) }

// resize makes words n zeros.
func (s *Sketch) resize(n int) {
	if cap(s.words) < n {
		s.words = make([]uint64, n)
		return
	}
	s.words = s.words[:n]
	clear(s.words)
}
