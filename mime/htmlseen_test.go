package mime_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/mime"
)

// seenPages are the pages of testdata/htmlseen.txt, with what Chromium shows of them: selectors, rules within rules, layers, variables,
// conditions, values that hide, and elements.
func seenPages(t *testing.T) map[string]string {
	t.Helper()
	raw, err := os.ReadFile("testdata/htmlseen.txt")
	require.NoError(t, err)
	pages := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		seen, page, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if ok {
			pages[page] = strings.Replace(seen, "-", "", 1)
		}
	}
	require.NotEmpty(t, pages)
	return pages
}

func TestSeenPages(t *testing.T) {
	for page, seen := range seenPages(t) {
		require.Equal(t, seen, letters(withoutMarks(page)), page)
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
			read := mime.ReadHTML(page)
			require.Equal(t, "seen", read.Text)
			require.True(t, read.Incomplete)
			revealed := strings.NewReplacer("display:none", "color:red", "visibility:hidden", "color:red", "font-size:0", "color:red",
				"opacity:0", "color:red", "display:var(--x,none)", "top:0").Replace(page)
			require.False(t, mime.ReadHTML(revealed).Incomplete)
		})
	}
}
