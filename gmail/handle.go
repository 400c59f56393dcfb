package gmail

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/queue"
)

// accountKey is the key of the account of a job, as it was when the attempt began, in the context of the attempt.
type accountKey struct{}

// jobAccount returns the account of ctx's job, without reading it again, or else the stored one.
func jobAccount(ctx context.Context, s *mailstore.Store, id string) (mailstore.Account, error) {
	if account, ok := ctx.Value(accountKey{}).(mailstore.Account); ok && account.ID == id {
		return account, nil
	}
	return s.Account(ctx, id)
}

// open returns the account and its client. A missing account is an error that is not retried.
func (j *jobs) open(ctx context.Context, accountID string) (mailstore.Account, *gmailapi.Client, error) {
	account, err := jobAccount(ctx, j.Store, accountID)
	if errors.Is(err, postroom.ErrNotFound) {
		err = &gmailapi.Error{Op: "open mailbox", Class: gmailapi.ClassNotFound, Err: err}
	}
	if err != nil {
		return account, nil, err
	}
	client, err := gmailapi.FindClient(ctx, j.Clients, accountID)
	if err != nil {
		return account, nil, fmt.Errorf("gmail: client of account %s: %w", account.Email, err)
	}
	return account, client, nil
}

// handle registers a handler that runs only while the account of its job is active and has quota. It stops the account
// when its grant is gone, and leaves the job to other processes if this one has no access to the account.
func handle[P any](d *queue.Dispatcher, j *jobs, t queue.Type[P], accountOf func(P) string,
	fn func(context.Context, *queue.Work[P]) error, opts ...queue.HandlerOption) {
	queue.Handle(d, t, func(ctx context.Context, w *queue.Work[P]) error {
		account, err := j.Store.Account(ctx, accountOf(w.Payload))
		switch {
		case errors.Is(err, postroom.ErrNotFound) && settles(w.Payload):
			return fn(ctx, w)
		case errors.Is(err, postroom.ErrNotFound):
			return canceledWith(accountOf(w.Payload))
		case err != nil:
			return err
		}
		if err := account.Usable(); err != nil {
			return parked(err, w.Job.LimitKey)
		}
		ctx = context.WithValue(ctx, accountKey{}, account)
		if err := j.awaitQuota(ctx, w.Attempt, account.ID); err != nil {
			return err
		}
		err = fn(ctx, w)
		switch gmailapi.ClassOf(err) {
		case gmailapi.ClassReauthorize:
			return j.park(ctx, w.Attempt, account, err)
		case gmailapi.ClassNoAccess:
			return j.leave(ctx, w.Attempt, account, err)
		}
		return err
	}, opts...)
}

// canceledWith returns the error of a job whose account was removed before or while it ran: it does not fail.
func canceledWith(accountID string) error {
	return queue.Cancel(fmt.Errorf("gmail: account %s: %s, and there is nothing left to do", accountID,
		attempts.MailboxRemoved))
}

// settles reports whether a job carries out an action, which it also ends; see [jobs.endAction].
func settles(p any) bool {
	switch p.(type) {
	case ActionPayload, outbox.Payload:
		return true
	}
	return false
}

// leave gives a job back unspent, for another process. The account stays as it is: its grant is not gone, and who has
// it goes on.
func (j *jobs) leave(ctx context.Context, w *queue.Attempt, account mailstore.Account, cause error) error {
	if _, known := j.unreachable.LoadOrStore(account.ID, true); !known {
		j.Logger.WarnContext(ctx, "this process has no access to an account, whose jobs are left to other processes",
			"account", account.Email, "error", cause)
	}
	return queue.Defer(cause, attempts.Held(w.Job.Interruptions, time.Time{}, time.Now()))
}

// park stops the account, and gives the job back.
func (j *jobs) park(ctx context.Context, w *queue.Attempt, account mailstore.Account, cause error) error {
	if fault := j.stop(ctx, w, account, cause); fault != nil {
		return queue.Defer(errors.Join(cause, fault), gmailapi.RateLimitDelay)
	}
	return parked(cause, w.Job.LimitKey)
}

// parkedDelay is the delay of a stopped job. It waits for its account in any case: its limit key is paused.
const parkedDelay = time.Second

// parked gives a job back unspent. One that has the limit key of its account waits until that is no longer paused;
// another is looked at again after an hour.
func parked(err error, limitKey string) error {
	if limitKey == "" {
		return queue.Defer(err, gmailapi.ReauthorizeDelay)
	}
	return queue.Defer(err, parkedDelay)
}

// stop marks the account, stops its jobs and calls OnReauthorize, all in one transaction, unless another job has done
// so.
func (j *jobs) stop(ctx context.Context, w *queue.Attempt, account mailstore.Account, cause error) error {
	return w.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		first, err := j.Store.Progress().LoseGrant(ctx, tx, w.Queue(), account, cause)
		if err != nil || !first {
			return err
		}
		j.Logger.WarnContext(ctx, "the grant of an account is gone; its jobs wait until somebody signs in again", "account",
			account.Email, "error", cause)
		if j.OnReauthorize == nil {
			return nil
		}
		return j.OnReauthorize(ctx, tx, account, cause)
	})
}
