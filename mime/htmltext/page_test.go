package htmltext_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/mime/htmltext"
)

func TestText(t *testing.T) {
	cases := map[string]struct{ html, text string }{
		"nothing":             {"", ""},
		"plain":               {"Hello", "Hello"},
		"blanks collapse":     {" a \n\t b&nbsp;<b> c</b>d ", "a b cd"},
		"blank between tags":  {"<b>a</b>&nbsp;<i>b</i>", "a b"},
		"word over tags":      {"<b>un</b>sub<span style='color:red'>scr</span>ibe", "unsubscribe"},
		"paragraphs":          {"<p>One.</p><p>Two.</p>", "One.\n\nTwo."},
		"divisions and lines": {"<div>a</div><div>b<br>c</div>", "a\nb\nc"},
		"two breaks":          {"a<br><br>b<br><br><br>c", "a\n\nb\n\nc"},
		"list":                {"<ul><li>one<li><p>two</p></ul>end", "- one\n\n- two\n\nend"},
		"ordered list":        {"<ol start=3><li>a<li>b<li value=9>c<li>d</ol>", "3. a\n4. b\n9. c\n10. d"},
		"list in a list":      {"<ul><li>a<ol><li>b</ol><li>c</ul>", "- a\n\n  1. b\n\n- c"},
		"item without text":   {"<ul><li></li></ul><p>a", "a"},
		"terms":               {"<dl><dt>a<dd>b<dt>c</dl>", "a\nb\nc"},
		"table":               {"<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a b\nc"},
		"table without ends":  {"<table><tr><td>a<td>b<tr><td>c</table>d", "a b\nc\n\nd"},
		"text in a table":     {"<table>a<tr>b<td>c</table>", "a\nb c"},
		"cell without table":  {"<div style='color:red'><td hidden>a</td></div>", "a"},
		"headings and rule":   {"<h1>Title</h1>text<hr>more", "Title\n\ntext\n---\nmore"},
		"preformatted":        {"<pre>\na\n  b\r\n</pre>c", "a\n  b\n\n\nc"},
		"white-space":         {"<div style='white-space:pre-line'>a  b\nc</div>", "a b\nc"},
		"images":              {`see <img src=x alt="the photo"> and <img src=y>.`, "see the photo and ."},
		"image, size 0":       {`<td style="font-size:0"><p style="font-size:0"><img alt="logo">`, "logo"},
		"forms":               {"<input value=Name><input type=hidden value=x><button>Send</button><textarea>\nno</textarea>", "NameSendno"},
		"short references":    {"a&#9b &#0 &#x", "a b \ufffd &#x"},
		"entities":            {"&lt;b&gt; &amp; &euro;&#8364; &copy &notit; &bogus;", "<b> & \u20ac\u20ac \u00a9 \u00acit; &bogus;"},
		"styles and scripts":  {"<head><title>t</title><style>p{}</style></head><script>x<p></script>text", "text"},
		"script in comment":   {"<script><!-- <script></script> a </script>b", "b"},
		"template and iframe": {"<template><p>a</p></template><iframe>b</iframe>c", "c"},
		"noscript":            {"<noscript>a</noscript>b", "ab"},
		"style never closed":  {"text<style>p{}", "text"},
		"comments":            {"a<!-- b -->c<![CDATA[d]]><!-->e<!--->f<!-- --!>g<!-- -- --->h<?x?>i</ x>j", "acefghij"},
		"conditional comment": {"<!--[if mso]>a<![endif]-->b<!--[if !mso]><!-->c<!--<![endif]--><![if !mso]>d<![endif]>", "bcd"},
		"cut off":             {"a<p", "a"},
		"no tags":             {"1 < 2, a<3, <", "1 < 2, a<3, <"},
		"end without start":   {"</pre></td></li>a</p>", "a"},
		"quote":               {"<blockquote>a</blockquote>b", "a\n\nb"},
		"styled as blocks":    {"<span style='display:block'>a</span>b<div style='display:inline'>c</div>d", "a\nbcd"},
		"joiners":             {"\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \U0001F469\u200d\U0001F4BB \u2764\ufe0f", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \U0001F469\u200d\U0001F4BB \u2764\ufe0f"},
		"soft hyphens":        {"un&shy;sub\u200bscribe", "unsubscribe"},
		"not UTF-8":           {"a\xff\xfe\x80b", "a\ufffd\ufffdb"},
		"picture":             {"a<svg><title>b</title><style>c</style><text>d</text><title/></svg>e", "ade"},
		"text ends a picture": {"c<svg><p>a</svg>b", "c\n\nab"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.text, htmltext.Text(c.html))
		})
	}
}

