package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	api "google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/agents"
	"github.com/postroom-go/postroom/examples/postroomd/view/runs"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/agent"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/sqlite"
)

const supportProfile = `name: support
model: llm
instructions: Answer questions about tea.
tools: [read_thread]
outcomes: [draft, escalate]
`

// An office is a mailbox with a letter, a rule that gives it to an agent, and a model.
type office struct {
	*teatime

	agents string // the folder of the profiles
}

// newOffice makes one whose model ends each run with an outcome; more are further arguments in JSON.
func newOffice(t *testing.T, outcome agent.Outcome, more string) *office {
	t.Helper()
	model := llmtest.NewServerFunc(t, llmtest.ChatCompletions, func(asked llmtest.Asked) llmtest.Reply {
		if !strings.Contains(fmt.Sprint(asked.Messages), "INSTRUCTIONS\nAnswer questions") {
			return llmtest.Reply{Text: `{"intent":"question","questions":["When?"],"dates":[],"numbers":[]}`}
		}
		return llmtest.Reply{ToolCalls: []llm.ToolCall{{ID: "call_1", Name: "finish_" + string(outcome),
			Arguments: `{"reason":"It is about tea.","confidence":0.9` + more + `}`}},
			Usage: llm.Usage{InputTokens: 100, OutputTokens: 10}}
	})
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "support.yaml"), []byte(supportProfile), 0o600))
	m := newTeatime(t, "{action: run_agent, parameters: {profile: support}}", fmt.Sprintf(
		"agents = %q\n[llm]\nprovider = \"openai\"\nmodel = \"small\"\nbase_url = %q\napi_key = %q\n", folder, model.URL,
		inEnv(t, "sk-hunter2")), letterNamed(1))
	return &office{m, folder}
}

func (o *office) runs() []runs.Run {
	o.Helper()
	r := o.postroomd("agents", "list", "--json")
	require.Equal(o, 0, r.status, r.stderr)
	var page runs.Page
	require.NoError(o, json.Unmarshal([]byte(r.stdout), &page))
	return page.List
}

// links are the relations of actions, with their effects.
func (o *office) links() (list [][2]string) {
	o.Helper()
	dir := o.where[slices.Index(o.where, "--data")+1]
	db, err := sqlite.Open(o.Context(), filepath.Join(dir, "postroom.db"), nil)
	require.NoError(o, err)
	rows, err := db.Reader().QueryContext(o.Context(), "SELECT relation, effect_action_id FROM action_links")
	require.NoError(o, err)
	for rows.Next() {
		var link [2]string
		require.NoError(o, rows.Scan(&link[0], &link[1]))
		list = append(list, link)
	}
	require.NoError(o, errors.Join(rows.Err(), rows.Close(), db.Close()))
	return list
}

// A rule gives mail to an agent, which leaves a draft; each step is on record, and undo takes the draft away.
func TestARuleRunsAnAgent(t *testing.T) {
	t.Parallel()
	o := newOffice(t, agent.OutcomeDraft, `,"body":"At five."`)
	runOnce(t, o.where...)
	drafts := func() int { return countDrafts(t, o.server) }
	require.Equal(t, 1, drafts(), o.postroomd("jobs", "list").stdout+o.postroomd("actions").stdout+
		o.postroomd("agents", "list").stdout)

	list := o.runs()
	require.Len(t, list, 1)
	require.Equal(t, agent.StateDone, list[0].State, list[0].Reason)
	require.Equal(t, agent.OutcomeDraft, list[0].Outcome)
	shown := o.postroomd("agents", "show", list[0].ID).stdout
	require.Contains(t, shown, "model agent.read")
	require.Contains(t, shown, "At five.")
	actions := o.actions()
	require.Len(t, actions, 2)
	for _, a := range actions {
		require.Equal(t, postroom.ActionCompleted, a.State, a.ID)
	}
	said := o.postroomd("explain", list[0].ActionID).stdout
	require.Contains(t, said, "Agent support: It is about tea.")

	require.Equal(t, [][2]string{{"spawned", list[0].ActionID}}, o.links())

	r := o.postroomd("agents", "replay", list[0].ID)
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stdout, "replay of")
	require.Equal(t, 1, drafts())
	require.Contains(t, o.postroomd("agents", "cancel", list[0].ID).stderr, "the run has ended: it is done")
	require.Contains(t, o.postroomd("agents", "profiles").stdout, "draft,escalate,none")

	require.Equal(t, 0, o.postroomd("undo", list[0].ActionID).status)
	runOnce(t, o.where...)
	require.Zero(t, drafts())
}

func countDrafts(t *testing.T, server *gmailtest.Server) int {
	t.Helper()
	service, err := server.Service(t.Context())
	require.NoError(t, err)
	list, err := service.Users.Drafts.List("me").Do()
	require.NoError(t, err)
	return len(list.Drafts)
}

