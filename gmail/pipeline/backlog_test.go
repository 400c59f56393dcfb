package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
)

// What waits for a model, whose budget was raised, is decided about anew at a start: the newest first.
func TestTheNewestMailIsAskedAboutFirst(t *testing.T) {
	w := newWorld(t)
	p := w.pipeline(Config{Rules: archiveAll})
	d, err := queue.NewDispatcher(p.Queue, nil)
	require.NoError(t, err)
	queue.Handle(d, rules.JobClassify, func(context.Context, *queue.Work[rules.ClassifyPayload]) error {
		return queue.Defer(errors.New("the budget is spent"), time.Hour)
	})
	var ids []string
	for i := range 20 {
		enqueued, err := p.Queue.Enqueue(t.Context(), rules.NewClassifyJob("a", fmt.Sprintf("m%d", i)))
		require.NoError(t, err)
		ids = append(ids, enqueued.ID)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ran := make(chan error, 1)
	go func() { ran <- d.Run(ctx) }()
	w.eventually(func() bool {
		deferred, err := p.Backlog.deferred(t.Context(), func(j *queue.Job) bool { return IsDeferred(j, time.Now()) })
		return err == nil && len(deferred) == len(ids)
	})
	stop()
	require.NoError(t, <-ran)
	require.NoError(t, p.Backlog.AskAgain(t.Context()))
	jobs, err := p.Queue.Jobs(t.Context(), queue.Filter{Limit: 100})
	require.NoError(t, err)
	slices.SortStableFunc(jobs, func(a, b queue.Job) int { return a.NotBefore.Compare(b.NotBefore) })
	slices.Reverse(ids)
	var due []string
	for i := range jobs {
		require.False(t, jobs[i].NotBefore.After(time.Now()))
		due = append(due, jobs[i].ID)
	}
	require.Equal(t, ids, due)
}
