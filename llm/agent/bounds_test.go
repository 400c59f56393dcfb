package agent_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/agent"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
)

// A talker is a model that never ends a run by itself.
type talker func(call int, req *llm.Request) (*llm.Response, error)

func (fn talker) Complete(_ context.Context, req *llm.Request) (*llm.Response, error) {
	return fn(len(req.Messages), req)
}

func calls(names ...string) *llm.Response {
	resp := &llm.Response{Model: "llmtest::talker"}
	for i, name := range names {
		resp.ToolCalls = append(resp.ToolCalls, llm.ToolCall{ID: fmt.Sprint("call_", i), Name: name, Arguments: "{}"})
	}
	return resp
}

func TestBoundsEndTheRun(t *testing.T) {
	distinct := func(n int) *llm.Response {
		resp := calls(agent.ReadThread, agent.ReadThread, agent.ReadThread)
		for i := range resp.ToolCalls {
			resp.ToolCalls[i].Arguments = fmt.Sprintf(`{"n": %d}`, 10*n+i)
		}
		return resp
	}
	for name, tt := range map[string]struct {
		model talker
		limit agent.Limits
		want  string
		used  agent.Usage
	}{
		"model calls": {model: func(int, *llm.Request) (*llm.Response, error) { return llmtest.Says("Hm.").Response, nil },
			want: "the run has made 8 calls of the model", used: agent.Usage{ModelCalls: 8}},
		"tool calls": {model: func(n int, _ *llm.Request) (*llm.Response, error) { return distinct(n), nil },
			want: "the run has made 12 calls of tools", used: agent.Usage{ModelCalls: 6, ToolCalls: 12}},
		"unknown tools count": {model: func(n int, _ *llm.Request) (*llm.Response, error) {
			return calls("send_mail", fmt.Sprint("send_mail", n)), nil
		}, want: "a tool 3 times with equal arguments", used: agent.Usage{ModelCalls: 5, ToolCalls: 7}},
		"equal calls, however written": {model: func(n int, _ *llm.Request) (*llm.Response, error) {
			resp := calls(agent.SearchMail)
			resp.ToolCalls[0].Arguments = map[bool]string{true: `{"query":"a"}`, false: `{ "query" : "a" }`}[n%4 == 0]
			return resp, nil
		}, want: "a tool 3 times with equal arguments", used: agent.Usage{ModelCalls: 5, ToolCalls: 4}},
		"tokens": {model: func(int, *llm.Request) (*llm.Response, error) {
			resp := llmtest.Says("Hm.").Response
			resp.Usage = llm.Usage{InputTokens: 14_000, OutputTokens: 400}
			return resp, nil
		}, want: "and its limit is 30000", used: agent.Usage{ModelCalls: 2, Tokens: 28_800}},
		"cost": {model: func(int, *llm.Request) (*llm.Response, error) {
			resp := llmtest.Says("Hm.").Response
			resp.Cost = llm.Dollar / 40
			return resp, nil
		}, want: "the run has cost $0.05, and its limit is $0.05", used: agent.Usage{ModelCalls: 2, Cost: llm.Dollar / 20}},
		"the profile's own": {limit: agent.Limits{ModelCalls: 1},
			model: func(int, *llm.Request) (*llm.Response, error) { return llmtest.Says("Hm.").Response, nil },
			want:  "the run has made 1 calls of the model", used: agent.Usage{ModelCalls: 1}},
		"a refusal": {model: func(n int, _ *llm.Request) (*llm.Response, error) {
			return nil, &llm.Error{Provider: "acme", Reason: llm.ErrRefused, Err: errors.New("see https://evil.example")}
		}, want: "the model cannot answer: refused", used: agent.Usage{ModelCalls: 1}},
		"an endless answer": {model: func(int, *llm.Request) (*llm.Response, error) {
			return &llm.Response{Model: "x", Text: string(make([]byte, 1<<20))}, nil
		}, want: "the model cannot answer: its answer is too long", used: agent.Usage{ModelCalls: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // in which no call takes time
				w := newWorld(t, queuetest.New(t), tt.model, func(c *agent.Config) { c.Profiles[0].Limits = tt.limit })
				r := w.run(mail("m", "t1", ada, "Where is it?"))
				require.Equal(t, agent.StateStopped, r.State)
				require.Contains(t, r.Reason, tt.want)
				require.Equal(t, tt.used, r.Usage)
				require.Equal(t, agent.OutcomeEscalate, r.Outcome)
				a := w.action(r)
				require.Equal(t, postroom.Escalate, a.Type)
				require.Equal(t, postroom.Parameters{"reason": r.Reason}, a.Parameters)
				require.Equal(t, postroom.ActionQueued, a.State, "a person is told at once")
				require.LessOrEqual(t, len(r.Steps), 8+12)
			})
		})
	}
}