// An agent that escalates puts the label on without asking anybody.
func TestAnAgentEscalates(t *testing.T) {
	t.Parallel()
	o := newOffice(t, agent.OutcomeEscalate, "")
	runOnce(t, o.where...)
	require.Equal(t, 1, labelled(t, o.server, actionRequired))

	// A person has it run again, as often as the profile permits.
	id := o.runs()[0].MessageID
	require.Equal(t, 0, o.postroomd("agents", "run", "support", id).status)
	require.Equal(t, 0, o.postroomd("agents", "run", "support", id).status)
	require.Equal(t, exitUsage, o.postroomd("agents", "run", "sales", id).status)
	runOnce(t, o.where...)
	list := o.runs()
	require.Len(t, list, 3)
	require.Equal(t, agent.StateRefused, list[0].State)
	require.Contains(t, list[0].Reason, "the thread has had 2 runs")
}

// In a dry run no agent works.
func TestADryRunRunsNoAgent(t *testing.T) {
	t.Parallel()
	o := newOffice(t, agent.OutcomeDraft, `,"body":"At five."`)
	o.where = append(o.where, "--set", "safety.dry_run=true")
	runOnce(t, o.where...)
	require.Empty(t, o.runs())
	require.Zero(t, countDrafts(t, o.server))
}

// While everything is stopped, no agent works.
func TestAStopHoldsAgents(t *testing.T) {
	t.Parallel()
	o := newOffice(t, agent.OutcomeDraft, `,"body":"At five."`)
	runOnce(t, o.where...)
	require.Len(t, o.runs(), 1)
	require.Equal(t, 0, o.postroomd("stop").status)
	_, err := o.server.Deliver(t.Context(), []byte(letterNamed(2)))
	require.NoError(t, err)
	runOnce(t, o.where...)
	require.Len(t, o.runs(), 1)
	require.Equal(t, 0, o.postroomd("agents", "run", "support", o.runs()[0].MessageID).status)
	runOnce(t, o.where...)
	require.Len(t, o.runs(), 1)
	require.Equal(t, 0, o.postroomd("resume").status)
	runOnce(t, o.where...)
	require.Len(t, o.runs(), 3)
}

// What is wrong with a profile, or with a rule that names one, is said before anything runs.
func TestProfilesAreChecked(t *testing.T) {
	t.Parallel()
	o := newOffice(t, agent.OutcomeNone, "")
	runOnce(t, o.where...)
	check := func() string {
		r := postroomd(t, append([]string{"config", "check"}, o.where[:2]...)...)
		require.NotEqual(t, 0, r.status)
		return r.stderr
	}
	profile := filepath.Join(o.agents, "support.yaml")
	for text, fault := range map[string]string{
		strings.Replace(supportProfile, "llm", "big", 1):               `support.yaml:2: there is no model "big"; the models are`,
		strings.Replace(supportProfile, "read_thread", "send_mail", 1): `support.yaml:4: there is no tool "send_mail"`,
		strings.Replace(supportProfile, "[draft, escalate]", "[note]", 1): "" +
			"support.yaml:5: the outcome note is not carried out here",
		strings.Replace(supportProfile, "tools", "tolls", 1): "support.yaml:4: ",
	} {
		require.NoError(t, os.WriteFile(profile, []byte(text), 0o600))
		require.Contains(t, check(), fault)
	}
	require.Equal(t, 0, o.postroomd("stop").status, "a stop needs no profiles")
	require.Equal(t, exitUsage, o.postroomd("run", "--once").status)

	require.NoError(t, os.WriteFile(profile, []byte(strings.Replace(supportProfile, "support", "sales", 1)), 0o600))
	rules := strings.TrimPrefix(o.where[len(o.where)-1], "paths.rules=")
	r := postroomd(t, append([]string{"rules", "check", rules}, o.where[:2]...)...)
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stderr, `there is no profile "support"; the profiles are sales`)
	r = o.postroomd("run", "--once")
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stderr, `there is no profile "support"`)
}

// A run that is under way is canceled, and then ends without an effect; an agent that was paused works on what comes.
func TestARunIsCanceledAndAnAgentResumedByCommand(t *testing.T) {
	t.Parallel()
	o := newOffice(t, agent.OutcomeDraft, `,"body":"At five."`)
	runOnce(t, o.where...)
	done := o.runs()[0]
	o.exec("UPDATE agent_runs SET state = 'running', ended_at = NULL")
	r := o.postroomd("agents", "cancel", done.ID)
	require.Equal(t, 0, r.status, r.stderr)
	canceled := o.runs()[0]
	require.Equal(t, agent.StateCanceled, canceled.State)
	require.Contains(t, canceled.Reason, "canceled by ")
	require.Equal(t, exitUsage, o.postroomd("agents", "cancel", done.ID).status)

	o.exec("UPDATE agent_profiles SET failures = 3, paused_at = '2026-01-02T15:04:05.000000Z', reason = 'no such model'")
	_, err := o.server.Deliver(t.Context(), []byte(letterNamed(2)))
	require.NoError(t, err)
	runOnce(t, o.where...)
	require.Equal(t, agent.StateRefused, o.runs()[0].State)
	require.Contains(t, o.postroomd("agents", "profiles").stdout, "no such model")
	r = o.postroomd("agents", "resume", "sales")
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stderr, "the profiles are support")
	require.Equal(t, 0, o.postroomd("agents", "resume", "support").status)
	require.NotContains(t, o.postroomd("agents", "profiles").stdout, "no such model")
	_, err = o.server.Deliver(t.Context(), []byte(letterNamed(3)))
	require.NoError(t, err)
	runOnce(t, o.where...)
	require.Equal(t, agent.StateDone, o.runs()[0].State)
}

