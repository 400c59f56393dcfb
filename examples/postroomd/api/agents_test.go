package api_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/tokens"
	"github.com/postroom-go/postroom/examples/postroomd/view/runs"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/agent"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/queue"
)

const supportProfile = `name: support
model: llm
instructions: Answer questions about tea.
tools: [read_thread]
outcomes: [draft, escalate]
limits: {runs_a_thread: 10}
`

// works is a model that leaves a draft as an agent, and decides nothing else.
func works(asked llmtest.Asked) llmtest.Reply {
	call := llm.ToolCall{ID: "call_1", Name: "finish_draft",
		Arguments: `{"reason":"It is about tea.","confidence":0.9,"body":"At five."}`}
	if !strings.Contains(fmt.Sprint(asked.Messages), "INSTRUCTIONS\nAnswer questions") {
		return llmtest.Reply{Text: `{"intent":"question","questions":["When?"],"dates":[],"numbers":[]}`}
	}
	return llmtest.Reply{ToolCalls: []llm.ToolCall{call}, Usage: llm.Usage{InputTokens: 100, OutputTokens: 10}}
}

// newAgentsWorld is a world with an agent.
func newAgentsWorld(t *testing.T, database string) *world {
	t.Helper()
	return newAgentsWorldWith(t, database, func(*config.Config) {})
}

func newAgentsWorldWith(t *testing.T, database string, change func(*config.Config)) *world {
	t.Helper()
	model := llmtest.NewServerFunc(t, llmtest.ChatCompletions, works)
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "support.yaml"), []byte(supportProfile), 0o600))
	return newWorldWith(t, database, func(c *config.Config) {
		c.LLM.Provider, c.LLM.Model.Model, c.LLM.BaseURL, c.LLM.APIKey = "openai", "small", model.URL, "sk-1"
		c.LLM.Age = 0
		c.Paths.Agents = config.Path(folder)
		change(c)
	}, mail("ann@example.com", "tea"), mail("bob@example.org", "lunch"))
}

func (w *world) runs(query string) runs.Page {
	w.Helper()
	return call[runs.Page](w, "GET", "/runs"+query, "", http.StatusOK)
}

// A program has an agent work on a message, reads the log of the run, and repeats the run without an effect.
func TestAnAgentIsRunAndItsRunShown(t *testing.T) {
	for name, database := range map[string]string{"sqlite": "", "postgres": dbtest.MigratedDSN(t)} {
		t.Run(name, func(t *testing.T) {
			w := newAgentsWorld(t, database)
			id := w.search("subject:tea").Messages[0].ID
			run := "/mail/" + sample.Owner + "/" + id + "/run"
			call[problem](w, "POST", run, `{}`, http.StatusBadRequest)
			require.Contains(t, call[problem](w, "POST", run, `{"profile": "sales"}`, http.StatusUnprocessableEntity).Detail,
				"the profiles are support")
			require.NotEmpty(t, call[struct {
				JobID string `json:"job_id"`
			}](w, "POST", run, `{"profile": "support"}`, http.StatusOK).JobID)
			w.work()
			list := w.runs("?mailbox=" + sample.Owner + "&profile=support&message=" + id).List
			require.Len(t, list, 1)
			require.Empty(t, w.runs("?profile=sales").List)
			call[problem](w, "GET", "/runs?message=none", "", http.StatusNotFound)

			log := call[runs.Run](w, "GET", "/runs/"+list[0].ID, "", http.StatusOK)
			require.Equal(t, agent.StateDone, log.State, log.Reason)
			require.Equal(t, agent.OutcomeDraft, log.Outcome)
			require.Equal(t, "tea", log.Subject)
			require.Len(t, log.Steps, 2)
			require.Contains(t, log.Steps[1].Output, "finish_draft")
			require.Equal(t, 110, log.Steps[1].Tokens)
			call[any](w, "GET", "/actions/"+log.ActionID, "", http.StatusOK)

			call[problem](w, "POST", "/runs/"+log.ID+"/replay", `{}`, http.StatusBadRequest)
			require.Contains(t, call[problem](w, "POST", "/runs/"+log.ID+"/replay", `{"model": "big"}`,
				http.StatusUnprocessableEntity).Detail, "the models are llm")
			again := call[runs.Run](w, "POST", "/runs/"+log.ID+"/replay", `{"model": "llm"}`, http.StatusOK)
			require.Equal(t, log.ID, again.ReplayOf)
			require.Empty(t, again.ActionID)
			require.Contains(t, call[problem](w, "POST", "/runs/"+log.ID+"/cancel", "", http.StatusConflict).Detail,
				"the run has ended: it is done")
			call[problem](w, "GET", "/runs/none", "", http.StatusNotFound)
			call[problem](w, "POST", "/runs/none/cancel", "", http.StatusNotFound)

			profiles := call[runs.Profiles](w, "GET", "/agents", "", http.StatusOK).List
			require.Len(t, profiles, 1)
			require.Equal(t, 1, profiles[0].Used.Runs)
			require.Equal(t, 30, profiles[0].Limits.RunsADay)
			require.Equal(t, 10, profiles[0].Limits.RunsAThread)
		})
	}
}

