package main

import (
	"context"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
)

// A disabledRule is a rule that the program has disabled, and why.
type disabledRule struct {
	Rule    string `json:"rule"`
	Mailbox string `json:"mailbox,omitempty"` // its address; empty for a rule of all mailboxes
	Reason  string `json:"reason"`
}

// String is one line for people.
func (d disabledRule) String() string {
	if d.Mailbox == "" {
		return fmt.Sprintf("%q: %s", d.Rule, d.Reason)
	}
	return fmt.Sprintf("%q of %s: %s", d.Rule, d.Mailbox, d.Reason)
}

// disabledRules returns the rules that are disabled for a reason, which a person has not given.
func (h *host) disabledRules(ctx context.Context) ([]disabledRule, error) {
	list, err := h.rules.List(ctx)
	if err != nil {
		return nil, err
	}
	accounts, err := h.mail.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	emails := map[string]string{}
	for _, a := range accounts {
		emails[a.ID] = a.Email
	}
	var disabled []disabledRule
	for i := range list {
		if r := &list[i]; !r.Enabled && r.DisabledReason != "" {
			disabled = append(disabled, disabledRule{r.Name, emails[r.AccountID], r.DisabledReason})
		}
	}
	return disabled, nil
}

// disableRules follows the end of a label.
func (h *host) disableRules(ctx context.Context, tx queue.Tx, accountID string, label postroom.Label) error {
	disabled, err := h.rules.DisableUsingLabel(ctx, tx, accountID, label)
	if err != nil || len(disabled) == 0 {
		return err
	}
	names := printer.List(disabled, func(r rules.Rule) string { return r.Name })
	queue.OnCommit(tx, func() {
		h.log.Warn("rules are disabled, since a label that they name was deleted from the mailbox; they decide nothing until they are changed",
			"account_id", accountID, "label", label.Name, "rules", names)
	})
	return nil
}
