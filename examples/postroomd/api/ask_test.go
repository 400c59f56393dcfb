package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/bulk"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/tokens"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/safety"
)

// A program has the model asked about a message again; what waits about it is answered first, and who may not is
// refused.
func TestAProgramAsksTheModelAgain(t *testing.T) {
	wants := "star"
	model := llmtest.NewServerFunc(t, llmtest.ChatCompletions, func(llmtest.Asked) llmtest.Reply {
		return llmtest.Reply{ToolCalls: []llm.ToolCall{{ID: "call_1", Name: decide.RecordDecision,
			Arguments: llmtest.Decision(wants, "{}", 0.95)}}}
	})
	w := newWorldWith(t, "", func(c *config.Config) {
		c.LLM.Provider, c.LLM.Model.Model, c.LLM.BaseURL, c.LLM.APIKey = "openai", "small", model.URL, "sk-1"
	}, mail("ann@example.com", "tea"))
	w.addOther()
	require.Equal(t, 1, len(model.Seen()))
	of := "/mail/" + sample.Owner + "/" + w.search("subject:tea").Messages[0].ID
	ask := func(path string, status int) string {
		t.Helper()
		recorder, answer := w.try("POST", path+"/ask", "")
		require.Equal(t, status, recorder.Code, answer)
		return answer
	}
	for token, status := range map[string]int{
		w.add("looks", tokens.See): http.StatusForbidden, w.add("elsewhere", tokens.Own, other): http.StatusNotFound,
	} {
		w.as = token
		ask(of, status)
	}
	w.as = w.add("approves", tokens.Approve, sample.Owner) // as on the page
	ask("/mail/"+sample.Owner+"/none", http.StatusNotFound)
	ask("/mail/"+other+"/"+w.search("subject:tea").Messages[0].ID, http.StatusNotFound)
	require.NoError(t, w.app.RunJobs(t.Context()))
	require.Equal(t, 1, len(model.Seen()), "nobody has asked it")

	wants = "delete"
	ask(of, http.StatusOK)
	ask(of, http.StatusOK) // one asking at a time
	require.NoError(t, w.app.RunJobs(t.Context()))
	require.Equal(t, 2, len(model.Seen()))
	w.as = w.add("own", tokens.Own, sample.Owner)
	waits := call[[]webapi.Request](w, "GET", "/approvals", "", http.StatusOK)
	require.Len(t, waits, 1)
	require.Equal(t, postroom.Delete, waits[0].Action.Action)
	require.Contains(t, ask(of, http.StatusUnprocessableEntity), "answer it first")
	done, err := w.app.Ledger.Actions(t.Context(), safety.Filter{Types: []postroom.ActionType{postroom.Star}})
	require.NoError(t, err)
	require.Len(t, done, 1, "what was done before stays")

	plain := newWorld(t, mail("ann@example.com", "tea"))
	recorder, answer := plain.try("POST", "/mail/"+sample.Owner+"/"+plain.search("subject:tea").Messages[0].ID+"/ask", "")
	require.Equal(t, http.StatusUnprocessableEntity, recorder.Code, answer)
	require.Contains(t, answer, "no model is configured")
}

// A program has the model asked about a search, as a preview has shown it.
func TestAProgramAsksTheModelAboutASearch(t *testing.T) {
	model := llmtest.NewServerFunc(t, llmtest.ChatCompletions, func(llmtest.Asked) llmtest.Reply {
		return llmtest.Reply{ToolCalls: []llm.ToolCall{{ID: "call_1", Name: decide.RecordDecision,
			Arguments: llmtest.Decision("star", "{}", 0.95)}}}
	})
	w := newWorldWith(t, "", func(c *config.Config) {
		c.LLM.Provider, c.LLM.Model.Model, c.LLM.BaseURL, c.LLM.APIKey = "openai", "small", model.URL, "sk-1"
	}, mail("ann@example.com", "tea"), mail("bob@example.org", "tea"))
	before := len(model.Seen())
	type preview struct {
		Count  int
		Digest string
	}
	p := call[preview](w, "POST", "/mail/ask/preview", `{"q": "subject:tea"}`, http.StatusOK)
	require.Equal(t, 2, p.Count)
	call[problem](w, "POST", "/mail/ask", `{"q": "subject:tea"}`, http.StatusUnprocessableEntity)
	call[problem](w, "POST", "/mail/ask", `{"q": "subject:tea", "digest": "x"}`, http.StatusConflict)
	body := `{"q": "subject:tea", "digest": "` + p.Digest + `"}`
	require.Equal(t, bulk.Asked{Asked: 2}, call[bulk.Asked](w, "POST", "/mail/ask", body, http.StatusOK))
	require.Equal(t, bulk.Asked{Already: 2}, call[bulk.Asked](w, "POST", "/mail/ask", body, http.StatusOK))
	require.NoError(t, w.app.RunJobs(t.Context()))
	require.Len(t, model.Seen(), before+2)
	w.as = w.add("looks", tokens.See)
	call[problem](w, "POST", "/mail/ask", body, http.StatusForbidden)
}