// A run that has not ended is canceled, and a paused agent works again.
func TestARunIsCanceledAndAnAgentResumed(t *testing.T) {
	w := newAgentsWorld(t, "")
	call[problem](w, "POST", "/agents/sales/resume", "", http.StatusNotFound)
	require.Contains(t, call[problem](w, "POST", "/agents/support/resume", "", http.StatusConflict).Detail, "never run")
	path := "/mail/" + sample.Owner + "/" + w.search("subject:tea").Messages[0].ID + "/run"
	call[any](w, "POST", path, `{"profile": "support"}`, http.StatusOK)
	w.work()
	done := w.runs("").List[0]
	w.exec("UPDATE agent_runs SET state = 'running', ended_at = NULL WHERE id = $1", done.ID)
	canceled := call[runs.Run](w, "POST", "/runs/"+done.ID+"/cancel", "", http.StatusOK)
	require.Equal(t, agent.StateCanceled, canceled.State)
	require.Equal(t, "canceled by api", canceled.Reason)

	w.exec("UPDATE agent_profiles SET failures = 3, paused_at = '2026-01-02T15:04:05.000000Z', reason = $1", "3 have failed")
	paused := call[runs.Profiles](w, "GET", "/agents", "", http.StatusOK).List[0]
	require.True(t, paused.Paused())
	require.Equal(t, "3 have failed", paused.Reason)
	resumed := call[runs.Profile](w, "POST", "/agents/support/resume", "", http.StatusOK)
	require.False(t, resumed.Paused())
	require.Zero(t, resumed.Failures)
}

func (w *world) exec(statement string, args ...any) {
	w.Helper()
	require.NoError(w, w.app.DB.Write(w.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, statement, args...)
		return err
	}))
}

// Runs have pages, and are of their mailbox; agents are of all, and who may look starts nothing.
func TestRunsAreOfTheirMailbox(t *testing.T) {
	w := newAgentsWorld(t, "")
	path := "/mail/" + sample.Owner + "/" + w.search("subject:tea").Messages[0].ID + "/run"
	call[any](w, "POST", path, `{"profile": "support"}`, http.StatusOK)
	w.work()
	for range 50 {
		w.exec("INSERT INTO agent_runs SELECT id || $1, account_id, thread_id, message_id, profile, version, model, job_id, "+
			"replay_of, state, reason, outcome, parameters, action_id, model_calls, tool_calls, tokens, cost, duration_ms, "+
			"started_at, ended_at FROM agent_runs ORDER BY id DESC LIMIT 1", "x")
	}
	page := w.runs("")
	require.Len(t, page.List, 50)
	older := w.runs("?before=" + page.Next)
	require.Len(t, older.List, 1)
	require.Empty(t, older.Next)

	one := "/runs/" + older.List[0].ID
	w.addOther()
	w.as = w.add("looks", tokens.See, sample.Owner)
	require.Len(t, w.runs("").List, 50)
	call[any](w, "GET", one, "", http.StatusOK)
	call[problem](w, "POST", path, `{"profile": "support"}`, http.StatusForbidden)
	call[problem](w, "POST", one+"/cancel", "", http.StatusForbidden)
	call[problem](w, "POST", one+"/replay", `{"model": "llm"}`, http.StatusForbidden)
	call[problem](w, "GET", "/agents", "", http.StatusForbidden)
	w.as = w.add("bob", tokens.Own, other)
	require.Empty(t, w.runs("").List)
	call[problem](w, "GET", one, "", http.StatusNotFound)
	call[problem](w, "POST", one+"/replay", `{"model": "llm"}`, http.StatusNotFound)
	call[problem](w, "POST", path, `{"profile": "support"}`, http.StatusNotFound)
	call[problem](w, "POST", "/agents/support/resume", "", http.StatusForbidden)
}

// A model that fails is no fault of the program: the replay says so, and is on record.
func TestAReplayThatFailsSaysSo(t *testing.T) {
	broken := llmtest.NewServerFunc(t, llmtest.ChatCompletions, func(llmtest.Asked) llmtest.Reply {
		return llmtest.Reply{Status: http.StatusNotFound, Code: "model_not_found", Message: "there is no such model"}
	})
	w := newAgentsWorldWith(t, "", func(c *config.Config) {
		c.Better = c.LLM.Model
		c.Better.Model, c.Better.BaseURL = "large", broken.URL
	})
	call[any](w, "POST", "/mail/"+sample.Owner+"/"+w.search("subject:tea").Messages[0].ID+"/run", `{"profile": "support"}`,
		http.StatusOK)
	w.work()
	path := "/runs/" + w.runs("").List[0].ID + "/replay"
	require.Contains(t, call[problem](w, "POST", path, `{"model": "llm_better"}`, http.StatusBadGateway).Detail, "is on record")
	require.Equal(t, agent.StateFailed, w.runs("").List[0].State)
}
