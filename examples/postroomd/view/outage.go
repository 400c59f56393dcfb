package view

import (
	"context"
	"strings"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/llm"
)

// An Outage is a model that is not called, and the reason.
type Outage struct {
	Model   string    `json:"model"`
	Mailbox string    `json:"mailbox,omitempty"` // the address of the one whose budget is spent
	Reason  string    `json:"reason"`
	Failure string    `json:"failure"`
	Since   time.Time `json:"since"`
	Calls   int64     `json:"calls"` // that were refused
	Until   time.Time `json:"until,omitzero"`
}

// String returns one line for people.
func (o Outage) String() string {
	text := o.Model + " since " + printer.Clock(o.Since)
	if !o.Until.IsZero() {
		text += ", until " + printer.Clock(o.Until)
	}
	if o.Mailbox != "" {
		text += ", for " + o.Mailbox
	}
	return text + ": " + o.Failure
}

// newOutages returns the configured models that are not called.
func newOutages(ctx context.Context, h *app.App) ([]Outage, error) {
	found, err := h.Models.Records.Outages(ctx, time.Now())
	if err != nil {
		return nil, err
	}
	accounts, err := h.Mail.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	emails := map[string]string{}
	for _, a := range accounts {
		emails[a.ID] = a.Email
	}
	configured := map[string]bool{}
	for _, name := range h.Models.Names() {
		configured[name] = true
	}
	views := []Outage{}
	for _, o := range found {
		if configured[o.Model] {
			views = append(views, newOutage(o, emails[o.AccountID]))
		}
	}
	return views, nil
}

func newOutage(o llm.Outage, email string) Outage {
	v := Outage{Model: o.Model, Mailbox: email, Reason: o.Reason, Failure: o.Failure, Since: o.Since, Calls: o.Calls,
		Until: o.Until}
	if email != "" { // package llm knows no addresses
		v.Failure = strings.ReplaceAll(v.Failure, "account "+o.AccountID, email)
	}
	return v
}
