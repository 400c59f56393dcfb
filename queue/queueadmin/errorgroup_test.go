package queueadmin_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

// On call: a type fails, and a backlog of new jobs grows behind it.
func TestABacklogHidesNoErrors(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := queueOn(t, db)
		for range 4 {
			enqueue(t, q, nil)
		}
		for i, a := range claimAs(t, q, "w") {
			err := errors.New("connection refused")
			if i%2 == 1 {
				err = queue.Fatal(err)
			}
			require.NoError(t, a.Fail(t.Context(), err))
		}
		for range 27 {
			enqueue(t, q, nil)
		}
		groups, err := queueadmin.ErrorGroups(t.Context(), q, queue.Filter{Limit: 3})
		require.NoError(t, err)
		require.Len(t, groups, 1)
		require.Equal(t, 4, groups[0].Jobs, "two have failed, and two will be tried again")
		groups, err = queueadmin.ErrorGroups(t.Context(), q, queue.Filter{Limit: 1,
			States: []queue.State{queue.StateFailed, queue.StateFailed}})
		require.NoError(t, err)
		require.Equal(t, 1, groups[0].Jobs, "the limit holds")
	})
}