// noQuirks begins a page that browsers show by today's rules, with a sheet.
const noQuirks = "<!doctype html><style>"

// afterHidden stands behind each text that is hidden, and is seen.
const afterHidden = "</p><center style='display:block!important;font-size:16px!important;color:black!important'>seen"

// hiddenTexts are pages that hide the text "lost", each in another way.
var hiddenTexts = map[string]struct {
	html string
	by   htmltext.HiddenBy
}{
	"display":                   {"<p style='display:none'>lost</p>", htmltext.HiddenByDisplay},
	"display, capitals":         {"<P STYLE='DISPLAY : NONE'>lost</P>", htmltext.HiddenByDisplay},
	"display, escaped":          {`<p style='d\69 splay:n\6fne'>lost</p>`, htmltext.HiddenByDisplay},
	"display, references":       {"<p style='display&#58;none'>lost</p>", htmltext.HiddenByDisplay},
	"display, comment":          {"<p style='display/**/:/*;*/none'>lost</p>", htmltext.HiddenByDisplay},
	"display, more important":   {"<p style='display:none!important;display:block'>lost</p>", htmltext.HiddenByDisplay},
	"display, not valid later":  {"<p style='display:none;display:nonsense'>lost</p>", htmltext.HiddenByDisplay},
	"display, around blocks":    {"<div style='display:none'><p>lo<p>st</div>", htmltext.HiddenByDisplay},
	"display, not ended by it":  {"<span style='display:none'><div></span>lost</div></span>", htmltext.HiddenByDisplay},
	"display within visible":    {"<p style='display:none'><b style='display:inline'>lost</b></p>", htmltext.HiddenByDisplay},
	"hidden":                    {"<p hidden>lost</p>", htmltext.HiddenByDisplay},
	"dialog":                    {"<dialog>lost</dialog>", htmltext.HiddenByDisplay},
	"visibility":                {"<p style='visibility:hidden'>lost</p>", htmltext.HiddenByVisibility},
	"visibility, collapse":      {"<p style='visibility:collapse'>lost</p>", htmltext.HiddenByVisibility},
	"opacity":                   {"<p style='opacity:.01'>lost</p>", htmltext.HiddenByOpacity},
	"opacity, product":          {"<p style='opacity:30%'><b style='opacity:.3'>lost</b></p>", htmltext.HiddenByOpacity},
	"size":                      {"<p style='font-size:0'>lost</p>", htmltext.HiddenBySize},
	"size, shorthand":           {"<p style='font:bold 0px/1.2 Arial'>lost</p>", htmltext.HiddenBySize},
	"size, a pixel":             {"<p style='font-size:1px'>lost</p>", htmltext.HiddenBySize},
	"size, of the size around":  {"<p style='font-size:2px'><b style='font-size:30%'>lost</b></p>", htmltext.HiddenBySize},
	"size, hardly any":          {"<p style='font-size:0.000000001em'>lost</p>", htmltext.HiddenBySize},
	"color":                     {"<font color=white>lost</font>", htmltext.HiddenByColor},
	"color, near":               {"<p style='color:#fdfdfd'>lost</p>", htmltext.HiddenByColor},
	"color on bgcolor":          {"<table bgcolor=#000080><tr><td style='color:navy'>lost</table>", htmltext.HiddenByColor},
	"color, over tags":          {"<table bgcolor=red><tr><td><div><font color='#ff0000'><p>lost</table>", htmltext.HiddenByColor},
	"color, all functions":      {"<p style='background:rgb(0 0 255);color:hsl(240,100%,50%)'>lost</p>", htmltext.HiddenByColor},
	"color, transparent":        {"<p style='color:transparent'>lost</p>", htmltext.HiddenByColor},
	"color, nearly so":          {"<p style='color:rgba(0,0,0,.02)'>lost</p>", htmltext.HiddenByColor},
	"color of fill":             {"<p style='-webkit-text-fill-color:#fff'>lost</p>", htmltext.HiddenByColor},
	"color of links":            {"<body link=white><a href=x>lost</a></body>", htmltext.HiddenByColor},
	"color of the page":         {"<body text=red bgcolor=#f00>lost</body>", htmltext.HiddenByColor},
	"color, goes on":            {"<p><font color=white></p><p>lost</p></font>", htmltext.HiddenByColor},
	"position":                  {"<div style='position:absolute;left:-9999px'>lost</div>", htmltext.HiddenByPosition},
	"position, inset":           {"<div style='position:fixed;inset:-2000px 0 0 0'>lost</div>", htmltext.HiddenByPosition},
	"position, em":              {"<div style='position:relative;top:-100em'>lost</div>", htmltext.HiddenByPosition},
	"position, far right":       {"<div style='position:absolute;left:99999px'>lost</div>", htmltext.HiddenByPosition},
	"position, margin":          {"<div style='margin:0 0 0 -9999px'>lost</div>", htmltext.HiddenByPosition},
	"position, indent":          {"<div style='text-indent:-9999px'>lost</div>", htmltext.HiddenByPosition},
	"clipping, height":          {"<div style='height:0;overflow:hidden'>lost</div>", htmltext.HiddenByClipping},
	"clipping, greatest height": {"<div style='max-height:0px;overflow:hidden;mso-hide:all'>lost</div>", htmltext.HiddenByClipping},
	"clipping, width":           {"<span style='display:inline-block;width:0;overflow:hidden'>lost</span>", htmltext.HiddenByClipping},
	"clipping, line":            {"<div style='line-height:0;overflow:hidden'>lost</div>", htmltext.HiddenByClipping},
	"clipping, floating":        {"<b style='float:left;width:1px;height:1px;overflow:hidden'>lost</b>", htmltext.HiddenByClipping},
	"color of a page to come":   {"lost<body style='color:white'></body>", htmltext.HiddenByColor},
	"indent of a block within":  {"<div style='text-indent:-9999px'><br><p>lost</p></div>", htmltext.HiddenByPosition},
	"picture, text in it":       {"<svg>lost</svg>", htmltext.HiddenByElement},
	"title":                     {"<title>lost</title>", htmltext.HiddenByElement},
	"template":                  {"<template><p>lost</template>", htmltext.HiddenByElement},
	"iframe":                    {"<iframe>lost</iframe>", htmltext.HiddenByElement},
	"video":                     {"<video>lost</video>", htmltext.HiddenByElement},
	"comment":                   {"<!-- lost -->", htmltext.HiddenByComment},
	"for Outlook":               {"<!--[if gte mso 9]>lost<![endif]-->", htmltext.HiddenByCondition},
	"tags of Unicode":           {"<b>\U000E006C\U000E006F\U000E0073\U000E0074</b>", htmltext.HiddenByCharacter},
	"picture":                   {"<img alt=lost style='display:none'>", htmltext.HiddenByDisplay},

	"sheet":                      {noQuirks + "p{display:none}</style><p>lost</p>", htmltext.HiddenByDisplay},
	"sheet behind":               {"<p class=a>lost</p><style>.a{display:none}</style>", htmltext.HiddenByDisplay},
	"sheet, list":                {noQuirks + "td,h1,p{display:none}</style><p>lost</p>", htmltext.HiddenByDisplay},
	"sheet, class":               {noQuirks + ".a.b{display:none}</style><p class=' b\ta c'>lost</p>", htmltext.HiddenByDisplay},
	"sheet, id":                  {noQuirks + "p#a{font-size:0}</style><p id=a>lost</p>", htmltext.HiddenBySize},
	"sheet, attribute":           {noQuirks + "[data-x^='a']{font-size:0}</style><p data-x=ab>lost</p>", htmltext.HiddenBySize},
	"sheet, attribute, any case": {noQuirks + "[data-x*='lIe' i]{font-size:0}</style><p data-x=baLiEf>lost</p>", htmltext.HiddenBySize},
	"sheet, bare attribute, i":   {noQuirks + "[data-x=Ab I]{font-size:0}</style><p data-x=aB>lost</p>", htmltext.HiddenBySize},
	"sheet, descendant":          {noQuirks + "div .a b{font-size:0}</style><div><p class=a><i><b>lost</b></i></div>", htmltext.HiddenBySize},
	"sheet, child":               {noQuirks + "body>div>p{font-size:0}</style><div><p>lost</p></div>", htmltext.HiddenBySize},
	"sheet, implied parts":       {noQuirks + "table>tbody>tr>td{font-size:0}</style><table><tr><td>lost</table>", htmltext.HiddenBySize},
	"sheet, next":                {noQuirks + "u+div{font-size:0}</style><p><u></u><div>lost</div>", ""},
	"sheet, sibling":             {noQuirks + "u+b{font-size:0}</style><p><u></u><b>lost</b>", htmltext.HiddenBySize},
	"sheet, first child":         {noQuirks + "b:first-child{font-size:0}</style><p><b>lost</b>", htmltext.HiddenBySize},
	"sheet, not":                 {noQuirks + "b:not(.a){font-size:0}</style><p><b>lost</b>", htmltext.HiddenBySize},
	"sheet, any element":         {noQuirks + "*{font-size:0}</style><p>lost", htmltext.HiddenBySize},
	"sheet, unknown element":     {noQuirks + "o\\:p{font-size:0}</style><o:p>lost</o:p>", htmltext.HiddenBySize},
	"sheet, more specific":       {noQuirks + "p.a{display:none}p{display:block}</style><p class=a>lost</p>", htmltext.HiddenByDisplay},
	"sheet, later":               {noQuirks + ".b{display:block}.a{display:none}</style><p class='a b'>lost</p>", htmltext.HiddenByDisplay},
	"sheet, important":           {noQuirks + "p{display:none!important}</style><p style='display:block'>lost</p>", htmltext.HiddenByDisplay},
	"sheet, for screens":         {noQuirks + "@media only screen and (min-width:600px){p{display:none}}</style><p>lost</p>", htmltext.HiddenByDisplay},
	"sheet, behind unknown":      {noQuirks + "@font-face{a:b}@x y;@keyframes z{from{a:b}}p{display:none}</style><p>lost</p>", htmltext.HiddenByDisplay},
	"sheet, in comment marks":    {noQuirks + "<!-- /* } */ p{display:none} --></style><p>lost</p>", htmltext.HiddenByDisplay},
	"sheet, escaped class":       {noQuirks + `.a\:b{display:none}</style><p class="a:b">lost</p>`, htmltext.HiddenByDisplay},
	"sheet, background":          {noQuirks + ".a{background:#123456}.b{color:#123456}</style><div class=a><p class=b>lost</div>", htmltext.HiddenByColor},
	"sheet, moved out of tables": {noQuirks + "div{font-size:0}</style><table><div>lost</div></table>", htmltext.HiddenBySize},
}

