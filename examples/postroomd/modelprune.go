package main

import (
	"context"
	"errors"
	"time"

	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/safety"
)

// jobPruneModels deletes old records of models and of rules.
const jobPruneModels queue.Type[struct{}] = "models.prune"

// keepCalls is how long records of model calls are kept: two whole months, for their costs.
const keepCalls = 92 * 24 * time.Hour

// keepSessions is how long a session of 'rules chat' is kept after its last message.
const keepSessions = 365 * 24 * time.Hour

// Versions of rules that were replaced this long ago are deleted, except this many of the newest of each mailbox.
const (
	keepRules    = 365 * 24 * time.Hour
	keepVersions = 100
)

func (h *host) registerPrune(d *queue.Dispatcher) {
	queue.Handle(d, jobPruneModels, func(ctx context.Context, _ *queue.Work[struct{}]) error {
		_, err := h.records.Prune(ctx, time.Now().Add(-keepCalls))
		if err == nil {
			_, err = decide.PruneTemplates(ctx, h.db)
		}
		return errors.Join(err, h.pruneRules(ctx, time.Now()))
	})
}

// pruneRules deletes old versions of rules, and old sessions in which rules were written. Versions that decisions refer to stay.
func (h *host) pruneRules(ctx context.Context, now time.Time) error {
	chat, err := h.rulesChat()
	if err != nil {
		return err
	}
	if _, err := chat.Prune(ctx, now.Add(-keepSessions)); err != nil {
		return err
	}
	decided, err := h.ledger.DecidingRules(ctx)
	if err != nil {
		return err
	}
	inUse := make(map[safety.DecidingRule]bool, len(decided))
	for _, r := range decided {
		inUse[r] = true
	}
	_, err = h.rules.PruneVersions(ctx, rules.VersionPruning{
		Before: now.Add(-keepRules), Keep: keepVersions,
		InUse: func(id, version string) bool { return inUse[safety.DecidingRule{ID: id, Version: version}] },
	})
	return err
}

// pruneSchedule returns the only schedule of the job in the database.
func pruneSchedule() queue.Schedule {
	return queue.Schedule{Name: string(jobPruneModels), Cron: "@every 24h", Job: jobPruneModels.New(struct{}{}, nil)}
}
