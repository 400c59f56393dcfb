package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/tokens"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/llmtest"
)

// withModel runs a test with a model that wants mail archived, and stars what a person's reason says is from a sister.
func withModel(t *testing.T, fn func(w *world)) {
	model := llmtest.NewServerFunc(t, llmtest.ChatCompletions, func(asked llmtest.Asked) llmtest.Reply {
		action, sure := "archive", 0.5
		if strings.Contains(asked.Messages[len(asked.Messages)-1].Text, "The person's reason: my sister writes there") {
			action, sure = "star", 1
		}
		return llmtest.Reply{ToolCalls: []llm.ToolCall{{ID: "call_1", Name: decide.RecordDecision,
			Arguments: llmtest.Decision(action, "{}", sure)}}}
	})
	configure := func(c *config.Config) {
		c.LLM.Provider, c.LLM.Model.Model, c.LLM.BaseURL, c.LLM.APIKey = "openai", "small", model.URL, "sk-1"
	}
	tea := mail("ann@example.com", "tea")
	t.Run("sqlite", func(t *testing.T) { fn(newWorldWith(t, "", configure, tea)) })
	t.Run("postgres", func(t *testing.T) { fn(newWorldWith(t, dbtest.MigratedDSN(t), configure, tea)) })
}

func (w *world) waiting() []webapi.Request {
	w.Helper()
	return call[[]webapi.Request](w, "GET", "/approvals", "", http.StatusOK)
}

// shown is the body of an answer to a request, with more fields.
func shown(r webapi.Request, more string) string {
	return fmt.Sprintf(`{"request_id": %q, "digest": %q%s}`, r.RequestID, r.Digest, more)
}

// A rejected model is asked once more with the reason, by the token's name, and what it has wanted is never done.
func TestARejectedModelIsAskedAgain(t *testing.T) {
	withModel(t, func(w *world) {
		request := w.waiting()[0]
		path := "/approvals/" + request.ID + "/ask"
		call[problem](w, "POST", path, `{"why": "x"}`, http.StatusBadRequest)
		other := strings.Replace(shown(request, ""), request.Digest, "other", 1)
		call[problem](w, "POST", path, other, http.StatusConflict)
		require.Len(w, w.waiting(), 1, "another request is not answered")
		w.as = w.add("desk", tokens.Approve, sample.Owner)
		body := shown(request, `, "why": "my sister writes there"`)
		require.Equal(w, postroom.ActionRejected, call[webapi.Answer](w, "POST", path, body, http.StatusOK).State)
		call[problem](w, "POST", path, body, http.StatusConflict)
		answers, err := w.app.Ledger.ApprovalsOf(w.Context(), request.ID)
		require.NoError(w, err)
		require.Equal(w, "desk", answers[0].Approver)
		w.work()
		require.Len(w, w.search("is:starred in:inbox").Messages, 1)
		require.Empty(w, w.waiting())

		w.as = token
		id := w.search("subject:tea").Messages[0].ID
		call[any](w, "POST", "/mail/"+sample.Owner+"/"+id+"/ask", "", http.StatusOK)
		w.work()
		again := w.waiting()
		require.Len(w, again, 1, "without a reason it wants the same")
		require.Contains(w, call[problem](w, "POST", "/approvals/"+again[0].ID+"/ask", shown(again[0], ""),
			http.StatusConflict).Detail, "again")
		require.Len(w, w.waiting(), 1)
	})
}

// What no model has decided has nobody who could be asked again, and is not rejected.
func TestARuleIsNotAskedAgain(t *testing.T) {
	withModel(t, func(w *world) {
		w.decide(deleteTea, "subject:tea")
		for _, request := range w.waiting() {
			if request.Rule == "" {
				continue
			}
			require.Contains(w, call[problem](w, "POST", "/approvals/"+request.ID+"/ask", shown(request, ""),
				http.StatusUnprocessableEntity).Detail, "change the rule")
			require.Equal(w, postroom.ActionPendingApproval,
				call[webapi.Request](w, "GET", "/approvals/"+request.ID, "", http.StatusOK).State)
			return
		}
		require.Fail(w, "the rule asks nothing")
	})
	w := newWorld(t, mail("ann@example.com", "tea"))
	w.decide(deleteTea, "subject:tea")
	request := w.waiting()[0]
	require.Contains(t, call[problem](w, "POST", "/approvals/"+request.ID+"/ask", shown(request, ""),
		http.StatusUnprocessableEntity).Detail, "no model is configured")
	require.Len(t, w.waiting(), 1)
}

