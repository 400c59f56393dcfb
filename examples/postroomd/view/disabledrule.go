package view

import (
	"context"
	"fmt"
	"github.com/postroom-go/postroom/examples/postroomd/app"
)

// A DisabledRule is a rule that the program has disabled, and why.
type DisabledRule struct {
	Rule    string `json:"rule"`
	Mailbox string `json:"mailbox,omitempty"` // its address; empty for a rule of all mailboxes
	Reason  string `json:"reason"`
}

// String is one line for people.
func (d DisabledRule) String() string {
	if d.Mailbox == "" {
		return fmt.Sprintf("%q: %s", d.Rule, d.Reason)
	}
	return fmt.Sprintf("%q of %s: %s", d.Rule, d.Mailbox, d.Reason)
}

// disabledRules returns the rules that are disabled for a reason, which a person has not given.
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
			disabled = append(disabled, DisabledRule{r.Name, emails[r.AccountID], r.DisabledReason})
		}
	}
	return disabled, nil
}
