package app

import (
	"context"
	"errors"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
)

// triage reports whether the model says what mail needs an answer, and drafts are written for it.
func (h *App) triage() bool { return h.drafts() && h.Env.Config.Replies.Triage }

// answerNeeded has a draft written for mail about which the model says that it needs an answer, in the transaction that
// records the decision.
func (h *App) answerNeeded(ctx context.Context, tx queue.Tx, msg *postroom.Message, d postroom.Decision) error {
	if d.Reply != postroom.ReplyNeeded {
		return nil
	}
	return h.Drafting.Needed(ctx, tx, msg)
}

// neverAnswered is how much mail of a sender whom the person has never written to shows that no answer is needed.
const neverAnswered = 10

// asksReply reports whether the model is asked if mail needs an answer: it came after the mailbox was added, and from
// another person, who has been answered now and then.
func (m *Models) asksReply(ctx context.Context, msg *postroom.Message) (bool, error) {
	account, err := m.mail.Account(ctx, msg.AccountID)
	if errors.Is(err, postroom.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	since := account.DecideSince
	if since.IsZero() { // old mail is sorted as well, and not answered
		since = account.CreatedAt
	}
	if !msg.ReceivedAt.IsZero() && msg.ReceivedAt.Before(since) || strings.EqualFold(msg.From.Email, account.Email) {
		return false, nil
	}
	earlier, err := m.mail.CountEarlier(ctx, msg, neverAnswered)
	if err != nil || earlier < neverAnswered {
		return err == nil, err
	}
	return m.written(ctx, msg.AccountID, msg.From.Email)
}
