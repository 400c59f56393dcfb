package queue_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

// A spot is the place of a job in its sequence.
type spot struct {
	Sequence string
	Number   int
}

const inLine queue.Type[spot] = "in line"

// A record keeps what a sequence has run.
type record struct {
	mu      sync.Mutex
	running map[string]bool
	done    map[string]int
	faults  []string
}

// run fails, waits or panics now and then.
func (r *record) run(_ context.Context, w *queue.Work[spot]) (err error) {
	p := w.Payload
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running[p.Sequence] {
		r.faults = append(r.faults, fmt.Sprint("beside another: ", p))
	}
	if r.done[p.Sequence] != p.Number {
		r.faults = append(r.faults, fmt.Sprint("out of order: ", p))
	}
	r.running[p.Sequence] = true
	r.mu.Unlock()
	luck := rand.IntN(10)
	r.mu.Lock()
	r.running[p.Sequence] = false
	switch luck {
	case 0:
		return errors.New("bad luck")
	case 1:
		return queue.Defer(errors.New("not now"), time.Millisecond)
	case 2:
		panic("worse luck")
	}
	r.done[p.Sequence]++
	return nil
}

// Two dispatchers share sequences whose jobs fail, wait and panic: each runs in order, one of its jobs at a time.
func TestASequenceIsInOrder(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q, err := queue.New(db, &queue.Config{
			Retry: queue.RetryPolicy{Base: time.Millisecond, Factor: 1, Cap: time.Millisecond}})
		require.NoError(t, err)
		const sequences, jobs = 12, 15
		for number := range jobs {
			var more []queue.NewJob
			for i := range sequences {
				name := fmt.Sprint("customer:", i)
				more = append(more, inLine.New(spot{name, number}, &queue.Options{Sequence: name, MaxAttempts: 1000,
					Priority: number}))
			}
			_, err := q.EnqueueMany(t.Context(), more)
			require.NoError(t, err)
		}
		r := &record{running: make(map[string]bool), done: make(map[string]int)}
		var both sync.WaitGroup
		for range 2 {
			d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{Workers: 8, PollInterval: 20 * time.Millisecond})
			require.NoError(t, err)
			queue.Handle(d, inLine, r.run)
			both.Go(func() {
				if err := d.RunUntilIdle(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		require.Empty(t, r.faults)
		require.Len(t, r.done, sequences)
		for name, n := range r.done {
			require.Equal(t, jobs, n, name)
		}
		found, err := queueadmin.Verify(t.Context(), q)
		require.NoError(t, err)
		require.Empty(t, found)
	})
}

// Nothing but the commits decides the order of what several goroutines enqueue: each one's own jobs keep theirs.
func TestManyEnqueueIntoASequence(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q, err := queue.New(db, nil)
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{Workers: 8, PollInterval: time.Minute})
		require.NoError(t, err)
		var running sync.Mutex
		next, left := make(map[string]int), 4*25
		queue.Handle(d, inLine, func(_ context.Context, w *queue.Work[spot]) error {
			if !running.TryLock() {
				t.Errorf("%v runs beside another", w.Payload)
				running.Lock()
			}
			if w.Payload.Number != next[w.Payload.Sequence] {
				t.Errorf("%v is out of order, after %d", w.Payload, next[w.Payload.Sequence])
			}
			next[w.Payload.Sequence] = w.Payload.Number + 1
			if left--; left == 0 {
				stop()
			}
			running.Unlock()
			if w.Payload.Number%2 == 0 { // each way to end wakes who waits for the next
				return w.Complete(context.Background(), func(context.Context, queue.Tx) error { return nil })
			}
			return nil
		})
		var all sync.WaitGroup
		all.Go(func() {
			if err := d.Run(ctx); !errors.Is(err, context.Canceled) && err != nil {
				t.Error(err)
			}
		})
		for i := range 4 {
			all.Go(func() {
				for number := range 25 {
					job := inLine.New(spot{fmt.Sprint("writer ", i), number}, &queue.Options{Sequence: "one"})
					if _, err := q.Enqueue(t.Context(), job); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
	})
}

func TestAStoppedSequenceIsSaid(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		opts := &queue.Options{Sequence: "customer:7", MaxAttempts: 1}
		first, second := enqueue(t, q, opts), enqueue(t, q, opts)
		runs := 0
		fail := true
		handler := func(context.Context, *queue.Work[int]) error {
			if runs++; fail {
				return errors.New("no stock")
			}
			return nil
		}
		work(t, q, handler)
		require.Equal(t, 1, runs, "what waits behind it is nothing to wait for")
		explained, err := queueadmin.Explain(t.Context(), q, second)
		require.NoError(t, err)
		require.Contains(t, explained.String(), "it waits for its turn in the sequence customer:7, behind 1 job; the first, "+
			first+", has failed and stops it: retry or delete that job")
		require.Equal(t, queueadmin.CauseSequence, explained.Reasons[0].Cause)
		findings, err := queueadmin.Doctor(t.Context(), q)
		require.NoError(t, err)
		require.Contains(t, findings, queueadmin.Finding{Severity: queueadmin.SeverityProblem, Topic: queueadmin.TopicJob,
			Subject: first,
			Text:    "sequence customer:7 is stopped by job " + first + ", which has failed; behind it: 1 job",
			Hint:    "retry the job, or delete it and the sequence goes on without it"})
		fail = false
		require.NoError(t, q.Retry(t.Context(), first))
		work(t, q, handler)
		require.Equal(t, 3, runs)
	})
}

