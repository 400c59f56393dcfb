package lessons

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/queue"
)

// JobLearn learns rules from the corrections of an account.
const JobLearn queue.Type[Work] = "learn"

// Work is the payload of a [JobLearn].
type Work struct {
	AccountID string `json:"account_id"`
}

// NewJob makes the job that learns rules for an account. Schedule it once a week.
func NewJob(accountID string) queue.NewJob {
	return JobLearn.New(Work{accountID}, &queue.Options{MaxAttempts: attempts.Unattended,
		Key: queue.WhileUnfinished(string(JobLearn) + ":" + accountID)})
}

// Register registers the handler of [JobLearn], with the options.
func (s *Store) Register(d *queue.Dispatcher, opts ...queue.HandlerOption) error {
	if err := fields.Required("lessons: Register: the Dispatcher", d, "one made by queue.NewDispatcher"); err != nil {
		return err
	}
	queue.Handle(d, JobLearn, s.handle, opts...)
	return nil
}

func (s *Store) handle(ctx context.Context, w *queue.Work[Work]) error {
	account, err := s.cfg.Account(ctx, w.Payload.AccountID)
	if errors.Is(err, postroom.ErrNotFound) {
		return nil // it was removed meanwhile
	}
	if err != nil {
		return fmt.Errorf("lessons: find account %s: %w", w.Payload.AccountID, err)
	}
	report, err := s.run(ctx, account, time.Now(), w.Write, w.Complete)
	if err == nil {
		s.cfg.Logger.InfoContext(ctx, "learned from corrections", "account", account.ID, "votes", report.Votes,
			"proposed", report.Proposed, "waiting", report.Waiting, "applied", report.Applied, "gone", report.Gone,
			"low", report.Low, "bulk", report.Bulk)
	}
	return err
}

// Run learns from the corrections of an account, as of now, and proposes what it finds, as the job does.
func (s *Store) Run(ctx context.Context, account Account, now time.Time) (Report, error) {
	if account.ID == "" || now.IsZero() {
		return Report{}, errors.New("lessons: Run: give an account with an id, and the time")
	}
	return s.run(ctx, account, now, s.cfg.DB.Write, s.cfg.DB.Write)
}

// A writer runs a function in a write transaction.
type writer func(ctx context.Context, fn func(ctx context.Context, tx queue.Tx) error) error

// run finds rules, and has them written in the transaction of commit. Those that were in shadow before are applied
// first: a run that is repeated finds them accepted.
func (s *Store) run(ctx context.Context, account Account, now time.Time, write, commit writer) (Report, error) {
	p, err := s.find(ctx, account, now)
	if err != nil {
		return Report{}, err
	}
	if err := s.ripen(ctx, p, write); err != nil {
		return Report{}, err
	}
	found := p.report
	err = commit(ctx, func(ctx context.Context, tx queue.Tx) error {
		p.report = found // the transaction may be repeated
		return s.write(ctx, tx, p)
	})
	if err != nil {
		return Report{}, fmt.Errorf("lessons: account %s: %w", account.ID, err)
	}
	return p.report, nil
}
