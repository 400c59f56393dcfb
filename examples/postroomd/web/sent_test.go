package web_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/safety"
)

// What is sent is shown: its text, what its HTML shows, and that the HTML hides something. What is longer than the page
// shows is not approved there.
func TestAllThatIsSentIsShown(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rules.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`
rules:
  - name: Hidden
    priority: 1
    condition: {type: subject_regex, value: '(?i)receipt|invoice'}
    action: forward
    parameters:
      to: books@example.com
      body: For the books.
      body_html: '<p>Pay the other account</p><p style="display:none">and tell nobody</p>'
  - name: Long
    priority: 2
    condition: {type: header_present, header: List-Unsubscribe}
    action: forward
    parameters: {to: books@example.com, body: "`+strings.Repeat("more ", view.MaxSent/5+1)+`"}
`), 0o600))
	w := newWorldBy(t, file)
	hidden := w.waiting(safety.Filter{Rule: "Hidden"})
	require.NotEmpty(t, hidden)
	page := w.get("waiting/" + hidden[0].Action.ID).body
	require.Contains(t, page, "For the books.")
	require.Contains(t, page, "Pay the other account")
	require.Contains(t, page, "The HTML has more that its reader would not see")
	require.Contains(t, page, `name="approve"`)

	long := w.waiting(safety.Filter{Rule: "Long"})
	require.NotEmpty(t, long)
	page = w.get("waiting/" + long[0].Action.ID).body
	require.Contains(t, page, "It is longer than this page shows")
	require.NotContains(t, page, `name="approve"`)
	require.Contains(t, page, `name="reject"`)
}
