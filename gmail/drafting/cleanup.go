package drafting

import (
	"context"
	"errors"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/queue"
)

func (s *Service) cleanup(ctx context.Context, q *queue.Work[replies.Cleanup]) error {
	p := q.Payload
	w := &work{Service: s, attempt: q.Attempt, payload: replies.Work{AccountID: p.AccountID, ThreadID: p.ThreadID}}
	if p.Action == replies.CleanupWithdraw {
		return w.withdraw(ctx, p)
	}
	var err error
	w.reply, err = s.cfg.Replies.Reply(ctx, p.AccountID, p.ThreadID)
	switch {
	case errors.Is(err, postroom.ErrNotFound):
		return nil
	case err != nil || w.reply.Need != p.Need:
		return err
	case p.Action == replies.CleanupCheckSent:
		return gmailapi.Verdict(w.checkSent(ctx))
	case w.reply.State != replies.Archived:
		return nil
	}
	if err := s.held(ctx, w.attempt); err != nil {
		return err
	}
	return gmailapi.Verdict(w.archive(ctx))
}

// checkSent finds out what a person has done with the draft.
func (w *work) checkSent(ctx context.Context) error {
	if w.reply.State.Ended() {
		return nil
	}
	d, err := w.cfg.Drafts.Check(ctx, w.reply.AccountID, w.reply.DraftKey())
	switch {
	case errors.Is(err, postroom.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	return w.follow(ctx, d, w.leftover)
}

// archive takes out of the inbox what the label Done was put on, and what came before. What came into the thread later
// stays: nobody has seen it.
func (w *work) archive(ctx context.Context) error {
	var err error
	if w.since, err = w.position(ctx, w.attempt, w.reply.AccountID); err != nil {
		return err
	}
	t := threadKey{w.reply.AccountID, w.reply.ThreadID}
	ids, err := w.labelIDs(ctx, t.accountID)
	if err != nil {
		return err
	}
	messages, err := w.messages(ctx, t)
	if err != nil {
		return err
	}
	last := -1
	for i, m := range messages {
		if m.HasLabel(ids.of(doneButton)) {
			last = i
		}
	}
	for _, m := range messages[:last+1] {
		if m.HasLabel(postroom.LabelInbox) {
			if err := w.change(ctx, w.attempt, m, postroom.LabelChange{Remove: []string{postroom.LabelInbox}}); err != nil {
				return err
			}
		}
	}
	return w.attempt.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := t.release(ctx, tx, w.since, doneButton); err != nil {
			return err
		}
		return w.moved(ctx, tx, w.attempt.Job.ID, &w.reply, w.since, outcome{state: replies.Archived})
	})
}
