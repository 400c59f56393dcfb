package queue

import (
	"context"
	"log/slog"
	"time"
)

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