func TestASequenceThatNobodyKeepsIsRefused(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		without := on(t, struct{ driver.Driver }{q.DB().Driver()}, nil)
		_, err := without.Enqueue(t.Context(), ping.New(1, &queue.Options{Sequence: "s"}))
		require.ErrorIs(t, err, queue.ErrInvalidJob)
		require.ErrorContains(t, err, "no driver.SequenceStore")
		_, err = q.Enqueue(t.Context(), ping.New(1, &queue.Options{Sequence: strings.Repeat("s", 201)}))
		require.ErrorIs(t, err, queue.ErrInvalidJob)
	})
}

// More jobs than one transaction retries join the ends of their lines as they were enqueued.
func TestARedrivenSequenceKeepsItsOrder(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q := queueOn(t, db)
		retries := map[string]func() error{
			"Redrive": func() error {
				_, err := q.Redrive(t.Context(), queue.Filter{All: true})
				return err
			},
			"queueadmin.Retry": func() error {
				_, err := queueadmin.Retry(t.Context(), q, queueadmin.Selection{Filter: queue.Filter{All: true}}, nil)
				return err
			},
			"RetryJobs": func() error {
				var ids []string
				for some, err := range q.JobIDs(t.Context(), queue.Filter{States: []queue.State{queue.StateFailed}}, 1000) {
					require.NoError(t, err)
					ids = append(ids, some...)
				}
				_, err := q.RetryJobs(t.Context(), ids)
				return err
			},
		}
		for name, retry := range retries {
			var jobs []queue.NewJob
			for number := range 130 {
				for _, sequence := range []string{name + " a", name + " b"} {
					jobs = append(jobs, inLine.New(spot{sequence, number},
						&queue.Options{Sequence: sequence, SequenceGoesOn: true, MaxAttempts: 1}))
				}
				jobs = append(jobs, inLine.New(spot{"", number}, &queue.Options{MaxAttempts: 1}))
			}
			_, err := q.EnqueueMany(t.Context(), jobs)
			require.NoError(t, err)
			failing := true
			var mu sync.Mutex
			seen := make(map[string][]int)
			run := func() {
				d, err := queue.NewDispatcher(q, nil)
				require.NoError(t, err)
				queue.Handle(d, inLine, func(_ context.Context, w *queue.Work[spot]) error {
					mu.Lock()
					defer mu.Unlock()
					if failing {
						return errors.New("no")
					}
					seen[w.Payload.Sequence] = append(seen[w.Payload.Sequence], w.Payload.Number)
					return nil
				})
				require.NoError(t, d.RunUntilIdle(t.Context()))
			}
			run()
			failing = false
			require.NoError(t, retry())
			run()
			require.Len(t, seen[""], 130)
			for sequence, numbers := range seen {
				require.Len(t, numbers, 130)
				require.True(t, sequence == "" || slices.IsSorted(numbers), "%s: %v", name, numbers)
			}
		}
	})
}
