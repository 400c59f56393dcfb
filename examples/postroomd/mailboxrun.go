package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/queue"
)

// A mailboxRun is what a run that ends says of one mailbox.
type mailboxRun struct {
	Email    string             `json:"email"`
	State    gmail.AccountState `json:"state"`
	Reason   string             `json:"reason,omitempty"`  // of the state
	Messages int                `json:"messages"`          // that are stored now, broken ones too
	Failure  string             `json:"failure,omitempty"` // why it could not be worked on, and what to do
}

// mailboxRuns says what became of each mailbox.
func (o *oneRun) mailboxRuns(ctx context.Context) ([]mailboxRun, error) {
	runs := []mailboxRun{}
	left, err := o.leftByFailures(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range o.mailboxes {
		account, err := o.app.mail.Account(ctx, p.accountID)
		if errors.Is(err, postroom.ErrNotFound) {
			continue // somebody has removed it
		}
		if err != nil {
			return nil, err
		}
		missed, err := o.app.missedBy(ctx, p.accountID)
		if err != nil {
			return nil, err
		}
		fault := cmp.Or(o.faults[p.accountID], left[p.accountID], missed)
		run := mailboxRun{Email: account.Email, State: account.State, Reason: account.Reason, Failure: failureOf(account, fault)}
		if run.Messages, err = p.known(ctx); err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	return runs, nil
}

// leftByFailures says for each account what has failed in it and is tried again by a later run, if anything is.
func (o *oneRun) leftByFailures(ctx context.Context) (map[string]error, error) {
	limits, err := o.app.queue.Limits(ctx)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	jobs, err := o.app.queued(ctx, queue.Filter{}, func(j *queue.Job) bool {
		return j.Attempt > 0 && j.LastError != "" && !isHeld(j) && !isDeferred(j, now) && !waitsForRules(j, now) && !isPaused(j, limits)
	})
	if err != nil {
		return nil, err
	}
	left := map[string]error{}
	for _, p := range o.mailboxes {
		of := slices.DeleteFunc(slices.Clone(jobs), func(j queue.Job) bool { return j.LimitKey != gmail.LimitKey(p.accountID) })
		if len(of) > 0 {
			last := of[0] // the newest
			left[p.accountID] = fmt.Errorf("%s again after %s, by 'postroomd run' or the next run; the last error, of job %s (%s): %s",
				printer.Count(len(of), "job is tried", "jobs are tried"), last.NotBefore.UTC().Format(time.RFC3339), last.ID, last.Type, last.LastError)
		}
	}
	return left, nil
}

// failureOf says why a mailbox could not be worked on, if it could not; fault is why it could not be set up, or not be worked on to the
// end. One that a person has paused has not failed.
func failureOf(a gmail.Account, fault error) string {
	switch {
	case a.State == gmail.AccountReauthorize:
		return fmt.Sprintf("access to it was taken away (%s): sign in again with 'postroomd auth login', or give another gmail.token and then "+
			"'postroomd accounts resume %s'", cmp.Or(a.Reason, "no reason is known"), a.Email)
	case a.State == gmail.AccountPaused:
		return ""
	case fault != nil:
		return fault.Error()
	case a.Backfill.State == gmail.BackfillFailed:
		return fmt.Sprintf("its mail could not be listed to the end: %s; run this again, and it goes on", a.Backfill.Error)
	}
	return ""
}

// print says what a person must know of the mailbox; of one that was worked on only where there are several.
func (m *mailboxRun) print(t *tally, several bool) {
	email := printer.Printable(m.Email)
	switch {
	case m.Failure != "":
		t.linef("%s could not be worked on: %s", email, printer.Printable(m.Failure))
	case m.State == gmail.AccountPaused:
		t.linef("%s is paused%s, and nothing is done there until 'postroomd accounts resume %s'.", email, printer.Unless(m.Reason == "", " ("+printer.Printable(m.Reason)+")"), email)
	case several:
		t.linef("%s: %s stored.", email, printer.Count(m.Messages, "message is", "messages are"))
	}
}

// failed is the error of a run in which mailboxes could not be worked on; nil when all could.
func (s *summary) failed() error {
	n := 0
	for _, m := range s.Mailboxes {
		if m.Failure != "" {
			n++
		}
	}
	switch {
	case n == 0:
		return nil
	case len(s.Mailboxes) == 1:
		return errors.New("the mailbox could not be worked on; the summary says why")
	}
	return fmt.Errorf("%d of %d mailboxes could not be worked on; the summary says why", n, len(s.Mailboxes))
}
