package safehtml_test

import (
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/postroom-go/postroom/internal/costtest"
	"github.com/postroom-go/postroom/mime/safehtml"
)

// hostilePages make careless cleaners quadratic, or their results large; each is a function of a size.
var hostilePages = map[string]func(n int) string{
	"text":           func(n int) string { return strings.Repeat("word ", n/5) },
	"less than":      func(n int) string { return strings.Repeat("<", n) },
	"quotes":         func(n int) string { return strings.Repeat(`"`, n) },
	"open comments":  func(n int) string { return strings.Repeat("<!--", n/4) },
	"open quotes":    func(n int) string { return strings.Repeat("<a b='", n/6) },
	"attributes":     func(n int) string { return "<p " + strings.Repeat("a ", n/2) + ">" },
	"deep":           func(n int) string { return strings.Repeat("<div>", n/5) + "x" },
	"deep tables":    func(n int) string { return strings.Repeat("<table><tr><td>", n/15) },
	"ends":           func(n int) string { return strings.Repeat("<div>", 600) + strings.Repeat("</li></p>", n/9) },
	"formats":        func(n int) string { return strings.Repeat("<b>", 150) + strings.Repeat("<p>x</p>", n/8) },
	"formats in one": func(n int) string { return strings.Repeat("<p>"+strings.Repeat("<i>", 99)+"</p>", n/300) },
	"ended formats":  func(n int) string { return "<b>" + strings.Repeat("<div>", 150) + strings.Repeat("</b><b>", n/7) },
	"large formats": func(n int) string {
		return strings.Repeat("<font face='"+strings.Repeat("x", 190)+"'>", 190) + strings.Repeat("<p>x</p>", n/8)
	},
	"links":      func(n int) string { return strings.Repeat("<a href=http://a.b>c.de", n/23) },
	"long links": func(n int) string { return strings.Repeat("<a href=http://a.b>", 1) + strings.Repeat("c.de ", n/5) },
	"links in tables": func(n int) string {
		return strings.Repeat("<a href=http://a.b><table><tr><td>", 60) + strings.Repeat("c.de <i>", n/8)
	},
	"addresses": func(n int) string { return "<a href='http://a.b/" + strings.Repeat("%41", n/3) + "'>" },
	"styles": func(n int) string {
		return strings.Repeat("<p style='"+strings.Repeat("margin:1px 1px;", 100)+"'>", n/1511)
	},
	"pictures": func(n int) string { return strings.Repeat("<img src='data:image/png;base64,iVBORw0KGgo='>", n/46) },
	"scripts":  func(n int) string { return strings.Repeat("<script><!--", n/12) },
	"names":    func(n int) string { return "<p" + names(n/2) + ">" + strings.Repeat("<b a>", n/10) },
	"items":    func(n int) string { return strings.Repeat("<div>", 200) + strings.Repeat("<li>", n/4) },
	"no hosts": func(n int) string {
		return strings.Repeat("<a href=http://xn--"+strings.Repeat("a", 8000)+">", n/8018)
	},
	"foreign": func(n int) string { return strings.Repeat("<svg><p>", n/8) },
}

// names are attributes of n bytes with names of their own.
func names(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		b.WriteString(" " + strconv.FormatInt(int64(i), 36))
	}
	return b.String()
}

// A page of a megabyte takes at most a second of the processor's time, whatever it is made of: it is a fraction of that
// for most.
func TestHostilePagesTakeLinearTime(t *testing.T) {
	costtest.NeedsExactCosts(t)
	for name, build := range hostilePages {
		t.Run(name, func(t *testing.T) {
			source := build(1 << 20)
			took := costtest.CPUTime(t, func() { safehtml.Clean(source, nil) })
			require.Less(t, took, time.Second)
			requireSafeAndStable(t, build(16<<10))
		})
	}
}

// What is read of a source is bounded, and so is the time of many tags within many.
func TestASourceIsBounded(t *testing.T) {
	costtest.NeedsExactCosts(t)
	for name, build := range map[string]func() string{
		"names": func() string { return "<x" + names(1<<20) + ">" + strings.Repeat("<b a>", 8<<20/5) },
		"items": func() string { return strings.Repeat("<div>", 200) + strings.Repeat("<li>", 8<<20/4) },
		"text":  func() string { return strings.Repeat("\"", 64<<20) },
		"none":  func() string { return strings.Repeat("<x>", 64<<20/3) },
	} {
		source := build()
		var page safehtml.Page
		took := costtest.CPUTime(t, func() { page = safehtml.Clean(source, nil) })
		require.Less(t, took, 5*time.Second, name) // half of that where nothing else runs
		require.True(t, page.Cut, name)
	}
	page := safehtml.Clean("<p>a<!--"+strings.Repeat("x", safehtml.MaxSource)+"-->b", nil)
	require.Equal(t, safehtml.Page{HTML: "<p>a</p>", Cut: true}, page)
	wide := "<p " + strings.Repeat("a ", 1000) + ">x<script " + strings.Repeat("a ", 1000) + "><b></script><i>y"
	require.Equal(t, "<p>x<i>y</i></p>", clean(t, wide))
}

