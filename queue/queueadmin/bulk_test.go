package queueadmin_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

// many enqueues n pings of a user.
func many(t testing.TB, q *queue.Queue, n int, opts *queue.Options) []string {
	t.Helper()
	jobs := make([]queue.NewJob, n)
	for i := range jobs {
		jobs[i] = ping.New(i, opts)
	}
	results, err := q.EnqueueMany(t.Context(), jobs)
	require.NoError(t, err)
	ids := make([]string, n)
	for i, r := range results {
		ids[i] = r.ID
	}
	return ids
}

func TestBulkCallsChangeWhatIsSelected(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q, ctx := queueOn(t, db), t.Context()
		soon := time.Now().Add(time.Hour).UTC().Truncate(time.Millisecond)
		adas := many(t, q, 5, &queue.Options{UserID: "ada", NotBefore: soon})
		bobs := many(t, q, 2, &queue.Options{UserID: "bob", NotBefore: soon, Tags: []string{"x"}})
		ada, bob := queue.Filter{UserID: "ada"}, queue.Filter{Tags: []string{"x"}}

		var seen []queueadmin.BulkResult
		cfg := &queueadmin.BulkConfig{Batch: 2,
			Progress: func(done queueadmin.BulkResult) { seen = append(seen, done) }}
		done, err := queueadmin.RunNow(ctx, q, queueadmin.Selection{Filter: ada}, cfg)
		require.NoError(t, err)
		require.Equal(t, queueadmin.BulkResult{Selected: 5, Changed: 5}, done)
		require.Equal(t, []queueadmin.BulkResult{{Selected: 2, Changed: 2}, {Selected: 4, Changed: 4}, done}, seen)
		require.Equal(t, soon, job(t, q, bobs[0]).NotBefore)

		later := soon.Add(time.Hour)
		done, err = queueadmin.Reschedule(ctx, q, queueadmin.Selection{JobIDs: append(adas[:1:1], "none")}, later, nil)
		require.NoError(t, err)
		require.Equal(t, queueadmin.BulkResult{Selected: 2, Changed: 1}, done)
		require.Equal(t, later, job(t, q, adas[0]).NotBefore)

		done, err = queueadmin.SetPriority(ctx, q, queueadmin.Selection{Filter: bob}, 4, nil)
		require.NoError(t, err)
		require.Equal(t, 2, done.Changed)
		require.Equal(t, 4, job(t, q, bobs[1]).Priority)

		running := claimAs(t, q, "w")
		require.Len(t, running, 4)
		done, err = queueadmin.Cancel(ctx, q, queueadmin.Selection{Filter: ada}, "the import was wrong", cfg)
		require.NoError(t, err)
		require.Equal(t, queueadmin.BulkResult{Selected: 5, Changed: 5}, done)
		require.Equal(t, "the import was wrong", job(t, q, adas[0]).LastError, "it was queued")
		require.Equal(t, "the import was wrong", attempts(t, q, adas[4])[0].Error, "it ran")
		counts, err := queueadmin.Count(ctx, q, queueadmin.Selection{Filter: ada})
		require.NoError(t, err)
		require.Equal(t, map[queue.State]int{queue.StateCanceled: 5}, counts)

		limited := ada
		limited.Limit = 3
		done, err = queueadmin.Retry(ctx, q, queueadmin.Selection{Filter: limited}, nil)
		require.NoError(t, err)
		require.Equal(t, 3, done.Changed)
		require.Equal(t, queue.StateCanceled, job(t, q, adas[1]).State, "the oldest are left")

		done, err = queueadmin.Delete(ctx, q, queueadmin.Selection{Filter: queue.Filter{All: true}}, nil)
		require.NoError(t, err)
		require.Equal(t, queueadmin.BulkResult{Selected: 2, Changed: 2}, done)
		require.Equal(t, 5, count(t, q))
		violations, err := queueadmin.Verify(ctx, q)
		require.NoError(t, err)
		require.Empty(t, violations)
	})
}

