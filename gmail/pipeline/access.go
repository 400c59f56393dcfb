package pipeline

import (
	"context"
	"strings"
	"time"

	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/queue"
)

// Processes that share a database need not all have access to each account: what one lacks says nothing about the
// others. Jobs that come to a process without access are given back, and a process with access takes them up.

// leaveToOthers is the middleware that gives back jobs of accounts that this process has no access to. Those of
// package gmail do so by themselves; an undo does not know how often it was given back.
func leaveToOthers(next queue.HandlerFunc) queue.HandlerFunc {
	return func(ctx context.Context, a *queue.Attempt) error {
		err := next(ctx, a)
		if gmailapi.ClassOf(err) != gmailapi.ClassNoAccess {
			return err
		}
		return queue.Defer(err, attempts.Held(a.Job.Interruptions, time.Time{}, time.Now()))
	}
}

// takeUpMargin is how soon a job is due that is left alone: another process may have claimed it, and must not be
// interrupted.
const takeUpMargin = 2 * time.Second

// isLeft reports whether a job waits because a process had no access to its account.
func isLeft(j *queue.Job, now time.Time) bool {
	return j.Interruptions > 0 && j.NotBefore.Sub(now) > takeUpMargin &&
		strings.Contains(j.LastError, string(gmailapi.ClassNoAccess))
}

// TakeUp makes jobs due that processes without access to the account have given back, on a process that has access:
// all of them, or those among the newest. A process without access may be the first to claim a job again and again,
// and they wait longer each time.
func (b *Backlog) TakeUp(ctx context.Context, accountID string, all bool) error {
	now, filter := time.Now(), queue.Filter{LimitKey: mailstore.LimitKey(accountID),
		States: []queue.State{queue.StateQueued}, Limit: laterPage}
	left := func(j *queue.Job) bool { return isLeft(j, now) }
	var jobs []queue.Job
	var err error
	if all {
		jobs, err = b.Queued(ctx, filter, left)
	} else {
		jobs, err = b.queue.Jobs(ctx, filter)
	}
	if err != nil {
		return err
	}
	var ids []string
	for i := range jobs {
		if left(&jobs[i]) {
			ids = append(ids, jobs[i].ID)
		}
	}
	return b.makeDue(ctx, ids)
}

// lack says what this process lacks to work on an account.
func (p *Pipeline) lack(ctx context.Context, a mailstore.Account) string {
	if p.cfg.Access == nil {
		return ""
	}
	return p.cfg.Access(ctx, a)
}
