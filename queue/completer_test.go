package queue

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
)

func TestAlign(t *testing.T) {
	start := time.Now()
	after := func(us int) time.Time { return start.Add(time.Duration(us) * time.Microsecond) }
	ended := func(us int, state State) *completion {
		return &completion{outcome: driver.Outcome{State: state, At: after(us)}}
	}
	batch := []*completion{
		ended(0, StateCompleted), ended(300, StateQueued), ended(400, StateCompleted), ended(1_300, StateCompleted),
		ended(1_400, StateCompleted), ended(1_200, StateCompleted), ended(9_000, StateCompleted),
	}
	want := []int{0, 300, 1_400, 1_400, 1_400, 1_200, 9_000}
	require.Len(t, batch, len(want))
	stored := func() (at []time.Time) {
		align(batch)
		for _, e := range batch {
			at = append(at, e.at)
		}
		return at
	}
	var instants []time.Time
	for _, us := range want {
		instants = append(instants, after(us))
	}
	require.Equal(t, instants, stored())

	batch = append(batch[:4], ended(2_000, StateCompleted))
	require.Equal(t, append(instants[:4:4], after(2_000)), stored(), "what may have been stored keeps its instant")
}

// A thousand results of 1 MiB are more than PostgreSQL takes in a statement: they would never be written.
func TestCompletionsOfATransactionAreBoundedByBytes(t *testing.T) {
	result := make([]byte, 1<<20)
	c := &completer{}
	for range 100 {
		c.completions = append(c.completions, &completion{stored: &driver.Outcome{Result: result}})
	}
	require.Len(t, c.take(), maxCompleted>>20)
	require.Len(t, c.take(), 100-maxCompleted>>20)
	require.Empty(t, c.take())
	for range maxCompletions + 1 {
		c.completions = append(c.completions, &completion{stored: &driver.Outcome{}})
	}
	require.Len(t, c.take(), maxCompletions)
	require.Len(t, c.take(), 1)
}
