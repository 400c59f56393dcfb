package view

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/pipeline"
	"github.com/postroom-go/postroom/queue"
)

// A MailboxRun is what a run that ends says of one mailbox.
type MailboxRun struct {
	Email    string                 `json:"email"`
	State    mailstore.AccountState `json:"state"`
	Reason   string                 `json:"reason,omitempty"`   // of the state
	Messages int                    `json:"messages"`           // that are stored now, broken ones too
	OldMail  int                    `json:"old_mail,omitempty"` // taken in by this run and left alone: see Account.DecideSince
	// OldMailRules counts the actions that the rules would do with all old mail, by the names of the rules.
	OldMailRules map[string]int `json:"old_mail_rules,omitempty"`
	Failure      string         `json:"failure,omitempty"` // why it could not be worked on, and what to do

	leavesOldMail bool // from before it was added
}

// newMailboxRuns says what became of each mailbox.
func newMailboxRuns(ctx context.Context, o *app.OneRun) ([]MailboxRun, error) {
	runs := []MailboxRun{}
	left, err := leftByFailures(ctx, o)
	if err != nil {
		return nil, err
	}
	for _, id := range o.Mailboxes {
		account, err := o.App.Mail.Account(ctx, id)
		if errors.Is(err, postroom.ErrNotFound) {
			continue // somebody has removed it
		}
		if err != nil {
			return nil, err
		}
		missed, err := o.App.MissedBy(ctx, id)
		if err != nil {
			return nil, err
		}
		fault := cmp.Or(o.Faults[id], left[id], missed)
		run := MailboxRun{Email: account.Email, State: account.State, Reason: account.Reason,
			Failure: failureOf(account, fault), leavesOldMail: !account.DecideSince.IsZero()}
		if run.Messages, err = o.App.CountMail(ctx, id); err != nil {
			return nil, err
		}
		if err := run.countOldMail(ctx, o, account); err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	return runs, nil
}

// countOldMail counts the old mail that the run has taken in, unless the rules were applied to it. What was counted
// before they were applied is counted again, now that it is done.
func (m *MailboxRun) countOldMail(ctx context.Context, o *app.OneRun, a mailstore.Account) error {
	before, err := o.App.OldMail(ctx, a.ID)
	if err == nil && before != nil && before.CountedAt.Before(before.AskedAt) {
		_, err = o.App.CountOldMail(ctx, a)
	}
	if err != nil || slices.Contains(o.OldMailSorted, a.ID) {
		return err
	}
	if m.OldMail, err = o.App.Mail.CountOldStoredSince(ctx, a, o.Began); err != nil || m.OldMail == 0 {
		return err
	}
	counts, err := o.App.CountOldMail(ctx, a)
	if err == nil && counts.Actions() > 0 {
		m.OldMailRules = counts.Rules
	}
	return err
}

// leftByFailures says for each account what has failed in it and is tried again by a later run, if anything is.
func leftByFailures(ctx context.Context, o *app.OneRun) (map[string]error, error) {
	limits, err := o.App.Queue.Limits(ctx)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	jobs, err := o.App.Backlog.Queued(ctx, queue.Filter{}, func(j *queue.Job) bool {
		return j.Attempt > 0 && j.LastError != "" && !pipeline.IsHeld(j) && !pipeline.IsDeferred(j, now) &&
			!pipeline.WaitsForRules(j, now) && !pipeline.IsPaused(j, limits)
	})
	if err != nil {
		return nil, err
	}
	left := map[string]error{}
	for _, id := range o.Mailboxes {
		of := slices.DeleteFunc(slices.Clone(jobs), func(j queue.Job) bool {
			return j.LimitKey != mailstore.LimitKey(id)
		})
		if len(of) > 0 {
			last := of[0] // the newest
			left[id] = fmt.Errorf(
				"%s again after %s, by 'postroomd run' or the next run; the last error, of job %s (%s): %s",
				printer.Count(len(of), "job is tried", "jobs are tried"), last.NotBefore.UTC().Format(time.RFC3339), last.ID,
				last.Type, last.LastError)
		}
	}
	return left, nil
}

// failureOf says why a mailbox could not be worked on, if it could not; fault is why it could not be set up, or not
// be worked on to the end. One that a person has paused has not failed.
func failureOf(a mailstore.Account, fault error) string {
	switch {
	case a.State == mailstore.AccountReauthorize:
		return fmt.Sprintf(
			"access to it was taken away (%s): sign in again with 'postroomd auth login', or give another gmail.token and then "+
				"'postroomd accounts resume %s'", cmp.Or(a.Reason, "no reason is known"), a.Email)
	case a.State == mailstore.AccountPaused:
		return ""
	case fault != nil:
		return fault.Error()
	case a.Backfill.State == mailstore.BackfillFailed:
		return fmt.Sprintf("its mail could not be listed to the end: %s; run this again, and it goes on", a.Backfill.Error)
	}
	return ""
}

// Print says what a person must know of the mailbox; of one that was worked on only where there are several.
func (m *MailboxRun) print(t *tally, several bool) {
	email := printer.Printable(m.Email)
	switch {
	case m.Failure != "":
		t.linef("%s could not be worked on: %s", email, printer.Printable(m.Failure))
	case m.State == mailstore.AccountPaused:
		t.linef("%s is paused%s, and nothing is done there until 'postroomd accounts resume %s'.", email,
			printer.Unless(m.Reason == "", " ("+printer.Printable(m.Reason)+")"), email)
	case several:
		t.linef("%s: %s stored.", email, printer.Count(m.Messages, "message is", "messages are"))
	}
	if m.OldMail > 0 {
		does := "the rules would do nothing with it"
		if len(m.OldMailRules) > 0 {
			does = "the rules would do " + ByRule(m.OldMailRules)
		}
		t.linef("%s had come to %s before it was added, and nothing is done to old mail: %s; 'postroomd rules apply' sorts it.",
			printer.Count(m.OldMail, "message", "messages"), email, does)
	}
}

// Fault is the error of a run in which mailboxes could not be worked on; nil when all could.
func (s *Summary) Fault() error {
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