func TestHiddenText(t *testing.T) {
	for name, c := range hiddenTexts {
		t.Run(name, func(t *testing.T) {
			page := htmltext.Read(c.html + afterHidden)
			if c.by == "" {
				require.Contains(t, page.Text, "lost")
				return
			}
			require.Equal(t, "seen", page.Text)
			require.Len(t, page.Hidden, 1)
			require.Equal(t, c.by, page.Hidden[0].By)
			require.Equal(t, "lost", strings.ReplaceAll(page.Hidden[0].Text, "\n\n", ""))
			require.Contains(t, c.html[page.Hidden[0].Offset:], c.html[page.Hidden[0].Offset:][:2])
			require.False(t, page.Incomplete)
		})
	}
}

// unreadTexts are pages that hide the text "lost" by styles that are not emulated.
var unreadTexts = map[string]string{
	"content-visibility":         "<p style='content-visibility:hidden'>lost</p>",
	"filter":                     "<p style='filter:opacity(0)'>lost</p>",
	"size, computed":             "<p style='font-size:calc(2px - (1px + 1px))'>lost</p>",
	"size, the least":            "<p style='font-size:min(12px, 0em)'>lost</p>",
	"size, clamped":              "<p style='font-size:clamp(0px, 1px/2, 9px)'>lost</p>",
	"opacity, computed":          "<p style='opacity:calc(1 - 1)'>lost</p>",
	"color, light or dark":       "<p style='color:light-dark(white, black)'>lost</p>",
	"clipping, computed":         "<div style='height:calc(2*0px);overflow:hidden'>lost</div>",
	"turned away":                "<div style='transform:rotateY(90deg)'>lost</div>",
	"hidden until found":         "<div hidden=until-found>lost</div>",
	"sheet, wide windows":        noQuirks + "@media (width >= 600px){p{display:none}}</style><p>lost</p>",
	"sheet, windows between":     noQuirks + "@media (600px<width<=1280px){p{display:none}}</style><p>lost</p>",
	"clip, a pixel":              "<b style='position:absolute;clip:rect(1px,1px,1px,1px)'>lost</b>",
	"clip":                       "<b style='position:absolute;clip:rect(0,0,0,0)'>lost</b>",
	"clip, blanks":               "<b style='position:absolute;clip:rect(0 0 0 0)'>lost</b>",
	"clip-path":                  "<b style='clip-path:inset(50%)'>lost</b>",
	"scale":                      "<div style='transform:scale(0)'>lost</div>",
	"rotated about the page":     "<div style='transform:rotate3d(1,0,0,90deg)'>lost</div>",
	"rotate":                     "<div style='rotate:y 90deg'>lost</div>",
	"zoom":                       "<div style='zoom:.01'>lost</div>",
	"color of another space":     "<p style='color:oklch(1 0 0)'>lost</p>",
	"variable":                   "<p style='--x:none;display:var(--x)'>lost</p>",
	"variable of a shorthand":    "<p style='font:var(--x,0/0 a)'>lost</p>",
	"containment":                "<div style='contain:strict'>lost</div>",
	"picture in its place":       "<div style='content:url(x)'>lost</div>",
	"mask":                       "<div style='mask:linear-gradient(transparent,transparent)'>lost</div>",
	"sheet, layer":               noQuirks + "@layer b,a;@layer a{p{display:none}}@layer b{p{display:block}}</style><p>lost</p>",
	"sheet, supported":           noQuirks + "@supports (display:grid){p{color:white}}</style><p>lost</p>",
	"sheet, rule in a rule":      noQuirks + "div{> p{display:none}}</style><div><p>lost</p></div>",
	"sheet, rule about its rule": noQuirks + "p{&.a{display:none}}</style><p class=a>lost</p>",
	"sheet, scope":               noQuirks + "@scope (div){:scope{display:none}}</style><div>lost</div>",
	"sheet, place":               noQuirks + "p:nth-child(1){display:none}</style><p>lost</p>",
	"sheet, state":               noQuirks + "input:checked + p{display:none}</style><input type=checkbox checked><p>lost</p>",
	"sheet, content":             noQuirks + "p:has(b){display:none}</style><p><b></b>lost</p>",
	"sheet, letters, and ground": noQuirks + "@supports (top:0){div{color:#123456}}p{background:#123456}</style><div><p>lost</p></div>",
	"sheet, ground, and letters": noQuirks + "@supports (top:0){div{background:#123456}}p{color:#123456}</style><div><p>lost</p></div>",
	"sheet, two rules":           noQuirks + "@supports (top:0){p{color:#123456}div{background:#123456}}</style><div><p>lost</p></div>",
}

