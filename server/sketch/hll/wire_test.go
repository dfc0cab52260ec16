package hll

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func golden(t testing.TB, name string) []byte {
	b, err := os.ReadFile(filepath.Join("testdata", name+".bin"))
	require.NoError(t, err)
	return b
}

var goldens = []struct {
	name string
	n    int
}{
	{"v1-empty", 0},
	{"v1-one", 1},
	{"v1-loose", 100},
	{"v1-mixed", 100},
	{"v1-list3000", 3000},
	{"v1-list", 5000},
	{"v1-dense", 100_000},
	{"v1-base", 3_000_000},
	{"v2-loose", 100},
	{"v2-list3000", 3000},
	{"v2-dense", 100_000},
}

func TestDecodeOfTheOriginal(t *testing.T) {
	for _, tt := range goldens {
		t.Run(tt.name, func(t *testing.T) {
			b := golden(t, tt.name)
			s := fill(0, 7)
			require.NoError(t, s.Decode(b))
			if tt.n <= maxSparse {
				assert.EqualValues(t, tt.n, s.Estimate())
			} else {
				assert.LessOrEqual(t, relative(s.Estimate(), tt.n), 0.025)
			}
			if tt.n <= 100_000 {
				ours := fill(0, tt.n)
				assert.Equal(t, ours.AppendBinary(nil), s.AppendBinary(nil), "the same members inserted here")
				ours.Merge(s)
				assert.LessOrEqual(t, relative(ours.Estimate(), tt.n), 0.025)
				assert.Equal(t, fill(0, tt.n).AppendBinary(nil), ours.AppendBinary(nil), "the union is the set")
			}
		})
	}
}

// What is written is what the original would have written.
func TestAppendBinary(t *testing.T) {
	for _, tt := range []struct {
		name string
		n    int
	}{
		{"v1-empty", 0}, {"v1-list3000", 3000}, {"v1-dense", 100_000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := append([]byte("before"), golden(t, tt.name)...)
			assert.Equal(t, want, fill(0, tt.n).AppendBinary([]byte("before")))
		})
	}
	// One member; the key 0x012ec7a0 is that of v1-one.
	assert.Equal(t, "010e0001"+"00000000"+"00000001"+"012ec7a0"+"00000004"+"a08fbb09", hex.EncodeToString(fill(0, 1).AppendBinary(nil)))
}

func TestBaseOfRegisters(t *testing.T) {
	s := New()
	require.NoError(t, s.Decode(golden(t, "v1-base")))
	b := s.AppendBinary(nil)
	assert.Equal(t, byte(5), b[2], "the least register")
	again := New()
	require.NoError(t, again.Decode(b))
	assert.Equal(t, s.Estimate(), again.Estimate())

	// A register that does not fit is cut, not wrapped.
	for i := range s.words {
		s.words[i] = 0x0202020202020202
	}
	s.raise(9, maxRho)
	require.NoError(t, again.Decode(s.AppendBinary(nil)))
	assert.Equal(t, uint64(0x0202020202021102), again.words[1])
}