func TestABoundIsNoneForAProfileThatMayNotEscalate(t *testing.T) {
	model := talker(func(int, *llm.Request) (*llm.Response, error) { return llmtest.Says("Hm.").Response, nil })
	w := newWorld(t, queuetest.New(t), model, func(c *agent.Config) {
		c.Profiles[0].Outcomes = []agent.Outcome{agent.OutcomeDraft}
	})
	r := w.run(mail("m", "t1", ada, "Where is it?"))
	require.Equal(t, agent.StateStopped, r.State)
	require.Equal(t, agent.OutcomeNone, r.Outcome)
	require.Equal(t, postroom.None, w.action(r).Type)
}

// What a broken model answers ends as some outcome, and never as a failure or a dangerous act.
func TestABrokenModelEndsTheRun(t *testing.T) {
	var attack *llm.Response
	broken := talker(func(int, *llm.Request) (*llm.Response, error) { return attack, nil })
	change := func(c *agent.Config) { c.Profiles[0].Limits.RunsADay = 100 }
	eachWorld(t, broken, change, func(t *testing.T, w *world) {
		for i, a := range llmtest.Attacks() {
			attack = a
			r := w.run(mail(fmt.Sprint("m", i), fmt.Sprint("t", i), ada, "x"))
			require.Equal(t, agent.StateStopped, r.State, "attack %d: %s", i, r.Reason)
			for _, a := range w.passed {
				require.Equal(t, postroom.Escalate, a.Type, "attack %d", i)
			}
		}
	})
}

func TestASlowModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := llmtest.Slow{Client: llmtest.NewScripted(t), After: 2 * time.Minute}
		w := newWorld(t, queuetest.New(t), slow, nil)
		start := time.Now()
		r := w.run(mail("m", "t1", ada, "Where is it?"))
		require.Equal(t, agent.StateStopped, r.State)
		require.Contains(t, r.Reason, "the run has taken 5m0s")
		require.Equal(t, agent.Usage{ModelCalls: 6, Duration: 5 * time.Minute}, r.Usage, "the sixth was not made")
		require.Equal(t, 5*time.Minute, time.Since(start))
		require.Equal(t, "it did not answer within 1m0s", r.Steps[0].Fault)
	})
}

func TestASlowToolIsAFaultOfItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := llmtest.NewScripted(t, reads("question"), llmtest.Calls("crawl", "{}"), ends(agent.OutcomeArchive))
		crawl, err := agent.NewTool("crawl", "Wait.", postroom.Safe,
			func(ctx context.Context, _ *agent.Scope, _ struct{}) (string, error) {
				<-ctx.Done()
				return "", ctx.Err()
			})
		require.NoError(t, err)
		w := newWorld(t, queuetest.New(t), client, func(c *agent.Config) {
			c.Tools, c.Profiles[0].Tools = []agent.Tool{crawl}, []string{"crawl"}
		})
		r := w.run(mail("m", "t1", ada, "x"))
		require.Equal(t, agent.StateDone, r.State)
		require.Contains(t, client.Requests()[2].Messages[3].Text, "did not answer within 1m0s")
		require.Equal(t, time.Minute, r.Usage.Duration)
	})
}

// The time for which a job waits for a provider is not the run's.
func TestAFailingModelIsAskedLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limited := llmtest.Fails(&llm.Error{Provider: "acme", Reason: llm.ErrRateLimited, RetryAfter: time.Hour})
		down := llmtest.Fails(&llm.Error{Provider: "acme", Reason: llm.ErrUnavailable})
		client := llmtest.NewScripted(t, limited, down, reads("question"), down, limited, ends(agent.OutcomeArchive))
		w := newWorld(t, queuetest.New(t), client, nil)
		start := time.Now()
		r := w.run(mail("m", "t1", ada, "x"))
		require.Equal(t, agent.StateDone, r.State)
		require.Equal(t, agent.Usage{ModelCalls: 2, Tokens: 240}, r.Usage)
		require.Greater(t, time.Since(start), 2*time.Hour)
	})
}

