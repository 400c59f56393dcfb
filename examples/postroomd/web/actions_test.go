package web_test

import (
	"net/http"
	"net/url"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/browsertest"
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
		require.Contains(t, browsertest.Eval[string](b, `document.querySelector("#undo").innerText`), "taken back")
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
