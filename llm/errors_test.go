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

func TestClassOfStatus(t *testing.T) {
	for status, want := range map[int]llm.Class{
		429: llm.RateLimited, 403: llm.RateLimited,
		0: llm.Retryable, 408: llm.Retryable, 500: llm.Retryable, 503: llm.Retryable, 529: llm.Retryable,
		400: llm.Fatal, 401: llm.Fatal, 404: llm.Fatal, 422: llm.Fatal,
	} {
		require.Equal(t, want, llm.ClassOf(status), "status %d", status)
	}
}

func TestErrorSaysWhoAndWhy(t *testing.T) {
	cause := errors.New("quota exceeded")
	err := &llm.Error{Provider: "acme", Status: 429, Class: llm.RateLimited, Err: cause}
	require.EqualError(t, err, "acme: status 429, rate limited: quota exceeded")
	require.ErrorIs(t, err, cause)
	require.EqualError(t, &llm.Error{Provider: "acme", Err: cause}, "acme: retryable: quota exceeded")
}

// The verdict is what the queue makes of it: a job whose handler returns it, once.
func TestVerdictDecidesWhatBecomesOfTheJob(t *testing.T) {
	fault := func(class llm.Class, after time.Duration) error {
		return &llm.Error{Provider: "acme", Class: class, RetryAfter: after, Err: errors.New("no")}
	}
	for name, test := range map[string]struct {
		err           error
		state         queue.State
		failures      int
		interruptions int
		wait          time.Duration // at least, and hardly more; 0: the policy's
	}{
		"a rate limit with a delay":    {fault(llm.RateLimited, 5*time.Minute), queue.StateQueued, 0, 1, 5 * time.Minute},
		"a rate limit without a delay": {fault(llm.RateLimited, 0), queue.StateQueued, 0, 1, time.Minute},
		"an outage with a delay":       {fault(llm.Retryable, 7*time.Minute), queue.StateQueued, 1, 0, 7 * time.Minute},
		"an outage":                    {fault(llm.Retryable, 0), queue.StateQueued, 1, 0, time.Hour},
		"a wrong key":                  {fault(llm.Fatal, 0), queue.StateFailed, 1, 0, 0},
		"something else":               {errors.New("oops"), queue.StateQueued, 1, 0, time.Hour},
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
			require.NoError(t, q.Fail(context.WithoutCancel(t.Context()), &claimed[0], llm.Verdict(test.err)))

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