// TestUnreadStylesAskAPerson: text that a style may hide that is not emulated counts as visible, and the reading is
// incomplete.
func TestUnreadStylesAskAPerson(t *testing.T) {
	for name, html := range unreadTexts {
		t.Run(name, func(t *testing.T) {
			page := htmltext.Read(html + afterHidden)
			require.Contains(t, page.Text, "lost")
			require.Contains(t, page.Text, "seen")
			require.True(t, page.Incomplete)
			require.False(t, htmltext.Read(strings.Replace(html, "lost", "<br>", 1)).Incomplete, "no text is in doubt")
		})
	}
}

// seenTexts are pages whose text looks hidden to a careless reader, and is seen.
var seenTexts = map[string]string{
	"display taken back":          "<p style='display:none;display:block'>seen</p>",
	"display, not valid":          "<p style=\"display:'none'\">seen</p>",
	"display in a string":         `<p style="font-family:'a;display:none'">seen</p>`,
	"hidden overruled":            "<p hidden style='display:block'>seen</p>",
	"visible within hidden":       "<p style='visibility:hidden'><b style='visibility:visible'>seen</b></p>",
	"larger within 0":             "<p style='font-size:0'><b style='font-size:14px'>seen</b></p>",
	"small, of the default":       "<p style='font-size:.2em'><b style='font-size:30%'>seen</b></p>",
	"size without unit":           "<!doctype html><p style='font-size:1'>seen</p>",
	"table begins anew":           "<div style='font-size:0'><table><tr><td>seen</table></div>",
	"link on its color":           "<font color=white><a href=x>seen</a></font>",
	"white on a picture":          "<div style='background:url(x.png)'><font color=white>seen</font></div>",
	"white on an old picture":     "<table background=x.png><tr><td style='color:#fff'>seen</table>",
	"white on a gradient":         "<div style='background-image:linear-gradient(red,blue)'><font color=white>seen</font></div>",
	"white on blue":               "<table bgcolor=blue><tr><td><font color=#fff>seen</table>",
	"white on blue, sheet":        noQuirks + ".a{background:#00f}</style><div class=a style='color:white'>seen</div>",
	"color said twice":            "<p style='color:white;color:red'>seen</p>",
	"color of a marker":           "<body bgcolor=yellow><p style='color:yellow'><mark>seen</mark>",
	"clipped, inline":             "<span style='height:0;overflow:hidden'>seen</span>",
	"clipped, cell":               "<table><tr><td style='height:0;max-height:0;overflow:hidden'>seen</table>",
	"clipped, least height":       "<div style='height:0;min-height:20px;overflow:hidden'>seen</div>",
	"clipped, padding":            "<div style='height:0;overflow:hidden;padding:0 0 30px'>seen</div>",
	"height without overflow":     "<div style='height:0;line-height:0'>seen</div>",
	"clip without position":       "<div style='clip:rect(0,0,0,0)'>seen</div>",
	"left without position":       "<div style='left:-9999px'>seen</div>",
	"small margin":                "<div style='margin-left:-2px;text-indent:-.02in'>seen</div>",
	"second line of an indent":    "<div style='text-indent:-9999px'><br>seen</div>",
	"indent of an inline element": "<span style='text-indent:-9999px'>seen</span>",
	"indent of the block before":  "<div style='text-indent:-9999px'><div>&nbsp;</div>seen</div>",
	"form in a table":             "<table><form style='display:none'>seen</form></table>",
	"size, computed":              "<p style='font-size:calc(1em + 0px)'>seen</p>",
	"size, the greatest":          "<p style='font-size:max(0px, clamp(0px, 12px, 20px))'>seen</p>",
	"size, computed of no unit":   "<p style='font-size:calc(0)'>seen</p>",
	"size, computed wrongly":      "<p style='font-size:calc(0px+0px)'>seen</p>",
	"width, of two units":         "<div style='width:calc(100% - 10px);overflow:hidden'>seen</div>",
	"opacity, computed":           "<p style='opacity:calc(1/2)'>seen</p>",
	"color, light or dark":        "<p style='color:light-dark(black, white)'>seen</p>",
	"sheet, narrow windows":       noQuirks + "@media (width<600px){p{display:none}}</style><p>seen</p>",
	"sheet, narrow, turned":       noQuirks + "@media (100px<=width<=600px){p{display:none}}</style><p>seen</p>",
	"sheet, nonsense of windows":  noQuirks + "@media (width<>600px){p{display:none}}</style><p>seen</p>",
	"text of a picture":           "<svg width=200 height=50><text y=20>seen</text></svg>",
	"mso-hide":                    "<div style='mso-hide:all'>seen</div>",
	"format ended in a block":     "<font color=white><div></font>seen</div>",
	"format ended over a span":    "<i><span style='display:none'><div></i>seen</div>",
	"paragraph ended by a block":  "<p style='display:none'><div>seen</div>",
	"cell ends its formats":       "<table><tr><td><font color=white></td><td>seen</table>",
	"cell outside of tables":      "<td style='display:none'>seen</td>",
	"text before its table":       "<table style='display:none'>seen<tr><td></table>",
	"sheet, for print":            noQuirks + "@media print{p{display:none}}</style><p>seen</p>",
	"sheet, for telephones":       noQuirks + "@media screen and (max-width:480px){p{display:none!important}}</style><p>seen</p>",
	"sheet, not for screens":      noQuirks + "@media not screen{p{display:none}}</style><p>seen</p>",
	"sheet, media attribute":      "<style media=print>p{display:none}</style><p>seen</p>",
	"sheet, another type":         "<style type=text/less>p{display:none}</style><p>seen</p>",
	"sheet in a comment":          "<!-- <style>p{display:none}</style> --><p>seen</p>",
	"sheet in a template":         "<template><style>p{display:none}</style></template><p>seen</p>",
	"sheet for others":            noQuirks + "@-moz-document url(){p{display:none}}</style><p>seen</p>",
	"sheet, on hover":             noQuirks + "p:hover,p::before{display:none}</style><p>seen</p>",
	"sheet, not a selector":       noQuirks + "p,{display:none}p,:nonsense{display:none}p..a{display:none}</style><p class=a>seen</p>",
	"sheet, class of other case":  noQuirks + ".AB{display:none}</style><p class=ab>seen</p>",
	"sheet, part of a class":      noQuirks + ".a{display:none}</style><p class=ab>seen</p>",
	"sheet, child of another":     noQuirks + "div>p{display:none}</style><div><b><p>seen</p></b></div>",
	"sheet, less specific":        noQuirks + "#a{display:block}p.b{display:none}</style><p id=a class=b>seen</p>",
	"sheet, last child perhaps":   noQuirks + "p:last-child{display:none}</style><p>seen</p><b></b>",
	"sheet, revealed perhaps":     noQuirks + ".a{display:none}u~.a{display:block}</style><u></u><p class=a>seen</p>",
	"sheet, over attribute":       noQuirks + "p{display:block}</style><p hidden>seen</p>",
	"sheet, attribute's case":     noQuirks + "[data-x='AB' s]{display:none}[data-x='ABi']{display:none}</style><p data-x=ab>seen</p>",
	"sheet, in quotes":            noQuirks + "a[title='}p{display:none}']{color:red}</style><p>seen</p>",
	"style attribute wins":        noQuirks + "#a{display:none}</style><p id=a style='display:block'>seen</p>",
}

