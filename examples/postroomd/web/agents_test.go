package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/browsertest"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/queue"
)

const supportProfile = `name: support
model: llm
instructions: Answer questions about meetings.
tools: [read_thread, read_files]
outcomes: [draft, escalate]
`

// works is a model that reads the thread and leaves a draft as an agent, and decides nothing else.
func works(asked llmtest.Asked) llmtest.Reply {
	call := func(name, arguments string) llmtest.Reply {
		return llmtest.Reply{ToolCalls: []llm.ToolCall{{ID: "call_1", Name: name, Arguments: arguments}},
			Usage: llm.Usage{InputTokens: 900, OutputTokens: 80}}
	}
	switch all := fmt.Sprint(asked.Messages); {
	case strings.Contains(all, "message 1 of 1"):
		return call("finish_draft", `{"reason":"They ask for a meeting.","confidence":0.9,"body":"Thursday is fine."}`)
	case strings.Contains(all, "INSTRUCTIONS\nAnswer questions about meetings"):
		return call("read_thread", "{}")
	case strings.Contains(all, "fill in a form"):
		return llmtest.Reply{Text: `{"intent":"question","questions":["When?"],"dates":[],"numbers":[]}`}
	}
	return call(decide.RecordDecision, llmtest.Decision("none", "{}", 0.95))
}

// newAgentsWorld is a world with an agent.
func newAgentsWorld(t *testing.T) *world {
	t.Helper()
	model := llmtest.NewServerFunc(t, llmtest.ChatCompletions, works)
	folder := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "files"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "support.yaml"), []byte(supportProfile), 0o600))
	return newWorldWith(t, "", func(c *config.Config) {
		c.LLM.Provider, c.LLM.Model.Model, c.LLM.BaseURL, c.LLM.APIKey = "openai", "small", model.URL, "sk-1"
		c.LLM.Age = 0
		c.Paths.Agents = config.Path(folder)
	})
}

func (w *world) exec(statement string, args ...any) {
	w.Helper()
	require.NoError(w, w.DB.Write(w.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, statement, args...)
		return err
	}))
}

const pauseAgent = "UPDATE agent_profiles SET failures = 3, paused_at = '2026-01-02T15:04:05.000000Z', " +
	"reason = '3 runs in a row have failed; the last: the model is not there'"

// A person has an agent work on a mail from its page, reads the log of the run, and follows it to the action, by keys
// and on a phone; one click resumes an agent that is paused.
func TestAnAgentIsRunReadAndResumed(t *testing.T) {
	w := newAgentsWorld(t)
	b := browsertest.Browse(t)
	for width, scheme := range map[int64]string{1280: "light", 390: "dark"} {
		mail := w.letter("Zoe <zoe@example.com>", fmt.Sprint("Meeting at ", width), meeting)
		b.Size(width, 844)
		b.Scheme(scheme)
		b.Open(w.url + mail)
		b.Until(ready)
		browsertest.Eval[any](b, `document.querySelector("#run button").click()`)
		b.Until(`document.querySelector(".done")?.textContent.includes("The agent begins")`)
		w.settle()
		b.Open(w.url + mail)
		require.Contains(t, browsertest.Eval[string](b, `document.querySelector("#runs").textContent`), "support (done: leave a draft of an answer)")
		b.Until(ready)
		b.Press("g", "n")
		b.Until(`document.querySelector("h1").textContent === "Agents" && ` + ready)
		browsertest.Eval[any](b, `document.querySelector("#list .open").click()`)
		b.Until(`!!document.querySelector("#calls") && ` + ready)
		log := browsertest.Eval[string](b, `document.querySelector("#calls").innerText`)
		require.Contains(t, log, "read_thread")
		require.Contains(t, log, "980 tokens")
		require.Equal(t, "Thursday is fine.", browsertest.Eval[string](b, `document.querySelector("#outcome pre").textContent`))
		browsertest.Eval[any](b, `document.querySelector("#action").click()`)
		b.Until(`location.pathname.startsWith("/actions/")`)

		w.exec(pauseAgent)
		b.Open(w.url)
		require.Contains(t, browsertest.Eval[string](b, `document.querySelector("#troubles").innerText`), "the model is not there")
		b.Until(ready)
		browsertest.Eval[any](b, `document.querySelector("#troubles form[action*=support] button").click()`)
		b.Until(`document.querySelector(".done")?.textContent.includes("works again") && !document.querySelector("#troubles")`)

		w.exec(pauseAgent)
		b.Open(w.url + "agents")
		require.Contains(t, browsertest.Eval[string](b, `document.querySelector(".paused").innerText`), "the model is not there")
		browsertest.Eval[any](b, `document.querySelector(".paused button").click()`)
		b.Until(`document.querySelector(".done")?.textContent.includes("works again")`)
		require.True(t, browsertest.Eval[bool](b, `!document.querySelector(".paused")`))
	}
	b.Quiet()
}

