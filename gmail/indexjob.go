package gmail

import (
	"context"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/queue"
)

// An IndexPayload names the account whose messages to index.
type IndexPayload struct {
	AccountID string `json:"account_id"`
}

// NewIndexJob makes the job that calls [mailstore.Store.IndexMessages]. History syncs and backfills enqueue it whenever 512 messages of the account
// wait for it. The key allows one unfinished job for each account.
func NewIndexJob(accountID string) queue.NewJob {
	return JobIndex.New(IndexPayload{AccountID: accountID}, &queue.Options{
		Priority: priorityBackfill, MaxAttempts: attempts.Unattended, Key: queue.WhileUnfinished(fmt.Sprintf("%s:%s", JobIndex, accountID)),
		LimitKey: mailstore.LimitKey(accountID),
	})
}

func (j *jobs) index(ctx context.Context, w *queue.Work[IndexPayload]) error {
	indexed, err := j.Store.IndexMessages(ctx, w.Payload.AccountID)
	w.SetResult(map[string]int{"indexed": indexed})
	if errors.Is(err, postroom.ErrNotFound) {
		return canceledWith(w.Payload.AccountID)
	}
	return err
}

// enqueueIndex enqueues the job if it has enough to do.
func (j *jobs) enqueueIndex(ctx context.Context, tx queue.Tx, q *queue.Queue, accountID string) error {
	due, err := j.Store.IndexDue(ctx, tx, accountID)
	if err != nil || !due {
		return err
	}
	_, err = q.EnqueueTx(ctx, tx, NewIndexJob(accountID))
	return err
}
