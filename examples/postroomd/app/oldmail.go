package app

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/appointments"
	"github.com/postroom-go/postroom/gmail/drafting"
	"github.com/postroom-go/postroom/gmail/filing"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/notes"
	"github.com/postroom-go/postroom/gmail/statistics"
	"github.com/postroom-go/postroom/gmail/unsubscribe"
	"github.com/postroom-go/postroom/gmail/voice"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/enrich"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/onboarding"
	"github.com/postroom-go/postroom/safety/events"
)

const (
	sqlOldMail = `
SELECT counts, counted_at, asked_at
FROM old_mail
WHERE account_id = $1`

	sqlSaveOldMail = `
INSERT INTO old_mail (account_id, counts, counted_at)
VALUES ($1, $2, $3)
ON CONFLICT (account_id) DO UPDATE SET
  counts = excluded.counts,
  counted_at = excluded.counted_at`

	sqlAskedOldMail = `UPDATE old_mail SET asked_at = $2 WHERE account_id = $1`

	sqlForgetOldMail = `DELETE FROM old_mail WHERE account_id = $1`
)

// OldMail counts what the rules would do with the mail that came before its account was added.
type OldMail struct {
	Messages int            `json:"messages"` // that the rules may decide about
	Matched  int            `json:"matched"`
	Rules    map[string]int `json:"rules"`    // actions by the names of their rules
	Types    map[string]int `json:"types"`    // and by their types
	Revision int64          `json:"revision"` // of the rules

	CountedAt time.Time `json:"-"`
	AskedAt   time.Time `json:"-"` // when a person answered whether to do it, or had all rules applied; zero if not yet
}

// Actions returns the number of actions.
func (m *OldMail) Actions() (n int) {
	for _, of := range m.Rules {
		n += of
	}
	return n
}

// OldMail returns what was last counted of an account; nil if nothing was.
func (h *App) OldMail(ctx context.Context, accountID string) (*OldMail, error) {
	var row struct {
		Counts  string      `db:"counts"`
		Counted dbtime.Time `db:"counted_at"`
		Asked   dbtime.Time `db:"asked_at"`
	}
	switch err := dbquery.Get(ctx, h.DB.Reader(), &row, sqlOldMail, accountID); {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil //nolint:nilnil // nothing was counted, which is no error
	case err != nil:
		return nil, fmt.Errorf("old mail: %w", err)
	}
	m := &OldMail{CountedAt: row.Counted.Time, AskedAt: row.Asked.Time}
	return m, json.Unmarshal([]byte(row.Counts), m)
}

// CountOldMail counts what the rules would do now with an account's old mail, and stores that.
func (h *App) CountOldMail(ctx context.Context, a mailstore.Account) (*OldMail, error) {
	revision, err := h.Rules.Revision(ctx)
	if err != nil {
		return nil, err
	}
	done, err := h.ApplyToOldMail(ctx, a, true)
	if err != nil {
		return nil, err
	}
	counts, err := json.Marshal(OldMail{Messages: done.Messages, Matched: done.Matched, Rules: done.Rules,
		Types: done.Actions, Revision: revision})
	if err != nil {
		return nil, err
	}
	err = h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, sqlSaveOldMail, a.ID, string(counts), dbtime.Of(queue.Now(tx)))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("old mail: %w", err)
	}
	return h.OldMail(ctx, a.ID)
}

// ApplyToOldMail applies the rules in use to an account's old mail, as one batch.
func (h *App) ApplyToOldMail(ctx context.Context, a mailstore.Account, dry bool) (rules.Applied, error) {
	return h.ApplyRules(ctx, Application{AccountID: a.ID, Until: a.DecideSince, DryRun: dry})
}

// An Application says which of the rules in use are applied to which stored mail, and how. Sent mail, drafts, spam and
// trash are left alone.
type Application struct {
	AccountID    string
	Only         []string  // the names of the rules; empty: all that are enabled
	Since, Until time.Time // of the mail; zero: no bound
	Batch        string    // the name of the batch; empty: a new one
	Again        bool      // also what a person has changed by hand since, or undone
	Undoable     bool      // only what can be taken back exactly: nothing is sent or deleted for good
	DryRun       bool      // count only
}

// ApplyRules applies the rules in use to stored mail, as one batch. An interrupted batch is finished by the same again.
func (h *App) ApplyRules(ctx context.Context, a Application) (rules.Applied, error) {
	cfg := rules.ApplyConfig{Engine: h.Engine, Labels: h.Mail, Ledger: h.Ledger, People: h.Undoer, Only: a.Only,
		Batch: a.Batch, DryRun: a.DryRun, Messages: h.Mail.AllMessages(ctx, a.AccountID,
			mailstore.MessageRange{Since: a.Since, Until: a.Until, SkipLabels: notDecided})}
	if a.Again {
		cfg.People = nil
	}
	if a.Undoable {
		cfg.Skip = func(t postroom.ActionType) bool {
			kind, found := h.Env.ActionKinds().Kind(t)
			return !found || !kind.Reversible()
		}
	}
	return rules.Apply(ctx, cfg)
}

// AskedAboutOldMail notes that a person has answered about an account's old mail, or had all rules applied to it:
// nobody is asked again.
func (h *App) AskedAboutOldMail(ctx context.Context, accountID string) error {
	return h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, sqlAskedOldMail, accountID, dbtime.Of(queue.Now(tx)))
		return err
	})
}