func TestAResultIsBounded(t *testing.T) {
	source := "<div><table><tr><td>" + strings.Repeat("ä&lt;<b>\"</b><p style=color:red>", 100)
	whole := safehtml.Clean(source, nil)
	require.False(t, whole.Cut)
	for most := 1; most < len(whole.HTML)-100; most += 61 {
		page := safehtml.Clean(source, &safehtml.Options{MaxBytes: most})
		require.True(t, page.Cut)
		require.LessOrEqual(t, len(page.HTML), most+100)
		requireSafe(t, page)
	}
	deep := safehtml.Clean(strings.Repeat("<div>", 1000)+"x", nil)
	require.Equal(t, safehtml.MaxDepth, strings.Count(deep.HTML, "<div>"))
}

// requireSafe checks what holds for every result: its elements are nested, and it has nothing but what is allowed.
func requireSafe(t require.TestingT, page safehtml.Page) {
	require.True(t, utf8.ValidString(page.HTML))
	var open []string
	z := html.NewTokenizer(strings.NewReader(page.HTML))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		token := z.Token()
		switch kind {
		case html.TextToken:
			continue
		case html.StartTagToken:
			if !slices.Contains([]string{"br", "col", "hr", "img", "wbr"}, token.Data) {
				open = append(open, token.Data)
			}
		case html.EndTagToken:
			if len(open) == 0 || open[len(open)-1] != token.Data {
				require.Fail(t, "the end of "+token.Data+" closes nothing")
			}
			open = open[:len(open)-1]
		default:
			require.Fail(t, "there is a "+kind.String())
		}
		if len(open) > safehtml.MaxDepth+1 || !strings.Contains(allowedNames, " "+token.Data+" ") {
			require.Fail(t, "there is the element "+token.Data)
		}
		for _, a := range token.Attr {
			requireSafeAttribute(t, a)
		}
	}
	require.Empty(t, open)
}

const allowedNames = " a abbr acronym address article aside b bdi big blockquote br caption center cite code col " +
	"colgroup dd del dfn dir div dl dt em fieldset figcaption figure font footer h1 h2 h3 h4 h5 h6 header hr i img ins " +
	"kbd li main mark menu nav ol p pre q s samp section small span strike strong sub sup table tbody td tfoot th thead " +
	"time tr tt u ul var wbr "

func requireSafeAttribute(t require.TestingT, a html.Attribute) {
	const allowed = " align alt bgcolor border cellpadding cellspacing class color colspan dir face height hidden href lang " +
		"nowrap rel rowspan scope size span src start style target title type valign value width "
	if !strings.Contains(allowed, " "+a.Key+" ") {
		require.Fail(t, "there is the attribute "+a.Key)
	}
	switch a.Key {
	case "class":
		require.Equal(t, "host", a.Val)
	case "src":
		require.Regexp(t, picture, a.Val)
	case "href":
		u, err := url.Parse(a.Val)
		require.NoError(t, err)
		require.Contains(t, []string{"http", "https", "mailto"}, u.Scheme)
	case "style":
		require.NotRegexp(t, unsafe, a.Val)
	}
}

var (
	picture = regexp.MustCompile(`^data:image/(png|gif|jpeg);base64,[A-Za-z0-9+/]+=*$`)
	unsafe  = regexp.MustCompile(`(?i)url|expression|import|position|behavio|binding|[\\@<>{}]|/\*`)
)

// Whatever the source is, cleaning it ends, the result is safe, and cleaning that changes nothing.
func FuzzClean(f *testing.F) {
	for _, build := range hostilePages {
		f.Add(build(400))
	}
	for _, source := range []string{
		"<p>a<b>c<table><tr><td></b>x<a href=http://a.b/?q#f>c.de<a href=mailto:a@b.c>x<svg><a>t</svg>",
		"<a href='https://b%C3%A4r.example:80/%2f?%zz'>www.b\u00e4r.example</a><img src=cid:a alt='a\n b'>",
		"<noscript><img src=x></noscript><textarea><p></textarea><plaintext><b>", "<pre>\n\r\n a</pre>&#13;&#0;&#x202e;",
		"<p style='font-family:\"a;b\";color:rgb(1,2,3)!important;background:red;width:.5em' align=' left '>",
		"<ul><li><b><li><dl><dd><p><dt></ul><col><caption><td><th>", "<a href=http://[::1]:8/>[::1] x.de</a>",
	} {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source string) { requireSafeAndStable(t, source) })
}

func requireSafeAndStable(t require.TestingT, source string) {
	page := safehtml.Clean(source, nil)
	requireSafe(t, page)
	if !page.Cut && !safehtml.Clean(page.HTML, nil).Cut {
		once, twice := withoutNotes(page)
		require.Equal(t, once, twice, source)
	}
}

// Pages of tags in any order are safe and stable, and no text of them is lost.
func TestTagsInAnyOrder(t *testing.T) {
	pieces := strings.Fields("<p> </p> <b> </b> <i> </i> <div> </div> <ul> <li> </ul> <table> <tr> <td> </td> </table> " +
		"<tbody> <caption> <a/href=http://a.example> </a> <h1> </h1> <dl> <dt> <dd> <br> <font/color=red> </font> <svg/> " +
		"<span> </span> " +
		"<blockquote> </blockquote> <col> <th> </tr> <pre> </pre> b.example")
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		var source strings.Builder
		for range 1 + random.IntN(40) {
			source.WriteString(pieces[random.IntN(len(pieces))] + "TEXT")
		}
		requireSafeAndStable(t, source.String())
		page := safehtml.Clean(source.String(), nil)
		require.Equal(t, strings.Count(source.String(), "TEXT"), strings.Count(page.HTML, "TEXT"))
	}
}
