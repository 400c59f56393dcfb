package gmail

import (
	"context"
	"fmt"

	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/queue"
)

// hastenNext makes the jobs of the message's other queued actions due, since the attempt has ended an action of it:
// they have waited for that. What is not hastened, because it was about to wait or this fails, runs a little later;
// see [attempts.Turn].
func (j *jobs) hastenNext(ctx context.Context, w *queue.Attempt, accountID, messageID string, ended error) {
	if ended != nil && !w.Ends(ended) {
		return
	}
	if err := j.hasten(ctx, w.Queue(), accountID, messageID); err != nil {
		w.Logger().DebugContext(ctx, "the next action of the message is not hastened", "error", err)
	}
}

func (j *jobs) hasten(ctx context.Context, q *queue.Queue, accountID, messageID string) error {
	ids, err := j.Ledger.Queued(ctx, accountID, messageID)
	if err != nil {
		return err
	}
	for _, id := range ids {
		for _, job := range []queue.NewJob{NewActionJob(accountID, id), outbox.NewSendJob(accountID, id)} {
			waiting, err := q.Jobs(ctx, queue.Filter{Key: job.Key.Name, States: []queue.State{queue.StateQueued}, Limit: 1})
			if err != nil {
				return err
			}
			if len(waiting) == 0 {
				continue
			}
			if err := q.Hasten(ctx, waiting[0].ID); err != nil {
				return fmt.Errorf("hasten action %s: %w", id, err)
			}
		}
	}
	return nil
}