// Undoing run_agent cancels the run of its own profile, and not what another agent does with the message.
func TestUndoCancelsTheRunOfItsAgentAlone(t *testing.T) {
	t.Parallel()
	o := newOffice(t, agent.OutcomeNone, "")
	runOnce(t, o.where...)
	o.exec("UPDATE agent_runs SET state = 'running', ended_at = NULL")
	o.exec("INSERT INTO agent_runs SELECT '0' || id, account_id, thread_id, message_id, 'sales', version, model, job_id, " +
		"replay_of, state, reason, outcome, parameters, action_id, model_calls, tool_calls, tokens, cost, duration_ms, " +
		"started_at, ended_at FROM agent_runs")
	var started string
	for _, a := range o.actions() {
		if a.Action == agents.RunAgent {
			started = a.ID
		}
	}
	require.Equal(t, 0, o.postroomd("undo", started).status)
	runOnce(t, o.where...)
	states := map[string]agent.State{}
	for _, r := range o.runs() {
		states[r.Profile] = r.State
	}
	require.Equal(t, map[string]agent.State{"support": agent.StateCanceled, "sales": agent.StateRunning}, states)
}

// An address that the owner sends from as well takes no part in a thread, as the mailbox's own does not.
func TestAnAliasIsNoParticipant(t *testing.T) {
	t.Parallel()
	o := newOffice(t, agent.OutcomeDraft, `,"body":"At five.","to":[2]`)
	service, err := o.server.Service(t.Context())
	require.NoError(t, err)
	_, err = service.Users.Settings.SendAs.Create("me", &api.SendAs{SendAsEmail: "shop@example.com"}).Do()
	require.NoError(t, err)
	_, err = o.server.Deliver(t.Context(), []byte("Received: from mail.example.com by mx.google.com with ESMTPS id x; "+
		time.Now().Format(time.RFC1123Z)+"\r\n"+
		"Authentication-Results: mx.google.com; dmarc=pass header.from=example.org\r\nFrom: eve@example.org\r\n"+
		"To: Shop@example.com, "+sample.Owner+"\r\nCc: bob@example.net\r\nSubject: Tea again\r\n"+
		"Message-ID: <again@example.com>\r\n\r\nWhen?\r\n"))
	require.NoError(t, err)
	runOnce(t, o.where...)
	list := o.runs()
	require.Len(t, list, 2)
	shown := o.postroomd("agents", "show", list[slices.IndexFunc(list, func(r runs.Run) bool {
		return r.Subject == "Tea again"
	})].ID).stdout
	require.Contains(t, shown, "1. eve@example.org\n  > 2. bob@example.net\n  > \n")
	require.NotContains(t, shown, "3. ")
}

// The digest says which agents are paused, and how many drafts of answers lie ready.
func TestTheDigestHasDraftsAndPausedAgents(t *testing.T) {
	t.Parallel()
	o := newOffice(t, agent.OutcomeNone, "")
	runOnce(t, o.where...)
	h := o.open()
	accounts, err := h.Mail.Accounts(t.Context())
	require.NoError(t, err)
	said := func() string {
		d, err := h.ComposeDigest(t.Context(), accounts, time.Now().Add(-time.Hour), time.Now().Add(time.Second))
		require.NoError(t, err)
		d.Came, d.Moved = 0, nil
		require.Equal(t, d.News == 0, d.IsEmpty())
		return fmt.Sprint(d.News, d.Text())
	}
	before := said()
	require.NotContains(t, before, "ready")
	require.NotContains(t, before, "agent support")
	require.NoError(t, h.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := h.Replies.NotNeeded(ctx, tx, accounts[0].ID, "18c2", "18c2", "")
		if err == nil {
			_, err = tx.ExecContext(ctx, "UPDATE replies SET state = 'drafted'")
		}
		if err == nil {
			_, err = tx.ExecContext(ctx, "UPDATE agent_profiles SET paused_at = $1, reason = 'secret'", dbtime.Of(time.Now()))
		}
		return err
	}))
	after := said()
	require.Contains(t, after, "1 draft of an answer lies ready")
	require.Contains(t, after, "the agent support is paused")
	require.NotContains(t, after, "secret")
	require.Equal(t, before[0]+2, after[0], "both are news")
}
