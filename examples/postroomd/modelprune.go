package main

import (
	"context"
	"errors"
	"time"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/safety"
)

// jobPruneModels deletes the records of models, and of rules, that nobody needs any more.
const jobPruneModels queue.Type[struct{}] = "models.prune"

// keepCalls is how long calls of models stay on record: two whole months, for what they cost.
const keepCalls = 92 * 24 * time.Hour

// keepSessions is how long a session of 'rules chat' is kept after something was said in it.
const keepSessions = 365 * 24 * time.Hour

// Versions of rules that were replaced so long ago are deleted, except so many of the newest of each mailbox.
const (
	keepRules    = 365 * 24 * time.Hour
	keepVersions = 100
)

func (h *host) registerPrune(d *queue.Dispatcher) {
	queue.Handle(d, jobPruneModels, func(ctx context.Context, _ *queue.Work[struct{}]) error {
		_, err := h.records.Prune(ctx, time.Now().Add(-keepCalls))
		return errors.Join(err, h.pruneRules(ctx, time.Now()))
	})
}

// pruneRules deletes old versions of rules, and old sessions in which rules were written. What decisions refer to stays.
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

// pruneSchedule is one for the whole database.
func pruneSchedule() queue.Schedule {
	return queue.Schedule{Name: string(jobPruneModels), Cron: "@every 24h", Job: jobPruneModels.New(struct{}{}, nil)}
}
