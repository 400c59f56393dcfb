package web_test

import (
	"net/http"
	"net/url"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/browsertest"
)

// A person copies the mailbox from the page, has all copies read, and sees how much of each month there is.
func TestTheArchiveIsShownAndCopiedFromThePage(t *testing.T) {
	w := newWorldWith(t, "", func(c *config.Config) {
		c.Archive.URL = "file://" + filepath.Join(t.TempDir(), "kept")
	})
	account, err := w.Mail.AccountByEmail(t.Context(), sample.Owner)
	require.NoError(t, err)
	path := "mailboxes/" + account.ID + "/archive"
	require.Contains(t, w.get("mailboxes").body, path)
	require.Contains(t, w.get(path).body, "Nothing is copied yet")
	for _, work := range []string{"archive", "verify-all"} {
		require.Equal(t, http.StatusSeeOther, w.post("mailboxes/"+account.ID+"/now", url.Values{"do": {work}}).status)
		require.NoError(t, w.RunJobs(t.Context()))
	}
	page := w.get(path)
	require.Equal(t, http.StatusOK, page.status)
	require.NotContains(t, page.body, "not yet")
	require.NotContains(t, page.body, "Nothing is copied yet")
	require.Contains(t, page.body, `<h2 id="months-h">Months</h2>`)
	require.Regexp(t, `<span>20\d\d-\d\d</span>`, page.body)
	w.small(map[string]string{"archive": path})
	looks(browsertest.Browse(t), w.url, map[string]string{"archive": path})
}

func TestWithoutAnArchiveThePageSaysHowToMakeOne(t *testing.T) {
	w := newWorld(t)
	account, err := w.Mail.AccountByEmail(t.Context(), sample.Owner)
	require.NoError(t, err)
	require.NotContains(t, w.get("mailboxes").body, "/archive\"")
	require.Contains(t, w.get("mailboxes/"+account.ID+"/archive").body, "archive.url")
	require.Contains(t, w.post("mailboxes/"+account.ID+"/now", url.Values{"do": {"archive"}}).body, "archive.url")
}
