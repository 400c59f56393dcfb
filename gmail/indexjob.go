package gmail

import (
	"context"
	"errors"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
)

func (j *jobs) index(ctx context.Context, w *queue.Work[IndexPayload]) error {
	indexed, err := j.Store.Index().Build(ctx, w.Payload.AccountID)
	w.SetResult(map[string]int{"indexed": indexed})
	if errors.Is(err, postroom.ErrNotFound) {
		return canceledWith(w.Payload.AccountID)
	}
	return err
}

// enqueueIndex enqueues the job if it has enough to do.
func (j *jobs) enqueueIndex(ctx context.Context, tx queue.Tx, q *queue.Queue, accountID string) error {
	due, err := j.Store.Index().Waits(ctx, tx, accountID)
	if err != nil || !due {
		return err
	}
	_, err = q.EnqueueTx(ctx, tx, NewIndexJob(accountID))
	return err
}
