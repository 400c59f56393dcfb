package queue_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/stretchr/testify/require"
)

var errBroken = errors.New("broken")

func TestFailuresAreRetriedWithBackoffUntilMaxAttempts(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		exact := on(t, q.DB().Driver(), &queue.Config{Retry: exactRetry})
		id := enqueue(t, q, &queue.Options{MaxAttempts: 4})
		began := time.Now()
		var at []time.Duration
		work(t, exact, func(_ context.Context, w *queue.Work[int]) error {
			at = append(at, time.Since(began).Truncate(time.Second))
			require.Equal(t, len(at), w.Job.Attempt)
			require.Equal(t, len(at)-1, w.Job.Failures)
			return errBroken
		})
		require.Equal(t, []time.Duration{0, 2 * time.Second, 6 * time.Second, 14 * time.Second}, at)
		got := job(t, q, id)
		require.Equal(t, queue.StateFailed, got.State)
		require.Equal(t, 4, got.Failures)
		require.Equal(t, "broken", got.LastError)
		require.Len(t, attempts(t, q, id), 4)
	})
}

type rudeError struct{ text *string }

func (e rudeError) Error() string { return *e.text }

type rudeResult struct{}

func (rudeResult) MarshalJSON() ([]byte, error) { panic("no JSON today") }

// Each handler misbehaves at its first attempt and behaves at the second: the dispatcher and the job go on.
func TestWhatHandlersDo(t *testing.T) {
	for _, c := range []struct {
		name   string
		handle pingHandler
		record queue.AttemptRecord // of the first attempt; Stack must contain what it says
		after  time.Duration       // until the second
	}{
		{"fails", func(context.Context, *queue.Work[int]) error { return errBroken },
			queue.AttemptRecord{Kind: queue.KindFailed, Error: "broken"}, 2 * time.Second},
		{"panics", func(context.Context, *queue.Work[int]) error { panic(errBroken) },
			queue.AttemptRecord{Kind: queue.KindFailed, Error: "handler panicked: broken", Stack: "TestWhatHandlersDo"},
			2 * time.Second},
		{"panics in a write", func(ctx context.Context, w *queue.Work[int]) error { return w.Write(ctx, panicInWrite) },
			queue.AttemptRecord{Kind: queue.KindFailed, Error: "handler panicked: in write", Stack: "panicInWrite"},
			2 * time.Second},
		{"calls Goexit", func(context.Context, *queue.Work[int]) error { runtime.Goexit(); return nil },
			queue.AttemptRecord{Kind: queue.KindFailed, Error: "handler called runtime.Goexit", Stack: "Goexit"},
			2 * time.Second},
		{"calls Goexit in a write", func(ctx context.Context, w *queue.Work[int]) error {
			return w.Complete(ctx, func(context.Context, queue.Tx) error { runtime.Goexit(); return nil })
		}, queue.AttemptRecord{Kind: queue.KindFailed, Error: "handler called runtime.Goexit", Stack: "Goexit"},
			2 * time.Second},
		{"returns an error that panics", func(context.Context, *queue.Work[int]) error { return rudeError{} },
			queue.AttemptRecord{Kind: queue.KindFailed,
				Error: "handler panicked: runtime error: invalid memory address or nil pointer dereference",
				Stack: "rudeError"}, 2 * time.Second},
		{"sets a result that panics", func(_ context.Context,
			w *queue.Work[int]) error {
			w.SetResult(rudeResult{})
			return nil
		},
			queue.AttemptRecord{Kind: queue.KindFailed, Error: "handler panicked: no JSON today", Stack: "MarshalJSON"},
			2 * time.Second},
		{"asks for a time", func(context.Context, *queue.Work[int]) error {
			return queue.RetryAfter(errBroken,
				90*time.Second)
		},
			queue.AttemptRecord{Kind: queue.KindFailed, Error: "broken"}, 90 * time.Second},
		{"asks for no time", func(context.Context, *queue.Work[int]) error { return queue.RetryAfter(errBroken, 0) },
			queue.AttemptRecord{Kind: queue.KindFailed, Error: "broken"}, 2 * time.Second},
		{"asks for a time, wrapped", func(context.Context, *queue.Work[int]) error {
			return fmt.Errorf("fetch: %w", queue.RetryAfter(errBroken, 90*time.Second))
		}, queue.AttemptRecord{Kind: queue.KindFailed, Error: "fetch: broken"}, 90 * time.Second},
		{"defers", func(context.Context, *queue.Work[int]) error { return queue.Defer(errBroken, time.Minute) },
			queue.AttemptRecord{Kind: queue.KindInterrupted, Error: "broken"}, time.Minute},
		{"defers without an error", func(context.Context, *queue.Work[int]) error {
			return queue.Defer(nil,
				time.Minute)
		},
			queue.AttemptRecord{Kind: queue.KindInterrupted, Error: "deferred"}, time.Minute},
		{"fails with text that no database takes", func(context.Context, *queue.Work[int]) error {
			return errors.New("a\x00b\xff" + strings.Repeat("é", 1<<20))
		},
			queue.AttemptRecord{Kind: queue.KindFailed, Error: "a\uFFFDb\uFFFD" + strings.Repeat("é", (32<<10-8)/2) +
				"…"}, 2 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, q *queue.Queue) {
				exact := on(t, q.DB().Driver(), &queue.Config{Retry: exactRetry})
				id := enqueue(t, q, nil)
				began := time.Now()
				work(t, exact, func(ctx context.Context, w *queue.Work[int]) error {
					if w.Job.Attempt == 1 {
						return c.handle(ctx, w)
					}
					return nil
				})
				require.WithinRange(t, time.Now(), began.Add(c.after), began.Add(c.after+time.Second))
				got := job(t, q, id)
				require.Equal(t, queue.StateCompleted, got.State)
				records := attempts(t, q, id)
				require.Len(t, records, 2)
				require.Equal(t, queue.KindCompleted, records[1].Kind)
				require.Equal(t, c.record.Error, records[0].Error)
				require.Equal(t, c.record.Kind, records[0].Kind)
				require.Contains(t, records[0].Stack, c.record.Stack)
				require.Equal(t, c.record.Kind == queue.KindFailed, got.Failures == 1)
				require.Equal(t, c.record.Kind == queue.KindInterrupted, got.Interruptions == 1)
			})
		})
	}
}