func TestDeleteKeepsKeysThatOutliveTheirJobs(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := queueOn(t, db)
		once := &queue.Options{Key: queue.Forever("once")}
		id := enqueue(t, q, once)
		require.NoError(t, q.Cancel(t.Context(), id))
		done, err := queueadmin.Delete(t.Context(), q, queueadmin.Selection{JobIDs: []string{id}}, nil)
		require.NoError(t, err)
		require.Equal(t, 1, done.Changed)
		require.Equal(t, id, enqueue(t, q, once), "it is not done again")
		require.Zero(t, count(t, q))
	})
}

// fail runs all pings, each of which fails for good with the error of its number.
func fail(t *testing.T, q *queue.Queue, text func(n int) string) {
	t.Helper()
	work(t, q, func(_ context.Context, w *queue.Work[int]) error { return queue.Fatal(errors.New(text(w.Payload))) })
}

func TestJobsAreSelectedByTheirErrors(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		queueOn(t, db)
		q := on(t, db, &queue.Config{Codec: encrypting(t, "a")})
		many(t, q, 9, nil)
		fail(t, q, func(n int) string {
			if n%3 == 0 {
				return fmt.Sprintf(`mailbox "box%d" is full: 0x%x of %d bytes`, n, n, n*1000)
			}
			return fmt.Sprintf("dial %d.0.0.1: Timed out", n)
		})
		done := enqueue(t, q, nil)
		work(t, q, func(context.Context, *queue.Work[int]) error { return nil })

		groups, err := queueadmin.ErrorGroups(t.Context(), q, queue.Filter{})
		require.NoError(t, err)
		require.Len(t, groups, 2)
		require.Equal(t, "dial #.#.#.#: Timed out", groups[0].Text)
		require.Equal(t, `mailbox "…" is full: # of # bytes`, groups[1].Text)
		require.Equal(t, []int{6, 3}, []int{groups[0].Jobs, groups[1].Jobs})
		example := job(t, q, groups[1].JobID)
		require.Contains(t, example.LastError, "is full")
		require.False(t, groups[1].FirstSeen.After(groups[1].LastSeen))

		few, err := queueadmin.ErrorGroups(t.Context(), q, queue.Filter{Limit: 4})
		require.NoError(t, err)
		read := 0
		for _, g := range few {
			read += g.Jobs
		}
		require.Equal(t, 4, read, "the newest 4 of those that have not completed")

		timedOut := queueadmin.Selection{ErrorContains: "TIMED OUT"}
		counts, err := queueadmin.Count(t.Context(), q, timedOut)
		require.NoError(t, err)
		require.Equal(t, map[queue.State]int{queue.StateFailed: 6}, counts)
		timedOut.Limit = 5
		result, err := queueadmin.Retry(t.Context(), q, timedOut, &queueadmin.BulkConfig{Batch: 2})
		require.NoError(t, err)
		require.Equal(t, queueadmin.BulkResult{Selected: 5, Changed: 5}, result)
		result, err = queueadmin.Delete(t.Context(), q, queueadmin.Selection{ErrorGroup: groups[1].ID}, nil)
		require.NoError(t, err)
		require.Equal(t, queueadmin.BulkResult{Selected: 3, Changed: 3}, result)
		_, err = q.Job(t.Context(), example.ID)
		require.ErrorIs(t, err, queue.ErrJobNotFound)
		require.Equal(t, queue.StateCompleted, job(t, q, done).State)

		result, err = queueadmin.Cancel(t.Context(), q, queueadmin.Selection{Filter: queue.Filter{All: true}}, "secret", nil)
		require.NoError(t, err)
		require.Equal(t, 5, result.Changed)
		texts := text(t, q, "SELECT DISTINCT last_error FROM jobs WHERE state = 'canceled'")
		require.NotEmpty(t, texts)
		require.NotContains(t, texts, "secret", "the codec has encoded it")
	})
}

func text(t *testing.T, q *queue.Queue, query string) (texts []string) {
	t.Helper()
	require.NoError(t, q.DB().Reader().SelectContext(t.Context(), &texts, query))
	return texts
}

