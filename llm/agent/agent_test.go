package agent_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/agent"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
)

func TestARunReadsAndEndsWithADraft(t *testing.T) {
	client := llmtest.NewScripted(t, reads("question", "Where is order 4711?"), llmtest.Calls(agent.OwnAnswers, "{}"),
		ends(agent.OutcomeDraft, `"body": "It leaves tomorrow."`))
	w := newWorld(t, queuetest.New(t), client, nil)
	w.deliver(sent("answer", "t0", ada, "Dear Ada, your order left."))
	m := mail("m", "t1", ada, "Where is my order 4711?\n\nOn Monday, Carol wrote:\n> the secret of Carol\n")
	m.BodyHTML = `<p>Where is my order 4711?</p><p style="display:none">hidden order</p>`
	m.Attachments = []postroom.Attachment{{Filename: "invoice.pdf"}}
	r := w.run(m)

	require.Equal(t, agent.StateDone, r.State)
	require.Equal(t, agent.OutcomeDraft, r.Outcome)
	require.Equal(t, "Agent support: Scripted.", r.Reason)
	require.Equal(t, agent.Usage{ModelCalls: 3, ToolCalls: 1, Tokens: 360, Duration: r.Usage.Duration}, r.Usage)
	require.Equal(t, llmtest.Model, r.Model)
	a := w.action(r)
	require.Equal(t, agent.Draft, a.Type)
	require.Equal(t, postroom.Parameters{"to": []any{ada}, "body": "It leaves tomorrow."}, a.Parameters)
	decision, err := w.ledger.Decision(t.Context(), a.DecisionID)
	require.NoError(t, err)
	require.Equal(t, postroom.SourceModel, decision.Decision.Source)
	require.Empty(t, decision.Decision.RuleID)

	asked := client.Requests()
	require.Empty(t, asked[0].Tools, "the first call has no tools")
	require.NotNil(t, asked[0].Output)
	all := asked[2].Messages
	mark := asked[0].Random[0]
	require.Equal(t, 2, strings.Count(all[1].Text, mark), "one block of a stranger's text")
	before, inside, _ := strings.Cut(all[1].Text, mark+" BEGIN>>>")
	require.Contains(t, before, "Answer questions about orders.")
	for _, text := range []string{"Where is my order 4711?", "invoice.pdf", "1. " + ada, "Intent: question",
		"Numbers: 4711"} {
		require.Contains(t, inside, text)
	}
	require.NotContains(t, all[1].Text, "hidden order")
	require.NotContains(t, all[1].Text, "secret of Carol")
	require.Equal(t, mark+" BEGIN>>>\n1. Dear Ada, your order left.\n"+mark+" END>>>", all[3].Text)
	require.Equal(t, account, asked[0].AccountID)

	require.Len(t, r.Steps, 4)
	require.Equal(t, agent.StepTool, r.Steps[2].Kind)
	require.Equal(t, agent.OwnAnswers, r.Steps[2].Name)
	require.Equal(t, "1. Dear Ada, your order left.", r.Steps[2].Output)
	require.Contains(t, r.Steps[3].Output, "finish_draft")
}

func TestTheJobIsThatOfTheSeed(t *testing.T) {
	w := newWorld(t, queuetest.New(t), llmtest.NewScripted(t), nil)
	m := mail("m", "t1", ada, "x")
	first, err := w.q.Enqueue(t.Context(), agent.NewJob(m, "support"))
	require.NoError(t, err)
	again, err := w.q.Enqueue(t.Context(), agent.NewJob(m, "support"))
	require.NoError(t, err)
	require.Equal(t, first.ID, again.ID)
	job, err := w.q.Job(t.Context(), first.ID)
	require.NoError(t, err)
	require.Equal(t, "agent_process", job.Type)
	require.JSONEq(t, `{"user_id":"account-1","thread_id":"t1","message_id":"m","profile":"support"}`, string(job.Payload))
}

