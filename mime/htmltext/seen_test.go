package htmltext_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/mime/htmltext"
)

// A seenPage is what is read of a page, and whether the reading gives up judging some of it.
type seenPage struct {
	text       string
	incomplete bool
}

// seenPages are the pages of testdata/seen.txt: selectors, rules within rules, conditions, values that hide, places,
// colors and elements.
func seenPages(t *testing.T) map[string]seenPage {
	t.Helper()
	raw, err := os.ReadFile("testdata/seen.txt")
	require.NoError(t, err)
	pages := map[string]seenPage{}
	for line := range strings.Lines(string(raw)) {
		seen, page, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if ok {
			seen, incomplete := strings.CutPrefix(seen, "~")
			pages[page] = seenPage{strings.Replace(seen, "-", "", 1), incomplete}
		}
	}
	require.NotEmpty(t, pages)
	return pages
}

func TestSeenPages(t *testing.T) {
	for page, want := range seenPages(t) {
		assert.Equal(t, want, seenPage{letters(withoutMarks(page)), htmltext.Read(page).Incomplete}, page)
	}
}

// A rule of which it is not known whether it applies does not hide: what it would hide counts as seen, and the page
// as incomplete.
func TestUnsureRulesDoNotHide(t *testing.T) {
	for name, page := range map[string]string{
		"state of a field":     noQuirks + "input:valid + p{display:none}</style><input><p>seen</p>",
		"place among some":     noQuirks + "p:nth-child(1 of .a){visibility:hidden}</style><p class=a>seen</p>",
		"size of a container":  noQuirks + "@container (min-width:1px){p{font-size:0}}</style><p>seen</p>",
		"limit of a scope":     noQuirks + "@scope (div) to (b){p{opacity:0}}</style><div><p>seen</p></div>",
		"property not known":   noQuirks + "@supports (unheard-of:1px){p{display:none}}</style><p>seen</p>",
		"variable":             noQuirks + "@container (min-width:1px){p{display:var(--x,none)}}</style><p>seen</p>",
		"not, of a state":      noQuirks + "input:not(:valid) + p{display:none}</style><input><p>seen</p>",
		"lists in lists":       noQuirks + ":is(:is(:is(:is(:is(:is(p)))))){display:none}</style><p>seen</p>",
		"namespace of another": noQuirks + "@namespace url(x);p{display:none}</style><p>seen</p>",
	} {
		t.Run(name, func(t *testing.T) {
			read := htmltext.Read(page)
			require.Equal(t, "seen", read.Text)
			require.True(t, read.Incomplete)
			revealed := strings.NewReplacer("display:none", "color:red", "visibility:hidden", "color:red",
				"font-size:0", "color:red",
				"opacity:0", "color:red", "display:var(--x,none)", "top:0").Replace(page)
			require.False(t, htmltext.Read(revealed).Incomplete)
		})
	}
}

// A text that a style generates makes the reading incomplete.
func TestGeneratedTextIsNotRead(t *testing.T) {
	for _, rules := range []string{
		"p{--y:'z'}p::before{content:var(--y)}", "p:after{content:'['}", `p::before{content:""attr(class)}`, "p::before{content:counter(y)}",
		`p::after{content:"" "\59"}`, "body::before{content:'a'}", "@media screen{p::before{content:'a';color:red}}",
	} {
		read := htmltext.Read(noQuirks + rules + "</style><p>x</p>")
		require.Equal(t, "x", read.Text)
		require.True(t, read.Incomplete, rules)
	}
	for _, rules := range []string{
		"p::after{content:'';display:table;clear:both}", `p::after{content:"\00a0";visibility:hidden}`, "p::before{content:none}",
		"p::before{content:'a';display:none}", "b::before{content:'a'}", "p::before{font-size:0}", "p:hover::before{content:'a'}",
		"@media print{p::before{content:'a'}}",
	} {
		require.False(t, htmltext.Read(noQuirks+rules+"</style><p>x</p>").Incomplete, rules)
	}
}

// Letters that a style turns round are read as they are written, and the reading is incomplete.
func TestReversedText(t *testing.T) {
	for page, incomplete := range map[string]bool{
		"<p style='direction:rtl;unicode-bidi:bidi-override'>a b":        true,
		"<bdo dir=RTL>a b</bdo>":                                         true,
		"<p dir=rtl style='unicode-bidi:isolate-override'>a b":           true,
		"<p style='direction:rtl;unicode-bidi:bidi-override'></p><p>a b": false,
		"<p dir=rtl>a b": false,
		"<p dir=rtl style='unicode-bidi:embed'>a b": false,
		"<bdo dir=ltr>a b</bdo>":                    false,
	} {
		read := htmltext.Read(page)
		require.Equal(t, seenPage{"a b", incomplete}, seenPage{read.Text, read.Incomplete}, page)
	}
}
