package htmltext_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/mime/htmltext"
)

// TestDoubtfulTextStaysSeen: what only some mail clients show loses no character, and is named.
func TestDoubtfulTextStaysSeen(t *testing.T) {
	for name, tc := range map[string]struct{ html, text, doubtful string }{
		"letters upon each other":   {"a<p style='letter-spacing:-1em'>b <b>c</b></p>d", "a\n\nb c\n\nd", "b c"},
		"inherited, and taken back": {"<div style='letter-spacing:-20px'>a<p style='letter-spacing:normal'>b", "a\n\nb", "a"},
		"a little tighter":          {"<p style='letter-spacing:-.02em'>a</p><p style='letter-spacing:-1px'>b", "a\n\nb", ""},
		"a tiny part of a font":     {"a<p style='font-size:.01em'>b", "a\n\nb", "b"},
		"of no size at all":         {"a<p style='font-size:0'>b", "a", ""},
		"without a mask":            {"a<p style='mask-image:none'>b", "a\n\nb", ""},
		"closed details":            {"a<details><summary>b</summary><p>c</details>d", "a\nb\n\nc\n\nd", "c"},
		"open details":              {"<details open><summary>b</summary>c</details>", "b\nc", ""},
		"details in details":        {"<details>a<details open><summary>b</summary>c</details></details>", "a\nb\nc", "a b c"},
		"hidden from Outlook":       {"a<p style='mso-hide:all'>b", "a\n\nb", ""},
	} {
		t.Run(name, func(t *testing.T) {
			read := htmltext.Read(tc.html)
			require.Equal(t, tc.text, read.Text)
			require.Equal(t, tc.doubtful, strings.Join(strings.Fields(read.Doubtful), " "))
			require.Equal(t, read.Doubtful, htmltext.ReadBody("", tc.html).Doubtful)
			require.Empty(t, htmltext.ReadBody("a", "").Doubtful)
		})
	}
	long := htmltext.Read("<p style='letter-spacing:-1em'>" + strings.Repeat("<b>word</b> ", 5000))
	require.Less(t, len(long.Doubtful), 9000)
}

// TestTextsOfPictures are within the text, and it is said where.
func TestTextsOfPictures(t *testing.T) {
	for html, want := range map[string][]string{
		"a<img alt=b>c":                            {"b"},
		"\n<p>a<p><img alt='b c'> <img alt=d>e":    {"b c", "d"},
		"<img alt='a'>":                            {"a"},
		"<p>a<p><img><img alt=' '>b":               nil,
		"a<img alt=b width=1>":                     nil,
		"<div style='display:none'><img alt=b>":    nil,
		"<input type=button value=b><p>c":          nil,
		"é<a href=x><img alt='é é'></a><b>é</b> é": {"é é"},
	} {
		read := htmltext.Read(html)
		var found []string
		for _, a := range read.Alternative {
			found = append(found, read.Text[a.Start:a.End])
		}
		require.Equal(t, want, found, html)
		require.Equal(t, read.Alternative, htmltext.ReadBody("", html).Alternative)
	}
	many := htmltext.Read(strings.Repeat("<img alt=a>", 1001))
	require.Len(t, many.Alternative, 1000)
	require.True(t, many.Incomplete)
	require.False(t, htmltext.Read(strings.Repeat("<img alt=a>", 1000)).Incomplete)
}

func TestTextsOfTinyPictures(t *testing.T) {
	for html, text := range map[string]string{
		"a<img alt=b width=1 height=1>":                    "a",
		"a<img alt=b width=1>":                             "a",
		"a<img alt=b height=' 0 '>":                        "a",
		"a<img alt=b style='width:1px'>":                   "a",
		"a<img alt=b width=1 style='width:50px'>":          "ab",
		"a<img alt=b width=100 height=20>":                 "ab",
		"a<img alt=b width=100%>":                          "ab",
		"<style>.t{height:0}</style>a<img alt=b class=t>c": "ac",
		"a<p width=1 height=1>b</p>":                       "a\n\nb",
	} {
		require.Equal(t, text, htmltext.Text(html), html)
	}
	require.Empty(t, htmltext.Read("<img alt=b width=1>").Hidden, "programs that count readers write one")
}
