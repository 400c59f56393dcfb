package safehtml_test

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/mime/safehtml"
)

const pixel = "iVBORw0KGgoAAAANSUhEUgAAABgAAAAMCAIAAAD3UuoiAAAAF0lEQVR4nGMQsemhCmIYNWjUoFGD" +
	"8CEACjX3gQYGatsAAAAASUVORK5CYII="

const external = ` target="_blank" rel="noopener noreferrer"`

// notes are the true hosts of links.
var notes = regexp.MustCompile(` <bdi class="host">\[[^<]*\]</bdi>`)

// withoutNotes is what was cleaned, and what it is when it is cleaned again, both without their notes.
func withoutNotes(page safehtml.Page) (once, twice string) {
	once = notes.ReplaceAllString(page.HTML, "")
	return once, notes.ReplaceAllString(safehtml.Clean(once, nil).HTML, "")
}

// clean cleans a source, and checks that the result is as it is when it is cleaned again.
func clean(t *testing.T, source string) string {
	t.Helper()
	page := safehtml.Clean(source, nil)
	once, twice := withoutNotes(page)
	require.Equal(t, once, twice, source)
	require.False(t, page.Cut)
	return page.HTML
}

func TestStructureIsKept(t *testing.T) {
	for source, want := range map[string]string{
		`<p>A <b>bold</b> word`: `<p>A <b>bold</b> word</p>`,
		`<table width="600" bgcolor=#fff onclick=x><tr><td colspan=2>x<td>y<tr><td>z</table>`: `<table bgcolor="#fff" width="600">` +
			`<tr><td colspan="2">x</td><td>y</td></tr><tr><td>z</td></tr></table>`,
		`<ul><li>a<li>b<ul><li>c</ul></ul>`:                   `<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>`,
		`<dl><dt>a<dd>b<dt>c</dl>`:                            `<dl><dt>a</dt><dd>b</dd><dt>c</dt></dl>`,
		`<p>a<p>b<div>c</div>`:                                `<p>a</p><p>b</p><div>c</div>`,
		`<b>a<i>b</b>c</i>d`:                                  `<b>a<i>b</i></b><i>c</i>d`,
		`<p><font color="red">a<p>b`:                          `<p><font color="red">a</font></p><font color="red"><p>b</p></font>`,
		`<div><table><tr><td></div>x</td></tr></table>y`:      `<div><table><tr><td>x</td></tr></table>y</div>`,
		`<td>no table</td>`:                                   `no table`,
		`</b></p>x<br></br><hr/>`:                             `x<br><hr>`,
		`<html><body style="background:#000">x</body></html>`: `<div style="background-color:#000">x</div>`,
		`<body bgcolor=black><p>x`:                            `<div style="background-color:black"><p>x</p></div>`,
		`<!-- a --><!doctype html><![if !mso]>x<![endif]>`:    `x`,
		`1 < 2 &amp; "3" &lt;b&gt; &copy;`:                    `1 &lt; 2 &amp; &#34;3&#34; &lt;b&gt; ©`,
		"a\x00b\x07c\u202ed\xff":                              "abcd\ufffd",
	} {
		require.Equal(t, want, clean(t, source), source)
	}
}

