package web_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/internal/browsertest"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/ruleschat"
)

// newTalkingWorld has a model that asks which mail is meant until it is told of letters, which it proposes to star.
func newTalkingWorld(t *testing.T) *world {
	t.Helper()
	model := llmtest.NewServerFunc(t, llmtest.ChatCompletions, func(asked llmtest.Asked) llmtest.Reply {
		if !slices.Contains(asked.Tools, "propose_rules") {
			return llmtest.Reply{ToolCalls: []llm.ToolCall{{ID: "call_1", Name: decide.RecordDecision,
				Arguments: llmtest.Decision("none", "{}", 1)}}}
		}
		if !strings.Contains(asked.Messages[len(asked.Messages)-1].Text, "letters") {
			return llmtest.Reply{Text: "Which <b>mail</b> do you mean?"}
		}
		return llmtest.Reply{ToolCalls: []llm.ToolCall{{ID: "call_1", Name: "propose_rules", Arguments: `{"summary": ` +
			`"Letters about buns get a star.", "rules": "rules: [{name: Stars, condition: {type: subject_contains, value: kanelboller}, ` +
			`action: star, priority: 1}]"}`}}}
	})
	return newWorldWith(t, "", func(c *config.Config) {
		c.LLM.Provider, c.LLM.Model.Model, c.LLM.BaseURL, c.LLM.APIKey = "openai", "small", model.URL, "sk-1"
	})
}

// A person says what they want, answers, sees what it would have done, and accepts it; nothing is changed before.
func TestRulesAreWrittenWithTheAssistant(t *testing.T) {
	w := newTalkingWorld(t)
	b := browsertest.Browse(t)
	for width, scheme := range map[int64]string{1280: "light", 390: "dark"} {
		before := w.rules()
		b.Size(width, 844)
		b.Scheme(scheme)
		b.Open(w.url + "rules")
		browsertest.Eval[any](b, `document.querySelector('a[href*="assistant"]').click()`)
		b.Until(`!!document.querySelector("#text")`)
		say := func(text string) {
			browsertest.Eval[any](b, `(() => { document.querySelector("#text").value = "`+text+
				`"; document.querySelector(".say button").click(); })()`)
		}
		say("Do something with mail.")
		b.Until(`document.querySelector(".talk")?.textContent.includes("Which <b>mail</b> do you mean?")`)
		say("The letters.")
		b.Until(`document.querySelector("#proposal")?.textContent.includes("name: Stars")`)
		require.Regexp(t, `otherwise about [1-9][0-9]* of [1-9][0-9]* messages`,
			browsertest.Eval[string](b, `document.querySelector("#proposal").textContent`))
		if width == 1280 { // it looks at all of them
			fits(b, "talk")
		}
		require.Equal(t, before, w.rules(), "nothing is changed yet")
		browsertest.Eval[any](b, `document.querySelector("#proposal button").click()`)
		b.Until(`document.querySelector(".done")?.textContent.includes("as proposed")`)
		after := w.rules()
		at := slices.IndexFunc(after, func(r rules.Rule) bool { return r.Name == "Stars" })
		require.GreaterOrEqual(t, at, 0)

		b.Open(w.url + "assistant")
		if width == 1280 { // it looks at all of them
			fits(b, "assistant")
		}
		browsertest.Eval[any](b, `document.querySelector("#list a").click()`)
		b.Until(`document.querySelector(".talk")?.textContent.includes("accepted by")`)
		require.False(t, browsertest.Eval[bool](b, `!!document.querySelector("#proposal")`), "it is accepted once")
		require.NoError(t, w.RuleEditor.SetEnabled(t.Context(), "Ann", after[at].ID, false))
		w.removeRule("Stars")
	}
	b.Quiet()
}

