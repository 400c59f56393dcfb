package queue_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/queuetest"
)

// A test of a handler may give it an attempt of its own making: that is refused, and says what to do.
func TestAnAttemptThatNoClaimHasReturnedIsRefused(t *testing.T) {
	q := queuetest.New(t)
	ctx := t.Context()
	nothing := func(context.Context) (int, error) { return 1, nil }
	inTx := func(context.Context, queue.Tx) (int, error) { return 1, nil }
	for kind, a := range map[string]*queue.Attempt{"zero": {}, "nil": nil,
		"made up": {Job: queue.Job{ID: "1", Attempt: 1}}} {
		w := &queue.Work[int]{Attempt: a}
		for name, call := range map[string]func() error{
			"Complete":     func() error { return w.Complete(ctx, nil) },
			"CompleteTx":   func() error { return w.CompleteTx(ctx, nil) },
			"Fail":         func() error { return w.Fail(ctx, errBroken) },
			"FailTx":       func() error { return w.FailTx(ctx, nil, errBroken) },
			"Write":        func() error { return w.Write(ctx, func(context.Context, queue.Tx) error { return nil }) },
			"StartStep":    func() error { return w.StartStep(ctx, "s") },
			"StepStarted":  func() error { _, err := w.StepStarted(ctx, "s"); return err },
			"Step":         func() error { _, err := queue.Step(ctx, w, "s", nothing); return err },
			"StepTx":       func() error { _, err := queue.StepTx(ctx, w, "s", inTx); return err },
			"Cursor":       func() error { _, _, err := queue.Cursor[int](ctx, w, "s"); return err },
			"SaveCursor":   func() error { return queue.SaveCursor(ctx, w, "s", 1) },
			"SaveCursorTx": func() error { return queue.SaveCursorTx(ctx, nil, w, "s", 1) },
			"Heartbeat":    func() error { return q.Heartbeat(ctx, "w", a) },
			"no Running":   func() error { _, err := queue.Step(ctx, nil, "s", nothing); return err },
		} {
			require.NotPanics(t, func() {
				require.ErrorContains(t, call(), "queuetest", "%s of a %s attempt", name,
					kind)
			}, "%s of a %s attempt", name, kind)
		}
	}
}

func TestAFunctionThatIsNilIsRefused(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q := on(t, db.Driver(), nil)
		require.ErrorContains(t, db.Write(t.Context(), nil), "the function is nil")
		enqueue(t, q, nil)
		claimed := claimAs(t, q, "w")
		require.ErrorContains(t, claimed[0].Write(t.Context(), nil), "the function is nil")
		_, err := queue.Step[int](t.Context(), claimed[0], "s", nil)
		require.ErrorContains(t, err, "the function is nil")
		_, err = queue.StepTx[int](t.Context(), claimed[0], "s", nil)
		require.ErrorContains(t, err, "the function is nil")
		require.NoError(t, claimed[0].Complete(t.Context(), nil))
	})
}

// Neither of two times is dropped without a word.
func TestATimeThatIsGivenTwiceIsRefused(t *testing.T) {
	q := queuetest.New(t)
	twice := ping.New(1, &queue.Options{NotBefore: time.Now().Add(time.Hour)})
	_, err := q.EnqueueIn(t.Context(), twice, time.Minute)
	require.ErrorIs(t, err, queue.ErrInvalidJob)
	require.ErrorContains(t, err, "NotBefore is set already")
	_, err = q.EnqueueScheduled(t.Context(), twice, time.Now())
	require.ErrorIs(t, err, queue.ErrInvalidJob)
	require.Empty(t, allJobs(t, q))
}

func allJobs(t *testing.T, q *queue.Queue) []queue.Job {
	t.Helper()
	jobs, err := q.Jobs(t.Context(), queue.Filter{})
	require.NoError(t, err)
	return jobs
}

// People log jobs as they are.
func TestAJobIsPrintedAsText(t *testing.T) {
	q := queuetest.New(t)
	id := enqueue(t, q, &queue.Options{Key: queue.Forever("k")})
	claimed := claimAs(t, q, "w")[0]
	w := &queue.Work[int]{Attempt: claimed, Payload: 1}
	var logged bytes.Buffer
	slog.New(slog.NewTextHandler(&logged, nil)).Info("ran", "job", claimed.Job, "work", w)
	for _, text := range []string{
		fmt.Sprint(claimed.Job), fmt.Sprintf("%+v", &claimed.Job), fmt.Sprintf("%+v", w), fmt.Sprintf("%v", *w),
		fmt.Sprint(claimed), logged.String(),
	} {
		require.Contains(t, text, "ping "+id+" running, attempt 1, payload 1", text)
	}
	require.Contains(t, fmt.Sprint(queue.Job{Payload: []byte(`"` + strings.Repeat("x", 5000) + `"`)}), "x…")
	require.Less(t, len(fmt.Sprint(queue.Job{Payload: []byte(`"` + strings.Repeat("x", 5000) + `"`)})), 1100)
	require.NotPanics(t, func() { _ = fmt.Sprint(&queue.Attempt{}, (*queue.Attempt)(nil), errors.New("x")) })
}

