package htmltext_test

import (
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/costtest"
	"github.com/postroom-go/postroom/mime/htmltext"
)

// hostilePages makes careless readers of HTML quadratic, or large; each is a function of a size.
var hostilePages = map[string]func(n int) string{
	"text":                    func(n int) string { return strings.Repeat("word ", n/5) },
	"characters":              func(n int) string { return strings.Repeat("\u65e5", n/3) },
	"bytes":                   func(n int) string { return strings.Repeat("\xffa", n/2) },
	"references":              func(n int) string { return strings.Repeat("&lt;", n/4) },
	"references of two":       func(n int) string { return strings.Repeat("&nGt;", n/5) },
	"references, mixed":       func(n int) string { return strings.Repeat("&nGt;&nLt;&nGg;&nLl;&frac12;&nvlt;&gne;", n/40) },
	"ampersands":              func(n int) string { return strings.Repeat("&", n) },
	"references in addresses": func(n int) string { return "<a href='" + strings.Repeat("&amp", n/4) + "'>" },
	"open tags":               func(n int) string { return strings.Repeat("<div><table><a <b ", n/18) },
	"less than":               func(n int) string { return strings.Repeat("<", n) },
	"open comments":           func(n int) string { return strings.Repeat("<!--", n/4) },
	"dashes":                  func(n int) string { return "<!--" + strings.Repeat("-", n) },
	"open quotes":             func(n int) string { return strings.Repeat("<a b='", n/6) },
	"open scripts":            func(n int) string { return strings.Repeat("<script><!--", n/12) },
	"ends of titles":          func(n int) string { return "<title>" + strings.Repeat("</titl", n/6) },
	"attributes":              func(n int) string { return "<p " + strings.Repeat("a ", n/2) + ">" },
	"deep":                    func(n int) string { return strings.Repeat("<div>", n/5) + "x" },
	"deep, ends of others":    func(n int) string { return strings.Repeat("<div>", 600) + strings.Repeat("</li></p>", n/9) },
	"deep, scoped":            func(n int) string { return strings.Repeat("<li><div>", 300) + strings.Repeat("</p><li>", n/8) },
	"deep tables":             func(n int) string { return strings.Repeat("<table><tr><td>", n/15) },
	"tables in tables":        func(n int) string { return strings.Repeat("<table>x<b>", n/11) },
	"formats":                 func(n int) string { return strings.Repeat("<b><p>", n/6) },
	"formats that go on": func(n int) string {
		return strings.Repeat("<font color=red id=", 1) + strings.Repeat("x><i class=b><p>y</p>", n/21)
	},
	"different formats": func(n int) string {
		var out strings.Builder
		for i := range 100 {
			out.WriteString("<font size=" + strings.Repeat("1", i) + ">")
		}
		return out.String() + strings.Repeat("<p>x</p>", n/8)
	},
	"formats ended from outside": func(n int) string {
		return strings.Repeat(strings.Repeat("<b>", 3)+strings.Repeat("<div>", 40)+strings.Repeat("</b>x", 3), n/224)
	},
	"links":               func(n int) string { return strings.Repeat("<a href=x>y", n/11) },
	"items":               func(n int) string { return strings.Repeat("<ol>", 9) + strings.Repeat("<li>x", n/5) },
	"items, large":        func(n int) string { return "<ol start=9999>" + strings.Repeat("<li>x", n/5) },
	"rules":               func(n int) string { return strings.Repeat("<hr>", n/4) },
	"hidden pieces":       func(n int) string { return strings.Repeat("<b hidden>x</b>y", n/16) },
	"invisible":           func(n int) string { return strings.Repeat("\u200b<b>x", n/7) },
	"style attributes":    func(n int) string { return strings.Repeat("<p style=top:0>", n/15) },
	"style of many":       func(n int) string { return "<p style='" + strings.Repeat("top:0;", n/6) + "'>x" },
	"style of brackets":   func(n int) string { return "<p style='top:" + strings.Repeat("(", n) + "'>x" },
	"style of quotes":     func(n int) string { return "<p style='" + strings.Repeat("a:\";", n/4) + "'>x" },
	"style of comments":   func(n int) string { return "<p style='" + strings.Repeat("/**/", n/4) + "'>x" },
	"style of escapes":    func(n int) string { return "<p style='color:" + strings.Repeat(`\61 `, n/4) + "'>x" },
	"margins":             func(n int) string { return "<p style='margin:" + strings.Repeat("0 ", n/2) + "'>x" },
	"sheet of rules":      func(n int) string { return "<style>" + strings.Repeat("a{top:0}", n/8) },
	"sheet of selectors":  func(n int) string { return "<style>" + strings.Repeat("a,", n/2) + "a{top:0}" },
	"sheet of classes":    func(n int) string { return "<style>" + strings.Repeat(".a", n/2) + "{top:0}</style><p class=a>" },
	"sheet, nested":       func(n int) string { return "<style>" + strings.Repeat("@media all{", n/11) + "a{top:0}" },
	"sheet, nots":         func(n int) string { return "<style>" + strings.Repeat(":not(", n/5) + "{top:0}" },
	"sheet, open":         func(n int) string { return "<style>" + strings.Repeat("a[b='", n/5) },
	"sheets":              func(n int) string { return strings.Repeat("<style>a{top:0}</style>", n/23) },
	"sheet of supports":   func(n int) string { return "<style>" + strings.Repeat("@supports (a){", n/14) },
	"sheet of media":      func(n int) string { return "<style>@media " + strings.Repeat("(a) and ", n/8) + "{a{top:0}}" },
	"matching":            matchingPage("* ", "<p>"),
	"matching ancestors":  matchingPage("p>* ", "<div><p>"),
	"matching classes":    matchingPage(".a.a ", "<p class='a b c d e f g h'>"),
	"matching attributes": matchingPage("[a*=b] ", "<p a=aaaaaaaaaaaaaaaa>"),
	"places":              matchingPage("p:nth-child(3n+1):nth-of-type(n):not(:first-child) ", "<div><p>"),
	"places from the end": matchingPage("p:nth-last-child(2n):nth-last-child(2n) ", "<b><p>"),
	"places, different names": func(n int) string {
		var out strings.Builder
		out.WriteString("<style>*:nth-last-of-type(2){top:0}</style>")
		for i := 0; out.Len() < n; i++ {
			out.WriteString("<x" + strconv.Itoa(i) + "></x>")
		}
		return out.String()
	},
	"siblings":      matchingPage("p ~ p + p ", "<p>"),
	"siblings, all": matchingPage("* ~ * + ", "<p><b>"),
	"different siblings": func(n int) string {
		var out strings.Builder
		out.WriteString("<style>")
		for i := 0; out.Len() < n/2; i++ {
			out.WriteString(".a" + strconv.Itoa(i) + "+p~b{top:0}")
		}
		return out.String() + "</style>" + strings.Repeat("<p>", n/6)
	},
	"generated": func(n int) string {
		return "<style>p::before,p::after{content:'abcdefgh'}</style>" + strings.Repeat("<p>", n/3)
	},
	"first lines":         func(n int) string { return "<style>p::first-line{color:#fff}</style>" + strings.Repeat("<p>x", n/4) },
	"reversed":            func(n int) string { return strings.Repeat("<bdo dir=rtl>ab</bdo>", n/21) },
	"filters":             func(n int) string { return "<p style='filter:" + strings.Repeat("blur(1) ", n/8) + "'>x" },
	"shadows":             func(n int) string { return "<p style='text-shadow:" + strings.Repeat("0 0 red,", n/8) + "0 0 red'>x" },
	"sheets in addresses": func(n int) string { return strings.Repeat("<link rel=stylesheet href='data:text/css,p{top:0}'>", n/50) },
	"imports": func(n int) string {
		return "<style>" + strings.Repeat("@import \"data:text/css,", n/23) + "p{top:0}</style><p>x"
	},
	"relations":           matchingPage(":has(p p) ", "<p><div>"),
	"relations, siblings": func(n int) string { return "<style>:has(~ p){top:0}</style>" + strings.Repeat("<p>", n/3) },
	"relations, deep": func(n int) string {
		return "<style>:has(b * p){top:0}</style>" + strings.Repeat("<b><div>", 200) + strings.Repeat("<p>", n/3)
	},
	"lists":           matchingPage(":is(:is(p,b),:not(i,u)) ", "<p>"),
	"lists of lists":  func(n int) string { return "<style>" + strings.Repeat(":is(p,", n/6) + "{top:0}</style><p>" },
	"empty":           func(n int) string { return "<style>:empty{top:0}</style>" + strings.Repeat("<p></p>", n/7) },
	"nested rules":    func(n int) string { return "<style>" + strings.Repeat("a,b{c{top:0}", n/12) },
	"rules in a rule": func(n int) string { return "<style>p{" + strings.Repeat("&{top:0}", n/8) + "}</style><p>" },
	"lists of rules": func(n int) string {
		return "<style>" + strings.Repeat("a,b,c,d,e,f{&,&{&,&{&,&{top:0}}}}", n/33) + "</style><f>"
	},
	"layers": func(n int) string {
		return "<style>" + strings.Repeat("@layer{p{top:0}}", n/32) + "</style>" + strings.Repeat("<p>", n/6)
	},
	"layers, names": func(n int) string {
		return "<style>@layer " + strings.Repeat("a.b.c,d,", n/8) + "{p{top:0}}</style><p>"
	},
	"variables": func(n int) string {
		return "<style>" + strings.Repeat("p{--a:b}", n/16) + "</style>" + strings.Repeat("<p>", n/6)
	},
	"variables everywhere":  func(n int) string { return "<style>*{--a:b;--c:d;top:var(--c)}</style>" + strings.Repeat("<p>", n/3) },
	"variables, attributes": func(n int) string { return strings.Repeat("<p style=--a:b>", n/15) },
	"variables of one":      func(n int) string { return "<p style='" + strings.Repeat("--a:b;", n/6) + "top:var(--a)'>x" },
	"variables, missing": func(n int) string {
		return "<style>p{top:var(--a)}</style><div style='--b:c'>" + strings.Repeat("<p>", n/3)
	},
	"variables that grow": func(n int) string {
		return "<style>p{--a:xxxxxxxx;--b:var(--a)var(--a)var(--a)var(--a);--c:var(--b)var(--b)var(--b)var(--b);--d:var(--c)var(--c)var(--c)var(--c);" +
			"--e:var(--d)var(--d)var(--d)var(--d);--f:var(--e)var(--e)var(--e)var(--e);top:var(--f)}</style>" +
			strings.Repeat("<p>", n/3)
	},
	"variables, fallbacks": func(n int) string { return "<p style='top:" + strings.Repeat("var(--a,", n/8) + "'>x" },
	"variables of circles": func(n int) string {
		return "<style>p{--a:var(--b,var(--b));--b:var(--a,var(--a));top:var(--a)}</style>" + strings.Repeat("<p>", n/3)
	},
	"conditions": func(n int) string { return "<style>@supports " + strings.Repeat("(not (", n/6) + "{p{top:0}}" },
	"conditions, and": func(n int) string {
		return "<style>@supports " + strings.Repeat("(top:0) and ", n/12) + "(top:0){p{top:0}}"
	},
	"all of a style":      func(n int) string { return strings.Repeat("<p style=all:unset>", n/19) },
	"all of a sheet":      func(n int) string { return "<style>" + strings.Repeat("p{all:unset}", n/12) + "</style><p>" },
	"comments in a sheet": func(n int) string { return "<style>" + strings.Repeat("/**/.a", n/6) + "{top:0}" },
	"transformations":     func(n int) string { return "<p style='transform:" + strings.Repeat("scale(1) ", n/9) + "'>x" },
	"polygon":             func(n int) string { return "<p style='clip-path:polygon(" + strings.Repeat("0 0,", n/4) + "0 0)'>x" },
	"one bucket": func(n int) string {
		return "<style>" + strings.Repeat("p{top:0}", n/16) + "</style>" + strings.Repeat("<p>", n/6)
	},
}