// Another thing is done in place of what was asked, by the token's name, and only what can be taken back.
func TestAnotherThingIsDoneInstead(t *testing.T) {
	each(t, func(w *world) {
		w.decide(deleteTea, "subject:tea")
		request := w.waiting()[0]
		path := "/approvals/" + request.ID
		call[problem](w, "POST", path+"/instead", `{"kind": "archive"}`, http.StatusBadRequest)
		for _, kind := range []string{"forward", "delete", "move"} { // the last has no label
			call[problem](w, "POST", path+"/instead", shown(request, `, "kind": "`+kind+`"`), http.StatusUnprocessableEntity)
		}
		require.Len(w, w.waiting(), 1)
		w.as = w.add("desk", tokens.Approve, sample.Owner)
		answer := call[webapi.Answer](w, "POST", path+"/instead", shown(request, `, "kind": "archive", "why": "keep it"`),
			http.StatusOK)
		require.Equal(w, postroom.ActionRejected, answer.State)
		call[problem](w, "POST", path+"/renew", "", http.StatusConflict)
		w.work()
		require.Empty(w, w.search("subject:tea in:inbox").Messages)
		require.Len(w, w.search("subject:tea").Messages, 1)
		done := call[view.Actions](w, "GET", "/actions?source=host", "", http.StatusOK).List
		require.Len(w, done, 1)
		whole := call[view.WholeAction](w, "GET", "/actions/"+done[0].ID, "", http.StatusOK)
		require.Contains(w, whole.Decision.Rationale, "desk chose it in place of delete: keep it")
	})
}

// A request that is made anew takes the place of the one before, which is answered no more.
func TestARequestIsMadeAnew(t *testing.T) {
	each(t, func(w *world) {
		w.decide(deleteTea, "subject:tea")
		before := w.waiting()[0]
		path := "/approvals/" + before.ID
		renewed := call[webapi.Answer](w, "POST", path+"/renew", "", http.StatusOK)
		require.Equal(w, postroom.ActionPendingApproval, renewed.State)
		call[problem](w, "POST", path+"/approve", shown(before, ""), http.StatusConflict)
		call[webapi.Answer](w, "POST", path+"/approve", shown(w.waiting()[0], ""), http.StatusOK)
	})
}

// One call previews what would be done to a search, one does exactly that, and one takes all of it back.
func TestOneThingIsDoneToASearch(t *testing.T) {
	each(t, func(w *world) {
		type preview struct {
			Count        int
			Mail         []view.Mail
			Digest, Note string
			LeftAlone    []struct {
				N   int
				Why string
			} `json:"left_alone"`
		}
		const search = `{"mailbox": "` + sample.Owner + `", "q": "in:inbox", "kind": "archive"`
		w.as = w.add("desk", tokens.Approve, sample.Owner)
		p := call[preview](w, "POST", "/mail/act/preview", search+"}", http.StatusOK)
		require.Equal(w, 2, p.Count)
		require.Len(w, p.Mail, 2)
		require.Empty(w, call[view.Actions](w, "GET", "/actions?kind=archive", "", http.StatusOK).List)

		act := func(digest string) string { return fmt.Sprintf(`%s, "digest": %q}`, search, digest) }
		call[problem](w, "POST", "/mail/act", search+"}", http.StatusUnprocessableEntity)
		call[problem](w, "POST", "/mail/act", act("other"), http.StatusConflict)
		call[problem](w, "POST", "/mail/act", strings.Replace(act(p.Digest), "archive", "trash", 1), http.StatusConflict)
		require.Len(w, w.search("in:inbox").Messages, 2)
		done := call[struct {
			Batch    string
			Recorded int
		}](w, "POST", "/mail/act", act(p.Digest), http.StatusOK)
		require.Equal(w, 2, done.Recorded)
		w.work()
		require.Empty(w, w.search("in:inbox").Messages)
		list := call[view.Actions](w, "GET", "/actions?batch="+done.Batch, "", http.StatusOK).List
		require.Len(w, list, 2)
		whole := call[view.WholeAction](w, "GET", "/actions/"+list[0].ID, "", http.StatusOK)
		require.Contains(w, whole.Decision.Rationale, "desk chose it for all that the search 'in:inbox' finds")

		batch := fmt.Sprintf(`"batch": %q`, done.Batch)
		undo := call[struct {
			At, Digest string
			Undone     int
		}](w, "POST", "/undo/preview", "{"+batch+"}", http.StatusOK)
		require.Equal(w, 2, undo.Undone)
		call[any](w, "POST", "/undo", fmt.Sprintf(`{%s, "at": %q, "digest": %q}`, batch, undo.At, undo.Digest),
			http.StatusOK)
		w.work()
		require.Len(w, w.search("in:inbox").Messages, 2)
		p = call[preview](w, "POST", "/mail/act/preview", search+"}", http.StatusOK)
		require.Zero(w, p.Count)
		require.Contains(w, p.LeftAlone[0].Why, "undone")
		require.Equal(w, 2, call[preview](w, "POST", "/mail/act/preview", search+`, "again": true}`, http.StatusOK).Count)
	})
}

