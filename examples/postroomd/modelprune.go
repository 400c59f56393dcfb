package main

import (
	"context"
	"time"

	"github.com/postroom-go/postroom/queue"
)

// jobPruneModels deletes the records of models that nobody needs any more.
const jobPruneModels queue.Type[struct{}] = "models.prune"

// keepCalls is how long calls of models stay on record: two whole months, for what they cost.
const keepCalls = 92 * 24 * time.Hour

func (h *host) registerPrune(d *queue.Dispatcher) {
	queue.Handle(d, jobPruneModels, func(ctx context.Context, _ *queue.Work[struct{}]) error {
		_, err := h.records.Prune(ctx, time.Now().Add(-keepCalls))
		return err
	})
}

// pruneSchedule is one for the whole database.
func pruneSchedule() queue.Schedule {
	return queue.Schedule{Name: string(jobPruneModels), Cron: "@every 24h", Job: jobPruneModels.New(struct{}{}, nil)}
}