// removeRule takes a rule out of the rules, so that it can be proposed again.
func (w *world) removeRule(name string) {
	w.Helper()
	accounts, err := w.Mail.Accounts(w.Context())
	require.NoError(w, err)
	text, err := w.RuleEditor.Text(w.Context(), accounts[0].ID)
	require.NoError(w, err)
	at := strings.Index(text, "  - name: "+name)
	require.Positive(w, at, text)
	rest := text[at+4:]
	end := len(rest)
	if next := strings.Index(rest, "  - name: "); next >= 0 {
		end = next
	}
	file, err := w.RuleEditor.Parse("", text[:at]+rest[end:])
	require.NoError(w, err)
	_, err = w.RuleEditor.Save(w.Context(), accounts[0].ID, "Ann", text, file)
	require.NoError(w, err)
}

func TestTheAssistantRefuses(t *testing.T) {
	w := newWorld(t)
	require.Contains(t, w.get("assistant").body, "No model is configured")
	answer := w.post("assistant", url.Values{"text": {"Letters."}})
	require.Equal(t, http.StatusConflict, answer.status)
	require.Contains(t, answer.body, "no model is configured")
	for _, path := range []string{"assistant/none", "assistant/none/accept"} {
		require.Equal(t, http.StatusNotFound, w.post(path, url.Values{"text": {"x"}, "number": {"2"}}).status, path)
	}
	require.Equal(t, http.StatusNotFound, w.get("assistant/none").status)

	w = newTalkingWorld(t)
	require.Equal(t, http.StatusConflict, w.post("assistant", url.Values{"text": {" "}}).status)
	session := w.post("assistant", url.Values{"text": {"The letters."}})
	require.Equal(t, http.StatusSeeOther, session.status, session.body)
	path, _, _ := strings.Cut(strings.TrimLeft(session.header.Get("Location"), "./"), "?")
	require.Equal(t, http.StatusNotFound, w.post(path+"/accept", url.Values{"number": {"x"}}).status)
	require.Equal(t, http.StatusConflict, w.post(path+"/accept", url.Values{"number": {"1"}}).status)
	require.NoError(t, w.RuleEditor.SetEnabled(t.Context(), "Ann", w.rules()[0].ID, false))
	require.Contains(t, w.get(path).body, "the rules have changed since")
	require.Equal(t, http.StatusConflict, w.post(path+"/accept", url.Values{"number": {"2"}}).status)
}

// What a program proposes by itself is shown with a warning; the person accepts it, or deletes it.
func TestAPersonAnswersTheProposalOfAProgram(t *testing.T) {
	w := newTalkingWorld(t)
	accounts, err := w.Mail.Accounts(t.Context())
	require.NoError(t, err)
	before := w.rules()
	offer := func() (id string) {
		talk, err := w.BeginTalk(t.Context(), accounts[0])
		require.NoError(t, err)
		_, _, err = talk.Offer(t.Context(), ruleschat.Offer{By: "mcp::desk", Rules: "rules: [{name: Stars, " +
			"condition: {type: subject_contains, value: kanelboller}, action: star}]"}, "<b>Buns</b>", time.Now().AddDate(-1, 0, 0))
		require.NoError(t, err)
		return talk.Session.ID
	}
	id := offer()
	page := w.get("assistant/" + id).body
	require.Contains(t, page, "The program mcp::desk proposes this by itself")
	require.Contains(t, page, "&lt;b&gt;Buns&lt;/b&gt;")
	require.Equal(t, http.StatusNotFound, w.post("assistant/none/drop", nil).status)
	dropped := w.post("assistant/"+id+"/drop", url.Values{"from": {"/assistant"}})
	require.Contains(t, dropped.header.Get("Location"), "done=drop-talk")
	_, err = w.ResumeTalk(t.Context(), id)
	require.ErrorIs(t, err, postroom.ErrNotFound)
	require.Equal(t, before, w.rules())
	w.post("assistant/"+offer()+"/accept", url.Values{"number": {"1"}, "from": {"/rules"}})
	require.Len(t, w.rules(), len(before)+1)
}