// A handler that finds its job pointless ends it at the first attempt, with the reason, and nothing has failed.
func TestAHandlerCancelsItsJob(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		require.NoError(t, queue.Cancel(nil))
		key := queue.WhileUnfinished("k")
		id := enqueue(t, q, &queue.Options{Key: key})
		ended := queue.Event{}
		events := subscribe(t, q, queue.EventFilter{})
		work(t, q, func(_ context.Context, w *queue.Work[int]) error {
			err := fmt.Errorf("look: %w", queue.Cancel(errBroken))
			require.True(t, w.Ends(err))
			return err
		})
		for _, e := range taken(t, events) {
			ended = e
		}
		require.Equal(t, queue.EventCanceled, ended.Kind)
		require.Equal(t, "look: broken", ended.Error)
		got := job(t, q, id)
		require.Equal(t, queue.StateCanceled, got.State)
		require.Equal(t, "look: broken", got.LastError)
		require.Equal(t, []int{0, 0, 0}, []int{got.Failures, got.Interruptions, got.Crashes})
		records := attempts(t, q, id)
		require.Len(t, records, 1)
		require.Equal(t, queue.KindCanceled, records[0].Kind)
		require.Equal(t, "look: broken", records[0].Error)
		require.NotEqual(t, id, enqueue(t, q, &queue.Options{Key: key}), "its key is free")
	})
}

func panicInWrite(context.Context, queue.Tx) error { panic("in write") }

