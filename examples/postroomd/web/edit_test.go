package web_test

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"net/url"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/browsertest"
	"github.com/postroom-go/postroom/safety"
)

// A person edits what is sent, sees the bytes, approves them, and they are sent, once.
func TestWhatIsSentIsEditedOnThePage(t *testing.T) {
	w := newAskingWorld(t)
	b := browsertest.Browse(t)
	list := w.waiting(safety.Filter{Rule: "Books"})
	require.Greater(t, len(list), 1)
	for i, width := range []int64{1280, 390} {
		b.Size(width, 844)
		id, before := list[i].Action.ID, w.Server.Counts()[gmailtest.MessagesSend]
		b.Open(w.url + "waiting/" + id)
		b.Until(ready)
		require.Equal(t, "For the books.", browsertest.Eval[string](b, `document.querySelector("#edit textarea").value`))
		browsertest.Eval[any](b, `document.querySelector("#edit summary").click()`)
		b.Picture("edit-" + strconv.FormatInt(width, 10))
		require.True(t, browsertest.Eval[bool](b, `document.documentElement.scrollWidth <= innerWidth`))
		browsertest.Eval[any](b, `document.querySelector("#edit [name=subject]").value = "Paid <b>";
			document.querySelector("#edit textarea").value = "\nPlease <file>.\nThanks";
			document.querySelector("#edit button").click()`)
		b.Until(`document.querySelector(".done")?.textContent.includes("Edited: look at it once more")`)
		require.Equal(t, "Paid <b>", browsertest.Eval[string](b, `document.querySelector("#sent-subject").textContent`))
		require.Contains(t, browsertest.Eval[string](b, `document.querySelector("#sent").textContent`),
			"Please <file>.\nThanks\n\n-----")
		require.Equal(t, "\nPlease <file>.\nThanks", browsertest.Eval[string](b, `document.querySelector("#edit textarea").value`))
		require.Contains(t, browsertest.Eval[string](b, `document.querySelector("#edited").textContent`), access.LocalName)
		require.Equal(t, before, w.Server.Counts()[gmailtest.MessagesSend], "nobody has approved it")
		seen := w.get("waiting/" + id + "/message.eml").body

		browsertest.Eval[any](b, `document.querySelector("button[name=approve]").click()`)
		b.Until(`document.querySelector(".done")?.textContent.includes("Approved: it is carried out")`)
		require.NoError(t, w.RunJobs(t.Context()))
		require.NoError(t, w.RunJobs(t.Context()))
		require.Equal(t, before+1, w.Server.Counts()[gmailtest.MessagesSend])
		done, err := w.Ledger.Action(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, postroom.ActionCompleted, done.State, done.Error)
		require.True(t, bytes.HasSuffix(w.rawAt(done.UndoHint.SentMessageID), []byte(seen)), "what was shown is what is sent")
	}
	b.Quiet()
}

// rawAt returns the bytes of a message of the mailbox.
func (w *world) rawAt(id string) []byte {
	w.Helper()
	account, err := w.Server.Account(w.Context(), sample.Owner)
	require.NoError(w, err)
	service, err := account.Service(w.Context())
	require.NoError(w, err)
	m, err := service.Users.Messages.Get("me", id).Format("raw").Do()
	require.NoError(w, err)
	raw, err := base64.URLEncoding.DecodeString(m.Raw)
	require.NoError(w, err)
	return raw
}

// A page that is open from before an edit answers nothing, and edits nothing; nor does it once it was answered.
func TestAPageFromBeforeAnEdit(t *testing.T) {
	w := newAskingWorld(t)
	id := w.waiting(safety.Filter{Rule: "Books"})[0].Action.ID
	shown := w.get("waiting/"+id).find(t, `name="shown" value="([^"]+)"`)
	edit := func(shown, text string) reply {
		return w.post("waiting/edit", url.Values{"shown": {shown}, "subject": {"Paid"}, "text": {text},
			"from": {"/waiting/" + id}})
	}
	refused := edit(shown, "a\x00b")
	require.Equal(t, http.StatusConflict, refused.status)
	require.Contains(t, refused.body, "nothing was edited: the text has a NUL character in it")
	to := edit(shown, "One.")
	require.Equal(t, http.StatusSeeOther, to.status)
	require.Contains(t, to.header.Get("Location"), "/waiting/"+id)
	for _, answer := range []reply{
		edit(shown, "Two."), w.post("waiting/answer", url.Values{"approve": {shown}}),
		w.post("waiting/answer", url.Values{"reject": {shown}}),
		w.post("waiting/instead", url.Values{"shown": {shown}, "kind": {"star"}}),
	} {
		require.Equal(t, http.StatusConflict, answer.status)
		require.Contains(t, answer.body, "it was edited since, look again")
	}
	require.Equal(t, postroom.ActionPendingApproval, w.state(id))
	now := w.get("waiting/" + id)
	require.Contains(t, now.body, "One.")
	shown = now.find(t, `name="approve" value="([^"]+)"`)
	require.Equal(t, http.StatusSeeOther, w.post("waiting/answer", url.Values{"approve": {shown}}).status)
	late := edit(shown, "Three.")
	require.Equal(t, http.StatusConflict, late.status)
	require.Contains(t, late.body, "has approved it")
	sent, err := w.Ledger.Action(t.Context(), id)
	require.NoError(t, err)
	require.Contains(t, w.get(w.pathOf(sent)).body, "What it sends was edited by "+access.LocalName)

	news := w.waiting(safety.Filter{Rule: "News"})[0]
	page := w.get("waiting/" + news.Action.ID)
	require.NotContains(t, page.body, `id="edit"`)
	require.Contains(t, edit(page.find(t, `name="shown" value="([^"]+)"`), "x").body, "there is nothing to edit")
	require.Equal(t, http.StatusConflict, edit("x.y", "x").status)

	whole, err := view.NewWholeRequest(t.Context(), w.App, w.waiting(safety.Filter{Rule: "Books"})[0].Action.ID)
	require.NoError(t, err)
	require.True(t, whole.MayEdit())
	whole.Expired = true
	require.False(t, whole.MayEdit())
}