func TestWhatRunsOrAsksIsLeftOut(t *testing.T) {
	for source, want := range map[string]string{
		`a<script>alert(1)</script>b`:                                                                     `ab`,
		`a<script src=x/>alert(1)</script>b`:                                                              `ab`,
		`a<style>@import "http://evil.example"; p{}</style>b`:                                             `ab`,
		`<title>t</title><link rel=stylesheet href=//evil.example>b`:                                      `b`,
		`<base href="http://evil.example/"><meta http-equiv=refresh content="0;url=//evil.example">b`:     `b`,
		`<form action=//evil.example><input name=a value=b><button>Go</button></form>`:                    `Go`,
		`<textarea><p>x</textarea><iframe src=//evil.example>x</iframe><object data=x>y</object>`:         `y`,
		`a<svg><script>alert(1)</script><a href="javascript:x">t</a><image href=//evil.example /></svg>b`: `ab`,
		`a<svg/>b<math><mtext><style><img src=x onerror=alert(1)></style></math>c`:                        `abc`,
		`a<svg>t<p>b`: `a<p>b</p>`,
		`<noscript><img src=x alt=y><p title="</noscript><img src=x onerror=alert(1)>">`: `[y] <p></p>`,
		`<p onclick="alert(1)" id=x class=y>z`:                                           `<p>z</p>`,
		`<p style="color:red" style="position:fixed">`:                                   `<p style="color:red"></p>`,
		`<p/onmouseover=alert(1)>x`:                                                      `<p>x</p>`,
		`<template><p>x</p></template><x-y onclick=a>z</x-y>`:                            `<p>x</p>z`,
		`<table background="http://evil.example/"><tr><td>x`:                             `<table><tr><td>x</td></tr></table>`,
		`<video src=//evil.example poster=x></video><audio src=x>`:                       ``,
		`<img srcset="//evil.example 2x" alt="x">`:                                       `[x] `,
		`<plaintext><p>x`: `&lt;p&gt;x`,
		`<p align='"><script>' bgcolor="url(x)" width="expression(1)">x`: `<p>x</p>`,
	} {
		require.Equal(t, want, clean(t, source), source)
	}
}

func TestLinksSayWhereTheyLead(t *testing.T) {
	link := func(href, title, text string) string {
		return `<a href="` + href + `" title="` + title + `"` + external + `>` + text + `</a>`
	}
	note := func(host string) string {
		return ` <bdi class="host">[` + host + `]</bdi>`
	}
	for source, want := range map[string]string{
		`<a href="https://shop.example/a?b=1&amp;c" title="bank" target=_top>Buy</a>`:                             link("https://shop.example/a?b=1&amp;c", "shop.example", "Buy"),
		`<a href=" HTTP://Shop.Example:80/ ">www.shop.example</a>`:                                                link("http://shop.example:80/", "shop.example", "www.shop.example"),
		`<a href="https://evil.example">https://bank.example/login</a>`:                                           link("https://evil.example", "evil.example", "https://bank.example/login"+note("evil.example")),
		`<a href="https://evil.example"><b>bank</b>.ex&shy;ample</a>`:                                             link("https://evil.example", "evil.example", "<b>bank</b>.ex\u00adample"+note("evil.example")),
		`<a href="https://evil.example"><img src=x alt="bank.example"></a>`:                                       link("https://evil.example", "evil.example", "[bank.example] "+note("evil.example")),
		`<a href="https://bank.example@evil.example/">x</a>`:                                                      link("https://evil.example/", "evil.example", "x"),
		`<a href="https://b&#1072;nk.example">bank.example</a>`:                                                   link("https://xn--bnk-6cd.example", "xn--bnk-6cd.example", "bank.example"+note("xn--bnk-6cd.example")),
		`<a href="java&#10;script:alert(1)">x</a>`:                                                                `x`,
		`<a href="&#1;javascript:alert(1)">x</a>`:                                                                 `x`,
		`<a href="data:text/html,x">x</a><a href="vbscript:x">y</a><a href="//evil.example">z</a><a name=q>q</a>`: `xyzq`,
		`<a href="https://evil.example\@bank.example/">x</a>`:                                                     `x`,
		`<a href="https:evil.example">x</a><a href="file:///etc/passwd">y</a>`:                                    `xy`,
		`<a href="mailto:ann@example.org?subject=Hi">ann@example.org</a>`:                                         link("mailto:ann@example.org?subject=Hi", "ann@example.org", "ann@example.org"),
		`<a href="mailto:eve@evil.example">ann@bank.example</a>`:                                                  link("mailto:eve@evil.example", "eve@evil.example", "ann@bank.example"+note("eve@evil.example")),
		`<a href="https://a.example">a<a href="https://b.example">b`:                                              link("https://a.example", "a.example", "a") + link("https://b.example", "b.example", "b"),
	} {
		require.Equal(t, want, clean(t, source), source)
	}
}

