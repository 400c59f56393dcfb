package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/tokens"
	"github.com/postroom-go/postroom/examples/postroomd/view/drafts"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/compose"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/safety/events"
)

// writes answers a mail with "Gladly.", and one that asks for cake with a price that nobody has named.
func writes(asked llmtest.Asked) llmtest.Reply {
	text := "Gladly."
	switch all := fmt.Sprint(asked.Messages); {
	case strings.Contains(all, "with cake"):
		text = "Gladly, with cake for 170 EUR."
	case !strings.Contains(all, "TASK\nWrite the answer"):
		return llmtest.Reply{ToolCalls: []llm.ToolCall{{ID: "call_1", Name: decide.RecordDecision,
			Arguments: llmtest.Decision("none", "{}", 0.95)}}}
	}
	return llmtest.Reply{ToolCalls: []llm.ToolCall{{ID: "call_1", Name: compose.WriteAnswer,
		Arguments: fmt.Sprintf(`{"person_writes":false,"text":%q}`, text)}}}
}

// newDraftsWorld is a world with a model that writes drafts.
func newDraftsWorld(t *testing.T, database string) *world {
	t.Helper()
	model := llmtest.NewServerFunc(t, llmtest.ChatCompletions, writes)
	return newWorldWith(t, database, func(c *config.Config) {
		c.LLM.Provider, c.LLM.Model.Model, c.LLM.BaseURL, c.LLM.APIKey = "openai", "small", model.URL, "sk-1"
		c.Replies.Enabled = true
	}, mail("ann@example.com", "tea"), mail("bob@example.org", "lunch"))
}

func eachDrafts(t *testing.T, fn func(w *world)) {
	t.Run("sqlite", func(t *testing.T) { fn(newDraftsWorld(t, "")) })
	t.Run("postgres", func(t *testing.T) { fn(newDraftsWorld(t, dbtest.MigratedDSN(t))) })
}

// drafted asks for the draft of an answer to what a search finds, and returns its path.
func (w *world) drafted(query string) string {
	w.Helper()
	id := w.search(query).Messages[0].ID
	asked := call[drafts.Draft](w, "POST", "/mail/"+sample.Owner+"/"+id+"/draft", "", http.StatusOK)
	require.Equal(w, replies.Pending, asked.State)
	w.work()
	return "/drafts/" + sample.Owner + "/" + asked.ID
}

// A program lists what lies ready, reads it with its conversation, has it written again, and discards it.
func TestDraftsAreListedReworkedAndDiscarded(t *testing.T) {
	eachDrafts(t, func(w *world) {
		list := func(query string) []drafts.Draft {
			return call[drafts.Page](w, "GET", "/drafts"+query, "", http.StatusOK).List
		}
		require.Empty(t, list(""))
		tea := w.drafted("subject:tea")
		w.drafted("subject:lunch")
		require.Len(t, list("?mailbox="+sample.Owner+"&state=drafted"), 2)
		require.Empty(t, list("?state=sent"))
		call[problem](w, "GET", "/drafts?state=new", "", http.StatusUnprocessableEntity)
		call[problem](w, "GET", "/drafts?before=x", "", http.StatusUnprocessableEntity)
		call[problem](w, "GET", "/drafts/"+sample.Owner+"/none", "", http.StatusNotFound)

		d := call[drafts.Whole](w, "GET", tea, "", http.StatusOK)
		require.Equal(t, "tea", d.Subject)
		require.Contains(t, d.Thread[0].Text, "At five?")
		require.True(t, d.Thread[0].Answered)
		require.Equal(t, "Gladly.", d.AtGmail.Text)
		require.False(t, d.AtGmail.Touched)
		require.Equal(t, "by api", d.History[0].Reason)

		again := fmt.Sprintf(`{"turn": %d, "sentence": "with cake"}`, d.Turn)
		call[problem](w, "POST", tea+"/rework", `{"turn": 1}`, http.StatusBadRequest)
		require.Equal(t, replies.ReworkRequested, call[drafts.Whole](w, "POST", tea+"/rework", again, http.StatusOK).State)
		require.Contains(t, call[problem](w, "POST", tea+"/rework", again, http.StatusConflict).Detail, "has changed")
		w.work()
		d = call[drafts.Whole](w, "GET", tea, "", http.StatusOK)
		require.Equal(t, "Gladly, with cake for [check: 170 EUR].", d.Text)
		require.Equal(t, tea, "/drafts/"+sample.Owner+"/"+list("")[0].ID, "the latest change is first")

		call[problem](w, "POST", tea+"/discard", `{}`, http.StatusBadRequest)
		call[problem](w, "POST", tea+"/discard", `{"turn": 1}`, http.StatusConflict)
		discard := fmt.Sprintf(`{"turn": %d}`, d.Turn)
		type fate struct {
			drafts.Draft
			AtGmail string `json:"at_gmail"`
		}
		gone := call[fate](w, "POST", tea+"/discard", discard, http.StatusOK)
		require.Equal(t, "deleted", gone.AtGmail)
		require.Equal(t, replies.Skipped, gone.State)
		require.Equal(t, "discarded by api", gone.Reason)
		call[problem](w, "POST", tea+"/discard", discard, http.StatusConflict)
		require.Len(t, list(""), 1)
		require.Len(t, list("?all=true"), 2)
	})
}

