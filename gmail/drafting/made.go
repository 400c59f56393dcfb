package drafting

import (
	"context"

	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/queue"
)

// A MadeDraft is a draft of an answer that another part of the program has made.
type MadeDraft struct {
	AccountID string
	ThreadID  string        // Gmail's
	MessageID string        // Gmail's, of the message that is answered
	Key       string        // for package outbox
	Text      string        // without what it answers
	Message   *mime.Message // as it was built
}

// Made lists a draft that another part of the program has made, and follows it as one of this package from then on. A
// thread whose need is open keeps its own: the other lies beside it, and nobody follows that. Call it in the
// transaction that records the making.
func (s *Service) Made(ctx context.Context, tx queue.Tx, d MadeDraft) error {
	changed, err := s.cfg.Replies.Made(ctx, tx, d.AccountID, d.ThreadID, d.MessageID, d.Key)
	if err != nil || !changed {
		return err
	}
	r, err := s.cfg.Replies.ReplyTx(ctx, tx, d.AccountID, d.ThreadID)
	if err != nil {
		return err
	}
	text := Text{Turn: r.Turn, Author: ByWriter, Body: d.Text, draft: hashOf(d.Message)}
	if err := saveText(ctx, tx, &r, text); err != nil {
		return err
	}
	// The message of the draft is stored before it may go, which is reported then.
	if _, err := s.cfg.Queue.EnqueueTx(ctx, tx, gmail.NewHistorySyncJob(r.AccountID, 0)); err != nil {
		return err
	}
	return s.enqueueLabels(ctx, tx, LabelsWork{AccountID: r.AccountID, ThreadID: r.ThreadID, Need: r.Need,
		State: replies.Drafted, Add: outboxLabel}, d.Key)
}