// A link to an address says all of whom a mail from it would go to.
func TestALinkToAnAddressHidesNobody(t *testing.T) {
	for address, want := range map[string]string{
		"mailto:a@b.example?bcc=e@evil.example&Subject=1%2B1+2%0D%0ABcc:x&body=a%0Ab%26&cc=c": "mailto:a@b.example?subject=1%2B1%2B2%20Bcc%3Ax&amp;body=a%0Ab%26",
		"mailto:a@b.example#x":                        "mailto:a@b.example",
		"mailto:a@b.example%3Fbcc=e":                  "mailto:a@b.example%3Fbcc=e",
		"mailto:a@b.example,e@evil.example":           "",
		"mailto:a%40b.example%2Ce%40evil.example":     "",
		"mailto:" + strings.Repeat("a", 300) + "@b.c": "",
	} {
		got := clean(t, `<a href="`+address+`">x</a>`)
		require.Equal(t, want != "", strings.Contains(got, `<a href="`+want+`"`), got)
	}
}

// The true host stands at the end of a link whose text names another, and nothing within the link hides it.
func TestANoteIsNeitherAvoidedNorForged(t *testing.T) {
	const note = ` <bdi class="host">[evil.example]</bdi></a>`
	for _, text := range []string{
		`bank.example <span style="display:none">[evil.example]</span>`,
		`bank.example<span hidden> x</span> <bdi class="host">[evil.example]</bdi>`,
		`bank.<span style="font-size:0">&#8203;</span>example`,
		"ba\u034fnk.exam\ufe00ple", "bank\uff0eexample", "bank\u3002example", "bank\uff61example", "bank\u2024example",
		strings.Repeat("\u2060", 1000) + "bank.example",
	} {
		got := clean(t, `<a href="https://evil.example">`+text+`</a>`)
		require.True(t, strings.HasSuffix(got, note), got)
		require.Equal(t, 1, strings.Count(got, "class="), got)
		require.NotContains(t, got, "style", got)
		require.NotContains(t, got, "hidden", got)
	}
	require.Equal(t, `elpmaxe.knab`, clean(t, `<bdo dir="rtl">elpmaxe.knab</bdo>`))
	require.Equal(t, `<bdi>[bank.example]</bdi>`, clean(t, `<bdi class="host">[bank.example]</bdi>`))
	require.Equal(t, `<b><a href="https://a.example" title="a.example"`+external+`><i>x</i></a></b>`,
		clean(t, `<b><a href="https://a.example"><i style="color:red" hidden>x</i></a></b>`))
}

func TestPropertiesOfStyleAreChecked(t *testing.T) {
	for style, want := range map[string]string{
		"color: RED; Font-Size:12px !important": "color:red;font-size:12px",
		"background:url(http://evil.example/)":  "", "background: #FFF url(x)": "",
		"background-image:url(x)": "", "width:expression(alert(1))": "",
		"position:fixed;top:0": "", "behavior:url(x)": "", "-moz-binding:url(x)": "",
		"margin:-100px": "", "margin:0 auto": "margin:0 auto", "padding:10px 5%": "padding:10px 5%",
		"color:r\\65 d": "", "color:/**/red": "", "color:red}p{color:blue": "",
		"color:rgb(1, 2, 3)": "color:rgb(1, 2, 3)", "color:var(--x)": "",
		"border:1px solid #ccc": "border:1px solid #ccc", "overflow:hidden": "", "opacity:0": "",
		`font-family:"A B", Arial`: `font-family:&#34;A B&#34;, Arial`, `font-family:"A`: "",
		"height:5px": "min-height:5px", "max-height:5px": "",
		"font:bold 12px/1.5 Arial": "font:bold 12px/1.5 Arial",
		"display:none":             "display:none", "display:flex": "", "font-weight:700": "font-weight:700",
		"content:'x'": "", "filter:x": "", "color:" + strings.Repeat("r", 5000): "",
	} {
		attribute := ""
		if want != "" {
			attribute = ` style="` + want + `"`
		}
		require.Equal(t, "<p"+attribute+">x</p>", clean(t, "<p style='"+strings.ReplaceAll(style, "'", "&#39;")+"'>x"), style)
	}
}