func TestThreeFailuresPauseTheProfile(t *testing.T) {
	bad := llmtest.Fails(&llm.Error{Provider: "acme", Reason: llm.ErrBadRequest, Err: errors.New("no such field")})
	good := []llmtest.Turn{reads("question"), ends(agent.OutcomeArchive)}
	client := llmtest.NewScripted(t, bad, bad, good[0], good[1], bad, bad, bad, good[0], good[1])
	w := newWorld(t, queuetest.New(t), client, nil)
	var states []agent.State
	for i := range 8 {
		r := w.run(mail(fmt.Sprint("m", i), fmt.Sprint("t", i), ada, "x"))
		states = append(states, r.State)
		require.Equal(t, r.State == agent.StateDone, r.ActionID != "", "nothing is decided but by a run that ends")
	}
	require.Equal(t, []agent.State{agent.StateFailed, agent.StateFailed, agent.StateDone, agent.StateFailed,
		agent.StateFailed, agent.StateFailed, agent.StateRefused, agent.StateRefused}, states)
	list, err := w.agent.Profiles(t.Context())
	require.NoError(t, err)
	require.Equal(t, 3, list[0].Failures)
	require.False(t, list[0].PausedAt.IsZero())
	require.Contains(t, list[0].Reason, "3 runs in a row have failed; the last: ")
	require.Contains(t, list[0].Reason, "no such field")

	require.NoError(t, w.q.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		require.ErrorIs(t, w.agent.Resume(ctx, tx, "other"), postroom.ErrNotFound)
		return w.agent.Resume(ctx, tx, "support")
	}))
	require.Equal(t, agent.StateDone, w.run(mail("m9", "t9", ada, "x")).State)
}

func TestTheLimitsOfADayAndAThread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := talker(func(_ int, req *llm.Request) (*llm.Response, error) {
			if req.Output != nil {
				return reads("thanks").Response, nil
			}
			return ends(agent.OutcomeNone).Response, nil
		})
		w := newWorld(t, queuetest.New(t), model, func(c *agent.Config) { c.Profiles[0].Limits.RunsADay = 4 })
		state := func(id, thread string) agent.Run { return w.run(mail(id, thread, ada, "x")) }
		require.Equal(t, agent.StateDone, state("m1", "t1").State)
		require.Equal(t, agent.StateDone, state("m2", "t1").State)
		third := state("m3", "t1")
		require.Equal(t, agent.StateRefused, third.State)
		require.Contains(t, third.Reason, "the thread has had 2 runs of the profile within a day")
		require.Empty(t, third.Steps, "no model was asked")
		require.Equal(t, agent.StateDone, state("m4", "t2").State)
		require.Equal(t, agent.StateDone, state("m5", "t3").State, "what was refused does not count")
		fifth := state("m6", "t4")
		require.Equal(t, agent.StateRefused, fifth.State)
		require.Contains(t, fifth.Reason, "the mailbox has had 4 runs")
		time.Sleep(24*time.Hour + time.Second)
		require.Equal(t, agent.StateDone, state("m7", "t1").State)
	})
}

func TestAJobOfWhatIsGone(t *testing.T) {
	w := newWorld(t, queuetest.New(t), llmtest.NewScripted(t), nil)
	w.enqueue(mail("gone", "t1", ada, "x"))
	require.Equal(t, queue.StateCanceled, queuetest.WorkOne(t, w.q, w.register).State)
	_, err := w.q.Enqueue(t.Context(), agent.NewJob(w.deliver(mail("m", "t1", ada, "x")), "sales"))
	require.NoError(t, err)
	job := queuetest.WorkOne(t, w.q, w.register)
	require.Equal(t, queue.StateFailed, job.State)
	require.Contains(t, job.LastError, `there is no profile "sales"; add it, or take it out of the rule`)
}
