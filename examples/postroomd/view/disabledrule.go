package view

import (
	"context"
	"fmt"

	"github.com/postroom-go/postroom/examples/postroomd/app"
)

// A DisabledRule is a rule that the program has disabled, and why.
type DisabledRule struct {
	ID      string `json:"id"`
	Rule    string `json:"rule"`
	Mailbox string `json:"mailbox,omitempty"` // its address; empty for a rule of all mailboxes
	Reason  string `json:"reason"`
}

// String is one line for people.
func (d DisabledRule) String() string {
	return d.Named() + ": " + d.Reason
}

// Named is the rule with its mailbox, if it is of one.
func (d DisabledRule) Named() string {
	if d.Mailbox == "" {
		return fmt.Sprintf("%q", d.Rule)
	}
	return fmt.Sprintf("%q of %s", d.Rule, d.Mailbox)
}

// newDisabledRules returns the rules that are disabled for a reason, which a person has not given.
func newDisabledRules(ctx context.Context, h *app.App) ([]DisabledRule, error) {
	list, err := h.Rules.List(ctx)
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
	var disabled []DisabledRule
	for i := range list {
		if r := &list[i]; !r.Enabled && r.DisabledReason != "" {
			disabled = append(disabled, DisabledRule{r.ID, r.Name, emails[r.AccountID], r.DisabledReason})
		}
	}
	return disabled, nil
}