// What a person has made of the draft is shown as such, and stays as the draft is discarded.
func TestADraftThatAPersonHasChangedIsShown(t *testing.T) {
	w := newDraftsWorld(t, "")
	tea := w.drafted("subject:tea")
	w.edit(tea, "Gladly, at six.")
	d := call[drafts.Whole](w, "GET", tea, "", http.StatusOK)
	require.Equal(t, "Gladly, at six.", d.AtGmail.Text)
	require.True(t, d.AtGmail.Touched)
	require.Equal(t, "Gladly.", d.Text)
	gone := call[map[string]any](w, "POST", tea+"/discard", fmt.Sprintf(`{"turn": %d}`, d.Turn), http.StatusOK)
	require.Equal(t, "kept", gone["at_gmail"])
}

// edit writes into the draft of a path at Gmail, as a person does.
func (w *world) edit(path, text string) {
	w.Helper()
	found, err := drafts.Find(w.Context(), w.app, sample.Owner, path[strings.LastIndex(path, "/")+1:])
	require.NoError(w, err)
	client, err := w.app.Clients.Client(w.Context(), found.AccountID)
	require.NoError(w, err)
	service, err := w.gmail.Service(w.Context())
	require.NoError(w, err)
	list, err := service.Users.Drafts.List("me").Do()
	require.NoError(w, err)
	for _, d := range list.Drafts {
		if d.Message.ThreadId == found.ThreadID {
			_, err = client.UpdateDraft(w.Context(), d.Id, []byte("From: "+sample.Owner+"\r\nTo: ann@example.com\r\n"+
				"Subject: Re: tea\r\nDate: "+time.Now().Format(time.RFC1123Z)+"\r\n\r\n"+text+"\r\n"), found.ThreadID)
			require.NoError(w, err)
			return
		}
	}
	require.Fail(w, "there is no such draft")
}

// A token of another mailbox sees no draft, and says nothing about one; who may look changes nothing.
func TestADraftIsOfItsMailbox(t *testing.T) {
	w := newDraftsWorld(t, "")
	tea := w.drafted("subject:tea")
	w.addOther()
	turn := fmt.Sprintf(`{"turn": %d, "sentence": "shorter"}`, call[drafts.Whole](w, "GET", tea, "", http.StatusOK).Turn)
	w.as = w.add("looks", tokens.See, sample.Owner)
	require.Len(t, call[drafts.Page](w, "GET", "/drafts", "", http.StatusOK).List, 1)
	call[drafts.Whole](w, "GET", tea, "", http.StatusOK)
	call[problem](w, "POST", tea+"/rework", turn, http.StatusForbidden)
	w.as = w.add("bob", tokens.Own, other)
	require.Empty(t, call[drafts.Page](w, "GET", "/drafts", "", http.StatusOK).List)
	call[problem](w, "GET", tea, "", http.StatusNotFound)
	call[problem](w, "POST", tea+"/rework", turn, http.StatusNotFound)
	call[problem](w, "GET", "/drafts?mailbox="+sample.Owner, "", http.StatusNotFound)
}

// Where no drafts are written, none is asked for.
func TestWithoutDraftsNoneIsAskedFor(t *testing.T) {
	w := newWorld(t, mail("ann@example.com", "tea"))
	id := w.search("subject:tea").Messages[0].ID
	says := call[problem](w, "POST", "/mail/"+sample.Owner+"/"+id+"/draft", "", http.StatusUnprocessableEntity)
	require.Contains(t, says.Detail, "replies.enabled")
	require.Empty(t, call[drafts.Page](w, "GET", "/drafts", "", http.StatusOK).List)
}

// A program sends a draft as it was shown, by a person's token: another hash and another turn are refused, and it is on
// record who has done so.
func TestADraftIsSentAsItWasShown(t *testing.T) {
	eachDrafts(t, func(w *world) {
		tea := w.drafted("subject:tea")
		d := call[drafts.Whole](w, "GET", tea, "", http.StatusOK)
		require.Equal(t, "ann@example.com", d.AtGmail.Recipients[0].Address)
		require.Contains(t, d.AtGmail.Whole, "> At five?")
		body := func() string { return fmt.Sprintf(`{"turn": %d, "sha256": %q}`, d.Turn, d.AtGmail.SHA256) }
		before := body()
		w.edit(tea, "Gladly, at six.")
		call[problem](w, "POST", tea+"/send", `{"turn": 1}`, http.StatusBadRequest)
		require.Contains(t, call[problem](w, "POST", tea+"/send", before, http.StatusConflict).Detail, "has changed")
		d = call[drafts.Whole](w, "GET", tea, "", http.StatusOK)
		w.as = w.add("looks", tokens.See)
		call[problem](w, "POST", tea+"/send", body(), http.StatusForbidden)
		w.as = w.add("desk", tokens.Approve)
		sent := call[drafts.Whole](w, "POST", tea+"/send", body(), http.StatusOK)
		require.Equal(t, replies.Sent, sent.State)
		require.Equal(t, "by desk", sent.History[len(sent.History)-1].Reason)
		call[problem](w, "POST", tea+"/send", body(), http.StatusConflict)
		service, err := w.gmail.Service(t.Context())
		require.NoError(t, err)
		list, err := service.Users.Messages.List("me").Q("in:sent").Do()
		require.NoError(t, err)
		require.Len(t, list.Messages, 1)
		said, err := w.app.Ledger.Events().List(t.Context(), 10)
		require.NoError(t, err)
		require.Equal(t, events.DraftSend, said[0].Kind)
		require.Equal(t, "desk", said[0].By)
		require.Contains(t, said[0].Why, d.AtGmail.SHA256)
	})
}
