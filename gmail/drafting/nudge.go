package drafting

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/queue"
)

// A nudge is the draft of a reminder: its reply answers a message that the person has sent. No other reply does, so the
// message says which one is a nudge.

const theyAnswered = "they have answered, and no reminder is needed"

// nudged returns the message that a reply reminds of; nil if the reply is no nudge.
func nudged(r *replies.Reply, messages []*postroom.Message) *postroom.Message {
	for _, m := range messages {
		if m.ProviderID == r.MessageID && m.HasLabel(postroom.LabelSent) {
			return m
		}
	}
	return nil
}

// nudgeAnswered reports whether a reply is a nudge that others have answered.
func nudgeAnswered(r *replies.Reply, messages []*postroom.Message) bool {
	m := nudged(r, messages)
	if m == nil {
		return false
	}
	_, answered := waitsSince(messages, m.ReceivedAt)
	return answered
}

// toNudge returns the message of the person that a thread waits for an answer to; nil if its last message is not the
// person's, or went to nobody who could be reminded.
func (s *Service) toNudge(messages []*postroom.Message) *postroom.Message {
	if !s.cfg.FollowUpDraft || len(messages) == 0 {
		return nil
	}
	last := messages[len(messages)-1]
	machine := func(a postroom.Address) bool {
		return len(mime.Header{{Name: "From", Value: a.Email}}.Automatic()) > 0
	}
	if !last.HasLabel(postroom.LabelSent) || len(last.To) == 0 || slices.ContainsFunc(last.To, machine) {
		return nil
	}
	return last
}

// beginNudge has a reminder written, within the drafts of a day. A message is reminded of once, and only while no draft
// is open in its thread.
func (s *Service) beginNudge(ctx context.Context, tx queue.Tx, m *postroom.Message) (bool, error) {
	if m == nil {
		return false, nil
	}
	r, err := s.cfg.Replies.ReplyTx(ctx, tx, m.AccountID, m.ProviderThreadID)
	switch {
	case errors.Is(err, postroom.ErrNotFound):
	case err != nil || !r.State.Ended():
		return false, err
	}
	day := queue.Now(tx).UTC().Format(time.DateOnly)
	began, _, err := s.beginOfDay(ctx, tx, m, day, s.cfg.Replies.Remind)
	return began, err
}

// nudgeEnds ends a nudge that is not written yet, if the person need not remind anybody.
func (w *work) nudgeEnds(ctx context.Context) (ended bool, err error) {
	last, answered := waitsSince(w.thread, w.message.ReceivedAt)
	reason := theyAnswered
	switch {
	case answered:
	case last.After(w.message.ReceivedAt):
		reason = "you have written again"
	default:
		return false, nil
	}
	return true, w.complete(ctx, outcome{state: replies.Skipped}, func(ctx context.Context, tx queue.Tx) (bool, error) {
		return w.cfg.Replies.Skipped(ctx, tx, w.reply.AccountID, w.reply.ThreadID, w.reply.Need, reason)
	})
}

// others are whom a message of the person went to, as Gmail addresses another one.
func (w *work) others(ctx context.Context) (to []mime.Address, err error) {
	everybody := outbox.DraftContent{}
	if err := w.toEverybody(ctx, &everybody); err != nil {
		return nil, err
	}
	for _, a := range everybody.Cc {
		if slices.ContainsFunc(w.message.To, func(t postroom.Address) bool { return t.Email == a.Email }) {
			to = append(to, a)
		}
	}
	if len(to) == 0 {
		return nil, personError("your message went to nobody else")
	}
	return to, nil
}

// checkNudge has a nudge looked at because a message has come that may answer it.
func (s *Service) checkNudge(ctx context.Context, tx queue.Tx, msg *postroom.Message) error {
	if !isAnswer(msg) {
		return nil
	}
	t := threadKey{msg.AccountID, msg.ProviderThreadID}
	r, is, err := s.openNudge(ctx, tx, t)
	if err != nil || !is {
		return err
	}
	return s.enqueueCleanup(ctx, tx, &r, replies.CleanupCheckSent, "message:"+msg.ProviderID)
}

// pastNudge ends a nudge that was answered, without waiting for its check, so that another need can begin. A message
// that is being stored may be the answer.
func (s *Service) pastNudge(ctx context.Context, tx queue.Tx, t threadKey, coming ...*postroom.Message) error {
	r, is, err := s.openNudge(ctx, tx, t)
	if err != nil || !is {
		return err
	}
	messages, err := s.cfg.Store.ThreadMessagesTx(ctx, tx, t.accountID, t.threadID)
	if err != nil || !nudgeAnswered(&r, append(messages, coming...)) {
		return err
	}
	changed, err := s.cfg.Replies.Skipped(ctx, tx, t.accountID, t.threadID, r.Need, theyAnswered)
	if err != nil || !changed {
		return err
	}
	if err := t.release(ctx, tx, 0, reworkButton); err != nil {
		return err
	}
	return s.enqueueCleanup(ctx, tx, &r, replies.CleanupWithdraw, "answered")
}

// openNudge returns the reply of a thread, and whether it is a nudge with a draft.
func (s *Service) openNudge(ctx context.Context, tx queue.Tx, t threadKey) (r replies.Reply, is bool, err error) {
	r, err = s.cfg.Replies.ReplyTx(ctx, tx, t.accountID, t.threadID)
	switch {
	case errors.Is(err, postroom.ErrNotFound):
		return r, false, nil
	case err != nil || r.State != replies.Drafted && r.State != replies.ReworkRequested:
		return r, false, err
	}
	messages, err := s.cfg.Store.ThreadMessagesTx(ctx, tx, t.accountID, t.threadID)
	return r, nudged(&r, messages) != nil, err
}

func (s *Service) enqueueCleanup(ctx context.Context, tx queue.Tx, r *replies.Reply, action replies.CleanupAction,
	cause string) error {
	work := replies.Cleanup{AccountID: r.AccountID, ThreadID: r.ThreadID, Need: r.Need, Action: action}
	_, err := s.cfg.Queue.EnqueueTx(ctx, tx, replies.JobCleanup.New(work, &queue.Options{
		MaxAttempts: attempts.Unattended, LimitKey: mailstore.LimitKey(r.AccountID),
		Key: queue.Forever(joined("nudge", string(action), r.AccountID, r.ThreadID, cause)),
	}))
	return err
}

// withdraw deletes the draft of a need that has ended without the person. One that the person has changed stays.
func (w *work) withdraw(ctx context.Context, p replies.Cleanup) error {
	if err := w.held(ctx, w.attempt); err != nil {
		return err
	}
	r := replies.Reply{AccountID: p.AccountID, ThreadID: p.ThreadID, Need: p.Need}
	_, err := w.deleteOurs(ctx, &r)
	if _, sent := errors.AsType[*StateError](err); sent {
		err = nil
	}
	if err != nil {
		return gmailapi.Verdict(err)
	}
	return w.attempt.Complete(ctx, func(ctx context.Context, tx queue.Tx) error { return endTexts(ctx, tx, &r) })
}
