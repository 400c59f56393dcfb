package mime_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/mime"
)

func TestTextFromHTML(t *testing.T) {
	cases := map[string]struct{ html, text string }{
		"nothing":             {"", ""},
		"plain":               {"Hello", "Hello"},
		"blanks collapse":     {" a \n\t b&nbsp;<b> c</b>d ", "a b cd"},
		"blank between tags":  {"<b>a</b>&nbsp;<i>b</i>", "a b"},
		"paragraphs":          {"<p>One.</p><p>Two.</p>", "One.\n\nTwo."},
		"divisions and lines": {"<div>a</div><div>b<br>c</div>", "a\nb\nc"},
		"two breaks":          {"a<br><br>b<br><br><br>c", "a\n\nb\n\nc"},
		"list":                {"<ul><li>one<li><p>two</p></ul>end", "- one\n\n- two\n\nend"},
		"table":               {"<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a b\nc"},
		"headings and rule":   {"<h1>Title</h1>text<hr>more", "Title\n\ntext\n---\nmore"},
		"preformatted":        {"<pre>a\n  b</pre>c", "a\n  b\n\nc"},
		"images":              {`see <img src=x alt="the photo"> and <img src=y>.`, "see the photo and ."},
		"entities":            {"&lt;b&gt; &amp; &euro;&#8364;", "<b> & \u20ac\u20ac"},
		"styles and scripts":  {"<head><title>t</title><style>p{}</style></head><script>x<p></script>text", "text"},
		"template and iframe": {"<template><p>a</p></template><iframe>b</iframe>c", "c"},
		"style never closed":  {"text<style>p{}", "text"},
		"comments":            {"a<!-- b -->c<![CDATA[d]]>", "ac"},
		"conditional comment": {"<!--[if mso]>a<![endif]-->b", "b"},
		"cut off":             {"a<p", "a"},
		"end without start":   {"</pre></td></li>a</p>", "a"},
		"quote":               {"<blockquote>a</blockquote>b", "a\n\nb"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.text, mime.TextFromHTML(c.html))
		})
	}
}
