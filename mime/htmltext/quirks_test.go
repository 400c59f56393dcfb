package htmltext_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/mime/htmltext"
)

// What one mode of browsers shows and the other does not is in the text, doubtful, and a reason to ask.
func TestQuirksModeIsInDoubt(t *testing.T) {
	for name, source := range map[string]string{
		"a table in a tiny font":      "<p>seen</p><div style='font-size:0'><table><tr><td>attack</table></div>",
		"a table in the page's color": "<p>seen</p><div style='color:white'><table><tr><td>attack</table></div>",
		"a size without a unit":       "<p>seen</p><p style='font-size:1'>attack</p>",
		"a color without its sign":    "<p>seen</p><p style='color:ffffff'>attack</p>",
		"a class in another case":     "<style>.AB{font-size:0}</style><p>seen</p><p class=ab>attack</p>",
		"a rule for a size":           "<style>.a{font-size:1}</style><p>seen</p><p class=a>attack</p>",
	} {
		t.Run(name, func(t *testing.T) {
			page := htmltext.Read(source)
			require.Contains(t, page.Text, "attack")
			require.Contains(t, page.Doubtful, "attack")
			require.NotContains(t, page.Doubtful, "seen")
			require.True(t, page.Incomplete)
			require.False(t, htmltext.Read("<!doctype html>"+source).Incomplete, "one mode")
		})
	}
	require.NotContains(t, htmltext.Text("<!doctype html><div style='font-size:0'><table><tr><td>attack</table></div>"), "attack")
}

// Honest pages without a doctype differ in nothing that is seen.
func TestQuirksModeOfHonestPages(t *testing.T) {
	for _, source := range []string{
		"<div style='font-size:0'><table style='font-size:14px'><tr><td>seen</table></div>",
		"<td style='font-size:0'><table><tr><td style='font-size:12px;color:#333'>seen</table>",
		"<div style='color:#333'><table><tr><td>seen</table></div>",
		"<table style='color:fff000;width:600'><tr><td>seen</table>",
	} {
		page := htmltext.Read(source)
		require.Equal(t, "seen", page.Text)
		require.False(t, page.Incomplete, source)
		require.Empty(t, page.Doubtful)
	}
}
