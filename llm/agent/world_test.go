package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/agent"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/gate"
)

const (
	account = "account-1"
	owner   = "me@example.com"
	ada     = "ada@client.example"
	carol   = "carol@client.example"
)

// A world is a mailbox with a real ledger, whose actions nobody carries out.
type world struct {
	t      testing.TB
	q      *queue.Queue
	mails  []*postroom.Message
	labels []postroom.Label
	ledger *safety.Ledger
	kinds  *postroom.Kinds
	cfg    agent.Config
	agent  *agent.Agent

	mu     sync.Mutex
	passed []postroom.Action // what was let pass without a person
	asked  []string          // the actions that wait for a person
}

// newWorld makes a world with one profile, which change may change with the rest of the configuration.
func newWorld(t testing.TB, q *queue.Queue, client llm.Client, change func(*agent.Config)) *world {
	t.Helper()
	w := &world{t: t, q: q, kinds: allKinds(t), labels: []postroom.Label{
		{ID: "Label_1", Name: "Orders", Type: postroom.LabelUser, Description: "orders of shops", AvailableToClassifier: true},
		{ID: "Label_2", Name: "Private", Type: postroom.LabelUser},
	}}
	for _, migrate := range []func(context.Context, queue.DB) error{queue.Migrate, safety.Migrate, agent.Migrate} {
		require.NoError(t, migrate(t.Context(), q.DB()))
	}
	var err error
	w.ledger, err = safety.NewLedger(safety.Config{DB: q.DB(), Kinds: w.kinds,
		Policy: gate.Policy{ModelUnattended: []postroom.ActionType{postroom.None, postroom.ApplyLabel, postroom.Archive,
			postroom.Snooze, postroom.AddNote, postroom.CreateTask, postroom.Escalate, agent.Draft}},
		Execute: func(_ context.Context, _ queue.Tx, a postroom.Action) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.passed = append(w.passed, a)
			return nil
		},
		Ask: func(_ context.Context, _ queue.Tx, r safety.Approval) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.asked = append(w.asked, r.ActionID)
			return nil
		}})
	require.NoError(t, err)
	w.cfg = agent.Config{DB: q.DB(), Ledger: w.ledger, Kinds: w.kinds, Clients: map[string]llm.Client{"small": client},
		Mail: w, Own: func(context.Context, string) ([]string, error) { return []string{owner}, nil },
		Correspondence: w, Labels: w, Profiles: []agent.Profile{profile()}}
	if change != nil {
		change(&w.cfg)
	}
	w.agent, err = agent.New(w.cfg)
	require.NoError(t, err)
	return w
}

// profile allows everything but files.
func profile() agent.Profile {
	return agent.Profile{Name: "support", Model: "small", Instructions: "Answer questions about orders.",
		Tools: []string{agent.ReadThread, agent.SearchMail, agent.OwnAnswers, agent.ListLabels}, Outcomes: agent.Outcomes()}
}

// allKinds has all kinds that outcomes become. Nobody carries them out here.
func allKinds(t testing.TB) *postroom.Kinds {
	t.Helper()
	draft := postroom.Kind{Type: agent.Draft, Summary: "leave a draft", Danger: postroom.Reversible,
		Parameters: []postroom.Parameter{{Name: "to", Type: postroom.TextsParameter, Required: true},
			{Name: "body", Type: postroom.TextParameter, Required: true}}}
	host := []postroom.Kind{draft}
	for _, name := range []postroom.ActionType{postroom.AddNote, postroom.CreateTask, postroom.Escalate,
		postroom.AutoReply} {
		kind, _ := postroom.StandardKind(name)
		host = append(host, kind)
	}
	for i := range host {
		host[i].Handler = func(context.Context, postroom.Run, postroom.Action) (postroom.Outcome, error) {
			return postroom.Outcome{}, nil
		}
		host[i].Undo = func(context.Context, postroom.Run, postroom.Action) (postroom.Commit, error) { return nil, nil } //nolint:nilnil // nothing to write
	}
	kinds, err := postroom.NewKinds(postroom.KindsConfig{Add: host})
	require.NoError(t, err)
	return kinds
}

func (w *world) Message(_ context.Context, accountID, id string) (*postroom.Message, error) {
	for _, m := range w.mails {
		if m.ID == id && m.AccountID == accountID {
			return m, nil
		}
	}
	return nil, postroom.ErrNotFound
}

