package api_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	gmailv1 "google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/view/drafts"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/llm/agent"
	"github.com/postroom-go/postroom/queue"
)

// made leaves a draft of an answer to what a search finds, as an agent and a rule do, and returns its path and the id
// of the action.
func (w *world) made(query string) (path, actionID string) {
	w.Helper()
	account, err := w.app.Mail.AccountByEmail(w.Context(), sample.Owner)
	require.NoError(w, err)
	m, err := w.app.FindMessage(w.Context(), account, w.search(query).Messages[0].ID)
	require.NoError(w, err)
	var made postroom.Action
	require.NoError(w, w.app.DB.Write(w.Context(), func(ctx context.Context, tx queue.Tx) error {
		made, err = w.app.Ledger.Record(ctx, m, postroom.Decision{Action: agent.Draft, Source: postroom.SourceHost,
			Confidence: 1, Parameters: postroom.Parameters{"body": "Gladly, at five."}, Key: query,
			Rationale: "a host"})(ctx, tx)
		return err
	}))
	w.work()
	return "/drafts/" + sample.Owner + "/" + m.ProviderThreadID, made.ID
}

// A draft that an action has made is listed with the others, and follows what a person does with it.
func TestDraftsOfActionsAreListed(t *testing.T) {
	eachDrafts(t, func(w *world) {
		show := func(path string) drafts.Whole { return call[drafts.Whole](w, "GET", path, "", http.StatusOK) }
		tea, _ := w.made("subject:tea in:inbox")
		lunch, action := w.made("subject:lunch in:inbox")
		list := call[drafts.Page](w, "GET", "/drafts", "", http.StatusOK).List
		require.Len(t, list, 2)
		require.Equal(t, []any{replies.Drafted, "lunch"}, []any{list[0].State, list[0].Subject})
		d := show(tea)
		require.Equal(t, "Gladly, at five.", d.Text)
		require.Equal(t, "Gladly, at five.", d.AtGmail.Text)
		require.False(t, d.AtGmail.Touched)
		again := fmt.Sprintf(`{"turn": %d, "sentence": "with cake"}`, d.Turn)
		call[drafts.Whole](w, "POST", tea+"/rework", again, http.StatusOK)
		w.work()
		require.Contains(t, show(tea).AtGmail.Text, "with cake")

		// The person sends one in Gmail, and undoes the action of the other.
		service, err := w.gmail.Service(t.Context())
		require.NoError(t, err)
		all, err := service.Users.Drafts.List("me").Do()
		require.NoError(t, err)
		require.Len(t, all.Drafts, 2)
		for _, draft := range all.Drafts {
			if "/drafts/"+sample.Owner+"/"+draft.Message.ThreadId == tea {
				_, err = service.Users.Drafts.Send("me", &gmailv1.Draft{Id: draft.Id}).Do()
				require.NoError(t, err)
			}
		}
		_, err = w.app.Undoer.As("ada").Request(t.Context(), action)
		require.NoError(t, err)
		w.work()
		require.Equal(t, replies.Sent, show(tea).State)
		require.Equal(t, []any{replies.Skipped, "the draft was deleted"}, []any{show(lunch).State, show(lunch).Reason})
		require.Empty(t, call[drafts.Page](w, "GET", "/drafts", "", http.StatusOK).List)
	})
}

// It is sent and discarded by a person's word as the others, and one beside a draft that lies ready leaves that alone.
func TestDraftsOfActionsAreSentAndDiscarded(t *testing.T) {
	eachDrafts(t, func(w *world) {
		tea, _ := w.made("subject:tea in:inbox")
		d := call[drafts.Whole](w, "GET", tea, "", http.StatusOK)
		send := fmt.Sprintf(`{"turn": %d, "sha256": %q}`, d.Turn, d.AtGmail.SHA256)
		require.Equal(t, replies.Sent, call[drafts.Draft](w, "POST", tea+"/send", send, http.StatusOK).State)

		lunch := w.drafted("subject:lunch")
		w.made("subject:lunch in:inbox")
		d = call[drafts.Whole](w, "GET", lunch, "", http.StatusOK)
		require.Equal(t, "Gladly.", d.AtGmail.Text, "its own")
		discard := fmt.Sprintf(`{"turn": %d}`, d.Turn)
		require.Equal(t, "deleted", call[map[string]any](w, "POST", lunch+"/discard", discard, http.StatusOK)["at_gmail"])
		w.work()
		lunch, _ = w.made("subject:lunch in:inbox ") // another action, in a thread whose need has ended
		d = call[drafts.Whole](w, "GET", lunch, "", http.StatusOK)
		require.Equal(t, []any{replies.Drafted, "Gladly, at five."}, []any{d.State, d.AtGmail.Text})
		discard = fmt.Sprintf(`{"turn": %d}`, d.Turn)
		require.Equal(t, "deleted", call[map[string]any](w, "POST", lunch+"/discard", discard, http.StatusOK)["at_gmail"])
	})
}
