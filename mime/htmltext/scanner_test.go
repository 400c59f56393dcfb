package htmltext

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
)

// The scanner cuts HTML as the tokenizer of x/net/html does.
func FuzzScanLikeTokenizer(f *testing.F) {
	files, err := filepath.Glob("testdata/pages/*.html")
	require.NoError(f, err)
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(string(source))
	}
	for _, source := range []string{
		"a<b c=d e='f' G=\"h&amp;i\" j/k = l>m</b n>o", "<a/><a / ><a b=/>",
		"<!doctype html><!-- a -- b --><!--><!---><!-- --!>c", "<!-----!>a<!----->b<!--a---!b--->c", "<a =b==c>",
		"<title><b></TITLE >a<textarea>&lt;</textarea>", "<script><!--<script></script>--></script>a",
		"<style></sty</style/>b",
		"< a</ a></><?x><!x>", "<xmp><b></xmp><plaintext></plaintext>", "<a b=\"", "<a b='c' b=d>", "<a\x00b>", "&#0",
		"&#9", "<a 0=&amp0; b='&notit;&semi;&amp;&ampx&amp=&amp#65;&#65;&amp'>",
	} {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source string) {
		if isComparable(source) {
			require.Equal(t, tokenized(source), scanned(source))
		}
	})
}

// isComparable leaves out where the two differ on purpose: the tokenizer replaces controls, takes scripts to be on,
// and ends a script within a script in a comment otherwise than browsers do.
func isComparable(source string) bool {
	lower := strings.ToLower(source)
	return !strings.ContainsAny(source, "\x00\r") && !strings.Contains(lower, "noscript") &&
		(!strings.Contains(lower, "<script") || !strings.Contains(lower, "<!-"))
}

// scanned describes the tags and the texts of a source, as the scanner gives them.
func scanned(source string) (tokens []string) {
	s := scanner{source: source}
	text := ""
	for {
		switch s.next() {
		case endOfPage:
			return appendText(tokens, text)
		case textToken:
			if s.isRaw {
				text += s.text
			} else {
				text += html.UnescapeString(s.text)
			}
		case startToken:
			tokens, text = append(appendText(tokens, text), "<"+lowerASCII(s.name)), ""
			seen := map[string]bool{} // the first of a name counts
			for r := (attrReader{source: s.attrs}); r.next(); {
				if name := lowerASCII(r.name); !seen[name] {
					seen[name] = true
					tokens = append(tokens, name+"="+unescapeAttribute(r.value))
				}
			}
		case endToken:
			tokens, text = append(appendText(tokens, text), "</"+lowerASCII(s.name)), ""
		}
	}
}

// tokenized does the same with what x/net/html gives.
func tokenized(source string) (tokens []string) {
	z := html.NewTokenizer(strings.NewReader(source))
	text := ""
	for {
		switch z.Next() {
		case html.ErrorToken:
			return appendText(tokens, text)
		case html.TextToken:
			text += string(z.Text())
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			tokens, text = append(appendText(tokens, text), "<"+string(name)), ""
			for more {
				var key, value []byte
				key, value, more = z.TagAttr()
				tokens = append(tokens, string(key)+"="+string(value))
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			tokens, text = append(appendText(tokens, text), "</"+string(name)), ""
		}
	}
}

func appendText(tokens []string, text string) []string {
	if text == "" {
		return tokens
	}
	return append(tokens, text)
}
