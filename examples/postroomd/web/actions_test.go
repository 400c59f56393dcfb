package web_test

import (
	"context"
	"html"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/internal/browsertest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

func (w *world) acted(f safety.Filter) []safety.Entry {
	w.Helper()
	f.Limit = 100
	list, err := w.Ledger.Actions(w.Context(), f)
	require.NoError(w, err)
	return list
}

// A person takes one action back by a key, looks at its undo, and does it again.
func TestAnActionIsTakenBackAndDoneAgain(t *testing.T) {
	w := newWorld(t)
	b := browsertest.Browse(t)
	moved := w.acted(safety.Filter{Types: []postroom.ActionType{postroom.Move}, States: completed})
	at := 0
	for width, scheme := range map[int64]string{1280: "dark", 390: "light"} {
		a := moved[at].Action
		at++
		before, err := w.Mail.Message(t.Context(), a.AccountID, a.MessageID)
		require.NoError(t, err)
		b.Size(width, 844)
		b.Scheme(scheme)
		b.Open(w.url + "actions?kind=move")
		b.Until(ready)
		b.Open(w.url + "actions/" + a.ID)
		b.Until(ready)
		b.Press("u")
		b.Until(`document.querySelector(".done")?.textContent.includes("being taken back")`)
		require.NoError(t, w.RunJobs(t.Context()))
		undos := w.acted(safety.Filter{MessageID: a.MessageID, Types: []postroom.ActionType{safety.UndoType(postroom.Move)}})
		require.Len(t, undos, 1)
		b.Open(w.url + "actions/" + a.ID)
		require.Contains(t, browsertest.Eval[string](b, `document.querySelector("#undo").innerText`), "taken back by "+access.LocalName)
		require.False(t, browsertest.Eval[bool](b, `!!document.querySelector("#undo button")`))
		after, err := w.Mail.Message(t.Context(), a.AccountID, a.MessageID)
		require.NoError(t, err)
		require.NotEqual(t, before.LabelIDs, after.LabelIDs)

		b.Open(w.url + "actions/" + undos[0].Action.ID)
		b.Until(ready)
		require.Equal(t, "Do it again", browsertest.Eval[string](b, `document.querySelector("#undo button").textContent`))
		b.Press("u")
		b.Until(`!!document.querySelector(".done")`)
		require.NoError(t, w.RunJobs(t.Context()))
		again, err := w.Mail.Message(t.Context(), a.AccountID, a.MessageID)
		require.NoError(t, err)
		require.Equal(t, before.LabelIDs, again.LabelIDs)
	}
	b.Quiet()
}

var completed = []postroom.ActionState{postroom.ActionCompleted}

// The page of an action has the trace in which it was done, as the page of its job and the lines of the log have.
func TestAnActionHasItsTrace(t *testing.T) {
	w := newWorld(t)
	action := w.acted(safety.Filter{Types: []postroom.ActionType{postroom.Move}, States: completed})[0].Action
	job, err := w.Queue.Job(t.Context(), action.JobID)
	require.NoError(t, err)
	trace := strings.Split(job.TraceParent, "-")[1]
	require.Len(t, trace, 32)
	require.Contains(t, w.get("actions/"+action.ID).body, `<dt>Trace</dt><dd class="mono">`+trace+"</dd>")
}

// A window is taken back as its preview has shown it, or not at all, and all is in the address.
func TestManyAreTakenBackAsTheyWereShown(t *testing.T) {
	w := newWorld(t)
	require.Equal(t, http.StatusConflict, w.get("undo").status, "everything is not a choice")
	require.Equal(t, http.StatusConflict, w.get("undo?state=failed").status)
	page := w.get("actions?kind=move&window=7d")
	require.Contains(t, page.body, `href="./undo?kind=move&amp;window=7d"`)
	page = w.get("undo?kind=move&window=7d")
	form := url.Values{"kind": {"move"}, "window": {"7d"}, "at": {page.find(t, `name="at" value="([^"]+)"`)},
		"digest": {page.find(t, `name="digest" value="([^"]+)"`)}, "from": {"/actions?kind=move"}}
	moved := w.acted(safety.Filter{Types: []postroom.ActionType{postroom.Move}, States: completed})
	require.Contains(t, page.body, "Take "+strconv.Itoa(len(moved))+" back?")

	require.Equal(t, http.StatusSeeOther, w.post("actions/"+moved[0].Action.ID+"/undo", url.Values{}).status)
	require.NoError(t, w.RunJobs(t.Context()))
	require.Equal(t, http.StatusConflict, w.post("undo", form).status, "one is taken back already")

	page = w.get("undo?kind=move&window=7d")
	form.Set("at", page.find(t, `name="at" value="([^"]+)"`))
	form.Set("digest", page.find(t, `name="digest" value="([^"]+)"`))
	to := w.post("undo", form)
	require.Equal(t, http.StatusSeeOther, to.status)
	require.Contains(t, to.header.Get("Location"), "n="+strconv.Itoa(len(moved)-1))
	require.NoError(t, w.RunJobs(t.Context()))
	undone := w.acted(safety.Filter{Types: []postroom.ActionType{safety.UndoType(postroom.Move)}, States: completed})
	require.Len(t, undone, len(moved))
	require.Equal(t, http.StatusConflict, w.post("actions/"+moved[0].Action.ID+"/undo", url.Values{}).status)
	require.Contains(t, w.get("undo?kind=move&window=7d").body, "Nothing to take back")
}

// A list has 50, and the next page begins after them.
func TestActionsAreListedByPages(t *testing.T) {
	w := newWorld(t)
	all := w.acted(safety.Filter{})
	require.Greater(t, len(all), 50)
	page := w.get("actions")
	older := page.find(t, `<a href="\./(actions\?before=[^"]+)">Older`)
	require.Contains(t, page.body, all[49].Action.ID)
	require.NotContains(t, page.body, all[50].Action.ID)
	require.Contains(t, w.get(older).body, all[50].Action.ID)
	for _, query := range []string{"sender=nobody@example.org", "mailbox=" + url.QueryEscape(w.Env.Config.Gmail.Address),
		"rule=Newsletters", "source=deterministic", "state=completed", "window=24h"} {
		require.Equal(t, http.StatusOK, w.get("actions?"+query).status, query)
	}
	require.Contains(t, w.get("actions?sender=nobody@example.org").body, "Nothing matches")
	require.Equal(t, http.StatusConflict, w.get("actions?window=soon").status)
}

// Rows with a button and rows without one have the same columns.
func TestTheColumnsOfListsLineUp(t *testing.T) {
	w := newWorldBy(t, "", "archive")
	b := browsertest.Browse(t)
	for _, path := range []string{"actions", "rules", "waiting", "mail"} {
		b.Open(w.url + path)
		for _, cell := range []string{"row.children[1]", "row.lastElementChild"} {
			lefts := browsertest.Eval[[]int](b, `[...new Set([...document.querySelectorAll(".list > li")].map((row) =>
				Math.round(`+cell+`.getBoundingClientRect().left)))]`)
			require.Len(t, lefts, 1, "%s, %s", path, cell)
		}
	}
}

// The preview of an undo names the mail that it would change, and that which it would leave alone, and says why.
func TestThePreviewOfAnUndoNamesTheMail(t *testing.T) {
	w := newWorld(t)
	moved := w.acted(safety.Filter{Types: []postroom.ActionType{postroom.Move}, States: completed})
	page := w.get("undo?kind=move&window=7d")
	require.NotContains(t, page.body, `id="left"`)
	require.Contains(t, page.body, html.EscapeString(moved[0].Decision.Subject))
	require.Contains(t, page.body, "from "+html.EscapeString(moved[0].Decision.Sender))
	if len(moved) > 20 {
		require.Contains(t, page.body, "and "+strconv.Itoa(len(moved)-20)+" more")
	}
	require.NoError(t, w.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE messages SET labels_json = '["INBOX"]' WHERE id = $1`, moved[1].Action.MessageID)
		return err
	}))
	page = w.get("undo?kind=move&window=7d")
	require.Contains(t, page.body, "The mail of one is left alone, for the reason below.")
	left := page.find(t, `(?s)<section class="left">(.*?)</section>`)
	require.Contains(t, left, "1 with nothing to put back: it is as before already")
	require.Contains(t, left, html.EscapeString(moved[1].Decision.Subject))
	for name, path := range map[string]string{"undo-left": "undo?kind=move&window=7d",
		"actions-confidence": "actions?kind=star&min_confidence=0.5&max_confidence=1"} {
		looks(browsertest.Browse(t), w.url, map[string]string{name: path}) // a tab each: it is closed after two minutes
	}
}

// Actions are filtered by how sure the decision was, and so is what is taken back at once.
func TestActionsAreFilteredByConfidence(t *testing.T) {
	w := newWorld(t)
	all := w.acted(safety.Filter{Types: []postroom.ActionType{postroom.Move}})
	require.NoError(t, w.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE decisions SET confidence = 0.4 WHERE id = $1`, all[0].Action.DecisionID)
		return err
	}))
	unsure := w.get("actions?kind=move&max_confidence=0.5")
	require.Contains(t, unsure.body, all[0].Action.ID)
	require.NotContains(t, unsure.body, all[1].Action.ID)
	require.NotContains(t, w.get("actions?kind=move&min_confidence=0.5").body, all[0].Action.ID)
	query := unsure.find(t, `id="undo-all" href="\./(undo[^"]+)"`)
	preview := w.get(html.UnescapeString(query))
	require.Contains(t, preview.body, "Take 1 back?")
	require.Equal(t, "0.5", preview.find(t, `name="max_confidence" value="([^"]+)"`))
	require.Equal(t, http.StatusConflict, w.get("actions?min_confidence=very").status)
	require.Equal(t, http.StatusConflict, w.get("actions?min_confidence=0.9&max_confidence=0.1").status)
}
