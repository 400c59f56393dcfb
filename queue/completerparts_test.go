package queue_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// A refusingDB takes a while for each transaction, and refuses what refuse says.
type refusingDB struct {
	driver.Driver
	calls  int
	refuse func(outcomes []driver.Outcome) error
}

func (d *refusingDB) Unwrap() driver.Driver { return d.Driver }

func (d *refusingDB) Write(ctx context.Context, fn func(ctx context.Context, tx driver.Tx) error) error {
	time.Sleep(100 * time.Millisecond)
	return d.Driver.Write(ctx, fn)
}

func (d *refusingDB) Finish(
	ctx context.Context, tx *driver.WriteTx, outcomes []driver.Outcome,
) ([]error, error) {
	d.calls++
	if err := d.refuse(outcomes); err != nil {
		return nil, err
	}
	return d.Driver.Finish(ctx, tx, outcomes)
}

// A batch of ends that a busy server gives up, or that holds one which it refuses, is not written by a transaction for
// each end: on a busy server that would take longer than a stop may.
func TestEndsThatAreRefusedTakeFewTransactions(t *testing.T) {
	const jobs = 100
	for name, c := range map[string]struct {
		refuse func(bad string) func([]driver.Outcome) error
		most   int
	}{
		"a batch that is given up once": {most: 5, refuse: func(string) func([]driver.Outcome) error {
			given := false
			return func(outcomes []driver.Outcome) error {
				if len(outcomes) < jobs/2 || given {
					return nil
				}
				given = true
				return driver.ErrDeadlock
			}
		}},
		"one that is refused for a while": {most: 30, refuse: func(bad string) func([]driver.Outcome) error {
			var until time.Time
			return func(outcomes []driver.Outcome) error {
				for i := range outcomes {
					if outcomes[i].Lease.JobID == bad && (until.IsZero() || time.Now().Before(until)) {
						if until.IsZero() {
							until = time.Now().Add(4 * time.Second)
						}
						return errors.New("refused")
					}
				}
				return nil
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, q *queue.Queue) {
				batch := make([]queue.NewJob, jobs)
				for i := range batch {
					batch[i] = ping.New(i, nil)
				}
				enqueued, err := q.EnqueueMany(t.Context(), batch)
				require.NoError(t, err)
				db := &refusingDB{Driver: q.DB().Driver(), refuse: c.refuse(enqueued[jobs/2].ID)}
				stop := start(t, on(t, db, nil), &queue.DispatcherConfig{Workers: jobs},
					func(context.Context, *queue.Work[int]) error {
						time.Sleep(time.Second) // so that they end together
						return nil
					})
				time.Sleep(time.Minute)
				require.NoError(t, stop())
				counts, err := q.Counts(t.Context(), queue.Filter{})
				require.NoError(t, err)
				require.Equal(t, jobs, counts[queue.StateCompleted])
				require.LessOrEqual(t, db.calls, c.most)
			})
		})
	}
}
