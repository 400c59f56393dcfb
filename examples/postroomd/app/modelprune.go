package app

import (
	"context"
	"errors"
	"github.com/postroom-go/postroom/llm/decide"
	"time"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/rulestore"
	"github.com/postroom-go/postroom/safety"
)

// jobPruneModels deletes old records of models and of rules.
const jobPruneModels queue.Type[struct{}] = "models.prune"

// keepCalls is how long records of model calls are kept: two whole months, for their costs.
const keepCalls = 92 * 24 * time.Hour

// KeepSessions is how long a session of 'rules chat' is kept after its last message.
const KeepSessions = 365 * 24 * time.Hour

// Versions of rules that were replaced this long ago are deleted, except this many of the newest of each mailbox.
const (
	keepRules    = 365 * 24 * time.Hour
	keepVersions = 100
)

func (h *App) registerPrune(d *queue.Dispatcher) {
	queue.Handle(d, jobPruneModels, func(ctx context.Context, _ *queue.Work[struct{}]) error {
		_, err := h.Models.Records.Prune(ctx, time.Now().Add(-keepCalls))
		if err == nil {
			_, err = decide.PruneTemplates(ctx, h.DB)
		}
		return errors.Join(err, h.PruneRules(ctx, time.Now()))
	})
}

// PruneRules deletes old versions of rules, and old sessions in which rules were written. Versions that decisions refer to stay.
func (h *App) PruneRules(ctx context.Context, now time.Time) error {
	chat, err := h.NewRulesChat()
	if err != nil {
		return err
	}
	if _, err := chat.Prune(ctx, now.Add(-KeepSessions)); err != nil {
		return err
	}
	decided, err := h.Ledger.DecidingRules(ctx)
	if err != nil {
		return err
	}
	inUse := make(map[safety.DecidingRule]bool, len(decided))
	for _, r := range decided {
		inUse[r] = true
	}
	_, err = h.Rules.PruneVersions(ctx, rulestore.VersionPruning{
		Before: now.Add(-keepRules), Keep: keepVersions,
		InUse: func(id, version string) bool { return inUse[safety.DecidingRule{ID: id, Version: version}] },
	})
	return err
}

// pruneSchedule returns the only schedule of the job in the database.
func pruneSchedule() queue.Schedule {
	return queue.Schedule{Name: string(jobPruneModels), Cron: "@every 24h", Job: jobPruneModels.New(struct{}{}, nil)}
}