// OldMailIsStored reports whether all mail of an account is stored, the old of which is left alone.
func (h *App) OldMailIsStored(ctx context.Context, a mailstore.Account) (bool, error) {
	if a.DecideSince.IsZero() || a.State != mailstore.AccountActive || a.Backfill.State != mailstore.BackfillDone {
		return false, nil
	}
	counts, err := h.Queue.Counts(ctx, queue.Filter{Types: []string{string(gmail.JobIngest)},
		LimitKey: mailstore.LimitKey(a.ID), States: []queue.State{queue.StateQueued, queue.StateRunning}})
	return err == nil && counts[queue.StateQueued]+counts[queue.StateRunning] == 0, err
}

const (
	// oldMailLook is how often the daemon looks whether old mail is to be counted.
	oldMailLook = 10 * time.Second
	// oldMailAgain is how long the counts stand while the rules change, at least: all old mail is read for them.
	oldMailAgain = time.Hour
)

// countOldMail counts the old mail of each account once it is stored, and again after the rules have changed, until a
// person was asked about it; and once more after that, when what was approved is done.
func (h *App) countOldMail(ctx context.Context) {
	again := time.NewTicker(oldMailLook)
	defer again.Stop()
	for {
		if err := h.countAllOldMail(ctx); err != nil && ctx.Err() == nil {
			h.Log.WarnContext(ctx, "what the rules would do with old mail is not counted; it is tried again", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-again.C:
		}
	}
}

func (h *App) countAllOldMail(ctx context.Context) error {
	accounts, err := h.Mail.Accounts(ctx)
	if err != nil {
		return err
	}
	revision, err := h.Rules.Revision(ctx)
	if err != nil {
		return err
	}
	for _, a := range accounts {
		if a.DecideSince.IsZero() {
			continue
		}
		if err := h.countOldMailOf(ctx, a, revision); err != nil {
			return err
		}
	}
	return nil
}

// isStale reports whether it is to be counted again.
func (m *OldMail) isStale(revision int64, now time.Time) bool {
	if !m.AskedAt.IsZero() {
		return m.CountedAt.Before(m.AskedAt) && now.Sub(m.AskedAt) >= oldMailAgain
	}
	return m.Revision != revision && now.Sub(m.CountedAt) >= oldMailAgain
}

func (h *App) countOldMailOf(ctx context.Context, a mailstore.Account, revision int64) error {
	before, err := h.OldMail(ctx, a.ID)
	if err != nil || before != nil && !before.isStale(revision, time.Now()) {
		return err
	}
	if stored, err := h.OldMailIsStored(ctx, a); err != nil || !stored {
		return err
	}
	m, err := h.CountOldMail(ctx, a)
	if err == nil && before == nil && m.Actions() > 0 {
		h.Log.InfoContext(ctx, "the rules would do something with mail from before the mailbox was added, and nothing is done "+
			"with it until 'postroomd rules apply'", "account", a.Email, "messages", m.Messages, "actions", m.Rules)
	}
	return err
}

// RemoveAccount is that of the pipeline, and deletes what else is kept of a mailbox.
func (h *App) RemoveAccount(ctx context.Context, accountID, by string) error {
	account, err := h.Mail.Account(ctx, accountID)
	if err != nil {
		return err
	}
	if err := h.Agents.UnscheduleAll(ctx, accountID); err != nil {
		return err
	}
	return h.Pipeline.RemoveAccount(ctx, accountID, func(ctx context.Context) error {
		err := h.recorded(ctx, events.Event{Kind: MailboxRemoved, AccountID: accountID, By: by, Why: account.Email},
			func(ctx context.Context, tx queue.Tx) error { return h.forget(ctx, tx, accountID) })
		if err != nil || h.Archive == nil { // whose folder stays
			return err
		}
		return h.Archive.Forget(ctx, accountID)
	})
}

// forget deletes what is kept of a mailbox beside its mail, after its actions were canceled: one that goes on would
// record its list again.
func (h *App) forget(ctx context.Context, tx queue.Tx, accountID string) error {
	if _, err := tx.ExecContext(ctx, sqlForgetOldMail, accountID); err != nil {
		return fmt.Errorf("old mail: %w", err)
	}
	return cmp.Or(h.Tasks.Forget(ctx, tx, accountID), h.Agents.Forget(ctx, tx, accountID),
		h.Reminders.Forget(ctx, tx, accountID), h.Onboarding.Forget(ctx, tx, accountID),
		decide.ForgetTurns(ctx, tx, accountID), unsubscribe.Forget(ctx, tx, accountID), h.Replies.Forget(ctx, tx, accountID),
		drafting.Forget(ctx, tx, accountID), voice.Forget(ctx, tx, accountID), enrich.Forget(ctx, tx, accountID),
		notes.Forget(ctx, tx, accountID), filing.Forget(ctx, tx, accountID), appointments.Forget(ctx, tx, accountID),
		statistics.Forget(ctx, tx, accountID)) // last: what is deleted is marked to be counted
}

// openOnboarding makes what looks at mailboxes.
func (h *App) openOnboarding() (err error) {
	h.Onboarding, err = onboarding.New(onboarding.Config{DB: h.DB, Queue: h.Queue, Options: h.knownOf,
		Messages: func(ctx context.Context, accountID string) iter.Seq2[*postroom.Message, error] {
			return h.Mail.AllMessages(ctx, accountID, mailstore.MessageRange{NewestFirst: true, WithoutBodies: true,
				SkipLabels: []string{postroom.LabelSpam, postroom.LabelTrash, postroom.LabelDraft}})
		}})
	return err
}

// knownOf is what is known of a mailbox besides its mail.
func (h *App) knownOf(ctx context.Context, accountID string) (o onboarding.Options, err error) {
	a, err := h.Mail.Account(ctx, accountID)
	if err != nil {
		return o, err
	}
	o.Own = []string{a.Email}
	if o.Labels, err = h.Mail.Labels(ctx, accountID); err != nil {
		return o, err
	}
	o.Rules, err = h.Rules.ListOf(ctx, accountID)
	return o, err
}
