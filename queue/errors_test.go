package queue_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
)

// What a caller gives as an id is shown in part only, as is the name in an error about it.
func TestErrorsCutWhatIsLong(t *testing.T) {
	q := queuetest.New(t)
	long := strings.Repeat("ü", 50_000)
	for name, err := range map[string]error{
		"Cancel":  q.Cancel(t.Context(), long),
		"Retry":   q.Retry(t.Context(), long),
		"FireTx":  func() error { _, err := q.FireSchedule(t.Context(), long); return err }(),
		"no text": func() error { _, err := q.Job(t.Context(), long+"\xff"); return err }(),
		"LimitKey": func() error {
			_, err := q.Enqueue(t.Context(), ping.New(1, &queue.Options{LimitKey: "coalesce:" + long}))
			return err
		}(),
		"JobID":    &queue.Error{Op: "enqueue", JobID: long, Err: errBroken},
		"SetLimit": q.SetLimit(t.Context(), queue.ForKey(long), queue.Limit{MaxRunning: 1}),
		"Pause":    q.Pause(t.Context(), queue.ForType(long)),
	} {
		require.Error(t, err, name)
		require.Less(t, len(err.Error()), 1000, name)
		require.NotContains(t, err.Error(), "\n", name)
	}
	require.ErrorContains(t, q.Cancel(t.Context(), long), "ü…: job not found")
	require.ErrorContains(t, q.Cancel(t.Context(), "short"), "cancel short: job not found")
}

// A Queue that is not made by New says so.
func TestAQueueThatNobodyHasMade(t *testing.T) {
	for _, q := range []*queue.Queue{nil, {}} {
		for name, call := range map[string]func() error{
			"Enqueue":   func() error { _, err := q.Enqueue(t.Context(), ping.New(1, nil)); return err },
			"EnqueueTx": func() error { _, err := q.EnqueueTx(t.Context(), nil, ping.New(1, nil)); return err },
			"Cancel":    func() error { return q.Cancel(t.Context(), "id") },
			"SetLimit":  func() error { return q.SetLimit(t.Context(), queue.ForKey("k"), queue.Limit{MaxRunning: 1}) },
		} {
			require.ErrorContains(t, call(), "make one with queue.New", name)
		}
	}
}

// A deferral is nobody's failure, and no warning.
func TestADeferralIsNoWarning(t *testing.T) {
	q := queuetest.New(t)
	var out bytes.Buffer
	quiet, err := queue.New(q.DB(), &queue.Config{Logger: slog.New(slog.NewTextHandler(&out, nil))})
	require.NoError(t, err)
	enqueue(t, q, nil)
	deferred := false
	work(t, quiet, func(context.Context, *queue.Work[int]) error {
		if deferred {
			return nil
		}
		deferred = true
		return queue.Defer(errBroken, 0)
	})
	require.Contains(t, out.String(), "level=INFO msg=\"job will run again\"")
	require.NotContains(t, out.String(), "level=WARN")
}

type usual struct{ error }

func (usual) Level() slog.Level { return slog.LevelDebug }

// What is deferred in the usual course of things need not be heard of.
func TestADeferralSaysItsLevel(t *testing.T) {
	q := queuetest.New(t)
	var out bytes.Buffer
	quiet, err := queue.New(q.DB(), &queue.Config{Logger: slog.New(slog.NewTextHandler(&out, nil))})
	require.NoError(t, err)
	enqueue(t, q, nil)
	n := 0
	work(t, quiet, func(context.Context, *queue.Work[int]) error {
		if n++; n > 1 {
			return nil
		}
		return queue.Defer(fmt.Errorf("in turn: %w", usual{errBroken}), 0)
	})
	require.Equal(t, 2, n)
	require.NotContains(t, out.String(), "job will run again")
}