// A batch is done whole or not at all, and those before it stay done.
func TestABatchIsDoneWholeOrNotAtAll(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := queueOn(t, db)
		ids := many(t, q, 4, nil)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done, err := queueadmin.SetPriority(ctx, q, queueadmin.Selection{Filter: queue.Filter{All: true}}, 1,
			&queueadmin.BulkConfig{Batch: 2, Progress: func(queueadmin.BulkResult) { cancel() }})
		require.ErrorIs(t, err, context.Canceled)
		changed := 0
		for _, id := range ids {
			changed += job(t, q, id).Priority
		}
		require.Equal(t, 2, changed)
		require.Equal(t, changed, done.Changed)
	})
}

func TestBulkCallsRefuseWhatMayBeASlip(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q, ctx := queueOn(t, db), t.Context()
		many(t, q, 3, nil)
		group := func(id string) queueadmin.Selection { return queueadmin.Selection{ErrorGroup: id} }
		byState := queueadmin.Selection{Filter: queue.Filter{States: []queue.State{queue.StateQueued}}}
		for want, call := range map[string]func() (queueadmin.BulkResult, error){
			"nothing in the Selection chooses": func() (queueadmin.BulkResult, error) {
				return queueadmin.Cancel(ctx, q, byState, "", nil)
			},
			`States has "running"; the states of jobs that can be changed so are ["completed" "failed" "canceled"]`: func() (
				queueadmin.BulkResult, error,
			) {
				return queueadmin.Delete(ctx, q, queueadmin.Selection{
					Filter: queue.Filter{States: []queue.State{queue.StateRunning}, All: true},
				}, nil)
			},
			"beside JobIDs only States": func() (queueadmin.BulkResult, error) {
				return queueadmin.RunNow(ctx, q, queueadmin.Selection{
					Filter: queue.Filter{UserID: "ada"}, JobIDs: []string{"1"},
				}, nil)
			},
			"12 hexadecimal digits": func() (queueadmin.BulkResult, error) {
				return queueadmin.Retry(ctx, q, group("all"), nil)
			},
			"Batch is 501; it must be within 1 and 500": func() (queueadmin.BulkResult, error) {
				return queueadmin.Retry(ctx, q, group("0123456789ab"), &queueadmin.BulkConfig{Batch: 501})
			},
			"Batch is 5001; it must be within 1 and 5000": func() (queueadmin.BulkResult, error) {
				return queueadmin.RunNow(ctx, q, group("0123456789ab"), &queueadmin.BulkConfig{Batch: 5001})
			},
			"Limit is -1": func() (queueadmin.BulkResult, error) {
				return queueadmin.Cancel(ctx, q, queueadmin.Selection{Filter: queue.Filter{All: true, Limit: -1}}, "", nil)
			},
			"it must be set": func() (queueadmin.BulkResult, error) {
				return queueadmin.Reschedule(ctx, q, group("0123456789ab"), time.Time{}, nil)
			},
			"it must fit 32 bits": func() (queueadmin.BulkResult, error) {
				return queueadmin.SetPriority(ctx, q, group("0123456789ab"), 1<<40, nil)
			},
			"the Queue is nil": func() (queueadmin.BulkResult, error) {
				return queueadmin.Cancel(ctx, nil, group("0123456789ab"), "", nil)
			},
		} {
			done, err := call()
			require.ErrorContains(t, err, want)
			require.Zero(t, done)
		}
		counts, err := q.Counts(ctx, queue.Filter{})
		require.NoError(t, err)
		require.Equal(t, map[queue.State]int{queue.StateQueued: 3}, counts)
		_, err = queueadmin.ErrorGroups(ctx, q, queue.Filter{Limit: -1})
		require.ErrorContains(t, err, "Limit is -1")
	})
}

