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

// seenPages are the pages of testdata/seen.txt: selectors, rules within rules, layers, variables, conditions, values that hide,
// places, colors, generated text and elements.
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

// A rule of which it is not known whether it applies does not hide: what it would hide counts as seen, and the page as incomplete.
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
			revealed := strings.NewReplacer("display:none", "color:red", "visibility:hidden", "color:red", "font-size:0", "color:red",
				"opacity:0", "color:red", "display:var(--x,none)", "top:0").Replace(page)
			require.False(t, htmltext.Read(revealed).Incomplete)
		})
	}
}

// A text that is generated from what is not read makes the reading incomplete.
func TestGeneratedTextThatIsNotKnown(t *testing.T) {
	read := htmltext.Read(noQuirks + "p{--y:'z'}p::before{content:var(--y)}</style><p>x</p>")
	require.Equal(t, "x", read.Text)
	require.True(t, read.Incomplete)
}

// Letters that a style turns round are read as they are seen.
func TestReversedText(t *testing.T) {
	for page, want := range map[string]seenPage{
		"<p style='direction:rtl;unicode-bidi:bidi-override'>(ebircsbusnu) won":                      {"now (unsubscribe)", false},
		"<bdo dir=rtl>ebircsbusnu</bdo> now":                                                         {"unsubscribe now", false},
		"<p dir=rtl style='unicode-bidi:isolate-override'>ebircsbusnu":                               {"unsubscribe", false},
		"<div style='direction:rtl;unicode-bidi:bidi-override'>a<p>unsubscribe</p></div>":            {"a\n\nunsubscribe", false},
		"<p dir=rtl>unsubscribe":                                                                     {"unsubscribe", false},
		"<bdo dir=ltr>unsubscribe</bdo>":                                                             {"unsubscribe", false},
		"<bdo dir=rtl>ebircs<b>busnu</b></bdo>":                                                      {"scribeunsub", true},
		"<bdo dir=rtl>" + strings.Repeat("a", 101) + "</bdo>":                                        {strings.Repeat("a", 101), true},
		"<bdo dir=rtl>ba</bdo><p>and</p><bdo dir=rtl>dc</bdo>, <span style='direction:rtl'>e</span>": {"ab\n\nand\n\ncd, e", false},
	} {
		read := htmltext.Read(page)
		require.Equal(t, want, seenPage{read.Text, read.Incomplete}, page)
	}
}