// Two runs of one step at a time would both take effect.
func TestAStepThatIsUnderWayIsRefused(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, &queue.Options{MaxAttempts: 1})
		work(t, q, func(ctx context.Context, w *queue.Work[int]) error {
			_, err := queue.Step(ctx, w, "send", func(ctx context.Context) (int, error) {
				_, again := queue.Step(ctx, w, "send", func(context.Context) (int, error) { return 2, nil })
				require.ErrorContains(t, again, "step send is under way: give each step a name of its own")
				beside := make(chan error)
				go func() {
					_, err := queue.StepTx(ctx, w, "send", func(context.Context, queue.Tx) (int, error) {
						return 3,
							nil
					})
					beside <- err
				}()
				require.ErrorContains(t, <-beside, "under way")
				return queue.Step(ctx, w, "other", func(context.Context) (int, error) { return 4, nil })
			})
			require.NoError(t, err)
			require.Panics(t, func() {
				_, _ = queue.Step(ctx, w, "broken", func(context.Context) (int, error) { panic("no") })
			})
			n, err := queue.Step(ctx, w, "broken", func(context.Context) (int, error) { return 5, nil })
			require.NoError(t, err, "what has ended, however it has, may be tried again")
			require.Equal(t, 5, n)
			none := context.Context(nil)
			_, err = queue.Step(none, w, "no context", func(context.Context) (int, error) { return 6, nil })
			require.ErrorIs(t, err, driver.ErrNilContext)
			return nil
		})
		require.Equal(t, queue.StateCompleted, job(t, q, id).State, job(t, q, id).LastError)
	})
}

func TestAHandlerOfAllTypesIsRefused(t *testing.T) {
	d, err := queue.NewDispatcher(queuetest.New(t), nil)
	require.NoError(t, err)
	queue.Handle(d, queue.Type[int]("*"), func(context.Context, *queue.Work[int]) error { return nil })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorContains(t, d.Run(ctx), `Type is "*", which stands for all types`)
}

// database/sql closes rows that were left open when a transaction ends; so does Write, and does not wait for them for
// ever.
func TestRowsThatAreLeftOpenInAWriteHoldNothingUp(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q := on(t, db.Driver(), nil)
		leaves := map[string]func(ctx context.Context, tx queue.Tx) error{
			"rows": func(ctx context.Context, tx queue.Tx) error {
				rows, err := tx.QueryContext(ctx, "SELECT 1 UNION SELECT 2")
				rows.Next()
				return err
			},
			"a row": func(ctx context.Context, tx queue.Tx) error {
				tx.QueryRowContext(ctx, "SELECT 1")
				return nil
			},
		}
		for name, leave := range leaves {
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				_ = db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
					if err := leave(ctx, tx); err != nil {
						return err
					}
					_, err := q.EnqueueTx(ctx, tx, ping.New(1, nil))
					return err
				})
			}()
			select {
			case <-ended:
			case <-time.After(20 * time.Second):
				t.Fatal(name + " left open keeps Write from returning")
			}
		}
		require.NotEmpty(t, enqueue(t, q, nil), "the connection is free")
	})
}

// A row that somebody has altered by hand is found, and keeps no other job from running.
func TestARunningJobOfNoWorkerKeepsNothingFromRunning(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q := on(t, db.Driver(), nil)
		altered := enqueue(t, q, nil)
		execute(t, q, "UPDATE jobs SET state = 'running' WHERE id = '"+altered+"'")
		require.Contains(t, doctor(t, q), altered+": a running job names its worker")
		other, err := q.Enqueue(t.Context(), queue.NewJob{Type: "other"})
		require.NoError(t, err)
		d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{Exclusive: true})
		require.NoError(t, err)
		queue.Handle(d, queue.Type[any]("other"), func(context.Context, *queue.Work[any]) error { return nil })
		require.NoError(t, d.RunUntilIdle(t.Context()))
		require.Equal(t, queue.StateCompleted, job(t, q, other.ID).State)
	})
}

func TestADispatcherOfNoQueueIsRefused(t *testing.T) {
	for _, q := range []*queue.Queue{nil, {}} {
		_, err := queue.NewDispatcher(q, nil)
		require.ErrorContains(t, err, "make one with queue.New")
	}
}

// Nor does a running job that has lost its start: it is taken over with the others of its worker.
func TestARunningJobWithoutAStartIsTakenOver(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q := on(t, db.Driver(), nil)
		altered, other := enqueue(t, q, nil), enqueue(t, q, nil)
		_, err := q.Claim(t.Context(), "dead", []string{"ping"}, 2)
		require.NoError(t, err)
		execute(t, q, "UPDATE jobs SET started_at = NULL WHERE id = '"+altered+"'")
		d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{Exclusive: true})
		require.NoError(t, err)
		queue.Handle(d, ping, func(context.Context, *queue.Work[int]) error { return nil })
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.NoError(t, d.RunUntilIdle(ctx))
		for _, id := range []string{altered, other} {
			require.Equal(t, queue.StateCompleted, job(t, q, id).State)
			require.Contains(t, doctor(t, q), "all invariants hold")
			attempts, err := q.Attempts(t.Context(), id)
			require.NoError(t, err)
			require.WithinDuration(t, attempts[0].FinishedAt, attempts[0].StartedAt, time.Minute)
		}
	})
}

func TestARunningJobWithoutAStartOrAWorkerCanBeCanceled(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q := on(t, db.Driver(), nil)
		altered := enqueue(t, q, nil)
		claimAs(t, q, "w")
		execute(t, q, "UPDATE jobs SET started_at = NULL, worker_id = NULL WHERE id = '"+altered+"'")
		require.NoError(t, q.Cancel(t.Context(), altered))
		require.Equal(t, queue.StateCanceled, job(t, q, altered).State)
		require.Contains(t, doctor(t, q), "all invariants hold")
	})
}
