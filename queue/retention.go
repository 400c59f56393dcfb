package queue

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// Keep is how long finished jobs are kept, by state. Zero is the default: 7 days, or for a type the value for all
// types. Negative means for ever.
type Keep struct {
	Completed time.Duration
	Failed    time.Duration
	Canceled  time.Duration
}

// Retention is how long finished jobs, with their steps, attempts and logs, are kept. Jobs that are not finished are
// always kept, and so are their keys and those of scope forever.
type Retention struct {
	Keep
	// Types overrides Keep for single types.
	Types map[string]Keep
}

const defaultKeep = 7 * 24 * time.Hour

// of returns how long a job is kept; negative is for ever.
func (r *Retention) of(jobType string, state State) time.Duration {
	for _, keep := range []Keep{r.Types[jobType], r.Keep} {
		if d := keep.of(state); d != 0 {
			return d
		}
	}
	return defaultKeep
}

func (k Keep) of(state State) time.Duration {
	switch state {
	case StateCompleted:
		return k.Completed
	case StateFailed:
		return k.Failed
	case StateCanceled:
		return k.Canceled
	default:
		return -1
	}
}

const (
	// pruneBatch is how many rows one transaction deletes, so that other writes wait only briefly.
	pruneBatch = 500
	// minPrunePause is the least pause between two batches. It is at least as long as the batch took.
	minPrunePause = 10 * time.Millisecond
)

// Prune deletes finished jobs that have been kept as long as [Config].Retention says, expired keys of scope period, and
// the state of rates that no longer delay a start. The jobs of a flow are kept until the flow has ended, and the flow
// until its jobs are deleted. It returns the number of jobs. It deletes a few at a time, with
// pauses for other writes. Running dispatchers do this every minute.
func (q *Queue) Prune(ctx context.Context) (jobs int, err error) {
	for _, state := range States() {
		if !state.Finished() {
			continue
		}
		types, err := q.driver.Finished(ctx, state)
		if err != nil {
			return jobs, wrap("prune", "", err)
		}
		for _, t := range types {
			n, err := q.pruneType(ctx, state, t)
			jobs += n
			if err != nil {
				return jobs, wrap("prune", "", fmt.Errorf("%s jobs of type %s: %w", state, t.Type, err))
			}
		}
	}
	if err := driver.PruneFlows(ctx, q.driver, q.now().Add(-q.retention.shortest()), pruneBatch); err != nil {
		return jobs, wrap("prune", "", fmt.Errorf("flows: %w", err))
	}
	if err := q.pruneKeys(ctx); err != nil {
		return jobs, wrap("prune", "", fmt.Errorf("keys: %w", err))
	}
	if err := q.pruneRates(ctx); err != nil {
		return jobs, wrap("prune", "", fmt.Errorf("rates: %w", err))
	}
	return jobs, nil
}

func (q *Queue) pruneType(ctx context.Context, state State, t driver.FinishedType) (int, error) {
	keep := q.retention.of(t.Type, state)
	before := q.now().Add(-keep)
	if keep < 0 || !t.First.Before(before) {
		return 0, nil
	}
	req := driver.PruneRequest{State: state, Type: t.Type, FinishedBefore: before, Limit: pruneBatch}
	return q.inBatches(ctx, func(ctx context.Context, tx *driver.WriteTx) (int,
		error) {
		return q.driver.Prune(ctx, tx, req)
	})
}

// shortest returns the shortest time for which any job is kept.
func (r *Retention) shortest() time.Duration {
	shortest := defaultKeep
	for _, keep := range append(slices.Collect(maps.Values(r.Types)), r.Keep) {
		for _, d := range []time.Duration{keep.Completed, keep.Failed, keep.Canceled} {
			if d > 0 {
				shortest = min(shortest, d)
			}
		}
	}
	return shortest
}

func (q *Queue) pruneKeys(ctx context.Context) error {
	first, err := q.driver.FirstKeyExpiry(ctx)
	if err != nil || first.IsZero() || first.After(q.now()) {
		return err
	}
	_, err = q.inBatches(ctx, func(ctx context.Context, tx *driver.WriteTx) (int, error) {
		return q.driver.PruneKeys(ctx, tx, pruneBatch)
	})
	return err
}

// rateMargin is how long a rate is kept that no longer holds anything up: the clock of another machine may be behind.
const rateMargin = time.Hour

func (q *Queue) pruneRates(ctx context.Context) error {
	before := q.now().Add(-rateMargin)
	first, err := q.driver.FirstRate(ctx)
	if err != nil || first.IsZero() || !first.Before(before) {
		return err
	}
	_, err = q.inBatches(ctx, func(ctx context.Context, tx *driver.WriteTx) (int, error) {
		return q.driver.PruneRates(ctx, tx, before, pruneBatch)
	})
	return err
}

// inBatches repeats a deletion, each time in a transaction of its own, until it finds less than a batch.
func (q *Queue) inBatches(
	ctx context.Context, fn func(ctx context.Context, tx *driver.WriteTx) (int, error),
) (total int, err error) {
	for {
		began, n := time.Now(), 0
		err := q.write(ctx, func(ctx context.Context, tx *driver.WriteTx) (err error) {
			n, err = fn(ctx, tx)
			return err
		})
		if err != nil {
			return total, err
		}
		if total += n; n < pruneBatch {
			return total, nil
		}
		if !sleep(ctx, max(minPrunePause, time.Since(began))) {
			return total, context.Cause(ctx)
		}
	}
}

// pruneInterval is how often a dispatcher prunes.
const pruneInterval = time.Minute

// The pruner deletes finished jobs whose retention has expired. While there is nothing to delete, it only reads.
type pruner struct {
	q   *Queue
	log *slog.Logger
}

func (p *pruner) run(ctx context.Context) {
	ticker := time.NewTicker(pruneInterval)
	defer ticker.Stop()
	for {
		n, err := p.q.Prune(ctx)
		if err != nil && ctx.Err() == nil {
			p.log.ErrorContext(ctx, "pruning finished jobs failed; trying again", logError, err)
		}
		if n > 0 {
			p.log.InfoContext(ctx, "finished jobs were pruned", "jobs", n)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
