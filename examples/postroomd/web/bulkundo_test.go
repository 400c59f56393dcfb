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
	"github.com/postroom-go/postroom/internal/browsertest"
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

// What a person has taken back is left alone until one more click says otherwise, and the answer is about just that.
func TestWhatWasTakenBackIsDoneOnAnotherWord(t *testing.T) {
	w := newWorld(t)
	b := browsertest.Browse(t)
	form := url.Values{"mailbox": {sample.Owner}, "q": {"in:inbox"}, "kind": {"star"}}
	shown := w.get("mail/act?" + form.Encode())
	require.NotContains(t, shown.body, `id="again"`)
	form.Set("digest", shown.find(t, `name="digest" value="([0-9a-f]{64})"`))
	require.Equal(t, http.StatusSeeOther, w.post("mail/act", form).status)
	require.NoError(t, w.RunJobs(t.Context()))
	starred := safety.Filter{Types: []postroom.ActionType{postroom.Star}, Sources: []postroom.Source{postroom.SourceHost},
		States: completed, Limit: 200}
	first := w.acted(starred)
	require.Greater(t, len(first), 1)
	for _, one := range first[:2] {
		require.Equal(t, http.StatusSeeOther, w.post("actions/"+one.Action.ID+"/undo", nil).status)
	}
	require.NoError(t, w.RunJobs(t.Context()))
	done := len(first)
	for width, scheme := range map[int64]string{1280: "light", 390: "dark"} {
		b.Size(width, 844)
		b.Scheme(scheme)
		b.Open(w.url + "mail/act?mailbox=" + sample.Owner + "&q=in%3Ainbox&kind=star")
		require.Contains(t, browsertest.Eval[string](b, `document.querySelector("h1").textContent`), "Nothing to do")
		browsertest.Eval[any](b, `document.querySelector("#again").click()`)
		b.Until(`document.querySelector("h1").textContent.includes(": 2 messages?") && ` + ready)
		if width == 1280 { // it looks at all of them
			fits(b, "bulk-again")
		}
		require.False(t, browsertest.Eval[bool](b, `!!document.querySelector("#again")`))
	}
	browsertest.Eval[any](b, `document.querySelector("form.bar button").click()`)
	b.Until(`document.querySelector(".done")?.textContent.includes("2 of 2")`)
	require.NoError(t, w.RunJobs(t.Context()))
	require.Len(t, w.acted(starred), done+2)
	b.Quiet()
}