// matchingPage is a page of elements deep within each other, each of which every selector of a large sheet may match.
func matchingPage(step, tag string) func(n int) string {
	return func(n int) string {
		rule := strings.Repeat(step, 8) + "p{top:0}"
		return "<style>" + strings.Repeat(rule, n/2/len(rule)) + "</style>" + strings.Repeat(tag, n/2/len(tag))
	}
}

// A page of a megabyte takes at most a second of the processor's time, whatever it is made of: it is a fraction of
// that for most.
func TestHostilePagesTakeLinearTime(t *testing.T) {
	costtest.NeedsExactCosts(t)
	for name, build := range hostilePages {
		t.Run(name, func(t *testing.T) {
			source := build(1 << 20)
			took := costtest.CPUTime(t, func() { htmltext.Read(source) })
			require.Less(t, took, time.Second)
		})
	}
}

// All that is allocated, garbage too, is less than four times the source.
func TestMemoryIsBounded(t *testing.T) {
	costtest.NeedsExactCosts(t)
	for name, build := range hostilePages {
		t.Run(name, func(t *testing.T) {
			source := build(512 << 10)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			page := htmltext.Read(source)
			runtime.ReadMemStats(&after)
			require.LessOrEqual(t, after.TotalAlloc-before.TotalAlloc, uint64(4*len(strings.ToValidUTF8(source, "\ufffd"))))
			requireSound(t, source, page)
		})
	}
}

