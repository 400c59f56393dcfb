package postroom

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/postroom-go/postroom/internal/bench/contender"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

func (p *postroom) claim(ctx context.Context, types []string, n int) ([]*queue.Attempt, error) {
	return p.q.Claim(ctx, "bench", types, n)
}

// end completes jobs in one transaction.
func (p *postroom) end(ctx context.Context, jobs []*queue.Attempt) error {
	outcomes := make([]driver.Outcome, len(jobs))
	for i := range outcomes {
		outcomes[i] = driver.Outcome{Lease: driver.Lease{JobID: jobs[i].Job.ID, Attempt: jobs[i].Job.Attempt},
			State: driver.StateCompleted, Kind: driver.KindCompleted, At: time.Now()}
	}
	return driver.Write(ctx, p.db, func(ctx context.Context, tx *driver.WriteTx) error {
		answers, err := p.db.Driver().Finish(ctx, tx, outcomes)
		return errors.Join(append(answers, err)...)
	})
}

// limitKey is that of an account. Its jobs are limited by a limit of their own, or by that of the prefix.
func limitKey(i int) string { return keyPrefix + strconv.Itoa(i) }

const keyPrefix = "account:"

// limitKeys sets a separate limit for each of the given number of keys.
func (p *postroom) limitKeys(ctx context.Context, keys, running int) error {
	for i := range keys {
		if err := p.q.SetLimit(ctx, queue.ForKey(limitKey(i)), queue.Limit{MaxRunning: running}); err != nil {
			return err
		}
	}
	return nil
}

// limitPrefix limits each key, with one row for all.
func (p *postroom) limitPrefix(ctx context.Context, running int) error {
	return p.q.SetLimit(ctx, queue.ForKeyPrefix(keyPrefix), queue.Limit{MaxRunning: running})
}

// fillKeys stores n jobs of random keys and priorities, those of each key of four of the types, as the jobs of an
// account are.
func (p *postroom) fillKeys(ctx context.Context, n, keys, types int) error {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same jobs each time
	return contender.InThousands(n, func(n int) error {
		jobs := make([]queue.NewJob, n)
		for i := range jobs {
			k := random.IntN(keys)
			name := typeName((k + random.IntN(4)*types/4) % types)
			jobs[i] = queue.Type[contender.Payload](name).New(contender.NewPayload(int64(i)),
				&queue.Options{Priority: random.IntN(3), LimitKey: limitKey(k)})
		}
		_, err := p.q.EnqueueMany(ctx, jobs)
		return err
	})
}

// stageKeys stores n jobs with the given number of keys in turn.
func (p *postroom) stageKeys(ctx context.Context, n, keys int) error {
	next := 0
	return contender.InThousands(n, func(n int) error {
		jobs := make([]queue.NewJob, n)
		for i := range jobs {
			jobs[i] = benchJob.New(contender.NewPayload(int64(next)), &queue.Options{LimitKey: limitKey(next % keys)})
			next++
		}
		_, err := p.q.EnqueueMany(ctx, jobs)
		return err
	})
}

// deleteAll deletes every job with SQL, and leaves the engine's dead rows.
func (p *postroom) deleteAll(ctx context.Context) error {
	if p.db.Driver().Dialect() == driver.Postgres {
		if err := p.Exec(ctx, "ALTER TABLE jobs SET (autovacuum_enabled = off)"); err != nil {
			return err
		}
	}
	return p.Exec(ctx, "DELETE FROM jobs")
}
