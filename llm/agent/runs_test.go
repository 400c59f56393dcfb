package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/agent"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
)

// eachWorld runs fn in a world on each database.
func eachWorld(t *testing.T, client llm.Client, change func(*agent.Config), fn func(t *testing.T, w *world)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q, err := queue.New(db, nil)
		require.NoError(t, err)
		fn(t, newWorld(t, q, client, change))
	})
}

// archiver is a model that archives everything.
var archiver = talker(func(_ int, req *llm.Request) (*llm.Response, error) {
	if req.Output != nil {
		return reads("thanks").Response, nil
	}
	return ends(agent.OutcomeArchive).Response, nil
})

func (w *world) write(fn func(ctx context.Context, tx queue.Tx) error) error {
	return w.q.DB().Write(w.t.Context(), fn)
}

func TestRunsAreListedAndPruned(t *testing.T) {
	eachWorld(t, archiver, nil, func(t *testing.T, w *world) {
		require.NoError(t, agent.Migrate(t.Context(), w.q.DB()), "again")
		for i := range 3 {
			w.run(mail(fmt.Sprint("m", i), fmt.Sprint("t", i), ada, "\x00"+strings.Repeat("ä", 5000)))
		}
		ids := func(f agent.Filter) (list []string) {
			runs, err := w.agent.Runs(t.Context(), f)
			require.NoError(t, err)
			for _, r := range runs {
				require.False(t, r.EndedAt.Before(r.StartedAt))
				list = append(list, r.MessageID)
			}
			return list
		}
		require.Equal(t, []string{"m2", "m1", "m0"}, ids(agent.Filter{}))
		require.Equal(t, []string{"m2"}, ids(agent.Filter{Limit: 1, AccountID: account, Profile: "support"}))
		first := w.record(&postroom.Message{ID: "m2"})
		require.Equal(t, []string{"m1", "m0"}, ids(agent.Filter{Before: first.ID}))
		require.Empty(t, ids(agent.Filter{Profile: "sales"}))
		require.Len(t, first.Steps, 2)
		require.Equal(t, 4096, len(first.Steps[0].Input), "cut")
		require.Len(t, first.Steps[0].InputSHA256, 64)
		require.Equal(t, 120, first.Steps[0].Tokens)
		_, err := w.agent.Run(t.Context(), "none")
		require.ErrorIs(t, err, postroom.ErrNotFound)

		n, err := w.agent.Prune(t.Context(), first.StartedAt)
		require.NoError(t, err)
		require.Equal(t, 2, n)
		require.Equal(t, []string{"m2"}, ids(agent.Filter{}))
		require.NoError(t, w.write(func(ctx context.Context, tx queue.Tx) error { return w.agent.Forget(ctx, tx, account) }))
		require.Empty(t, ids(agent.Filter{}))
	})
}

func TestRunsAtOnceKeepTheLimits(t *testing.T) {
	change := func(c *agent.Config) { c.Profiles[0].Limits.RunsADay = 2 }
	eachWorld(t, archiver, change, func(t *testing.T, w *world) {
		for i := range 8 {
			w.enqueue(w.deliver(mail(fmt.Sprint("m", i), fmt.Sprint("t", i), ada, "x")))
		}
		d, err := queue.NewDispatcher(w.q, &queue.DispatcherConfig{Workers: 8})
		require.NoError(t, err)
		w.register(d)
		require.NoError(t, d.RunUntilIdle(t.Context()))
		runs, err := w.agent.Runs(t.Context(), agent.Filter{})
		require.NoError(t, err)
		count := map[agent.State]int{}
		for _, r := range runs {
			count[r.State]++
		}
		require.Equal(t, map[agent.State]int{agent.StateDone: 2, agent.StateRefused: 6}, count)
	})
}

// A hanging model waits until its caller gives up, and says when it is asked.
type hanging struct{ asked chan struct{} }

