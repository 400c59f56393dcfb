package web_test

import (
	"net/http"
	"net/url"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/browsertest"
	"github.com/postroom-go/postroom/safety"
)

// All that a search finds is starred after a preview, if it is still what was shown.
func TestAllThatASearchFindsIsStarred(t *testing.T) {
	w := newWorld(t)
	b := browsertest.Browse(t)
	for width, scheme := range map[int64]string{1280: "light", 390: "dark"} {
		b.Size(width, 844)
		b.Scheme(scheme)
		b.Open(w.url + "mail?q=in%3Ainbox")
		require.Empty(t, browsertest.Eval[[]string](b, browsertest.Crooked), "at %d", width)
		browsertest.Eval[any](b, `(() => { const f = document.querySelector("#act"); f.kind.value = "star";
			f.querySelector("button").click(); })()`)
		b.Until(`location.pathname.endsWith("/mail/act") && !!document.querySelector("h1") && ` + ready)
		if width == 1280 { // it looks at all of them
			fits(b, "bulk")
		}
	}
	starred := safety.Filter{Types: []postroom.ActionType{postroom.Star}, Sources: []postroom.Source{postroom.SourceHost}}
	require.Empty(t, w.acted(starred), "a preview does nothing")
	query := url.Values{"mailbox": {sample.Owner}, "q": {"in:inbox"}, "kind": {"star"}}
	digest := regexp.MustCompile(`name="digest" value="([0-9a-f]{64})"`).FindStringSubmatch(w.get("mail/act?" + query.Encode()).body)
	require.Len(t, digest, 2)
	query.Set("digest", digest[1])
	query.Set("kind", "archive")
	require.Equal(t, http.StatusConflict, w.post("mail/act", query).status, "another action was not shown")
	query.Set("kind", "star")
	seer := w.as(access.Person{Name: "bob@example.org", Role: access.See})
	require.Equal(t, http.StatusForbidden, seer.post("mail/act", query).status)
	require.Equal(t, http.StatusSeeOther, w.post("mail/act", query).status)
	require.NoError(t, w.RunJobs(t.Context()))
	starred.States = completed
	require.NotEmpty(t, w.acted(starred))
	query.Set("kind", "forward")
	require.Equal(t, http.StatusConflict, w.get("mail/act?"+query.Encode()).status)
	b.Quiet()
}