func TestSeenText(t *testing.T) {
	for name, html := range seenTexts {
		t.Run(name, func(t *testing.T) {
			page := htmltext.Read(html)
			require.Equal(t, "seen", page.Text, "%+v", page.Hidden)
			for _, hidden := range page.Hidden {
				require.Equal(t, htmltext.HiddenByComment, hidden.By)
			}
		})
	}
}

func TestHiddenTextHasItsPlace(t *testing.T) {
	const html = "<p>a<b hidden>one <i>two</i><p>three</p></b> b\u200bc<span style='font-size:0'>four</span>\u200dd<!-- five -->"
	page := htmltext.Read(html)
	require.Equal(t, "a\n\nbcd", page.Text)
	require.Equal(t, []htmltext.HiddenText{
		{Text: "one two\n\nthree", By: htmltext.HiddenByDisplay, Offset: strings.Index(html, "one")},
		{Text: "\u200b", By: htmltext.HiddenByCharacter, Offset: strings.Index(html, " b\u200b")},
		{Text: "four", By: htmltext.HiddenBySize, Offset: strings.Index(html, "four")},
		{Text: "\u200d", By: htmltext.HiddenByCharacter, Offset: strings.Index(html, "\u200dd")},
		{Text: "five", By: htmltext.HiddenByComment, Offset: strings.Index(html, " five")},
	}, page.Hidden)
}