func (h hanging) Complete(ctx context.Context, _ *llm.Request) (*llm.Response, error) {
	h.asked <- struct{}{}
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestCancelEndsARun(t *testing.T) {
	model := hanging{make(chan struct{}, 1)}
	eachWorld(t, model, nil, func(t *testing.T, w *world) {
		m := w.deliver(mail("m", "t1", ada, "x"))
		w.enqueue(m)
		worked := make(chan struct{})
		go func() {
			defer close(worked)
			queuetest.Work(t, w.q, w.register)
		}()
		<-model.asked
		r := w.record(m)
		require.Equal(t, agent.StateRunning, r.State)
		cancel := func() error {
			return w.write(func(ctx context.Context, tx queue.Tx) error {
				return w.agent.Cancel(ctx, tx, w.q, r.ID, "the owner answers")
			})
		}
		require.NoError(t, cancel())
		<-worked
		r = w.record(m)
		require.Equal(t, agent.StateCanceled, r.State)
		require.Equal(t, "the owner answers", r.Reason)
		require.Empty(t, r.ActionID)
		job, err := w.q.Job(t.Context(), r.JobID)
		require.NoError(t, err)
		require.Equal(t, queue.StateCanceled, job.State)
		require.ErrorIs(t, cancel(), postroom.ErrNotFound)
	})
}

func TestRunsWithoutAJobAreSettled(t *testing.T) {
	eachWorld(t, archiver, nil, func(t *testing.T, w *world) {
		settle := func(want int) {
			n, err := w.agent.Settle(t.Context(), w.q)
			require.NoError(t, err)
			require.Equal(t, want, n)
		}
		r := w.run(mail("m", "t1", ada, "x"))
		settle(0)
		set := func(columns string) {
			require.NoError(t, w.write(func(ctx context.Context, tx queue.Tx) error {
				_, err := tx.ExecContext(ctx, "UPDATE agent_runs SET state = 'running', "+columns)
				return err
			}))
		}
		state := func() (agent.State, string) {
			r := w.record(&postroom.Message{ID: "m"})
			return r.State, r.Reason
		}
		set("job_id = '01a21a3b-7c13-7a6c-9855-bde3b93e23cd'")
		settle(1)
		got, why := state()
		require.Equal(t, agent.StateFailed, got)
		require.Equal(t, "its job is gone", why)
		list, err := w.agent.Profiles(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, list[0].Failures)

		canceled, err := w.q.Enqueue(t.Context(), agent.NewJob(mail("other", "t2", ada, "x"), "support"))
		require.NoError(t, err)
		set("job_id = '" + canceled.ID + "'")
		settle(0)
		require.NoError(t, w.q.Cancel(t.Context(), canceled.ID))
		settle(1)
		got, _ = state()
		require.Equal(t, agent.StateCanceled, got)

		failed, err := w.q.Enqueue(t.Context(), agent.NewJob(w.deliver(mail("third", "t3", ada, "x")), "sales"))
		require.NoError(t, err)
		queuetest.Work(t, w.q, w.register)
		set("job_id = '" + failed.ID + "'")
		settle(1)
		_, why = state()
		require.Contains(t, why, `there is no profile "sales"`)

		set("job_id = '', replay_of = 'x'")
		settle(0)
		set("started_at = '2026-01-01T00:00:00.000000Z'")
		settle(1)
		got, why = state()
		require.Equal(t, agent.StateFailed, got)
		require.Equal(t, "its process has ended", why)
		require.NotEmpty(t, r.ActionID)
	})
}

func TestAReplayCarriesNothingOut(t *testing.T) {
	change := func(c *agent.Config) {
		c.Clients["other"] = talker(func(n int, req *llm.Request) (*llm.Response, error) {
			switch {
			case req.Output != nil:
				return reads("request").Response, nil
			case n == 2:
				return calls("reserve", agent.ReadThread), nil
			}
			return ends(agent.OutcomeReply, `"body": "Yes."`).Response, nil
		})
		c.Clients["broken"] = talker(func(int, *llm.Request) (*llm.Response, error) {
			return nil, &llm.Error{Provider: "acme", Reason: llm.ErrOverloaded}
		})
		reserve, err := agent.NewTool("reserve", "Reserve a table.", postroom.Reversible,
			func(context.Context, *agent.Scope, struct{}) (string, error) { panic("a replay reserves a table") })
		if err != nil {
			panic(err)
		}
		c.Tools, c.Profiles[0].Tools = []agent.Tool{reserve}, []string{"reserve", agent.ReadThread}
		c.Profiles[0].Limits.RunsAThread = 1
	}
	eachWorld(t, archiver, change, func(t *testing.T, w *world) {
		m := mail("m", "t1", ada, "A table for two?")
		before := w.run(m)
		again, err := w.agent.Replay(t.Context(), before.ID, "other")
		require.NoError(t, err)
		require.Equal(t, agent.StateDone, again.State)
		require.Equal(t, agent.OutcomeReply, again.Outcome)
		require.Equal(t, before.ID, again.ReplayOf)
		require.Equal(t, postroom.Parameters{"to": []any{ada}, "body": "Yes."}, again.Parameters)
		require.Empty(t, again.ActionID)
		require.Empty(t, again.JobID)
		require.Len(t, again.Steps, 5)
		require.Equal(t, "it changes something, and this is a replay", again.Steps[2].Fault)
		require.Contains(t, again.Steps[3].Output, "A table for two?")
		require.Len(t, w.passed, 1, "the archiving of the run itself")
		require.Empty(t, w.asked)

		_, err = w.agent.Replay(t.Context(), before.ID, "broken")
		require.ErrorIs(t, err, llm.ErrOverloaded)
		require.Equal(t, agent.StateFailed, w.record(m).State)
		list, err := w.agent.Profiles(t.Context())
		require.NoError(t, err)
		require.Zero(t, list[0].Failures, "the profile's own runs have not failed")
		_, err = w.agent.Replay(t.Context(), before.ID, "none")
		require.ErrorContains(t, err, `no model "none"`)
		_, err = w.agent.Replay(t.Context(), "none", "other")
		require.ErrorIs(t, err, postroom.ErrNotFound)
	})
}

// A busyLedger records nothing at first.
type busyLedger struct {
	agent.Ledger

	busy bool
}

func (l *busyLedger) Record(ctx context.Context, msg *postroom.Message, d postroom.Decision) func(context.Context,
	queue.Tx) (postroom.Action, error) {
	if !l.busy {
		return l.Ledger.Record(ctx, msg, d)
	}
	l.busy = false
	return func(context.Context, queue.Tx) (postroom.Action, error) {
		return postroom.Action{}, queue.Defer(errors.New("the ledger is busy"), 2*time.Hour)
	}
}

// An outcome that cannot be recorded is not asked for again, unless its time has passed meanwhile.
func TestAnOutcomeIsRecordedLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := llmtest.NewScripted(t, reads("request"), ends(agent.OutcomeSnooze, `"when": "in 3 hours"`),
			reads("request"), ends(agent.OutcomeSnooze, `"when": "`+time.Now().Add(time.Hour).Format("2006-01-02 15:04")+`"`),
			ends(agent.OutcomeSnooze, `"when": "tomorrow"`))
		ledger := &busyLedger{busy: true}
		w := newWorld(t, queuetest.New(t), client, func(c *agent.Config) { ledger.Ledger, c.Ledger = c.Ledger, ledger })
		r := w.run(mail("m1", "t1", ada, "x"))
		require.Equal(t, agent.Usage{ModelCalls: 2, Tokens: 240}, r.Usage)
		require.Equal(t, "in 3 hours", w.action(r).Parameters["when"])
		ledger.busy = true
		r = w.run(mail("m2", "t2", ada, "x"))
		require.Contains(t, answersOf(client)[0], "is not in the future")
		require.Equal(t, "tomorrow", w.action(r).Parameters["when"])
	})
}

