package jsonappend

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ofStdlib is what encoding/json writes, without its escaping of HTML.
func ofStdlib(t testing.TB, v any) string {
	t.Helper()
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	require.NoError(t, e.Encode(v))
	return strings.TrimSuffix(b.String(), "\n")
}

// listed makes of encoding/json's text what ours differs in by intention: U+FFFD and the separators stand as they are.
func listed(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		switch {
		case strings.HasPrefix(text, `\\`):
			b.WriteString(`\\`)
			text = text[2:]
		case strings.HasPrefix(text, `\ufffd`):
			b.WriteString("\ufffd")
			text = text[6:]
		case strings.HasPrefix(text, `\u2028`):
			b.WriteString("\u2028")
			text = text[6:]
		case strings.HasPrefix(text, `\u2029`):
			b.WriteString("\u2029")
			text = text[6:]
		default:
			b.WriteByte(text[0])
			text = text[1:]
		}
	}
	return b.String()
}

var texts = []string{
	"", "a", "ab", "abc", "abcd", "abcdefg", "abcdefgh", "abcdefghi", "abcdefghijklmnop", "abcdefghijklmnopqr", "q\"b\\", "a\nb\tc\rd\be\ff",
	"\x00\x1f\x7f", "é☃😀", "\xff\xc3(", "\u2028\u2029", "<a href='x'>&</a>", `\ufffd`, `\\ufffd`, "1234567\n", "12345678\n", "\n12345678", "1234567\xff",
	"12345678é", "123456\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x80", "\xe2\x80\xa8", "\x1b[1m", "aaaaaaaaaaaaaaaa\"aaaaaaaaaa", "~\x7f~~~~~~", " ~!#[]^_`{|}", "\ufffd",
}

func FuzzString(f *testing.F) {
	for _, s := range texts {
		f.Add(s, 7)
	}
	f.Fuzz(func(t *testing.T, s string, limit int) {
		text := string(String([]byte("x"), s)[1:])
		require.Equal(t, listed(ofStdlib(t, s)), text)
		require.True(t, utf8.ValidString(text))
		require.False(t, strings.ContainsAny(text, "\n\r"))

		stdlib, err := json.Marshal(s)
		require.NoError(t, err)
		require.Equal(t, strings.ReplaceAll(string(stdlib), `\ufffd`, "\ufffd"), strings.ReplaceAll(string(StringEscaped(nil, s, EscapeAsStdlib)), `\ufffd`, "\ufffd"))

		for e := range EscapeDelete << 1 {
			require.Equal(t, string(appendEscaped([]byte(`"`), s, 0, e)), string(StringEscaped(nil, s, e)))
		}

		limit &= 0xff
		cut := Cut(s, limit)
		require.True(t, strings.HasPrefix(s, cut))
		require.LessOrEqual(t, len(strings.ToValidUTF8(cut, "\ufffd")), limit*3)
		require.LessOrEqual(t, len(string([]rune(cut))), limit)
		if utf8.ValidString(s) {
			require.True(t, utf8.ValidString(cut))
			if len(s) > limit {
				_, size := utf8.DecodeRuneInString(s[len(cut):])
				require.Greater(t, len(cut)+size, limit)
			} else {
				require.Equal(t, s, cut)
			}
		}
	})
}

// TestStringAtEveryPlace has each byte that must be looked at, at each place of texts of each length.
func TestStringAtEveryPlace(t *testing.T) {
	for n := 1; n <= 27; n++ {
		for at := range n {
			for c := range 256 {
				s := strings.Repeat("~", at) + string([]byte{byte(c)}) + strings.Repeat(" ", n-at-1)
				require.Equal(t, listed(ofStdlib(t, s)), string(String(nil, s)), "%q", s)
			}
		}
	}
}

// TestStringKeepsWhatStandsBefore also has buffers that end at every place, since a store writes more bytes than there are.
func TestStringKeepsWhatStandsBefore(t *testing.T) {
	for room := range 64 {
		for _, s := range texts {
			dst := append(make([]byte, 0, room), "before"...)
			require.Equal(t, "before"+string(String(nil, s)), string(String(dst, s)))
		}
	}
}

func TestStringEscaped(t *testing.T) {
	s := "<&>\u2028\u2029\x7f\n"
	for e, want := range map[Escapes]string{
		0:                                "\"<&>\u2028\u2029\x7f\\n\"",
		EscapeHTML:                       "\"\\u003c\\u0026\\u003e\u2028\u2029\x7f\\n\"",
		EscapeSeparators:                 "\"<&>\\u2028\\u2029\x7f\\n\"",
		EscapeDelete:                     "\"<&>\u2028\u2029\\u007f\\n\"",
		EscapeAsStdlib:                   "\"\\u003c\\u0026\\u003e\\u2028\\u2029\x7f\\n\"",
		EscapeSeparators | EscapeDelete:  "\"<&>\\u2028\\u2029\\u007f\\n\"",
		EscapeHTML | EscapeDelete | 1<<6: "\"\\u003c\\u0026\\u003e\u2028\u2029\\u007f\\n\"",
	} {
		assert.Equal(t, want, string(StringEscaped(nil, s, e)), "%b", e)
	}
}

func TestCut(t *testing.T) {
	for _, tt := range []struct {
		s     string
		limit int
		want  string
	}{
		{"", 0, ""},
		{"abc", 3, "abc"},
		{"abcd", 3, "abc"},
		{"abc", 0, ""},
		{"aéb", 2, "a"},
		{"aéb", 3, "aé"},
		{"a😀", 4, "a"},
		{"a😀", 5, "a😀"},
		{"\xff\xff", 5, "\xff"},
		{"\xff\xff", 6, "\xff\xff"},
		{"\xe2\x82", 3, "\xe2"},
	} {
		assert.Equal(t, tt.want, Cut(tt.s, tt.limit), "%q %d", tt.s, tt.limit)
	}
}

func TestStrings(t *testing.T) {
	require.Equal(t, `[]`, string(Strings(nil, nil)))
	require.Equal(t, `["a","b:\"c\""]`, string(Strings(nil, []string{"a", `b:"c"`})))
}