func TestPicturesComeWithTheMail(t *testing.T) {
	content, err := base64.StdEncoding.DecodeString(pixel)
	require.NoError(t, err)
	parts := map[string][]byte{"sign@studio.example": content, "svg": []byte("<svg onload=alert(1)>")}
	o := &safehtml.Options{Picture: func(id string) []byte { return parts[id] }}
	shown := `<img src="data:image/png;base64,` + pixel + `" alt="a sign" width="24">`
	page := safehtml.Clean(`<img src="cid:sign%40studio.example" alt="a sign" width=24 onerror=x>`, o)
	require.Equal(t, safehtml.Page{HTML: shown}, page)
	require.Equal(t, shown, clean(t, shown), "pictures in addresses are shown as well")

	page = safehtml.Clean(`<img src="cid:svg"><img src=cid:none alt=" a `+"\n"+`b"><img src="https://evil.example/a.png">`+
		`<img src="https://evil.example/t.gif" width=1 height=1><img src=x alt=""><img src="data:image/svg+xml;base64,PHN2Zz4=">`, o)
	require.Equal(t, safehtml.Page{HTML: "[picture] [a b] [picture] [picture] ", NotLoaded: 6}, page)

	twice := &safehtml.Options{Picture: o.Picture, MaxPictureBytes: len(content) + 1}
	page = safehtml.Clean(strings.Repeat(`<img src="cid:sign@studio.example">`, 2), twice)
	require.Equal(t, 1, page.NotLoaded)
	require.Equal(t, 1, strings.Count(page.HTML, "data:"))
	twice.MaxPictureBytes = -1
	require.Equal(t, 2, safehtml.Clean(strings.Repeat(`<img src="cid:sign@studio.example">`, 2), twice).NotLoaded)
}

// A few bytes may be a picture of many pixels, which a browser keeps in memory.
func TestPicturesOfManyPixelsAreNotShown(t *testing.T) {
	small, err := base64.StdEncoding.DecodeString(pixel)
	require.NoError(t, err)
	sized := func(width, height uint32) []byte {
		content := slices.Clone(small)
		binary.BigEndian.PutUint32(content[16:], width)
		binary.BigEndian.PutUint32(content[20:], height)
		binary.BigEndian.PutUint32(content[29:], crc32.ChecksumIEEE(content[12:29]))
		return content
	}
	parts := map[string][]byte{"large": sized(4096, 4000), "huge": sized(1<<30, 1<<30), "small": sized(300, 300),
		"broken": small[:20], "webp": []byte("RIFF\x00\x00\x00\x00WEBPVP8 ")}
	o := &safehtml.Options{Picture: func(id string) []byte { return parts[id] }}
	for source, shown := range map[string]int{"large": 1, "huge": 0, "broken": 0, "webp": 0, "large large": 1,
		"large small small small small small": 5} {
		var tags strings.Builder
		for id := range strings.FieldsSeq(source) {
			tags.WriteString(`<img alt="" src="cid:` + id + `">`)
		}
		page := safehtml.Clean(tags.String(), o)
		require.Equal(t, shown, strings.Count(page.HTML, "<img"), source)
		require.Equal(t, len(strings.Fields(source))-shown, page.NotLoaded, source)
	}
	parts["broken"] = append([]byte("\xff\xd8\xff"), make([]byte, 1<<20-3)...)
	require.True(t, safehtml.Clean(strings.Repeat(`<img alt="" src="cid:broken">`, 1000), o).Cut)
}
