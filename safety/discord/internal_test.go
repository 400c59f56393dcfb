package discord

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"", 3, ""}, {"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"😀😀", 4, "😀😀"}, {"😀😀", 3, "😀…"}, {"a😀b", 3, "a…"}, {"éé", 1, "…"},
	} {
		require.Equal(t, c.want, cut(c.text, c.n), "%q to %d", c.text, c.n)
	}
}

// Whatever a stranger writes is one piece of code of bounded length, which nothing within ends.
func FuzzCode(f *testing.F) {
	for _, seed := range []string{"hello", "`x`", "```", "\u202e", "\u2066a\u2069", "a\nb\r\nc", "\xff\xfe", "\\",
		"@everyone", strings.Repeat("😀", 300), "\u2028", " \t "} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		one := code(s, 100)
		require.LessOrEqual(t, len(utf16.Encode([]rune(one))), 100)
		several := block(s, 200)
		require.LessOrEqual(t, len(utf16.Encode([]rune(several))), 200)
		require.NotContains(t, one, "\n")
		if one != "" {
			require.Equal(t, 2, strings.Count(one, "`"))
			require.True(t, strings.HasPrefix(one, "`") && strings.HasSuffix(one, "`") && len(one) > 2, one)
		}
		if several != "" {
			require.Equal(t, 6, strings.Count(several, "`"))
			require.True(t, strings.HasPrefix(several, "```\n") && strings.HasSuffix(several, "\n```"), several)
		}
		for _, r := range one + strings.ReplaceAll(several, "\n", "") {
			require.False(t, unicode.IsControl(r) || unicode.Is(unicode.Cf, r), "%q", r)
		}
		require.True(t, utf8.ValidString(one+several))
	})
}

// A button is read as it was written, and nothing else is read as one.
func FuzzParseButton(f *testing.F) {
	for _, seed := range []string{"", "postroom", "postroom:approve:AAAAAAAAAAAAAAAAAAAAAA:x",
		"postroom:show:AAAAAAAAAAAAAAAAAAAAAB:", "a:b:c:d", "postroom:approve:AAAA:x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		pressed, ok := parseButton(s)
		if !ok {
			require.Zero(t, pressed)
			return
		}
		id, err := short(pressed.approval)
		require.NoError(t, err)
		require.Equal(t, s, strings.Join([]string{buttonPrefix, string(pressed.verb), id, pressed.signature}, ":"))
	})
}