// Each handler fails for good at its first attempt.
func TestWhatNoRetryMends(t *testing.T) {
	for _, c := range []struct {
		name   string
		handle pingHandler
		err    string
	}{
		{"fatal", func(context.Context, *queue.Work[int]) error { return queue.Fatal(errBroken) }, "broken"},
		{"fatal, wrapped", func(context.Context, *queue.Work[int]) error {
			return fmt.Errorf("read: %w",
				queue.Fatal(errBroken))
		}, "read: broken"},
		{"a result that is no JSON", func(_ context.Context, w *queue.Work[int]) error {
			w.SetResult(make(chan int))
			return nil
		}, "result: json: unsupported type: chan int"},
		{"a result that is no JSON, in Complete", func(ctx context.Context, w *queue.Work[int]) error {
			w.SetResult(make(chan int))
			return w.Complete(ctx, func(context.Context, queue.Tx) error { return nil })
		}, "unsupported type: chan int"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, q *queue.Queue) {
				id := enqueue(t, q, nil)
				work(t, q, c.handle)
				got := job(t, q, id)
				require.Equal(t, queue.StateFailed, got.State)
				require.Equal(t, 1, got.Attempt)
				require.Contains(t, got.LastError, c.err)
			})
		})
	}
}

func TestVerdictsOfNil(t *testing.T) {
	require.NoError(t, queue.Fatal(nil))
	require.NoError(t, queue.RetryAfter(nil, time.Second))
	require.Error(t, queue.Defer(nil, time.Second))
	require.ErrorIs(t, queue.Fatal(errBroken), errBroken)
}

// In a rolling deploy an old worker is given jobs that only a newer one can read.
func TestAPayloadThatDoesNotFitIsGivenBackToNewerWorkers(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		enqueued, err := q.Enqueue(t.Context(), queue.NewJob{Type: string(ping), Payload: "a word"})
		require.NoError(t, err)
		stop := start(t, q, nil, func(context.Context, *queue.Work[int]) error {
			t.Error("the handler was called")
			return nil
		})
		time.Sleep(time.Hour)
		require.NoError(t, stop())
		got := job(t, q, enqueued.ID)
		require.Equal(t, queue.StateQueued, got.State)
		require.Zero(t, got.Failures)
		require.InDelta(t, 20, got.Interruptions, 8)
		d, err := queue.NewDispatcher(q, nil)
		require.NoError(t, err)
		queue.Handle(d, queue.Type[string](ping), func(context.Context, *queue.Work[string]) error { return nil })
		require.NoError(t, d.RunUntilIdle(t.Context()))
		require.Equal(t, queue.StateCompleted, job(t, q, enqueued.ID).State)
	})
}

func TestAPayloadThatNobodyCanReadFailsAfterADay(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		enqueued, err := q.Enqueue(t.Context(), queue.NewJob{Type: string(ping), Payload: "a word"})
		require.NoError(t, err)
		began := time.Now()
		work(t, q, func(context.Context, *queue.Work[int]) error {
			t.Error("the handler was called")
			return nil
		})
		got := job(t, q, enqueued.ID)
		require.Equal(t, queue.StateFailed, got.State)
		require.Contains(t, got.LastError, "payload does not fit int")
		require.Contains(t, got.LastError, "by the workers ")
		require.Contains(t, got.LastError, got.WorkerID)
		require.WithinRange(t, time.Now(), began.Add(24*time.Hour), began.Add(24*time.Hour+10*time.Minute))
	})
}

func TestInterruptionBudgetEndsAJobThatDefersForEver(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		strict := on(t, q.DB().Driver(), &queue.Config{Budget: queue.Budget{Interruptions: 2}})
		id := enqueue(t, q, nil)
		work(t, strict, func(context.Context, *queue.Work[int]) error { return queue.Defer(errBroken, time.Second) })
		got := job(t, q, id)
		require.Equal(t, queue.StateFailed, got.State)
		require.Equal(t, 3, got.Attempt)
		require.Equal(t, 3, got.Interruptions)
		require.Zero(t, got.Failures)
		require.Equal(t, "broken (gave up after 3 interruptions)", got.LastError)
	})
}

func TestResultIsStored(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		first, second := enqueue(t, q, nil), enqueue(t, q, nil)
		work(t, q, func(ctx context.Context, w *queue.Work[int]) error {
			w.SetResult("draft")
			w.SetResult(map[string]int{"n": 7})
			if w.Job.ID == first {
				return nil
			}
			return w.Complete(ctx, func(context.Context, queue.Tx) error { return nil })
		})
		require.Equal(t, `{"n":7}`, string(job(t, q, first).Result))
		require.Equal(t, `{"n":7}`, string(job(t, q, second).Result))
	})
}

