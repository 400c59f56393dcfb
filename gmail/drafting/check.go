package drafting

import (
	"context"
	"errors"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/queue"
)

// JobCheck looks at the drafts of an account that nobody has reported gone.
const JobCheck queue.Type[CheckWork] = "reply_check"

// A CheckWork names the account of a [JobCheck]; empty for all.
type CheckWork struct {
	AccountID string `json:"account_id,omitempty"`
}

// NewCheckJob makes the job that looks whether a person has sent or deleted a draft of an account, or of all accounts
// if the id is empty, or has answered without it. Not every such change is reported: a draft may be gone before it was
// stored here. A draft that is as this package has written it is deleted if the person has answered without it, or
// after 14 days. Schedule it once an hour. The key allows one unfinished job for each account.
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
	for _, account := range accounts {
		if err := s.checkDrafts(ctx, w.Attempt, account); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) checkDrafts(ctx context.Context, w *queue.Attempt, accountID string) error {
	list, _, err := s.cfg.Replies.List(ctx, replies.Filter{AccountID: accountID, Limit: maxChecks,
		States: []replies.State{replies.Drafted, replies.ReworkRequested}})
	if err != nil || len(list) == 0 {
		return err
	}
	var jobs []queue.NewJob
	for _, r := range list {
		work := replies.Cleanup{AccountID: r.AccountID, ThreadID: r.ThreadID, Need: r.Need, Action: replies.CleanupCheckSent}
		jobs = append(jobs, replies.JobCleanup.New(work, &queue.Options{
			MaxAttempts: attempts.Unattended, LimitKey: mailstore.LimitKey(r.AccountID),
			Key: queue.WhileUnfinished(joined(string(JobCheck), r.AccountID, r.ThreadID)),
		}))
	}
	return w.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := s.cfg.Queue.EnqueueManyTx(ctx, tx, jobs)
		return err
	})
}

// keptFor is how long a draft lies ready that nobody touches.
const keptFor = 14 * 24 * time.Hour

// leftover deletes a draft that is of no use any more, because the person has answered without it or has left it lying,
// or because others have answered what it reminds of.
// One that the person has changed stays.
func (w *work) leftover(ctx context.Context) (err error) {
	if w.versions, err = w.Texts(ctx, w.reply); err != nil || len(w.versions) == 0 {
		return err
	}
	messages, err := w.messages(ctx, threadKey{w.reply.AccountID, w.reply.ThreadID})
	if err != nil {
		return err
	}
	sent, answered := w.sentBeside(messages), nudgeAnswered(&w.reply, messages)
	old := w.reply.State == replies.Drafted && w.attempt.Job.StartedAt.Sub(w.versions.last().WrittenAt) >= keptFor
	if sent == "" && !answered && !old {
		return nil
	}
	if err := w.held(ctx, w.attempt); err != nil {
		return err
	}
	fate, err := w.deleteOurs(ctx, &w.reply)
	if _, ended := errors.AsType[*StateError](err); ended || err == nil && fate == FateNone {
		d, err := w.cfg.Drafts.Check(ctx, w.reply.AccountID, w.reply.DraftKey())
		if err != nil {
			return err
		}
		return w.follow(ctx, d, nil)
	}
	switch {
	case err != nil:
		return err
	case sent != "" && fate == FateDeleted:
		return w.sent(ctx, sent, "answered without the draft, which was deleted", countUnused)
	case sent != "":
		return w.sent(ctx, sent, "answered without the draft, which has changes and stays", countUnused)
	case answered && fate == FateDeleted:
		return w.skipped(ctx, theyAnswered)
	case answered:
		return w.skipped(ctx, theyAnswered+"; the draft has changes and stays")
	case fate == FateDeleted:
		return w.skipped(ctx, "the draft lay there for 14 days, and was deleted")
	}
	return nil
}

// sentBeside returns Gmail's id of an answer that a person has sent in the thread since the draft was written; empty if
// there is none. One from before a rework does not count: the person wants the draft all the same.
func (w *work) sentBeside(messages []*postroom.Message) string {
	reminded := nudged(&w.reply, messages)
	for _, m := range messages {
		if m.HasLabel(postroom.LabelSent) && m.ReceivedAt.After(w.versions.last().WrittenAt) &&
			(answers(m, messages) || reminded != nil && goesTo(m, reminded.To)) {
			return m.ProviderID
		}
	}
	return ""
}