func (w *world) ThreadMessages(_ context.Context, accountID, threadID string) (list []*postroom.Message, err error) {
	for _, m := range w.mails {
		if m.ThreadID == threadID && m.AccountID == accountID {
			list = append(list, m)
		}
	}
	return list, nil
}

func (w *world) Labels(context.Context, string) ([]postroom.Label, error) { return w.labels, nil }

// Received is an index that obeys the words only, and returns mail of everybody: the agent must leave it out.
func (w *world) Received(_ context.Context, _, _, words string, _ int) (list []*postroom.Message, err error) {
	for _, m := range w.mails {
		all := true
		for word := range strings.FieldsSeq(words) {
			all = all && strings.Contains(strings.ToLower(m.Subject+" "+m.BodyPlain), word)
		}
		if all {
			list = append(list, m)
		}
	}
	return list, nil
}

// Sent returns all mail of the owner, whoever got it, and what only claims to be of the owner.
func (w *world) Sent(context.Context, string, string, int) (list []*postroom.Message, err error) {
	for _, m := range w.mails {
		if m.From.Email == owner {
			list = append(list, m)
		}
	}
	return list, nil
}

// mail returns a message of a verified sender.
func mail(id, thread, from, body string) *postroom.Message {
	domain := from[strings.IndexByte(from, '@')+1:]
	return &postroom.Message{ID: id, AccountID: account, ThreadID: thread, From: postroom.Address{Email: from},
		To: []postroom.Address{{Email: owner}}, Subject: "About " + id, BodyPlain: body,
		ReceivedAt: time.Date(2026, 11, 20, 8, len(id), 0, 0, time.UTC), LabelIDs: []string{postroom.LabelInbox},
		Headers: []postroom.Header{{Name: "Received", Value: "from out." + domain +
			" by mx.google.com with ESMTPS id x; Fri, 20 Nov 2026 08:00:00 -0800"}, {Name: "Authentication-Results",
			Value: "mx.google.com; dkim=pass header.i=@" + domain + "; dmarc=pass (p=REJECT) header.from=" + domain},
			{Name: "From", Value: from}}}
}

// sent returns a message that the owner has sent.
func sent(id, thread, to, body string) *postroom.Message {
	m := mail(id, thread, owner, body)
	m.To, m.LabelIDs = []postroom.Address{{Email: to}}, []string{postroom.LabelSent}
	return m
}

func (w *world) deliver(m *postroom.Message) *postroom.Message {
	w.mails = append(w.mails, m)
	return m
}

func (w *world) enqueue(m *postroom.Message) {
	_, err := w.q.Enqueue(w.t.Context(), agent.NewJob(m, "support"))
	require.NoError(w.t, err)
}

func (w *world) register(d *queue.Dispatcher) { require.NoError(w.t, agent.Register(d, w.agent)) }

// run runs the agent about the message and returns the record of it.
func (w *world) run(m *postroom.Message) agent.Run {
	w.t.Helper()
	w.deliver(m)
	w.enqueue(m)
	queuetest.Work(w.t, w.q, w.register)
	return w.record(m)
}

func (w *world) record(m *postroom.Message) agent.Run {
	w.t.Helper()
	runs, err := w.agent.Runs(w.t.Context(), agent.Filter{MessageID: m.ID, Limit: 1})
	require.NoError(w.t, err)
	require.NotEmpty(w.t, runs)
	r, err := w.agent.Run(w.t.Context(), runs[0].ID)
	require.NoError(w.t, err)
	return r
}

// action returns the action of a run.
func (w *world) action(r agent.Run) postroom.Action {
	w.t.Helper()
	require.NotEmpty(w.t, r.ActionID)
	a, err := w.ledger.Action(w.t.Context(), r.ActionID)
	require.NoError(w.t, err)
	return a
}

// reads is the answer of the quarantined call.
func reads(intent string, questions ...string) llmtest.Turn {
	form, err := json.Marshal(map[string]any{"intent": intent, "questions": append([]string{}, questions...),
		"dates": []string{}, "numbers": []string{"4711"}})
	if err != nil {
		panic(err)
	}
	turn := llmtest.Says(string(form))
	turn.Response.Usage = llm.Usage{InputTokens: 100, OutputTokens: 20}
	return turn
}

// ends is a call that ends a run; fields are further arguments in JSON, such as `"body": "Hello"`.
func ends(outcome agent.Outcome, fields ...string) llmtest.Turn {
	return llmtest.Calls("finish_"+string(outcome), fmt.Sprintf(`{"reason": "Scripted.", "confidence": 0.9%s}`,
		strings.Join(append([]string{""}, fields...), ", ")))
}
