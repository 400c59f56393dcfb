package contender

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A contender whose handlers do not run, or whose jobs do not end, gets no rate.
func TestWorkThatWasNotDoneDoesNotCount(t *testing.T) {
	_, err := Drain(t.Context(), &fakeQueue{unfinished: 10, runs: 10, finishes: 9}, 10, 0)
	require.ErrorContains(t, err, "10 ran and 9 are done")
	_, err = Drain(t.Context(), &fakeQueue{unfinished: 10, runs: 5, finishes: 10}, 10, time.Hour)
	require.ErrorContains(t, err, "5 ran and 10 are done")
	rate, err := Drain(t.Context(), &fakeQueue{unfinished: 10, runs: 10, finishes: 10}, 10, 0)
	require.NoError(t, err)
	require.Positive(t, rate)
	_, err = Drain(t.Context(), &fakeQueue{unfinished: 12, runs: 12, finishes: 12}, 10, 0)
	require.NoError(t, err, "two were left when an earlier measurement was cut short")
	_, err = Drain(t.Context(), &fakeQueue{unfinished: 10, runs: 11, finishes: 10}, 10, 0)
	require.ErrorContains(t, err, "11 ran and 10 are done")
}

// fakeQueue runs and finishes as many jobs as it is told, whatever there is.
type fakeQueue struct {
	Queue
	unfinished, runs, finishes int
}

func (f *fakeQueue) Unfinished(context.Context) (int, error) { return f.unfinished, nil }

func (f *fakeQueue) Run(_ context.Context, ran func(n int64)) error {
	for i := range f.runs {
		ran(int64(i))
	}
	f.unfinished -= f.finishes
	return nil
}