// What a run decides on is told as what came of the action that began it.
func TestWhatAnActionBeganIsTold(t *testing.T) {
	client := llmtest.NewScripted(t, reads("question"), ends(agent.OutcomeNone), reads("question"),
		ends(agent.OutcomeNone))
	var spawned []string
	w := newWorld(t, queuetest.New(t), client, func(c *agent.Config) {
		c.Spawned = func(_ context.Context, _ queue.Tx, cause string, a postroom.Action) error {
			spawned = append(spawned, cause, string(a.Type))
			return nil
		}
	})
	m := w.deliver(mail("m", "t1", ada, "How many?"))
	_, err := w.q.Enqueue(t.Context(), agent.NewSpawnedJob(m, "support", "action-1"))
	require.NoError(t, err)
	queuetest.Work(t, w.q, w.register)
	require.Equal(t, []string{"action-1", "none"}, spawned)
	w.enqueue(w.deliver(mail("other", "t2", ada, "How many?")))
	queuetest.Work(t, w.q, w.register)
	require.Len(t, spawned, 2, "a person began it")
}

// An attempt that fails asks the model nothing again.
func TestALaterAttemptContinues(t *testing.T) {
	client := llmtest.NewScripted(t, reads("question"), llmtest.Calls("stock", `{"item": "socks"}`), ends(agent.OutcomeNone))
	var keys []string
	stock, err := agent.NewTool("stock", "How many are there.", postroom.Safe,
		func(_ context.Context, s *agent.Scope, a struct {
			Item string `json:"item"`
		}) (string, error) {
			keys = append(keys, s.Key)
			if len(keys) == 1 {
				return "", errors.New("the warehouse is closed")
			}
			return "7 " + a.Item, nil
		})
	require.NoError(t, err)
	w := newWorld(t, queuetest.New(t), client, func(c *agent.Config) {
		c.Tools = []agent.Tool{stock}
		c.Profiles[0].Tools = append(c.Profiles[0].Tools, "stock")
	})
	m := w.deliver(mail("m", "t1", ada, "How many?"))
	w.enqueue(m)
	job := queuetest.WorkOne(t, w.q, w.register)
	require.Contains(t, job.LastError, "the warehouse is closed")
	require.Equal(t, agent.StateRunning, w.record(m).State)
	queuetest.PromoteScheduled(t, w.q)
	queuetest.Work(t, w.q, w.register)
	r := w.record(m)
	require.Equal(t, agent.StateDone, r.State)
	require.Equal(t, []string{r.ID + ":3", r.ID + ":3"}, keys)
	require.Equal(t, client.Requests()[1].Messages[1], client.Requests()[2].Messages[1], "what was read of the mail stays")
	require.Contains(t, client.Requests()[2].Messages[3].Text, "7 socks")
	require.Len(t, r.Steps, 4)
}

// A desk is a model that answers by how far the conversation is, and notes what it was asked.
type desk struct {
	mu    sync.Mutex
	asked map[string]int
}

func (d *desk) Complete(_ context.Context, req *llm.Request) (*llm.Response, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked[req.Fingerprint()]++
	turn := ends(agent.OutcomeArchive)
	switch {
	case req.Output != nil:
		turn = reads("question")
	case len(req.Messages) == 2:
		turn = llmtest.Calls(agent.ReadThread, "{}")
	}
	turn.Response.Usage = llm.Usage{} // a kept answer has none
	return turn.Response, nil
}

func TestARunSurvivesACrashAnywhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // in which no call takes time
		queuetest.CrashEverywhere(t, crashScenario)
	})
}

func crashScenario(t testing.TB, q *queue.Queue) queuetest.Scenario {
	d := &desk{asked: map[string]int{}}
	require.NoError(t, llm.Migrate(t.Context(), q.DB()))
	records, err := llm.NewRecords(llm.RecordsConfig{DB: q.DB()})
	require.NoError(t, err)
	metered, err := llm.NewMetered(llm.MeteredConfig{Client: d, Records: records, Model: "acme::small",
		Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	w := newWorld(t, q, metered, nil)
	w.enqueue(w.deliver(mail("m", "t1", ada, "Thank you.")))
	return queuetest.Scenario{Register: w.register,
		Ignore:  []string{"llm_calls", "llm_spend", "llm_answers", "agent_steps.input_sha256", "safety_keys"},
		Outside: d.questions}
}

// questions lists the different questions that the model was asked. A crash while it answers repeats one, and no other.
func (d *desk) questions() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	repeated := 0
	for _, n := range d.asked {
		repeated += n - 1
	}
	if repeated > 1 {
		return []string{"questions were repeated"}
	}
	return slices.Repeat([]string{"a question to the model"}, len(d.asked))
}