// A token acts on the mail of its own mailboxes only, and nothing that sends is done to a search.
func TestWhatIsNotDoneToASearch(t *testing.T) {
	w := newWorld(t, mail("ann@example.com", "tea"))
	const all = `{"q": "in:inbox", "kind": "archive"}`
	for body, says := range map[string]string{
		`{"q": "in:inbox", "kind": "forward"}`:                  "not done to a whole search",
		`{"q": "in:inbox", "kind": "delete"}`:                   "not done to a whole search",
		`{"q": " ", "kind": "archive"}`:                         "all mail at once",
		`{"q": "x", "kind": "apply_label", "label": "nowhere"}`: "nowhere",
	} {
		for _, path := range []string{"/mail/act/preview", "/mail/act"} {
			body := strings.Replace(body, "{", `{"digest": "x", `, 1)
			if path == "/mail/act/preview" {
				body = strings.Replace(body, `"digest": "x", `, "", 1)
			}
			require.Contains(t, call[problem](w, "POST", path, body, http.StatusUnprocessableEntity).Detail, says)
		}
	}
	digest := call[struct{ Digest string }](w, "POST", "/mail/act/preview", all, http.StatusOK).Digest
	act := fmt.Sprintf(`{"q": "in:inbox", "kind": "archive", "digest": %q`, digest)
	w.addOther()
	call[problem](w, "POST", "/mail/act/preview", all, http.StatusUnprocessableEntity)
	w.as = w.add("see", tokens.See, sample.Owner)
	require.Equal(t, digest, call[struct{ Digest string }](w, "POST", "/mail/act/preview", all, http.StatusOK).Digest)
	call[problem](w, "POST", "/mail/act", act+"}", http.StatusForbidden)
	w.as = w.add("bob", tokens.Own, other)
	call[problem](w, "POST", "/mail/act", act+`, "mailbox": "`+sample.Owner+`"}`, http.StatusNotFound)
	call[problem](w, "POST", "/mail/act/preview", strings.Replace(all, "{", `{"mailbox": "`+sample.Owner+`", `, 1),
		http.StatusNotFound)
	require.Zero(t, call[struct{ Count int }](w, "POST", "/mail/act/preview", all, http.StatusOK).Count,
		"its own mailbox has no mail")
	call[problem](w, "POST", "/mail/act", act+"}", http.StatusConflict)
	w.as = token
	require.Len(t, call[view.MailPage](w, "GET", "/mail?mailbox="+sample.Owner+"&q=in:inbox", "", http.StatusOK).Messages,
		1)
}

// What a person would approve of a mailbox that this machine has no access to is not done here: the request says so.
func TestRequestsThatCannotBeDoneHereSaySo(t *testing.T) {
	w := newWorld(t, mail("ann@example.com", "tea"))
	w.decide(deleteTea, "subject:tea")
	type request struct{ ID, Access string }
	list := call[[]request](w, "GET", "/approvals", "", http.StatusOK)
	require.NotEmpty(t, list)
	require.Empty(t, list[0].Access)
	w.app.Env.Config.Gmail.Address = "somebody.else@example.com"
	marked := call[[]request](w, "GET", "/approvals", "", http.StatusOK)
	require.Contains(t, marked[0].Access, "it cannot be done here, no access here: ")
	shown := call[request](w, "GET", "/approvals/"+list[0].ID, "", http.StatusOK)
	require.Equal(t, marked[0].Access, shown.Access)
}
