package view

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/safety/audit"
)

// A Mailbox is a mailbox with what a person may do about it.
type Mailbox struct {
	AccountStatus
	Done    int       // the part of the backfill that is listed, in percent
	Ends    time.Time // when the backfill ends, if it goes on as it did; zero: nobody knows
	SignIn  string    // the command that signs in
	SignOut string    // the command that takes the grant back
}

// NewMailboxes reads the mailboxes.
func NewMailboxes(ctx context.Context, h *app.App, now time.Time) ([]Mailbox, error) {
	accounts, err := h.Mail.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]Mailbox, len(accounts))
	for i, a := range accounts {
		if list[i].AccountStatus, err = newAccountStatus(ctx, h, a); err != nil {
			return nil, err
		}
		list[i].foresee(a.DecideSince, now)
		if h.Env.Config.Gmail.ClientID != "" {
			list[i].SignIn, list[i].SignOut = "postroomd auth login "+a.Email, "postroomd auth revoke "+a.Email
		}
	}
	return list, nil
}

// foresee says how far the backfill is, and when it ends at its rate since the mailbox was added.
func (m *Mailbox) foresee(added, now time.Time) {
	all := max(m.Estimate, m.Listed)
	if m.Backfill != mailstore.BackfillRunning || all == 0 {
		return
	}
	m.Done = m.Listed * 100 / all
	if m.Listed > 0 && now.After(added) && !added.IsZero() {
		rest := float64(all-m.Listed) / float64(m.Listed)
		m.Ends = now.Add(time.Duration(rest * float64(now.Sub(added))))
	}
}

// ExportAudit writes the log, an entry a line as JSON, and at last the end of it.
func ExportAudit(ctx context.Context, h *app.App, w io.Writer) error {
	out := json.NewEncoder(w)
	end, err := h.Audit.Each(ctx, func(e *audit.Entry) error { return out.Encode(e) })
	if err != nil {
		return err
	}
	return out.Encode(struct {
		Heads []string `json:"heads"`
	}{Heads(end)})
}