// A replay that is canceled ends after the call that is under way, and counts for no limit; its cost does.
func TestAReplayIsCanceled(t *testing.T) {
	var w *world
	cancel := func(c *agent.Config) {
		c.Clients["other"] = talker(func(_ int, req *llm.Request) (*llm.Response, error) {
			if req.Output == nil {
				panic("a canceled replay goes on")
			}
			list, err := w.agent.Runs(t.Context(), agent.Filter{Limit: 1})
			if err == nil {
				err = w.q.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
					return w.agent.Cancel(ctx, tx, w.q, list[0].ID, "enough")
				})
			}
			return reads("request").Response, err
		})
	}
	eachWorld(t, archiver, cancel, func(t *testing.T, of *world) {
		w = of
		m := mail("m", "t1", ada, "A table for two?")
		before := w.run(m)
		_, err := w.agent.Replay(t.Context(), before.ID, "other")
		require.ErrorContains(t, err, "was canceled")
		r, err := w.agent.Run(t.Context(), w.record(m).ID)
		require.NoError(t, err)
		require.Equal(t, agent.StateCanceled, r.State)
		require.Equal(t, "enough", r.Reason)
		require.Len(t, r.Steps, 1)
		used, err := w.agent.Used(t.Context(), account, time.Now().Add(-time.Hour))
		require.NoError(t, err)
		require.Equal(t, []agent.Used{{Profile: "support", Runs: 1, Tokens: before.Usage.Tokens}}, used)
		used, err = w.agent.Used(t.Context(), "other", time.Time{})
		require.NoError(t, err)
		require.Empty(t, used)
	})
}
