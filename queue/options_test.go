package queue_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
)

func TestAJobHasATimeoutOfItsOwn(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		for _, timeout := range []time.Duration{-1, time.Microsecond} {
			_, err := q.Enqueue(t.Context(), ping.New(1, &queue.Options{Timeout: timeout}))
			require.ErrorIs(t, err, queue.ErrInvalidJob)
		}
		quick := enqueue(t, q, &queue.Options{Timeout: time.Second, MaxAttempts: 1})
		usual := enqueue(t, q, &queue.Options{MaxAttempts: 1})
		queuetest.Work(t, q, func(d *queue.Dispatcher) {
			queue.Handle(d, ping, func(ctx context.Context, _ *queue.Work[int]) error {
				<-ctx.Done()
				return ctx.Err()
			}, queue.WithTimeout(time.Minute))
		})
		require.Contains(t, job(t, q, quick).LastError, "it ran 1s, 1s are allowed")
		require.Contains(t, job(t, q, usual).LastError, "it ran 1m0s, 1m0s are allowed")
	})
}

func TestTheWaitForTheNextAttemptByTheJob(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		waits := func(attempt error) time.Duration {
			id := enqueue(t, q, &queue.Options{Tags: []string{"slow"}})
			queuetest.WorkOne(t, q, func(d *queue.Dispatcher) {
				queue.Handle(d, ping, func(context.Context, *queue.Work[int]) error { return attempt },
					queue.WithRetry(exactRetry),
					queue.WithRetryFunc(func(job *queue.Job, err error) time.Duration {
						switch {
						case errors.Is(err, context.Canceled):
							panic("what now?")
						case errors.Is(err, errDatabase) && job.Tags[0] == "slow":
							return time.Duration(job.Failures+1) * time.Hour
						}
						return 0
					}))
			})
			got := job(t, q, id)
			require.NoError(t, q.Cancel(t.Context(), id))
			require.Equal(t, 1, got.Failures)
			return time.Until(got.NotBefore)
		}
		require.Equal(t, time.Hour, waits(fmt.Errorf("look: %w", errDatabase)))
		require.Equal(t, 2*time.Second, waits(errors.New("another")))
		require.Equal(t, 2*time.Second, waits(context.Canceled), "a panic of it changes nothing")
		require.Equal(t, time.Minute, waits(queue.RetryAfter(errDatabase, time.Minute)))
	})
}

type transfer struct {
	Account string         `json:"account"`
	Kind    string         `json:"kind"`
	Amount  float64        `json:"amount"`
	More    map[string]int `json:"more,omitempty"`
}

func TestUniqueByMembersOfThePayload(t *testing.T) {
	const pay, refund queue.Type[transfer] = "pay", "refund"
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q := on(t, db.Driver(), nil)
		unique := func(q *queue.Queue, jobType queue.Type[transfer], p transfer, key queue.Key) bool {
			t.Helper()
			result, err := q.Enqueue(t.Context(), jobType.New(p, &queue.Options{Key: key}))
			require.NoError(t, err)
			return !result.Duplicate
		}
		byBoth := queue.WhileUnfinished(queue.UniqueBy("kind", "account"))
		first := transfer{Account: "a", Kind: "k", Amount: 1}
		require.True(t, unique(q, pay, first, byBoth))
		first.Amount = 2
		require.False(t, unique(q, pay, first, byBoth))
		require.False(t, unique(q, pay, first, queue.WhileUnfinished(queue.UniqueBy("account", "kind"))), "sorted")
		require.True(t, unique(q, refund, first, byBoth), "another type")
		require.True(t, unique(q, pay, transfer{Account: "b", Kind: "k"}, byBoth))
		jobs, err := q.Jobs(t.Context(), queue.Filter{Key: `pay {"account":"a","kind":"k"}`})
		require.NoError(t, err)
		require.Len(t, jobs, 1)

		all := queue.Coalesce(queue.UniqueBy())
		require.True(t, unique(q, pay, first, all))
		require.False(t, unique(q, pay, first, all))
		first.More = map[string]int{strings.Repeat("x", 1000): 1}
		require.True(t, unique(q, pay, first, all))
		require.False(t, unique(q, pay, first, all), "too long to be a name")
		_, err = q.Enqueue(t.Context(), ping.New(1, &queue.Options{Key: queue.Forever(queue.UniqueBy("n"))}))
		require.ErrorIs(t, err, queue.ErrInvalidJob)
		require.ErrorContains(t, err, "needs a payload that is an object")

		secret := on(t, db.Driver(), &queue.Config{Codec: encrypting(t, "a")})
		hidden := queue.ForPeriod(queue.UniqueBy("account"), time.Hour)
		require.True(t, unique(secret, pay, transfer{Account: "secret"}, hidden))
		require.False(t, unique(secret, pay, transfer{Account: "secret", Amount: 3}, hidden))
		require.NotContains(t, everything(t, db, "job_keys")+everything(t, db, "jobs"), "secret")
	})
}

