package app

import (
	"context"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/backtest"
)

// A Trial tries rules on stored mail, and changes nothing.
type Trial struct {
	Account mailstore.Account
	Text    string // of a rules file; empty: the rules in use
	Path    string // of that file, beside which those are that it names; empty: it can name none
	Added   bool   // the rules of the text are tried beside those in use; otherwise in their place
	Since   time.Time
	Samples int // of each rule and difference
}

// Backtest runs a trial. The rules in use are what it is compared with. A text that cannot be read is a [usage.Error].
func (h *App) Backtest(ctx context.Context, t Trial) (*backtest.Report, error) {
	inUse, err := h.rulesOf(ctx, t.Account.ID)
	if err != nil {
		return nil, err
	}
	cfg := backtest.Config{Rules: inUse, Kinds: h.Env.ActionKinds(), Samples: t.Samples, Senders: h.Mail}
	if t.Text != "" {
		tried, err := h.RuleEditor.ParseFor(ctx, t.Account.ID, t.Path, t.Text)
		if err != nil {
			return nil, err
		}
		cfg.Rules, cfg.Against = tried, inUse
		for i := range inUse {
			if t.Added || inUse[i].AccountID == "" { // a text is in place of the rules of the mailbox alone
				cfg.Rules = append(cfg.Rules, inUse[i])
			}
		}
	}
	messages := h.Mail.AllMessages(ctx, t.Account.ID, mailstore.MessageRange{Since: t.Since, SkipLabels: notDecided})
	return backtest.Run(ctx, cfg, messages)
}

// notDecided are the labels of mail about which nothing is decided.
var notDecided = []string{postroom.LabelSent, postroom.LabelDraft, postroom.LabelSpam, postroom.LabelTrash}

// rulesOf returns the rules in use of an account, with those of all accounts.
func (h *App) rulesOf(ctx context.Context, accountID string) ([]rules.Rule, error) {
	inUse, err := h.Rules.List(ctx)
	return slices.DeleteFunc(inUse, func(r rules.Rule) bool { return r.AccountID != "" && r.AccountID != accountID }), err
}
