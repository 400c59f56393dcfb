package view

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/reasons"
)

// A Request is an action that waits for a person, in a list.
type Request struct {
	ID      string   `json:"id"`      // of the action
	Shown   string   `json:"shown"`   // the request as it is shown; an answer names it, see [ShownRequest]
	Mailbox string   `json:"mailbox"` // its address
	Would   string   `json:"would"`   // what the action would do, as after "It would"
	By      string   `json:"by"`      // the rule, the model, or nobody
	Reasons []string `json:"reasons"`
	Sender  string   `json:"sender"`
	Subject string   `json:"subject"`
	Access  string   `json:"access,omitempty"` // why it cannot be done by this machine, and what to do; of Reasons too

	AskedAt   time.Time `json:"asked_at"`
	ExpiresAt time.Time `json:"expires_at"`
	Expired   bool      `json:"expired"`  // it can be asked again, or rejected
	Altered   bool      `json:"altered"`  // it is not what was asked, and can only be rejected
	Together  bool      `json:"together"` // it may be answered with others, from a list
}

// NewRequest makes the view of a request in a list.
func NewRequest(h *app.App, w safety.Waiting, names app.LabelNames, mailboxes map[string]string,
	now time.Time) Request {
	decision := NewDecision(w.Decision, names)
	v := Request{
		ID: w.Action.ID, Shown: w.Approval.ID + "." + cut(w.Approval.Digest, shownDigest),
		Mailbox: mailboxes[w.Action.AccountID], Would: InWords(w.Action, names), By: decision.By(),
		Reasons: reasons.Plain(w.Approval.Reasons), Sender: w.Decision.Sender, Subject: w.Decision.Subject,
		AskedAt: w.Approval.RequestedAt, ExpiresAt: w.Approval.ExpiresAt,
		Expired: !now.Before(w.Approval.ExpiresAt), Altered: webapi.IsAltered(w),
	}
	v.Together = !v.Altered && !v.Expired && h.AnsweredTogether(w.Action.Type)
	return v
}

// lack marks a request that cannot be done here, see [LackingAccess].
func (r *Request) lack(access string) {
	if access != "" {
		r.Access, r.Reasons = access, append(r.Reasons, access)
	}
}

// shownDigest is how much of a digest, in characters, tells a request from one with other content.
const shownDigest = 16

func cut(s string, n int) string { return s[:min(n, len(s))] }

// ErrShown reports that a request is not as it was shown.
var ErrShown = errors.New("what is asked has changed since it was shown, or was answered: look at it again")

// ShownRequest returns the request that a person was shown, by Shown of its view; [ErrShown] if there is none.
func ShownRequest(ctx context.Context, h *app.App, shown string) (safety.Approval, error) {
	id, digest, _ := strings.Cut(shown, ".")
	request, err := h.Ledger.Approval(ctx, id)
	switch {
	case errors.Is(err, postroom.ErrNotFound):
		return request, ErrShown
	case err == nil && (len(digest) != shownDigest || cut(request.Digest, shownDigest) != digest):
		err = ErrShown
	}
	return request, err
}

// LackingAccess says of the mailboxes that this machine cannot work on what to do about it, by the ids of the accounts:
// what a person approves there is not done here.
func LackingAccess(ctx context.Context, h *app.App) (map[string]string, error) {
	accounts, err := h.Mail.Accounts(ctx)
	lacking := map[string]string{}
	for _, a := range accounts {
		why := h.Env.MissingCredentials(ctx, a)
		if a.State == mailstore.AccountReauthorize {
			why = "its grant is gone: " + h.Env.HowToSignIn(a)
		}
		if why != "" {
			lacking[a.ID] = "it cannot be done here, " + why
		}
	}
	return lacking, err
}

// Mailboxes returns the addresses of the accounts by their ids.
func Mailboxes(ctx context.Context, h *app.App) (map[string]string, error) {
	accounts, err := h.Mail.Accounts(ctx)
	addresses := make(map[string]string, len(accounts))
	for _, a := range accounts {
		addresses[a.ID] = a.Email
	}
	return addresses, err
}