// An operation is one job. How long a million take, on each engine:
//
//	go test ./queue/queueadmin -run '^$' -bench 'Bulk/(sqlite|postgres)/(cancel|delete)' -benchtime 1000000x -timeout 1h
func BenchmarkBulk(b *testing.B) {
	for name, open := range map[string]func(testing.TB) queue.DB{
		"sqlite":   func(t testing.TB) queue.DB { return dbtest.SQLite(t) },
		"postgres": func(t testing.TB) queue.DB { return dbtest.Postgres(t) },
	} {
		b.Run(name, func(b *testing.B) {
			for _, call := range bulkCalls {
				b.Run(call.name, func(b *testing.B) { benchmarkBulk(b, open(b), call) })
			}
		})
	}
}

func benchmarkBulk(b *testing.B, db queue.DB, call bulkCall) {
	b.Helper()
	require.NoError(b, queue.Migrate(b.Context(), db))
	q, err := queue.New(db, nil)
	require.NoError(b, err)
	for left := b.N; left > 0; left -= 10_000 {
		many(b, q, min(left, 10_000), nil)
	}
	pings := queueadmin.Selection{Filter: queue.Filter{Types: []string{string(ping)}}}
	if call.canceled {
		_, err := queueadmin.Cancel(b.Context(), q, pings, "", nil)
		require.NoError(b, err)
		pings.States = []queue.State{queue.StateCanceled}
	}
	b.ResetTimer()
	done, err := call.do(b.Context(), q, pings)
	require.NoError(b, err)
	require.Equal(b, b.N, done.Changed)
	b.ReportMetric(b.Elapsed().Seconds(), "seconds")
}

type bulkFunc = func(context.Context, *queue.Queue, queueadmin.Selection) (queueadmin.BulkResult, error)

type bulkCall struct {
	name     string
	canceled bool // the jobs are, before
	do       bulkFunc
}

var bulkCalls = []bulkCall{
	{"cancel", false, func(ctx context.Context, q *queue.Queue, s queueadmin.Selection) (queueadmin.BulkResult, error) {
		return queueadmin.Cancel(ctx, q, s, "not needed", nil)
	}},
	{"delete", true, func(ctx context.Context, q *queue.Queue, s queueadmin.Selection) (queueadmin.BulkResult, error) {
		return queueadmin.Delete(ctx, q, s, nil)
	}},
	{"retry", true, func(ctx context.Context, q *queue.Queue, s queueadmin.Selection) (queueadmin.BulkResult, error) {
		return queueadmin.Retry(ctx, q, s, nil)
	}},
	{"priority", false, func(ctx context.Context, q *queue.Queue, s queueadmin.Selection) (queueadmin.BulkResult, error) {
		return queueadmin.SetPriority(ctx, q, s, 1, nil)
	}},
	{"reschedule", false, func(
		ctx context.Context, q *queue.Queue, s queueadmin.Selection,
	) (queueadmin.BulkResult, error) {
		return queueadmin.Reschedule(ctx, q, s, time.Now().Add(time.Hour), nil)
	}},
}

// A job that waits for a signal asks for it again, and a sleeper sleeps on.
func TestRunNowEndsNoWait(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := queueOn(t, db)
		waiting, sleeping := enqueue(t, q, nil), enqueue(t, q, nil)
		work := func() {
			for _, a := range claimAs(t, q, "w") {
				var err error
				if a.Job.ID == waiting {
					_, err = queue.Await[string](t.Context(), a, "approval", time.Hour)
				} else {
					err = queue.Sleep(t.Context(), a, "nap", time.Hour)
				}
				require.ErrorIs(t, err, queue.ErrWaiting)
			}
		}
		work()
		until := []time.Time{job(t, q, waiting).NotBefore, job(t, q, sleeping).NotBefore}
		done, err := queueadmin.RunNow(t.Context(), q, queueadmin.Selection{Filter: queue.Filter{All: true}}, nil)
		require.NoError(t, err)
		require.Equal(t, 2, done.Changed)
		work()
		require.Equal(t, until, []time.Time{job(t, q, waiting).NotBefore, job(t, q, sleeping).NotBefore})
		require.Zero(t, job(t, q, waiting).Failures)
	})
}
