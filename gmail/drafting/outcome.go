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
	count count  // for the metrics; empty for none
	learn func(context.Context, queue.Tx) error
	sent  string // Gmail's id of the message that was sent; empty for none
}

// complete completes the job with the report to package replies, the release of the buttons that it has worked for, and
// the job that changes the labels.
func (w *work) complete(ctx context.Context, o outcome, report func(context.Context, queue.Tx) (bool, error)) error {
	var changed bool
	err := w.attempt.Complete(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		if changed, err = report(ctx, tx); err != nil || !changed {
			return err
		}
		if o.learn != nil {
			if err := o.learn(ctx, tx); err != nil {
				return err
			}
		}
		return w.moved(ctx, tx, w.attempt.Job.ID, &w.reply, w.since, o)
	})
	if err == nil && changed {
		w.count(ctx, o.count, &w.reply)
	}
	return err
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
	if o.state == replies.Sent && s.cfg.FollowUpSent {
		began, err := s.waitForSent(ctx, tx, press{threadKey: t, historyID: since, cause: "sent:" + cause}, o.sent)
		if err != nil {
			return err
		}
		if began {
			o.add = waiting
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

// declined ends the need if a person has to write, and else returns the error.
func (w *work) declined(ctx context.Context, err error) error {
	if reason, is := errors.AsType[personError](err); is {
		return w.personWrites(ctx, reason.Error())
	}
	return err
}

// sent ends the need with the message that has answered it. reason says more for the history, or is empty.
func (w *work) sent(ctx context.Context, messageID, reason string, c count) error {
	return w.sentAs(ctx, messageID, reason, outcome{state: replies.Sent, count: c})
}

func (w *work) sentAs(ctx context.Context, messageID, reason string, o outcome) error {
	o.sent = messageID
	return w.complete(ctx, o, func(ctx context.Context, tx queue.Tx) (bool, error) {
		return w.cfg.Replies.Sent(ctx, tx, w.reply.AccountID, w.reply.ThreadID, w.reply.Need, messageID, reason)
	})
}

// follow ends the need as a person has ended it with the draft, or goes on if the draft is open.
func (w *work) follow(ctx context.Context, d outbox.Draft, open func(context.Context) error) error {
	switch {
	case d.State == outbox.DraftSent, d.State == outbox.DraftDeleted && d.SentMessageID != "":
		c, learn, err := w.sentDraft(ctx, d.SentMessageID)
		if err != nil {
			return err
		}
		return w.sentAs(ctx, d.SentMessageID, "", outcome{state: replies.Sent, count: c, learn: learn})
	case d.State == outbox.DraftDeleted:
		return w.skipped(ctx, "the draft was deleted")
	case open == nil:
		return nil
	}
	return open(ctx)
}

// skipped ends the need of a draft that is there no more.
func (w *work) skipped(ctx context.Context, reason string) error {
	o := outcome{state: replies.Skipped, count: countDiscarded}
	return w.complete(ctx, o, func(ctx context.Context, tx queue.Tx) (bool, error) {
		return w.cfg.Replies.Skipped(ctx, tx, w.reply.AccountID, w.reply.ThreadID, w.reply.Need, reason)
	})
}
