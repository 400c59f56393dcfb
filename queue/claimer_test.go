package queue_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// A finishClaimDriver counts the jobs that are claimed with the ends of others.
type finishClaimDriver struct {
	driver.Driver
	handed atomic.Int64
}

func (d *finishClaimDriver) FinishAndClaim(
	ctx context.Context, tx *driver.WriteTx, outcomes []driver.Outcome, req driver.ClaimRequest,
) ([]error, func() driver.ClaimResult, error) {
	answers, claimed, err := d.Driver.(driver.FinishClaimer).FinishAndClaim(ctx, tx, outcomes, req)
	return answers, func() driver.ClaimResult {
		result := claimed()
		d.handed.Add(int64(len(result.Jobs)))
		return result
	}, err
}

func TestJobsThatWaitForOneAnotherAreClaimedWithTheEndOfTheOneBefore(t *testing.T) {
	const jobs = 200
	for name, opts := range map[string]queue.Options{"limited": {LimitKey: "account"}, "unlimited": {}} {
		t.Run(name, func(t *testing.T) {
			db, err := sqlite.OpenMemory(t.Context())
			require.NoError(t, err)
			defer func() { require.NoError(t, db.Close()) }()
			require.NoError(t, queue.Migrate(t.Context(), db))
			d := &finishClaimDriver{Driver: db.Driver()}
			q := on(t, d, nil)
			require.NoError(t, q.SetLimit(t.Context(), queue.ForKey("account"), queue.Limit{MaxRunning: 1}))
			for range jobs {
				_, err := q.Enqueue(t.Context(), ping.New(1, &opts))
				require.NoError(t, err)
			}
			dispatcher, err := queue.NewDispatcher(q, nil)
			require.NoError(t, err)
			ctx, stop := context.WithCancel(t.Context())
			var ran, running, most atomic.Int64
			queue.Handle(dispatcher, ping, func(context.Context, *queue.Work[int]) error {
				most.Store(max(most.Load(), running.Add(1)))
				defer running.Add(-1)
				if ran.Add(1) == jobs {
					stop()
				}
				return nil
			})
			require.NoError(t, dispatcher.Run(ctx))
			require.EqualValues(t, jobs, ran.Load())
			if opts.LimitKey == "" {
				require.Zero(t, d.handed.Load(), "ends of plain jobs leave claims to the claimer")
				return
			}
			require.EqualValues(t, 1, most.Load())
			require.Greater(t, d.handed.Load(), int64(jobs/2))
		})
	}
}
