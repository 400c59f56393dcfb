package api_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
)

const billMail = "From: shop@example.com\nTo: " + sample.Owner + "\nSubject: Your bill\nMIME-Version: 1.0\n" +
	"Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/plain\n\nHere it is.\n" +
	"--x\nContent-Type: application/pdf\nContent-Disposition: attachment; filename=bill.pdf\n\n%PDF\n" +
	"--x\nContent-Type: text/plain\nContent-Disposition: attachment; filename=terms.txt\n\nTerms\n--x--\n"

// A rule keeps the attached files that it selects, the action says which, and its undo removes them.
func TestARuleKeepsAttachedFiles(t *testing.T) {
	folder := t.TempDir()
	w := newWorldWith(t, "", func(c *config.Config) {
		c.Attachments.Folder, c.Attachments.Path = config.Path(folder), "{{subject}} {{filename}}"
	}, billMail)
	w.decide(`{"name": "Bills", "condition": {"type": "has_attachment"}, "action": "file_attachments",
		"parameters": {"names": ["*.pdf"]}}`, "subject:bill")
	kept := filepath.Join(folder, "Your bill bill.pdf")
	content, err := os.ReadFile(kept)
	require.NoError(t, err)
	require.Equal(t, "%PDF", string(content))

	filed := call[view.Actions](w, "GET", "/actions?kind=file_attachments", "", http.StatusOK).List
	require.Len(t, filed, 1)
	told := call[view.WholeAction](w, "GET", "/actions/"+filed[0].ID, "", http.StatusOK)
	require.Equal(t, []string{"files filed: 1 of 2", "Your bill bill.pdf"}, told.Filed)
	call[any](w, "POST", "/actions/"+filed[0].ID+"/undo", "", http.StatusOK)
	w.work()
	require.NoFileExists(t, kept)
}
