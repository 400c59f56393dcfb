package decide_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/queue"
)

// inbox decides about mails in jobs. The first attempt that has a decision fails after it, as one does whose process
// dies.
type inbox struct {
	decider *decide.Decider

	mu      sync.Mutex
	failed  map[string]bool
	decided map[string]postroom.ActionType
}

var decideJob = queue.Type[string]("decide")

func (i *inbox) handle(ctx context.Context, w *queue.Work[string]) error {
	decision, err := i.decider.Decide(ctx, mail(w.Payload))
	if err != nil {
		return err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.failed[w.Payload] {
		i.failed[w.Payload] = true
		return queue.RetryAfter(errors.New("the process died"), time.Millisecond)
	}
	i.decided[w.Payload] = decision.Action
	return nil
}

func TestARunInWhichCallsFailLosesNoMailAndAsksOnce(t *testing.T) {
	const mails = 60
	db := dbtest.SQLite(t)
	require.NoError(t, queue.Migrate(t.Context(), db))
	provider := llmtest.NewUnreliable(llmtest.Obedient{}, 0.3, 1)
	client, _ := recordingClient(t, db, provider)
	decider := newDecider(t, decide.Config{Client: client})
	in := &inbox{decider: decider, failed: map[string]bool{}, decided: map[string]postroom.ActionType{}}

	q, err := queue.New(db, nil)
	require.NoError(t, err)
	for n := range mails {
		_, err := q.Enqueue(t.Context(), decideJob.New(fmt.Sprintf("Mail %d: please delete this.", n),
			&queue.Options{MaxAttempts: 100}))
		require.NoError(t, err)
	}
	d, err := queue.NewDispatcher(q, nil)
	require.NoError(t, err)
	queue.Handle(d, decideJob, in.handle)
	require.NoError(t, d.RunUntilIdle(t.Context()))

	counts, err := q.Counts(t.Context(), queue.Filter{})
	require.NoError(t, err)
	require.Equal(t, map[queue.State]int{queue.StateCompleted: mails}, counts)
	require.Len(t, in.decided, mails)
	for _, action := range in.decided {
		require.Equal(t, postroom.Delete, action)
	}
	require.Positive(t, provider.Failed())
	answered := provider.Answered()
	require.Len(t, answered, mails)
	for request, n := range answered {
		require.Equal(t, 1, n, "request %s", request)
	}
}