func TestLinks(t *testing.T) {
	page := htmltext.Read(
		` <p>See <a href=" https://example.com/?a=1&amp;b=2&copy=3 ">the <b>offer</b></a>, <a href=#x><img></a>` +
			`<a href=/y style="display:none">y</a> or <a name=z>not</a> <a href=u>one<a href=v>two`)
	require.Equal(t, "See the offer, or not onetwo", page.Text)
	var links []string
	for _, l := range page.Links {
		links = append(links, l.URL+" "+page.Text[l.Start:l.End])
	}
	require.Equal(t, []string{"https://example.com/?a=1&b=2&copy=3 the offer", "#x ", "/y ", "u one", "v two"}, links)
}

func TestBody(t *testing.T) {
	const story = "The quick brown fox jumps over that lazy dog, while seven wizards watch from their towers."
	for name, c := range map[string]struct {
		plain, html string
		want        htmltext.Body
		disagree    bool
	}{
		"nothing": {},
		"plain": {"One\n two\u200b ", "", htmltext.Body{
			Text: "One\n two", Hidden: []htmltext.HiddenText{{Text: "\u200b", By: htmltext.HiddenByCharacter}},
		}, false},
		"HTML":       {" ", "<p>One", htmltext.Body{Text: "One", FromHTML: true}, false},
		"both":       {"One more", "<p>One time", htmltext.Body{Text: "One time", FromHTML: true, Words: htmltext.BodyWords{Both: 1, OnlyPlain: 1, OnlyHTML: 1}}, false},
		"empty HTML": {"One", "<p> <img>", htmltext.Body{Text: "One", Words: htmltext.BodyWords{OnlyPlain: 1}}, false},
		"the same": {
			story + "\nhttps://example.com/unsubscribe/please", "<h1>" + strings.ToUpper(story) + "</h1>",
			htmltext.Body{Text: strings.ToUpper(story), FromHTML: true, Words: htmltext.BodyWords{Both: 16}}, false,
		},
		"another": {
			"Please read this in a mail client that shows HTML.", story,
			htmltext.Body{Text: story, FromHTML: true, Words: htmltext.BodyWords{Both: 1, OnlyPlain: 7, OnlyHTML: 15}}, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			body := htmltext.ReadBody(c.plain, c.html)
			require.Equal(t, c.want, body)
			require.Equal(t, c.disagree, body.Words.Disagree())
		})
	}
}
