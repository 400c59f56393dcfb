package queueadmin_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

// A counter counts claims, as a program's own wrapper may do.
type counter struct {
	driver.Driver
	claims *atomic.Int64
}

func (c counter) Unwrap() driver.Driver { return c.Driver }

func (c counter) Claim(ctx context.Context, req driver.ClaimRequest) (driver.ClaimResult, error) {
	c.claims.Add(1)
	return c.Driver.Claim(ctx, req)
}

func TestAWrapperThatUnwrapsKeepsWhatIsOptional(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		var claims atomic.Int64
		wrapped := queue.NewDB(counter{db.Driver(), &claims})
		require.NoError(t, queue.Migrate(t.Context(), wrapped))
		q := on(t, wrapped, nil)
		id := enqueue(t, q, nil)

		explained, err := queueadmin.Explain(t.Context(), q, id)
		require.NoError(t, err)
		require.Equal(t, id, explained.Job.ID)
		findings, err := queueadmin.Doctor(t.Context(), q)
		require.NoError(t, err)
		require.Contains(t, findings[0].Text, map[driver.Dialect]string{driver.SQLite: "SQLite",
			driver.Postgres: "PostgreSQL"}[db.Dialect()], "of the engine")
		err = wrapped.Write(t.Context(), func(context.Context, queue.Tx) error {
			_, err := q.Enqueue(context.WithoutCancel(t.Context()), ping.New(1, nil)) // another context, in a write
			return err
		})
		require.ErrorIs(t, err, driver.ErrNestedWrite)
		require.Len(t, claimAs(t, q, "w"), 1)
		require.Equal(t, int64(1), claims.Load())

		to := dbtest.SQLite(t)
		require.NoError(t, queue.Migrate(t.Context(), to))
		_, err = queueadmin.Move(t.Context(), wrapped, queue.NewDB(counter{to.Driver(), &claims}),
			&queueadmin.MoveConfig{Wait: -1})
		require.ErrorIs(t, err, queueadmin.ErrStillRunning, "and it could move the others")
	})
}