// requireSound checks what holds for the reading of every page.
func requireSound(t require.TestingT, source string, page htmltext.Page) {
	require.True(t, utf8.ValidString(page.Text))
	require.Equal(t, strings.TrimRight(page.Text, " \n"), page.Text)
	require.LessOrEqual(t, len(page.Hidden), 1000)
	last := 0
	for _, h := range page.Hidden {
		require.True(t, utf8.ValidString(h.Text))
		require.NotEmpty(t, h.By)
		require.GreaterOrEqual(t, h.Offset, last)
		last = h.Offset
	}
	require.LessOrEqual(t, last, len(source))
	for _, l := range page.Links {
		require.LessOrEqual(t, l.Start, l.End)
		_ = page.Text[l.Start:l.End]
	}
}

// Whatever the source is, reading it ends, and what it gives is sound. What is hidden is hidden wherever it stands:
// in a page of its own, and within another.
func FuzzRead(f *testing.F) {
	for _, build := range hostilePages {
		f.Add(build(400))
	}
	for _, source := range []string{
		"<style>@layer b,a;p:not(.a,:is(b *)):nth-child(2n+1 of p):has(> b,+i){&.a,u~&{--x:var(--y,none);display:var(--x)!important;all:revert-layer}@scope(.a)to(p){b:last-child{zoom:.1}}}@supports not ((a:b) or selector(:c)){p{d:e}}</style><p>a<b>c</b></p><i>d",
		"<style>p:not(.a)>b~i,[x|='y' i]{display:none!important}@media print{a{b:c}}</style><p class=a><b>c</b>",
		"<table><tr><td>a<p><font color=white>b</table>c", "<svg><title>a</title><p>b", "<ol start=3><li value=9>a<ul><li>b",
		"<pre>\n a\r\n b</pre><textarea>\n&lt;</textarea><xmp><b></xmp><plaintext><b>", "a\U000E0041\u200d\u2764\ufe0f",
		"<div style='position:absolute;left:calc(-9999px);clip:rect(0 0 0 0);font:0/1 a;background:url(x) #fff'>x",
	} {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source string) {
		requireSound(t, source, htmltext.Read(source))
		hidden := htmltext.Read("<template>" + strings.ReplaceAll(source, "<", "&lt;") + "</template>")
		require.Empty(t, hidden.Text)
	})
}

