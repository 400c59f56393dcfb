package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/safety"
)

// What was done to all that a search finds is one list, and is taken back from there by one undo, which takes back
// nothing else.
func TestWhatWasDoneToASearchIsTakenBackAtOnce(t *testing.T) {
	w := newWorld(t)
	w.withNeighbour()
	act := func(kind string) string {
		t.Helper()
		form := url.Values{"mailbox": {sample.Owner}, "q": {"in:inbox"}, "kind": {kind}}
		shown := w.get("mail/act?" + form.Encode())
		form.Set("digest", shown.find(t, `name="digest" value="([0-9a-f]{64})"`))
		form.Set("batch", shown.find(t, `name="batch" value="([0-9a-f-]{36})"`))
		done := w.post("mail/act", form)
		require.Equal(t, http.StatusSeeOther, done.status, done.body)
		require.Equal(t, done.header.Get("Location"), w.post("mail/act", form).header.Get("Location"), "a second click")
		require.NoError(t, w.RunJobs(t.Context()))
		return strings.TrimPrefix(done.header.Get("Location"), "../")
	}
	starred := safety.Filter{Types: []postroom.ActionType{postroom.Star}, Sources: []postroom.Source{postroom.SourceHost},
		States: completed, Limit: 100}
	act("mark_unread")
	list := w.get(act("star"))
	stars := w.acted(starred)
	require.NotEmpty(t, stars)
	require.NotContains(t, list.body, "Marked as unread", "another batch")
	require.Contains(t, w.get("actions/"+stars[0].Action.ID).body, "&amp;batch=", "the batch is found later, too")

	batch := list.find(t, `id="undo-all" href="[./]*undo\?batch=([0-9a-f-]{36})&amp;`)
	query := url.Values{"mailbox": {sample.Owner}, "batch": {batch}}
	shown := w.get("undo?" + query.Encode())
	require.Equal(t, batch, shown.find(t, `name="batch" value="([^"]+)"`))
	query.Set("at", shown.find(t, `name="at" value="([^"]+)"`))
	query.Set("digest", shown.find(t, `name="digest" value="([^"]+)"`))
	foreign := w.as(access.Person{Name: "bob@example.org", Role: access.Own, Mailboxes: []string{neighbour}})
	require.Equal(t, http.StatusForbidden, foreign.post("undo", query).status)
	require.NotContains(t, foreign.get("actions?batch="+batch).body, "Starred")
	require.Equal(t, http.StatusSeeOther, w.post("undo", query).status)
	require.NoError(t, w.RunJobs(t.Context()))
	undone := w.acted(safety.Filter{Types: []postroom.ActionType{safety.UndoType(postroom.Star)}, States: completed,
		Limit: 100})
	require.Len(t, undone, len(stars))
	require.Empty(t, w.acted(safety.Filter{Types: []postroom.ActionType{safety.UndoType(postroom.MarkUnread)}}))
	require.Contains(t, w.get("actions?batch=none").body, "Nothing matches")
}
