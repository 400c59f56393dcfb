package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/browsertest"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/safety"
)

// A rejected model is asked once more with the reason, and what it has wanted stays undone; a message can be asked
// about again.
func TestTheModelIsAskedAgain(t *testing.T) {
	model := llmtest.NewServerFunc(t, llmtest.ChatCompletions, func(asked llmtest.Asked) llmtest.Reply {
		action, sure := "archive", 0.5
		if strings.Contains(asked.Messages[len(asked.Messages)-1].Text, "The person's reason: my sister writes there") {
			action, sure = "star", 1
		}
		return llmtest.Reply{ToolCalls: []llm.ToolCall{{ID: "call_1", Name: decide.RecordDecision,
			Arguments: llmtest.Decision(action, "{}", sure)}}}
	})
	w := newWorldWith(t, "", func(c *config.Config) {
		c.LLM.Provider, c.LLM.Model.Model, c.LLM.BaseURL, c.LLM.APIKey = "openai", "small", model.URL, "sk-1"
		c.LLM.Age = 0 // the sample is older
	})
	asks := w.waiting(safety.Filter{Sources: []postroom.Source{postroom.SourceModel}})
	require.NotEmpty(t, asks)
	b := browsertest.Browse(t)
	b.Size(390, 844)
	b.Open(w.url + "waiting/" + asks[0].Action.ID)
	browsertest.Eval[any](b, `(() => { const d = document.querySelector("#again"); d.open = true;
		d.querySelector("[name=why]").value = "my sister writes there"; d.querySelector("button").click(); })()`)
	b.Until(`location.search.includes("done=ask-again")`)
	require.Equal(t, postroom.ActionRejected, w.state(asks[0].Action.ID))
	require.NoError(t, w.RunJobs(t.Context()))
	done := w.acted(safety.Filter{MessageID: asks[0].Action.MessageID, Types: []postroom.ActionType{postroom.Star}})
	require.Len(t, done, 1)
	require.Equal(t, postroom.ActionCompleted, done[0].Action.State)
	call := w.get("actions/"+done[0].Action.ID).find(t, `id="call" href="[./]*(models/calls/[^"]+)"`)
	require.Contains(t, w.get(call).body, "star", "the action leads to the answer, and not to the one before")

	message := w.pathOf(asks[0].Action)
	require.Equal(t, http.StatusSeeOther, w.post(message+"/decide", url.Values{"from": {"/mail"}}).status)
	require.NoError(t, w.RunJobs(t.Context()))
	again := w.waiting(safety.Filter{MessageID: asks[0].Action.MessageID})
	require.Len(t, again, 1, "without a reason it wants the same")
	require.NotContains(t, w.get("waiting/"+again[0].Action.ID).body, "ask the model again",
		"it is not asked a third time")
	require.Equal(t, http.StatusConflict, w.post(message+"/decide", url.Values{"from": {"/mail"}}).status)
	b.Quiet()
}

// The model is asked again about all that a search finds, after a preview, and what waits for a person is left out.
func TestTheModelIsAskedAboutASearch(t *testing.T) {
	model := llmtest.NewServerFunc(t, llmtest.ChatCompletions, func(llmtest.Asked) llmtest.Reply {
		return llmtest.Reply{ToolCalls: []llm.ToolCall{{ID: "call_1", Name: decide.RecordDecision,
			Arguments: llmtest.Decision("star", "{}", 1)}}}
	})
	w := newWorld(t)
	ask := url.Values{"q": {"in:inbox"}, "mailbox": {sample.Owner}}
	require.Equal(t, http.StatusConflict, w.get("mail/ask?"+ask.Encode()).status, "there is no model")
	require.NotContains(t, w.get("mail?q=in:inbox").body, `id="ask"`)
	w = newWorldWith(t, "", func(c *config.Config) {
		c.LLM.Provider, c.LLM.Model.Model, c.LLM.BaseURL, c.LLM.APIKey = "openai", "small", model.URL, "sk-1"
	})
	b := browsertest.Browse(t)
	jobs := func() []queue.Job {
		list, err := w.Queue.Jobs(t.Context(), queue.Filter{Types: []string{string(rules.JobDecideAgain)}, Limit: 500})
		require.NoError(t, err)
		return list
	}
	for width, scheme := range map[int64]string{1280: "light", 390: "dark"} {
		b.Size(width, 844)
		b.Scheme(scheme)
		b.Open(w.url + "mail?q=in%3Ainbox")
		browsertest.Eval[any](b, `document.querySelector("#ask").click()`)
		b.Until(`document.querySelector("h1")?.textContent.startsWith("Ask the model") && ` + ready)
		if width == 1280 { // it looks at all of them
			fits(b, "ask")
		}
	}
	require.Empty(t, jobs(), "a preview asks nothing")
	ask.Set("digest", "x")
	require.Equal(t, http.StatusConflict, w.post("mail/ask", ask).status)
	browsertest.Eval[any](b, `document.querySelector("main .bar button.primary").click()`)
	b.Until(`document.querySelector(".done")?.textContent.includes("asked again about")`)
	asked := jobs()
	require.NotEmpty(t, asked)
	require.Equal(t, []string{"asked for by " + access.LocalName}, asked[0].Tags)
	for _, waiting := range w.waiting(safety.Filter{}) {
		for _, job := range asked {
			require.NotContains(t, string(job.Payload), waiting.Action.MessageID)
		}
	}
	seer := w.as(access.Person{Name: "bob@example.org", Role: access.See})
	require.Equal(t, http.StatusForbidden, seer.post("mail/ask", ask).status)
	b.Quiet()
}