// No part of a page that is hidden is seen, and no part that is seen is hidden, wherever they stand in one another.
func TestHiddenAndSeenStayApart(t *testing.T) {
	hide := []string{
		"<div style='display:none'>%</div>", "<span hidden>%</span>", "<div class=h>%</div>", "<div style='opacity:0'>%</div>",
		"<table class=h><tr><td>%</table>", "<div style='position:absolute;left:-900px'>%</div>", "<div style='max-height:0;overflow:hidden'>%</div>",
	}
	wrap := []string{
		"<div>%</div>", "<table><tr><td>%</td></tr></table>", "<ul><li>%</ul>", "<b>%</b>", "<p>a</p>%",
		"<font color=red>%</font>", "% %",
		"<center class=x>%</center>", "<!-- c -->%<br>",
	}
	random := rand.New(rand.NewPCG(1, 2))
	var page func(depth int, hidden bool) string
	page = func(depth int, hidden bool) string {
		if depth == 0 {
			if hidden {
				return "LOST"
			}
			return "SEEN"
		}
		frames := wrap
		if random.IntN(4) == 0 {
			frames, hidden = hide, true
		}
		frame := frames[random.IntN(len(frames))]
		var out strings.Builder
		for part := range strings.SplitAfterSeq(frame, "%") {
			out.WriteString(strings.TrimSuffix(part, "%"))
			if strings.HasSuffix(part, "%") {
				out.WriteString(page(depth-1-random.IntN(min(depth, 2)), hidden))
			}
		}
		return out.String()
	}
	for range 2000 {
		source := "<!doctype html><style>.h{display:none}</style>" + page(1+random.IntN(8), false) +
			page(1+random.IntN(8), false)
		read := htmltext.Read(source)
		require.NotContains(t, read.Text, "LOST", source)
		require.Equal(t, strings.Count(source, "SEEN"), strings.Count(read.Text, "SEEN"), source)
		lost := 0
		for _, h := range read.Hidden {
			lost += strings.Count(h.Text, "LOST")
			require.NotContains(t, h.Text, "SEEN", source)
		}
		require.Equal(t, strings.Count(source, "LOST"), lost, source)
	}
}
