package jsonappend

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestKeys(t *testing.T) {
	paths := Keys{Paths: true}
	for _, tt := range []struct {
		name  string
		rules Keys
		in    string
		want  string
		count Counts
	}{
		{"plain", paths, "http.method", "http.method", Counts{}},
		{"one character", paths, "a", "a", Counts{}},
		{"no rules", Keys{}, "..a. .", "..a. .", Counts{}},
		{"no rules, empty", Keys{}, "", "", Counts{}},
		{"bad UTF-8", Keys{}, "a\xff", "a\ufffd", Counts{}},
		{"empty", paths, "", "_", Counts{RewrittenKeys: 1}},
		{"leading dot", paths, ".x", "_x", Counts{RewrittenKeys: 1}},
		{"trailing dot", paths, "x.", "x_", Counts{RewrittenKeys: 1}},
		{"trailing dot after eight bytes", paths, "abcdefg.", "abcdefg_", Counts{RewrittenKeys: 1}},
		{"trailing dot after nine bytes", paths, "abcdefgh.", "abcdefgh_", Counts{RewrittenKeys: 1}},
		{"double dot", paths, "a..b", "a__b", Counts{RewrittenKeys: 1}},
		{"double dot over a word's end", paths, "abcdefg..b", "abcdefg__b", Counts{RewrittenKeys: 1}},
		{"three dots, and one that may stay", paths, "a...b.c", "a___b.c", Counts{RewrittenKeys: 1}},
		{"nothing but dots", paths, "...", "___", Counts{RewrittenKeys: 1}},
		{"one dot", paths, ".", "_", Counts{RewrittenKeys: 1}},
		{"a blank part", paths, "a. .b", "a._.b", Counts{RewrittenKeys: 1}},
		{"blanks only", paths, " \t", "__", Counts{RewrittenKeys: 1}},
		{"a blank character that is not ASCII", paths, "a.\u2003\u3000", "a.__", Counts{RewrittenKeys: 1}},
		{"a separator of files", paths, "\x1c", "_", Counts{RewrittenKeys: 1}},
		{"blanks beside text", paths, "a. b .c d", "a. b .c d", Counts{}},
		{"a control character alone", paths, "\x00", "\x00", Counts{}},
		{"not ASCII", paths, "größe.日本", "größe.日本", Counts{}},
		{"not ASCII, double dot", paths, "größe..日本", "größe__日本", Counts{RewrittenKeys: 1}},
		{"dots as something else", Keys{Dot: '@'}, "a..b.c", "a@@b@c", Counts{RewrittenKeys: 1}},
		{"both", Keys{Dot: '@', Paths: true}, ".b.c", "_b@c", Counts{RewrittenKeys: 1}},
		{"reserved", Keys{Reserved: []string{"a", "host"}}, "host", "_host", Counts{ReservedKeys: 1}},
		{"reserved with its underscore", Keys{Reserved: []string{"host", "_host"}}, "host", "__host", Counts{ReservedKeys: 1}},
		{"like a reserved one", Keys{Reserved: []string{"host"}}, "hosts", "hosts", Counts{}},
		{"reserved once rewritten", Keys{Paths: true, Reserved: []string{"_"}}, "", "__", Counts{RewrittenKeys: 1, ReservedKeys: 1}},
		{"cut", Keys{Max: 3}, "abcd", "abc", Counts{CutKeys: 1}},
		{"not cut", Keys{Max: 4}, "abcd", "abcd", Counts{}},
		{"cut within a character", Keys{Max: 2}, "aé", "a", Counts{CutKeys: 1}},
		{"cut to a trailing dot", Keys{Max: 2, Paths: true}, "a.b", "a_", Counts{CutKeys: 1, RewrittenKeys: 1}},
		{"cut after bytes became three each", Keys{Max: 4}, "\xff\xff", "\ufffd", Counts{CutKeys: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var o Order
			var c Counts
			o.Add(tt.in, 7, &tt.rules, &c)
			o.Sort(&c)
			require.Equal(t, 1, o.Len())
			key, at := o.At(0)
			assert.Equal(t, tt.want, key)
			assert.Equal(t, 7, at)
			assert.Equal(t, tt.count, c)
			assert.Equal(t, string(String(nil, tt.want))+":", string(o.AppendKey(nil, 0)))
		})
	}
}

