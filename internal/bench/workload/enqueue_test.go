package workload

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/bench/contender"
)

// A contender that loses jobs gets no figure.
func TestJobsThatWereLostDoNotCount(t *testing.T) {
	size := QuickSize()
	_, err := enqueueFrom(1)(t.Context(), &losingQueue{}, &size)
	require.ErrorContains(t, err, "100 jobs were enqueued, but 0 are there")
}

// losingQueue accepts jobs and forgets them.
type losingQueue struct{ contender.Queue }

func (losingQueue) Enqueue(context.Context, contender.Payload) error { return nil }

func (losingQueue) Unfinished(context.Context) (int, error) { return 0, nil }

func TestTogetherStopsAtAnErrorAndAtItsLimit(t *testing.T) {
	boom := errors.New("boom")
	_, err := together(4, 1000, 0, func(int) error { return boom })
	require.ErrorIs(t, err, boom)
	n, err := together(1, 1_000_000_000, time.Microsecond, func(int) error { return nil })
	require.NoError(t, err)
	require.Less(t, n, 1_000_000_000)
}
