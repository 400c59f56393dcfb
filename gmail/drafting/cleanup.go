package drafting

import (
	"context"
	"errors"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/queue"
)

func (s *Service) cleanup(ctx context.Context, q *queue.Work[replies.Cleanup]) error {
	p := q.Payload
	w := &work{Service: s, attempt: q.Attempt, payload: replies.Work{AccountID: p.AccountID, ThreadID: p.ThreadID}}
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
	return w.follow(ctx, d, func(ctx context.Context) error {
		sent, err := w.sentBeside(ctx)
		if err != nil || sent == "" {
			return err
		}
		return w.sent(ctx, sent)
	})
}

// sentBeside returns Gmail's id of a message that a person has sent in the thread while the draft lay there; empty if
// there is none.
func (w *work) sentBeside(ctx context.Context) (string, error) {
	texts, err := w.Texts(ctx, w.reply)
	if err != nil || len(texts) == 0 {
		return "", err
	}
	messages, err := w.messages(ctx, threadKey{w.reply.AccountID, w.reply.ThreadID})
	if err != nil {
		return "", err
	}
	for _, m := range messages {
		if m.HasLabel(postroom.LabelSent) && m.ReceivedAt.After(texts[0].WrittenAt) {
			return m.ProviderID, nil
		}
	}
	return "", nil
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

// JobCheck looks at the drafts of an account that nobody has reported gone.
const JobCheck queue.Type[CheckWork] = "reply_check"

// A CheckWork names the account of a [JobCheck]; empty for all.
type CheckWork struct {
	AccountID string `json:"account_id,omitempty"`
}

// NewCheckJob makes the job that looks whether a person has sent or deleted a draft of an account, or of all accounts
// if the id is empty, or has answered without it. Not every such change is reported: a draft may be gone before it was
// stored here. Schedule it once an hour. The key allows one unfinished job for each account.
func NewCheckJob(accountID string) queue.NewJob {
	return JobCheck.New(CheckWork{accountID}, &queue.Options{
		MaxAttempts: attempts.Unattended, Key: queue.WhileUnfinished(joined(string(JobCheck), accountID)),
	})
}

// maxChecks bounds the drafts of each state that one job looks at.
const maxChecks = 1000

func (s *Service) check(ctx context.Context, w *queue.Work[CheckWork]) error {
	accounts := []string{w.Payload.AccountID}
	if w.Payload.AccountID == "" {
		all, err := s.cfg.Store.Accounts(ctx)
		if err != nil {
			return err
		}
		accounts = nil
		for i := range all {
			accounts = append(accounts, all[i].ID)
		}
	}
	cause := joined("check", w.Job.CreatedAt.UTC().Format(time.RFC3339Nano))
	for _, account := range accounts {
		for _, state := range []replies.State{replies.Drafted, replies.ReworkRequested} {
			if err := s.checkDrafts(ctx, w.Attempt, account, state, cause); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Service) checkDrafts(ctx context.Context, w *queue.Attempt, accountID string, state replies.State,
	cause string) error {
	list, err := s.cfg.Replies.List(ctx, accountID, state, maxChecks)
	for i := 0; err == nil && i < len(list); i++ {
		err = w.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
			_, err := s.cfg.Replies.Vanished(ctx, tx, accountID, list[i].ThreadID, cause)
			return err
		})
	}
	return err
}