// FuzzKeys: whatever the keys, those that are written are what the rules promise, and a second time the rules change nothing.
func FuzzKeys(f *testing.F) {
	for _, s := range []string{"a,b", ".x,x.,a..b", ",,", "\xff,\xfe,\ufffd", "host,_host,host", "aaaaaaaaab,aaaaaaaaaa,aaaaaaaa,aaaaaaaaa", "\u2003, ,a. ", "a\x00,a,a\x00\x00", strings.Repeat("k,j,", 20)} {
		f.Add(s, byte(0))
		f.Add(s, byte(0xff))
		f.Add(s, byte(1))
	}
	f.Fuzz(func(t *testing.T, list string, mode byte) {
		rules := Keys{Paths: mode&1 != 0}
		if mode&2 != 0 {
			rules.Dot = '@'
		}
		if mode&4 != 0 {
			rules.Reserved = []string{"host", "_host", "_"}
		}
		if mode&8 != 0 {
			rules.Max = 9
		}
		keys := strings.Split(list, ",")
		var o Order
		var c Counts
		if mode&16 != 0 {
			o.ResetAll()
		}
		for i, key := range keys {
			o.Add(key, i, &rules, &c)
		}
		o.Sort(&c)

		want := map[string][]int{}
		for i, key := range keys {
			var c Counts
			written := string(rules.append(nil, key, &c))
			require.True(t, utf8.ValidString(written))
			if rules.Paths {
				require.True(t, takenByElasticsearch(written, rules.Dot), "%q", written)
			}
			for _, r := range rules.Reserved {
				require.NotEqual(t, r, written)
			}
			if rules.Max == 0 {
				require.Equal(t, written, string(rules.append(nil, written, &c)))
			}
			want[written] = append(want[written], i)
		}
		var got []string
		n := 0
		for i := range o.Len() {
			key, at := o.At(i)
			if places := want[key]; mode&16 != 0 {
				require.Equal(t, places[0], at)
				want[key] = places[1:]
			} else {
				require.Equal(t, places[len(places)-1], at, "the last one counts")
				n += len(places)
			}
			got = append(got, key)
			require.Equal(t, listed(ofStdlib(t, key))+":", string(o.AppendKey([]byte{}, i)))
		}
		require.True(t, slices.IsSorted(got))
		if mode&16 == 0 {
			require.Len(t, got, len(want))
			require.Equal(t, len(keys), n)
			require.EqualValues(t, len(keys)-len(got), c.DuplicateKeys)
		} else {
			require.Len(t, got, len(keys))
		}
	})
}

// takenByElasticsearch splits at the dots, of which none may be lost by that, and wants something in every part.
func takenByElasticsearch(key string, dot byte) bool {
	if dot != 0 {
		return key != "" && !strings.Contains(key, ".")
	}
	for part := range strings.SplitSeq(key, ".") {
		if strings.TrimFunc(part, func(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }) == "" {
			return false
		}
	}
	return true
}

// TestOrderOfMany has more keys than are sorted as they come, in every arrangement of their beginnings.
func TestOrderOfMany(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 80 {
		for _, form := range []string{"%d", "%09d", "same beginning %d", "%c", "%[1]c%[1]c\x00"} {
			var o Order
			var c Counts
			last := map[string]int{}
			for i := range n {
				key := fmt.Sprintf(form, 'a'+r.IntN(40))
				o.Add(key, i, &Keys{}, &c)
				last[key] = i
			}
			o.Sort(&c)
			require.Equal(t, len(last), o.Len())
			require.EqualValues(t, n-len(last), c.DuplicateKeys)
			before := ""
			for i := range o.Len() {
				key, at := o.At(i)
				require.True(t, i == 0 || before < key)
				require.Equal(t, last[key], at)
				before = key
			}
		}
	}
}