// refusals are bytes that lie, by reason.
var refusals = []struct {
	name, hex string
	reason    DecodeError
}{
	{"B141 empty", "", ErrTruncated},
	{"B141 version only", "01", ErrTruncated},
	{"B141 precision", "010e", ErrTruncated},
	{"B141 header", "010e0001", ErrTruncated},
	{"B141 four billion keys", "010e0001ffffffff", ErrTruncated},
	{"a count that overflows 32 bits with its header", "010e000140000000" + "000000000000000000000000", ErrTruncated},
	{"dense header", "010e0000", ErrTruncated},
	{"version 0", "000e000100000000" + "000000000000000000000000", ErrVersion},
	{"version 3", "030e000100000000" + "000000000000000000000000", ErrVersion},
	{"precision 4", "0104000100000000" + "000000000000000000000000", ErrPrecision},
	{"precision 16", "0110000100000000" + "000000000000000000000000", ErrPrecision},
	{"unknown form", "010e000200000000" + "000000000000000000000000", ErrForm},
	{"base in version 2", "020e010000004000", ErrForm},
	{"no list", "010e000100000000", ErrTruncated},
	{"list shorter than said", "010e000100000000" + "0000000112ec7a0000000005" + "a08fbb09", ErrLength},
	{"list longer than said", "010e000100000000" + "00000001012ec7a000000004" + "a08fbb0900", ErrLength},
	{"more keys listed than there are", "010e000100000000" + "00000002012ec7a000000004" + "a08fbb09", ErrLength},
	{"another last key", "010e000100000000" + "00000001012ec7a200000004" + "a08fbb09", ErrLength},
	{"a difference without end", "010e000100000000" + "00000001012ec7a000000004" + "a08fbb89", ErrKey},
	{"a key listed twice", "010e000100000000" + "00000002012ec7a000000005" + "a08fbb0900", ErrKey},
	{"a difference past 32 bits", "010e000100000000" + "000000010000000000000005" + "8080808010", ErrKey},
	{"keys past 32 bits", "010e000100000000" + "000000020000000000000009" + "a08fbb09" + "ffffffff0f", ErrKey},
	{"loose key 0", "010e000100000001" + "00000000" + "000000000000000000000000", ErrKey},
	{"even key of more than 26 bits", "010e000100000001" + "f0000002" + "000000000000000000000000", ErrKey},
	{"odd key without zeros", "010e000100000001" + "00040001" + "000000000000000000000000", ErrKey},
	{"odd key with too many zeros", "010e000100000001" + "00040053" + "000000000000000000000000", ErrKey},
	{"odd key with bits where zeros are said", "010e000100000001" + "00000083" + "000000000000000000000000", ErrKey},
	{"registers missing", "010e000000002000", ErrLength},
	{"no registers", "010e000000000000", ErrLength},
	{"registers of version 2 missing", "020e000000004000", ErrLength},
	{"four billion registers", "020e0000ffffffff", ErrLength},
}

func TestRefusals(t *testing.T) {
	for _, tt := range refusals {
		t.Run(tt.name, func(t *testing.T) {
			b, err := hex.DecodeString(tt.hex)
			require.NoError(t, err)
			s := fill(0, 3)
			var got DecodeError
			require.ErrorAs(t, s.Decode(b), &got)
			assert.Equal(t, tt.reason, got)
			assert.Equal(t, "hll: bad "+string(tt.reason), got.Error())
			assert.Zero(t, s.Estimate(), "left empty")
		})
	}
	bad := golden(t, "v1-base") // base 5
	bad[2] = 40
	assert.Equal(t, ErrRegister, New().Decode(bad))
	bad[2] = 250 // base and register wrap a byte
	assert.Equal(t, ErrRegister, New().Decode(bad))
	bad = golden(t, "v2-dense")
	bad[9000] = maxRho + 1
	assert.Equal(t, ErrRegister, New().Decode(bad))
	for _, g := range goldens {
		assert.Error(t, New().Decode(append(golden(t, g.name), 0)), "a byte after %s", g.name)
	}
}

// Cut off anywhere, bytes are refused.
func TestTruncation(t *testing.T) {
	s := New()
	for _, name := range []string{"v1-mixed", "v1-list3000", "v1-dense", "v2-dense"} {
		b := golden(t, name)
		for n := 0; n < len(b); n += 1 + n/50 {
			require.Error(t, s.Decode(b[:n]), "%s, %d bytes", name, n)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, tt := range refusals {
		b, _ := hex.DecodeString(tt.hex)
		f.Add(b)
	}
	for _, g := range goldens {
		f.Add(golden(f, g.name))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s := New()
		if err := s.Decode(b); err != nil {
			require.Zero(t, s.Estimate())
			return
		}
		require.LessOrEqual(t, s.Size(), 32+10*len(b))
		written := s.AppendBinary(nil)
		again := New()
		require.NoError(t, again.Decode(written))
		require.Equal(t, written, again.AppendBinary(nil))
		again.Merge(s)
		s.Merge(fill(0, 2))
		s.Estimate()
	})
}
