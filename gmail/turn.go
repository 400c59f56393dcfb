package gmail

import (
	"context"
	"fmt"
	"slices"

	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/queue"
)

// hastenNext makes the jobs due that wait for the turn of the message, since the attempt has ended an action of it.
// What is not hastened, because it was about to wait or this fails, runs a little later; see [attempts.Turn].
func (j *jobs) hastenNext(ctx context.Context, w *queue.Attempt, accountID, messageID string, ended error) {
	if ended == nil || w.Ends(ended) {
		j.hasten(ctx, w, accountID, messageID, string(JobUnsnooze), attempts.Undo)
	}
}

// hasten makes the jobs of the message's queued actions due, and those of the types.
func (j *jobs) hasten(ctx context.Context, w *queue.Attempt, accountID, messageID string, types ...string) {
	queued, err := j.Ledger.Queued(ctx, accountID, messageID)
	if err == nil {
		err = hasten(ctx, w.Queue(), accountID, messageID, queued, types)
	}
	if err != nil {
		w.Logger().DebugContext(ctx, "the next action of the message is not hastened", "error", err)
	}
}

// Hasten makes the jobs due that wait for the turn of a message: those of its queued actions, with the given ids, its
// wake-ups and its undos.
func (m *Mailbox) Hasten(ctx context.Context, q *queue.Queue, accountID, messageID string, queued []string) error {
	return hasten(ctx, q, accountID, messageID, queued, []string{string(JobUnsnooze), attempts.Undo})
}

func hasten(ctx context.Context, q *queue.Queue, accountID, messageID string, queued, types []string) error {
	waiting, err := q.Jobs(ctx, queue.Filter{Types: types, States: []queue.State{queue.StateQueued},
		Tags: []string{attempts.MessageTag(messageID)}})
	// One that has not been interrupted has not come due yet: a wake-up would wake the message before its time.
	waiting = slices.DeleteFunc(waiting, func(job queue.Job) bool { return job.Interruptions == 0 })
	for _, id := range queued {
		for _, job := range []queue.NewJob{NewActionJob(accountID, id), outbox.NewSendJob(accountID, id)} {
			if err != nil {
				break
			}
			var found []queue.Job
			found, err = q.Jobs(ctx, queue.Filter{Key: job.Key.Name, States: []queue.State{queue.StateQueued}, Limit: 1})
			waiting = append(waiting, found...)
		}
	}
	for i := range waiting {
		if err == nil {
			err = q.Hasten(ctx, waiting[i].ID)
		}
	}
	if err != nil {
		return fmt.Errorf("hasten what waits for the turn of message %s: %w", messageID, err)
	}
	return nil
}