func TestCompleteIsOneTransaction(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, nil)
		var followers []string
		work(t, q, func(ctx context.Context, w *queue.Work[int]) error {
			if w.Payload == 2 {
				return nil
			}
			err := w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
				enqueued, err := w.Queue().EnqueueTx(ctx, tx, ping.New(2, nil))
				require.NoError(t, err)
				followers = append(followers, enqueued.ID)
				if w.Job.Attempt == 1 {
					return errBroken
				}
				return nil
			})
			if w.Job.Attempt == 1 {
				require.ErrorIs(t, err, errBroken)
			}
			return err
		})
		require.Equal(t, queue.StateCompleted, job(t, q, id).State)
		require.Len(t, followers, 2)
		_, err := q.Job(t.Context(), followers[0])
		require.ErrorIs(t, err, queue.ErrJobNotFound, "the first attempt's follower was undone with its completion")
		require.Equal(t, queue.StateCompleted, job(t, q, followers[1]).State)
	})
}

func TestAnErrorAfterCompleteChangesNothing(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, nil)
		work(t, q, func(ctx context.Context, w *queue.Work[int]) error {
			complete := func() error { return w.Complete(ctx, func(context.Context, queue.Tx) error { return nil }) }
			require.NoError(t, complete())
			require.ErrorIs(t, complete(), queue.ErrNotRunning)
			return errBroken
		})
		require.Equal(t, queue.StateCompleted, job(t, q, id).State)
		records := attempts(t, q, id)
		require.Len(t, records, 1)
		require.Equal(t, queue.KindCompleted, records[0].Kind)
		require.Empty(t, records[0].Error)
	})
}

func TestEndsTellsWhatWillBecomeOfTheJob(t *testing.T) {
	cases := map[string]struct {
		err  error
		max  int
		ends bool
	}{
		"success":             {nil, 1, false},
		"first of two":        {errors.New("x"), 2, false},
		"the last":            {errors.New("x"), 1, true},
		"fatal":               {queue.Fatal(errors.New("x")), 5, true},
		"wrapped fatal":       {fmt.Errorf("x: %w", queue.Fatal(errors.New("y"))), 5, true},
		"deferred":            {queue.Defer(errors.New("x"), time.Hour), 1, false},
		"retried by the last": {queue.RetryAfter(errors.New("x"), time.Hour), 1, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, q *queue.Queue) {
				id := enqueue(t, q, &queue.Options{MaxAttempts: c.max})
				first := true
				work(t, q, func(_ context.Context, w *queue.Work[int]) error {
					if !first {
						return nil
					}
					first = false
					require.Equal(t, c.ends, w.Ends(c.err))
					return c.err
				})
				require.Equal(t, c.ends, job(t, q, id).State == queue.StateFailed)
			})
		})
	}
}

