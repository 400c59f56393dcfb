package queue_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/queuetest"
)

// A listingCounter counts the listings of jobs. Each reads all jobs of a state.
type listingCounter struct {
	driver.Driver
	listings int
}

func (c *listingCounter) Unwrap() driver.Driver { return c.Driver }

func (c *listingCounter) JobIDs(ctx context.Context, filter driver.Filter) ([]string, error) {
	c.listings++
	return c.Driver.JobIDs(ctx, filter)
}

func TestCancelAllDoesNotListForEachTransaction(t *testing.T) {
	q := queuetest.New(t)
	jobs := make([]queue.NewJob, 1050)
	for i := range jobs {
		jobs[i] = ping.New(i, nil)
	}
	_, err := q.EnqueueMany(t.Context(), jobs)
	require.NoError(t, err)
	counter := &listingCounter{Driver: q.DB().Driver()}
	counted := on(t, counter, nil)
	n, err := counted.CancelAll(t.Context(), queue.Filter{Types: []string{string(ping)}})
	require.NoError(t, err)
	require.Equal(t, len(jobs), n)
	require.LessOrEqual(t, counter.listings, 2)
	done, err := counted.Redrive(t.Context(), queue.Filter{States: []queue.State{queue.StateCanceled}, All: true})
	require.NoError(t, err)
	require.Equal(t, len(jobs), done.Queued)
	require.LessOrEqual(t, counter.listings, 4)
}

// A lateCanceler gets the ids of jobs when something has happened to them since they were listed.
type lateCanceler struct {
	driver.Driver
	listed func()
}

func (c *lateCanceler) Unwrap() driver.Driver { return c.Driver }

func (c *lateCanceler) JobIDs(ctx context.Context, filter driver.Filter) ([]string, error) {
	ids, err := c.Driver.JobIDs(ctx, filter)
	c.listed()
	return ids, err
}

// A job that began after it was listed as queued is not among those that are queued.
func TestCancelAllLeavesWhatHasBegunSince(t *testing.T) {
	q := queuetest.New(t)
	first, second := enqueue(t, q, nil), enqueue(t, q, nil)
	late := on(t, &lateCanceler{q.DB().Driver(), func() {
		if job(t, q, first).State == queue.StateQueued {
			_, err := q.Claim(t.Context(), "here", []string{string(ping)}, 1)
			require.NoError(t, err)
		}
	}}, nil)
	n, err := late.CancelAll(t.Context(),
		queue.Filter{Types: []string{string(ping)}, States: []queue.State{queue.StateQueued}})
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, queue.StateRunning, job(t, q, first).State)
	require.Equal(t, queue.StateCanceled, job(t, q, second).State)
}

// A wholeReader keeps how many jobs were read at once, with their payloads.
type wholeReader struct {
	driver.Driver
	most int
}

func (r *wholeReader) Unwrap() driver.Driver { return r.Driver }

func (r *wholeReader) ReadJobs(ctx context.Context, tx *driver.WriteTx, ids []string) ([]driver.Job, error) {
	r.most = max(r.most, len(ids))
	return r.Driver.ReadJobs(ctx, tx, ids)
}

// To tell of what it cancels, CancelAll has few jobs in memory at a time.
func TestCancelAllReadsFewJobsAtATime(t *testing.T) {
	q := queuetest.New(t)
	jobs := make([]queue.NewJob, 50)
	for i := range jobs {
		jobs[i] = ping.New(i, nil)
	}
	_, err := q.EnqueueMany(t.Context(), jobs)
	require.NoError(t, err)
	reader := &wholeReader{Driver: q.DB().Driver()}
	observed := on(t, reader, nil)
	events, err := observed.Subscribe(queue.EventFilter{})
	require.NoError(t, err)
	defer events.Close()
	n, err := observed.CancelAll(t.Context(), queue.Filter{All: true})
	require.NoError(t, err)
	require.Equal(t, len(jobs), n)
	require.LessOrEqual(t, reader.most, 20)
	for range jobs {
		event, err := events.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, queue.EventCanceled, event.Kind)
		require.Equal(t, string(ping), event.JobType)
	}
}

// A slowCanceler takes 6 s for each transaction that cancels jobs.
type slowCanceler struct{ driver.Driver }

func (c *slowCanceler) Unwrap() driver.Driver { return c.Driver }

func (c *slowCanceler) CancelJobs(
	ctx context.Context, tx *driver.WriteTx, req driver.CancelRequest,
) ([]string, error) {
	time.Sleep(6 * time.Second)
	return c.Driver.CancelJobs(ctx, tx, req)
}

// Whoever waits for a change of many jobs is told every 10 s how far it is.
func TestCancelAllSaysHowFarItIs(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		jobs := make([]queue.NewJob, 4050)
		for i := range jobs {
			jobs[i] = ping.New(i, nil)
		}
		_, err := q.EnqueueMany(t.Context(), jobs)
		require.NoError(t, err)
		var log bytes.Buffer
		slow := on(t, &slowCanceler{q.DB().Driver()}, &queue.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		n, err := slow.CancelAll(t.Context(), queue.Filter{All: true})
		require.NoError(t, err)
		require.Equal(t, len(jobs), n)
		require.Equal(t, 2, strings.Count(log.String(), "changing many jobs"), log.String())
		require.Contains(t, log.String(), "done=2000\n")
		require.Contains(t, log.String(), "done=4000\n")
	})
}