// The page is in the menu where there are agents; a run is canceled from its page.
func TestAgentsAreShownWhereThereAreSome(t *testing.T) {
	without := newWorld(t)
	require.NotContains(t, without.get("").body, "agents")
	require.Contains(t, without.get("agents").body, "There is no agent")
	w := newAgentsWorld(t)
	require.Contains(t, w.get("").body, `href="./agents"`)
	require.Contains(t, w.get("agents").body, "Nothing has run yet")
	mail := w.letter("Zoe <zoe@example.com>", "Meeting", meeting)
	require.Equal(t, http.StatusConflict, w.post(mail+"/run", url.Values{"profile": {"sales"}}).status)
	require.Equal(t, http.StatusSeeOther, w.post(mail+"/run", url.Values{"profile": {"support"}}).status)
	w.settle()
	require.Equal(t, 1, strings.Count(w.get("agents").body, "data-row"))
	require.NotContains(t, w.get("agents?profile=sales").body, "data-row")
	require.Contains(t, w.get("agents").body, "1 run, ")

	path := w.get("agents").find(t, `href="[./]*(agents/runs/[^"]+)"`)
	require.Equal(t, http.StatusConflict, w.post(path+"/cancel", url.Values{}).status, "it has ended")
	for model, status := range map[string]int{"": http.StatusConflict, "llm_worse": http.StatusConflict} {
		require.Equal(t, status, w.post(path+"/replay", url.Values{"model": {model}}).status, model)
	}
	again := w.post(path+"/replay", url.Values{"model": {"llm"}})
	require.Equal(t, http.StatusSeeOther, again.status, again.body)
	repeated := w.get(strings.TrimLeft(again.header.Get("Location"), "./"))
	require.Contains(t, repeated.body, "It was repeated")
	require.Contains(t, repeated.body, path, "it names the run that it repeats")
	require.Contains(t, repeated.body, "Thursday is fine.")
	w.exec("DELETE FROM agent_runs WHERE replay_of <> ''")
	w.exec("UPDATE agent_runs SET state = 'running', ended_at = NULL")
	require.Contains(t, w.get(path).body, "It is at work")
	require.NotContains(t, w.get(path).body, `id="replay"`)
	require.Equal(t, http.StatusSeeOther, w.post(path+"/cancel", url.Values{"from": {"/" + path}}).status)
	require.Contains(t, w.get(path).body, "canceled by "+access.LocalName)
	for range 50 {
		w.exec("INSERT INTO agent_runs SELECT id || 'x', account_id, thread_id, message_id, profile, version, model, job_id, " +
			"replay_of, state, reason, outcome, parameters, action_id, model_calls, tool_calls, tokens, cost, duration_ms, " +
			"started_at, ended_at FROM agent_runs ORDER BY id DESC LIMIT 1")
	}
	older := w.get("agents" + replaceAmp(w.get("agents").find(t, `href="[./]*agents(\?[^"]*before=[^"]+)"`)))
	require.Equal(t, 1, strings.Count(older.body, "data-row"))
	require.Contains(t, older.body, "The newest")
	require.Equal(t, http.StatusNotFound, w.get("agents/runs/none").status)
	require.Equal(t, http.StatusConflict, w.post("agents/sales/resume", url.Values{}).status)
}

func TestEachPageAboutAgentsFitsAndIsReadable(t *testing.T) {
	w := newAgentsWorld(t)
	mail := w.letter("Zoe <zoe@example.com>", "Meeting about the contract on Thursday, in the small room", meeting)
	require.Equal(t, http.StatusSeeOther, w.post(mail+"/run", url.Values{"profile": {"support"}}).status)
	w.settle()
	run := w.get("agents").find(t, `href="[./]*(agents/runs/[^"]+)"`)
	pages := map[string]string{"agents": "agents", "run": run, "message-run": mail}
	w.small(pages)
	looks(browsertest.Browse(t), w.url, pages)
	w.exec("UPDATE agent_runs SET state = 'failed', reason = 'the model is not there', outcome = ''")
	w.exec(pauseAgent)
	looks(browsertest.Browse(t), w.url, map[string]string{"agents-paused": "agents", "run-failed": run})
	as := w.as(access.Person{Name: "bob@example.org", Role: access.See})
	for _, path := range pages {
		require.NotRegexp(t, `<form method="post" action="[./]*(agents|mail)|formaction|<button form`, as.get(path).body, path)
	}
	one := w.as(access.Person{Name: "bob@example.org", Role: access.Approve, Mailboxes: []string{sample.Owner}})
	require.NotContains(t, one.get("agents").body, "3 runs in a row", "why is of all mailboxes")
}
