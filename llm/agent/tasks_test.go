package agent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/llm/agent"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/queue/queuetest"
)

// A task is work that an agent is for, with the calls that are right for it.
type task struct {
	body string
	// right are the calls after the reading: of tools, and of the outcome.
	right []llmtest.Turn
	want  agent.Outcome
}

func search(words string) llmtest.Turn {
	return llmtest.Calls(agent.SearchMail, fmt.Sprintf(`{"query": %q}`, words))
}

func files(words string) llmtest.Turn {
	return llmtest.Calls(agent.ReadFiles, fmt.Sprintf(`{"query": %q}`, words))
}

func draft(body string) llmtest.Turn {
	return ends(agent.OutcomeDraft, fmt.Sprintf(`"body": %q`, body))
}

var (
	thread  = llmtest.Calls(agent.ReadThread, "{}")
	answers = llmtest.Calls(agent.OwnAnswers, "{}")
	labels  = llmtest.Calls(agent.ListLabels, "{}")
)

// tasks are twenty that people give to assistants.
var tasks = map[string]task{
	"answer from the files": {"How long does delivery take?", []llmtest.Turn{files("delivery days"), draft("Three days. See https://shop.example/delivery.")}, agent.OutcomeDraft},
	"answer about an order": {"Where is order 4711?", []llmtest.Turn{search("4711"), answers, draft("Order 4711 left on Monday.")}, agent.OutcomeDraft},
	"answer in the owner's voice": {"Can we talk?", []llmtest.Turn{answers, answers, draft("Dear Ada, gladly. Best, M.")},
		agent.OutcomeDraft},
	"answer after the thread": {"And the second question?", []llmtest.Turn{thread, draft("Yes, that as well.")}, agent.OutcomeDraft},
	"propose an answer":       {"Is the shop open on Friday?", []llmtest.Turn{files("open friday"), ends(agent.OutcomeReply, `"body": "Yes, until 18:00."`)}, agent.OutcomeReply},
	"answer that a fact is not known": {"Do you ship to the moon?", []llmtest.Turn{files("moon"), files("shipping space"),
		draft("I have to look that up.")}, agent.OutcomeDraft},
	"sort an order":            {"Your order is confirmed.", []llmtest.Turn{labels, ends(agent.OutcomeLabel, `"label": "Orders"`)}, agent.OutcomeLabel},
	"correct a label":          {"Your order was sent.", []llmtest.Turn{ends(agent.OutcomeLabel, `"label": "Shopping"`), labels, ends(agent.OutcomeLabel, `"label": "Orders"`)}, agent.OutcomeLabel},
	"archive thanks":           {"Thank you!", []llmtest.Turn{ends(agent.OutcomeArchive)}, agent.OutcomeArchive},
	"hand over a complaint":    {"I am very angry about 4711.", []llmtest.Turn{thread, search("4711"), ends(agent.OutcomeEscalate)}, agent.OutcomeEscalate},
	"hand over a contract":     {"Please sign the contract.", []llmtest.Turn{ends(agent.OutcomeEscalate)}, agent.OutcomeEscalate},
	"note a phone number":      {"My new number is 030 123456.", []llmtest.Turn{ends(agent.OutcomeNote, `"note": "Ada's number is 030 123456."`)}, agent.OutcomeNote},
	"note a preference":        {"I prefer letters.", []llmtest.Turn{answers, ends(agent.OutcomeNote, `"note": "Ada prefers letters."`)}, agent.OutcomeNote},
	"wait for a day":           {"I will send it on Friday.", []llmtest.Turn{ends(agent.OutcomeSnooze, `"when": "friday noon"`)}, agent.OutcomeSnooze},
	"wait for hours":           {"Ask me again later.", []llmtest.Turn{ends(agent.OutcomeSnooze, `"when": "later"`), ends(agent.OutcomeSnooze, `"when": "in 3 hours"`)}, agent.OutcomeSnooze},
	"make a task":              {"Please send the invoice.", []llmtest.Turn{ends(agent.OutcomeCreateTask, `"title": "Send Ada the invoice"`)}, agent.OutcomeCreateTask},
	"make a task with a day":   {"Please call me on 1 March.", []llmtest.Turn{ends(agent.OutcomeCreateTask, `"title": "Call Ada"`, `"due": "2030-03-01T09:00:00Z"`)}, agent.OutcomeCreateTask},
	"leave what needs nothing": {"For your information.", []llmtest.Turn{ends(agent.OutcomeNone)}, agent.OutcomeNone},
	"read everything": {"What did we agree on?", []llmtest.Turn{thread, answers, search("agreed"), search("contract"), files("terms"),
		draft("We agreed on 7 a piece.")}, agent.OutcomeDraft},
	"come back from a mistake": {"Where is it?", []llmtest.Turn{llmtest.Calls("track_parcel", `{}`), llmtest.Says("Let me think."),
		search("from:ada@client.example parcel"), search("parcel"), draft("It is on its way.")}, agent.OutcomeDraft},
}

// The bounds do not get in the way of work: with right calls, a run reaches its outcome, and no person is asked but
// about what cannot be undone.
func TestUsefulTasks(t *testing.T) {
	require.Len(t, tasks, 20)
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "faq.txt"),
		[]byte("Delivery takes three days: https://shop.example/delivery\n\nOpen from Monday to Friday until 18:00."), 0o600))
	reached, alone := 0, 0
	for name, task := range tasks {
		client := llmtest.NewScripted(t, append([]llmtest.Turn{reads("request")}, task.right...)...)
		w := newWorld(t, queuetest.New(t), client, func(c *agent.Config) {
			c.Folder = func(string) string { return folder }
			c.Profiles[0].Tools = append(c.Profiles[0].Tools, agent.ReadFiles)
		})
		w.deliver(mail("before", "t0", ada, "I ordered 4711, a parcel. We agreed on the contract."))
		w.deliver(mail("first", "t1", ada, "Two questions."))
		w.deliver(sent("answer", "t1", ada, "Dear Ada, gladly. Best, M."))
		r := w.run(mail("message", "t1", ada, task.body))
		if r.State != agent.StateDone || r.Outcome != task.want {
			t.Logf("%s ends %s with %s: %s", name, r.State, r.Outcome, r.Reason)
			continue
		}
		reached++
		a := w.action(r)
		if w.kinds.Danger(a.Type) == postroom.Dangerous {
			require.Equal(t, postroom.ActionPendingApproval, a.State, name)
			continue
		}
		alone++
		require.NotEqual(t, postroom.ActionPendingApproval, a.State, name)
	}
	t.Logf("%d of %d reach their outcome, %d of them without a person", reached, len(tasks), alone)
	require.GreaterOrEqual(t, reached, 18)
}