func TestHooksSeeWhatIsEnqueued(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		type tenant struct{}
		var seen atomic.Int32
		errNobody := errors.New("whose is it?")
		hooks := []queue.EnqueueHook{
			func(ctx context.Context, job *queue.NewJob) error {
				seen.Add(1)
				job.UserID, _ = ctx.Value(tenant{}).(string)
				if firing := len(job.Tags) == 2; firing {
					job.UserID = "the schedule's"
				}
				return nil
			},
			func(_ context.Context, job *queue.NewJob) error {
				if job.UserID == "" {
					return errNobody
				}
				job.LimitKey = "tenant:" + job.UserID
				if job.Payload == 7 {
					job.Payload = 8
				}
				return nil
			},
		}
		_, err := queue.New(q.DB(), &queue.Config{OnEnqueue: []queue.EnqueueHook{nil}})
		require.ErrorContains(t, err, "Config.OnEnqueue: one is nil")
		q = on(t, q.DB().Driver(), &queue.Config{OnEnqueue: hooks})

		given := []queue.NewJob{ping.New(7, nil), ping.New(2, nil)}
		_, err = q.EnqueueMany(t.Context(), given)
		require.ErrorIs(t, err, errNobody)
		require.ErrorContains(t, err, "jobs[0]")
		ada := context.WithValue(t.Context(), tenant{}, "ada")
		results, err := q.EnqueueMany(ada, given)
		require.NoError(t, err)
		require.Empty(t, given[0].UserID, "the caller's is left alone")
		stored := job(t, q, results[0].ID)
		require.Equal(t, []string{"ada", "tenant:ada", "8"}, []string{stored.UserID, stored.LimitKey, string(stored.Payload)})
		require.NoError(t, q.DB().Write(ada, func(ctx context.Context, tx queue.Tx) error {
			_, err := q.EnqueueTx(ctx, tx, ping.New(3, nil))
			return err
		}))
		require.EqualValues(t, 4, seen.Load())

		require.NoError(t, q.SetSchedule(t.Context(), queue.Schedule{Name: "s", Cron: "@daily", Job: ping.New(4, nil)}))
		time.Sleep(25 * time.Hour)
		work(t, q, func(context.Context, *queue.Work[int]) error { return nil })
		fired, err := q.Jobs(t.Context(), queue.Filter{UserID: "the schedule's", LimitKey: "tenant:the schedule's"})
		require.NoError(t, err)
		require.Len(t, fired, 1)
	})
}

// What a hook puts in the place of a payload is of the payload's version, or of its own.
func TestHooksLeaveThePayloadItsVersion(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		var payload any
		q = on(t, q.DB().Driver(), &queue.Config{OnEnqueue: []queue.EnqueueHook{
			func(_ context.Context, job *queue.NewJob) error {
				job.Payload = payload
				return nil
			},
		}})
		for _, c := range []struct {
			given, replaced any
			version         int
		}{
			{nameV2{"Ada", "L"}, map[string]string{"First": "Ada"}, 2}, {nameV1{"Ada L"}, nameV2{"Ada", "L"}, 2},
			{nameV1{"Ada L"}, nameV1{"Ada"}, 0},
		} {
			payload = c.replaced
			result, err := q.Enqueue(t.Context(), queue.NewJob{Type: "name", Payload: c.given})
			require.NoError(t, err)
			require.Equal(t, c.version, job(t, q, result.ID).PayloadVersion)
		}
	})
}

// The two forms of a payload, as two versions of a program have them.
type (
	nameV1 struct{ Name string }
	nameV2 struct{ First, Last string }
)

func (nameV2) PayloadVersion() int { return 2 }

func (nameV2) Upcast(version int, old json.RawMessage) (json.RawMessage, error) {
	var v1 nameV1
	if err := json.Unmarshal(old, &v1); err != nil {
		return nil, err
	}
	first, last, ok := strings.Cut(v1.Name, " ")
	if !ok {
		return nil, fmt.Errorf("no last name in version %d", version)
	}
	return json.Marshal(nameV2{first, last})
}

func TestVersionsOfAPayload(t *testing.T) {
	const old, recent queue.Type[nameV1] = "hello", "hello"
	const hello queue.Type[*nameV2] = "hello"
	bubble(t, func(t *testing.T, q *queue.Queue) {
		enqueueHello := func(job queue.NewJob) string {
			result, err := q.Enqueue(t.Context(), job)
			require.NoError(t, err)
			return result.ID
		}
		first := enqueueHello(old.New(nameV1{"Ada Lovelace"}, nil))
		var said []string
		asNew := func(d *queue.Dispatcher) {
			queue.Handle(d, hello, func(_ context.Context, w *queue.Work[*nameV2]) error {
				said = append(said, w.Payload.Last)
				return nil
			})
		}
		asOld := func(d *queue.Dispatcher) {
			queue.Handle(d, old, func(_ context.Context, w *queue.Work[nameV1]) error {
				said = append(said, w.Payload.Name)
				return nil
			})
		}
		require.Equal(t, queue.StateCompleted, queuetest.WorkOne(t, q, asNew).State)
		second := enqueueHello(hello.New(&nameV2{"Grace", "Hopper"}, nil))
		require.Equal(t, 2, job(t, q, second).PayloadVersion)

		left := queuetest.WorkOne(t, q, asOld)
		require.Equal(t, queue.StateQueued, left.State)
		require.Contains(t, left.LastError, "it is of version 2, and this program knows 0")
		require.Equal(t, []int{0, 0, 0}, []int{left.Failures, left.Interruptions, left.Crashes})
		require.Empty(t, attempts(t, q, second), "nothing has begun")
		require.InDelta(t, 1, time.Until(left.NotBefore).Seconds(), 0.3)

		third := enqueueHello(recent.New(nameV1{"Ada"}, nil))
		require.Equal(t, queue.StateQueued, queuetest.WorkOne(t, q, asNew).State)
		require.Contains(t, job(t, q, third).LastError, "upcast from version 0 to 2: no last name in version 0")
		require.NoError(t, q.Cancel(t.Context(), third))
		require.NoError(t, q.SetSchedule(t.Context(), queue.Schedule{Name: "s", Cron: "@daily",
			Job: hello.New(&nameV2{"Mary", "Shelley"}, nil)}))
		time.Sleep(25 * time.Hour)
		queuetest.Work(t, q, asNew)
		require.ElementsMatch(t, []string{"Lovelace", "Hopper", "Shelley"}, said)
		require.Zero(t, job(t, q, first).PayloadVersion)
	})
}
