package queue

import (
	"context"
	"log/slog"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// The rescuer looks for workers whose heartbeat has not changed for a lease, on its own monotonic clock: no two machines' clocks
// are ever compared. It removes them and gives their jobs back.
type rescuer struct {
	q        *Queue
	log      *slog.Logger
	identity *identity
	lease    time.Duration

	seen   map[string]sighting
	looked time.Time
}

type sighting struct {
	beat  int64
	since time.Time
}

func (r *rescuer) run(ctx context.Context) {
	ticker := time.NewTicker(r.lease / 4)
	defer ticker.Stop()
	for {
		if err := r.look(ctx, r.lease); err != nil && ctx.Err() == nil {
			r.log.ErrorContext(ctx, "looking for dead workers failed", logError, err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// takeAll removes every worker there is, for a dispatcher that knows it is alone.
func (r *rescuer) takeAll(ctx context.Context) error { return r.look(ctx, 0) }

func (r *rescuer) look(ctx context.Context, lease time.Duration) error {
	ctx, cancel := answered(ctx)
	defer cancel()
	workers, err := r.q.driver.Workers(ctx)
	if err != nil {
		return err
	}
	now := time.Now()
	if now.Sub(r.looked) > lease/2 {
		// This process, and perhaps the whole machine, stood still: that time says nothing about the others.
		clear(r.seen)
	}
	r.looked = now
	still := make(map[string]sighting, len(workers))
	for _, w := range workers {
		if w.ID == r.identity.get() {
			continue
		}
		s, known := r.seen[w.ID]
		if !known || s.beat != w.Beat {
			s = sighting{beat: w.Beat, since: now}
		}
		still[w.ID] = s
		if now.Sub(s.since) >= lease {
			if err := r.takeOver(ctx, w); err != nil {
				return err
			}
		}
	}
	r.seen = still
	return nil
}

func (r *rescuer) takeOver(ctx context.Context, w driver.Worker) error {
	var jobs []Job
	q := r.q
	err := q.writeSoon(ctx, func(ctx context.Context, tx *driver.WriteTx) error {
		held, err := q.driver.RemoveDeadWorker(ctx, tx, w)
		if jobs = jobsOf(held); err != nil || len(jobs) == 0 {
			return err
		}
		outcomes := make([]driver.Outcome, len(jobs))
		for i := range jobs {
			outcomes[i] = judgeCrash(&jobs[i], tx.Now(), q.budget)
		}
		answers, err := q.driver.Finish(ctx, tx, outcomes)
		if err != nil {
			return err
		}
		if err := q.recordCrashes(ctx, tx, jobs, outcomes, answers); err != nil {
			return err
		}
		return q.driver.Notify(ctx, tx)
	})
	if err == nil && len(jobs) > 0 {
		r.log.WarnContext(ctx, "worker is dead; its jobs are taken over", logWorkerID, w.ID, "jobs", len(jobs))
	}
	return err
}
