package llm_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/sqlite"
)

func TestErrorSaysWhoAndWhy(t *testing.T) {
	cause := errors.New("quota exceeded")
	err := &llm.Error{Provider: "acme", Status: 429, Reason: llm.ErrRateLimited, RequestID: "req_1", Err: cause}
	require.EqualError(t, err, "acme: status 429, rate limited: quota exceeded (request req_1)")
	require.ErrorIs(t, err, cause)
	require.ErrorIs(t, err, llm.ErrRateLimited)
	require.NotErrorIs(t, err, llm.ErrOverloaded)
	require.EqualError(t, &llm.Error{Provider: "acme", Err: cause}, "acme: unavailable: quota exceeded")
	require.EqualError(t, &llm.Error{Provider: "acme", Reason: llm.ErrBadKey},
		"acme: key refused; check the key and what it may do")
}

// The verdict is what the queue makes of it: a job whose handler returns it, once.
func TestHandlerErrorDecidesWhatBecomesOfTheJob(t *testing.T) {
	fault := func(reason error, after time.Duration) error {
		return &llm.Error{Provider: "acme", Reason: reason, RetryAfter: after, Err: errors.New("no")}
	}
	limits := llm.Limits{Tokens: &llm.Allowance{Reset: 3 * time.Minute}}
	for name, test := range map[string]struct {
		err           error
		state         queue.State
		failures      int
		interruptions int
		wait          time.Duration // at least, and hardly more; 0: the policy's
	}{
		"a rate limit with a delay":     {fault(llm.ErrRateLimited, 5*time.Minute), queue.StateQueued, 0, 1, 5 * time.Minute},
		"a rate limit without a delay":  {fault(llm.ErrRateLimited, 0), queue.StateQueued, 0, 1, time.Minute},
		"an outage with a delay":        {fault(llm.ErrUnavailable, 7*time.Minute), queue.StateQueued, 1, 0, 7 * time.Minute},
		"an outage":                     {fault(llm.ErrUnavailable, 0), queue.StateQueued, 1, 0, time.Hour},
		"a limit that the headers tell": {&llm.Error{Reason: llm.ErrRateLimited, Limits: limits}, queue.StateQueued, 0, 1, 3 * time.Minute},
		"a wrong key":                   {fault(llm.ErrBadKey, 0), queue.StateQueued, 0, 1, 15 * time.Minute},
		"no credit":                     {fault(llm.ErrNoCredit, 0), queue.StateQueued, 0, 1, 15 * time.Minute},
		"a wrong request":               {fault(llm.ErrBadRequest, 0), queue.StateFailed, 1, 0, 0},
		"something else":                {errors.New("oops"), queue.StateQueued, 1, 0, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "test.db"), nil)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, db.Close()) })
			require.NoError(t, queue.Migrate(t.Context(), db))
			q, err := queue.New(db, &queue.Config{Retry: queue.RetryPolicy{Base: time.Hour, Factor: 1, Cap: time.Hour}})
			require.NoError(t, err)
			receipt, err := q.Enqueue(t.Context(), queue.Type[string]("ask").New("", nil))
			require.NoError(t, err)
			claimed, err := q.Claim(t.Context(), "worker", []string{"ask"}, 1)
			require.NoError(t, err)
			before := time.Now().Add(-time.Second)
			require.NoError(t, claimed[0].Fail(context.WithoutCancel(t.Context()), llm.HandlerError(test.err)))

			job, err := q.Job(t.Context(), receipt.ID)
			require.NoError(t, err)
			require.Equal(t, test.state, job.State)
			require.Equal(t, test.failures, job.Failures)
			require.Equal(t, test.interruptions, job.Interruptions)
			if test.wait > 0 {
				require.WithinDuration(t, before.Add(test.wait), job.NotBefore, 30*time.Second)
			}
		})
	}
}
