package drafting

import (
	"context"
	"errors"

	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/queue"
)

// An outcome is the end of a job.
type outcome struct {
	state replies.State
	add   button // the label of the state; empty for none
}

// complete completes the job with the report to package replies, the release of the buttons that it has worked for, and
// the job that changes the labels.
func (w *work) complete(ctx context.Context, o outcome, report func(context.Context, queue.Tx) (bool, error)) error {
	return w.attempt.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		changed, err := report(ctx, tx)
		if err != nil || !changed {
			return err
		}
		return w.moved(ctx, tx, w.attempt.Job.ID, &w.reply, w.since, o)
	})
}

// moved follows a change of the state of a reply, in its transaction. The cause names the change.
func (s *Service) moved(ctx context.Context, tx queue.Tx, cause string, r *replies.Reply, since uint64,
	o outcome) error {
	t := threadKey{r.AccountID, r.ThreadID}
	if err := t.release(ctx, tx, since, needsResponse, reworkButton); err != nil {
		return err
	}
	if o.state.Ended() {
		if err := endTexts(ctx, tx, r); err != nil {
			return err
		}
	}
	if o.state == replies.Drafted { // the message of the draft is stored before it may go, which is reported then
		if _, err := s.cfg.Queue.EnqueueTx(ctx, tx, gmail.NewHistorySyncJob(r.AccountID, 0)); err != nil {
			return err
		}
	}
	return s.enqueueLabels(ctx, tx, LabelsWork{AccountID: r.AccountID, ThreadID: r.ThreadID, Need: r.Need,
		State: o.state, Add: o.add}, cause)
}

// personWrites ends the need: a person has to write, and the label says so.
func (w *work) personWrites(ctx context.Context, reason string) error {
	return w.complete(ctx, outcome{state: replies.Skipped, add: actionRequired},
		func(ctx context.Context, tx queue.Tx) (bool, error) {
			return w.cfg.Replies.Skipped(ctx, tx, w.reply.AccountID, w.reply.ThreadID, w.reply.Need, reason)
		})
}

// declined ends the need if the Writer has left it to a person, and else returns the error.
func (w *work) declined(ctx context.Context, err error) error {
	if errors.Is(err, errDeclined) {
		return w.personWrites(ctx, errDeclined.Error())
	}
	return err
}

func (w *work) sent(ctx context.Context, messageID string) error {
	return w.complete(ctx, outcome{state: replies.Sent}, func(ctx context.Context, tx queue.Tx) (bool, error) {
		return w.cfg.Replies.Sent(ctx, tx, w.reply.AccountID, w.reply.ThreadID, w.reply.Need, messageID)
	})
}

// follow ends the need as a person has ended it with the draft, or goes on if the draft is open.
func (w *work) follow(ctx context.Context, d outbox.Draft, open func(context.Context) error) error {
	switch {
	case d.State == outbox.DraftSent, d.State == outbox.DraftDeleted && d.SentMessageID != "":
		return w.sent(ctx, d.SentMessageID)
	case d.State == outbox.DraftDeleted:
		return w.complete(ctx, outcome{state: replies.Skipped}, func(ctx context.Context, tx queue.Tx) (bool, error) {
			return w.cfg.Replies.Skipped(ctx, tx, w.reply.AccountID, w.reply.ThreadID, w.reply.Need, draftDeleted)
		})
	case open == nil:
		return nil
	}
	return open(ctx)
}

const draftDeleted = "the draft was deleted"