func TestRedriveRetriesWhatMatchesAndLeavesWhatHasLostItsKey(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q := on(t, db.Driver(), nil)
		jobs := make([]queue.NewJob, 230)
		for i := range jobs {
			jobs[i] = ping.New(i, &queue.Options{UserID: "ann", Key: queue.WhileUnfinished(strconv.Itoa(i))})
		}
		_, err := q.EnqueueMany(t.Context(), jobs)
		require.NoError(t, err)
		claimed, err := q.Claim(t.Context(), "w", []string{string(ping)}, 1000)
		require.NoError(t, err)
		for i := range claimed[:220] {
			require.NoError(t, claimed[i].Fail(t.Context(), queue.Fatal(errBroken)))
		}
		require.NoError(t, q.Cancel(t.Context(), claimed[220].Job.ID))
		require.NoError(t, claimed[221].Complete(t.Context(), nil))
		for _, i := range []int{3, 150} {
			_, err := q.Enqueue(t.Context(), ping.New(-i, &queue.Options{Key: queue.WhileUnfinished(strconv.Itoa(i))}))
			require.NoError(t, err)
		}

		done, err := q.Redrive(t.Context(), queue.Filter{UserID: "bob"})
		require.NoError(t, err)
		require.Zero(t, done)
		done, err = q.Redrive(t.Context(), queue.Filter{UserID: "ann", Limit: 120})
		require.NoError(t, err)
		require.Equal(t, queue.RedriveResult{Queued: 119, KeyTaken: 1}, done)
		done, err = q.Redrive(t.Context(), queue.Filter{Types: []string{string(ping)}})
		require.NoError(t, err)
		require.Equal(t, queue.RedriveResult{Queued: 99, KeyTaken: 2}, done, "the one that was left is found again")
		again := job(t, q, claimed[0].Job.ID)
		require.Equal(t, queue.StateQueued, again.State)
		require.Zero(t, again.Failures)
		require.Equal(t, queue.StateCanceled, job(t, q, claimed[220].Job.ID).State)
		done, err = q.Redrive(t.Context(),
			queue.Filter{All: true, States: []queue.State{queue.StateFailed, queue.StateCanceled}})
		require.NoError(t, err)
		require.Equal(t, queue.RedriveResult{Queued: 1, KeyTaken: 2}, done)
		_, err = q.Redrive(t.Context(), queue.Filter{States: []queue.State{queue.StateCompleted}})
		require.EqualError(t, err,
			"queue: redrive: Filter.States has completed; only failed and canceled jobs can be retried")

		n, err := q.CancelAll(t.Context(), queue.Filter{UserID: "ann", States: []queue.State{queue.StateQueued}})
		require.NoError(t, err)
		require.Equal(t, 219, n)
		n, err = q.CancelAll(t.Context(), queue.Filter{All: true})
		require.NoError(t, err)
		require.Equal(t, 8+2, n, "what runs, and what took the keys")
		_, err = q.CancelAll(t.Context(), queue.Filter{States: []queue.State{queue.StateFailed}})
		require.EqualError(t, err,
			"queue: cancel all: Filter.States has failed; only queued and running jobs can be canceled")
	})
}

// A transaction that the database has ended in favor of others is nobody's failure.
func TestADeadlockIsNoFailure(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, nil)
		tries := 0
		work(t, q, func(context.Context, *queue.Work[int]) error {
			if tries++; tries < 9 {
				return fmt.Errorf("write: %w", driver.ErrDeadlock)
			}
			return nil
		})
		got := job(t, q, id)
		require.Equal(t, queue.StateCompleted, got.State)
		require.Equal(t, []int{0, 8}, []int{got.Failures, got.Interruptions})
	})
}

func TestRedriveGivesAKeyToTheNewest(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q := on(t, db.Driver(), nil)
		var ids []string
		for i := range 3 {
			id := enqueue(t, q, &queue.Options{Key: queue.WhileUnfinished("k"), Tags: []string{strconv.Itoa(i)}})
			require.NoError(t, q.Cancel(t.Context(), id))
			ids = append(ids, id)
		}
		done, err := q.Redrive(t.Context(), queue.Filter{All: true, States: []queue.State{queue.StateCanceled}})
		require.NoError(t, err)
		require.Equal(t, queue.RedriveResult{Queued: 1, KeyTaken: 2}, done)
		require.Equal(t, queue.StateQueued, job(t, q, ids[2]).State)
	})
}

// A wait grows until it reaches the cap, however slowly.
func TestTheWaitReachesItsCap(t *testing.T) {
	slow := queue.RetryPolicy{Base: time.Second, Factor: 1.1, Cap: time.Hour}
	require.Equal(t, time.Second, queue.DelayOf(slow, 1))
	require.InDelta(t, 1.1*float64(time.Second), float64(queue.DelayOf(slow, 2)), 10)
	require.Less(t, queue.DelayOf(slow, 80), time.Hour)
	require.Equal(t, time.Hour, queue.DelayOf(slow, 100))
	require.Equal(t, time.Hour, queue.DelayOf(slow, 1_000_000))
	steady := queue.RetryPolicy{Base: time.Second, Factor: 1, Cap: time.Hour}
	require.Equal(t, time.Second, queue.DelayOf(steady, 1_000_000))
}
