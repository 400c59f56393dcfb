package queue_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
	"github.com/stretchr/testify/require"
)

func TestKeyConflictShowsTheDifference(t *testing.T) {
	type list []any
	type object map[string]any
	long := strings.Repeat("ü", 200)
	for name, c := range map[string]struct {
		held, given any
		hint        string
	}{
		"a scalar":     {1, 2, "payload is 1 there, 2 here"},
		"another kind": {object{"a": 1}, list{1}, `payload is {"a":1} there, [1] here`},
		"the first member": {object{"b": 1, "a": object{"x": true}}, object{"b": 2, "a": object{"x": false}},
			"payload.a.x is true there, false here"},
		"an element": {list{1, object{"to": "ann"}}, list{1, object{"to": "bob"}},
			`payload[1].to is "ann" there, "bob" here`},
		"a member too few": {object{"a": 1}, object{}, "payload.a is 1 there, absent here"},
		"an element more":  {list{}, list{nil}, "payload[0] is absent there, null here"},
		"long values":      {long, long + "!", `payload is "` + long[:79*2] + `… there, "` + long[:79*2] + "… here"},
		"numbers of a size": {12345678901234567, 12345678901234568,
			"payload is 12345678901234567 there, 12345678901234568 here"},
	} {
		t.Run(name, func(t *testing.T) {
			q := queuetest.New(t)
			opts := &queue.Options{Key: queue.Forever("k")}
			held, err := q.Enqueue(t.Context(), queue.NewJob{Type: "t", Payload: c.held, Options: *opts})
			require.NoError(t, err)
			same, err := q.Enqueue(t.Context(), queue.NewJob{Type: "t", Payload: c.given, Options: *opts})
			require.NoError(t, err, "the key alone decides")
			require.Equal(t, queue.EnqueueResult{ID: held.ID, Duplicate: true, Difference: c.hint}, same)
			strict := on(t, q.DB().Driver(), &queue.Config{StrictKeys: true})
			_, err = strict.Enqueue(t.Context(), queue.NewJob{Type: "t", Payload: c.given, Options: *opts})
			require.ErrorIs(t, err, queue.ErrKeyConflict)
			var e *queue.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, held.ID, e.JobID)
			require.Equal(t, c.hint+"; use another key", e.Hint)
		})
	}
}

func TestKeyConflictNamesTheOtherType(t *testing.T) {
	q := queuetest.New(t)
	enqueue(t, q, &queue.Options{Key: queue.Forever("k")})
	_, err := q.Enqueue(t.Context(), queue.NewJob{Type: "pong", Payload: 1,
		Options: queue.Options{Key: queue.Forever("k")}})
	require.ErrorContains(t, err, "(that job is of type ping, this one of type pong; use another key)")
	execute(t, q, "DELETE FROM jobs") // as pruning does
	_, err = q.Enqueue(t.Context(), queue.NewJob{Type: "pong", Payload: 1,
		Options: queue.Options{Key: queue.Forever("k")}})
	require.ErrorIs(t, err, queue.ErrKeyConflict)
	again, err := q.Enqueue(t.Context(), ping.New(2, &queue.Options{Key: queue.Forever("k")}))
	require.NoError(t, err)
	require.True(t, again.Duplicate)
	require.Equal(t, "that job, which is no longer kept, has another payload", again.Difference)
}

// A job that coalesces and fails while another waits under its key does not run again, and nobody is told that it will.
func TestASupersededJobIsSaidToBeCanceled(t *testing.T) {
	coalesce := &queue.Options{Key: queue.Coalesce("k")}
	for name, end := range map[string]struct {
		run   func(t *testing.T, q *queue.Queue, log *slog.Logger) (next string)
		ended string
	}{
		"a handler fails": {func(t *testing.T, q *queue.Queue, log *slog.Logger) (next string) {
			d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{Logger: log})
			require.NoError(t, err)
			queue.Handle(d, ping, func(context.Context, *queue.Work[int]) error {
				if next != "" {
					return nil
				}
				next = enqueue(t, q, coalesce)
				return errBroken
			})
			require.NoError(t, d.RunUntilIdle(t.Context()))
			return next
		}, queue.KindFailed},
		"a program fails it": {func(t *testing.T, q *queue.Queue, _ *slog.Logger) string {
			jobs, err := q.Claim(t.Context(), "w", []string{string(ping)}, 1)
			require.NoError(t, err)
			next := enqueue(t, q, coalesce)
			require.NoError(t, jobs[0].Fail(t.Context(), errBroken))
			return next
		}, queue.KindFailed},
		"its worker dies": {func(t *testing.T, q *queue.Queue, log *slog.Logger) string {
			_, err := q.Claim(t.Context(), "dead", []string{string(ping)}, 1)
			require.NoError(t, err)
			next := enqueue(t, q, coalesce)
			d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{Exclusive: true, Logger: log})
			require.NoError(t, err)
			queue.Handle(d, ping, func(context.Context, *queue.Work[int]) error { return nil })
			require.NoError(t, d.RunUntilIdle(t.Context()))
			return next
		}, queue.KindCrashed},
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, db queue.DB) {
				q := queueOn(t, db)
				first := enqueue(t, q, coalesce)
				s := subscribe(t, q, queue.EventFilter{JobIDs: []string{first}})
				var out bytes.Buffer
				next := end.run(t, q, slog.New(slog.NewTextHandler(&out, nil)))

				require.Equal(t, queue.StateCanceled, job(t, q, first).State)
				events := taken(t, s)
				require.Equal(t, []string{"started", "canceled"}, kinds(events))
				require.Equal(t, "superseded by "+next, events[1].Error)
				require.Equal(t, end.ended, events[1].Ended)
				require.Equal(t, 1, events[1].Attempt)
				require.Zero(t, events[1].NotBefore)
				require.NotContains(t, out.String(), "job will run again")
				if name == "a handler fails" {
					require.Contains(t, out.String(), `msg="job is canceled: another waits that does the same" job_id=`+
						first)
					require.Contains(t, out.String(), `error=broken reason="superseded by `+next+`"`)
				}
			})
		})
	}
}

func TestWaitHearsThatAJobWasSuperseded(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		coalesce := &queue.Options{Key: queue.Coalesce("k")}
		first := enqueue(t, q, coalesce)
		jobs, err := q.Claim(t.Context(), "w", []string{string(ping)}, 1)
		require.NoError(t, err)
		enqueue(t, q, coalesce)
		began := time.Now()
		go func() {
			time.Sleep(10 * time.Second)
			_ = jobs[0].Fail(t.Context(), errBroken)
		}()
		ended, err := q.Wait(t.Context(), first)
		require.NoError(t, err)
		require.Equal(t, queue.StateCanceled, ended.State)
		require.Equal(t, 10*time.Second, time.Since(began), "at once")
	})
}
