package view

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulesfile"
	"github.com/postroom-go/postroom/rules/rulestore"
)

// A RulesVersion is a version of the rules as JSON.
type RulesVersion struct {
	Version   int64            `json:"version"`
	For       string           `json:"for"` // a mailbox, or all mail
	CreatedAt time.Time        `json:"created_at"`
	By        string           `json:"by,omitempty"`
	Origin    rulestore.Origin `json:"origin"`
	Detail    string           `json:"detail,omitempty"`
	Rules     int              `json:"rules"`
	Digest    string           `json:"digest"`
	HasSource bool             `json:"has_source"`
}

func newRulesVersion(v rulestore.Version, accounts []mailstore.Account) RulesVersion {
	about := "all mail"
	if v.AccountID != "" {
		about = EmailOf(accounts, v.AccountID)
	}
	return RulesVersion{v.Number, about, v.At, v.By.Name, v.By.Origin, v.By.Detail, v.Rules, v.Digest, v.HasSource}
}

// NewRulesVersions lists the versions of the rules of an account, or of all if none is given, newest first.
func NewRulesVersions(ctx context.Context, h *app.App, accountID string, limit int) ([]RulesVersion, error) {
	filter := rulestore.VersionFilter{Limit: limit}
	if accountID != "" {
		filter.Account = &accountID
	}
	list, err := h.Rules.Versions(ctx, filter)
	if err != nil {
		return nil, err
	}
	accounts, err := h.Mail.Accounts(ctx)
	return printer.List(list, func(v rulestore.Version) RulesVersion { return newRulesVersion(v, accounts) }), err
}

// A FormerRule is the rule of a decision, as it was at that time.
type FormerRule struct {
	Name      string   `json:"name"`
	Condition string   `json:"condition"`
	Actions   []string `json:"actions"`
	Text      string   `json:"text"` // in the form of a rules file
	Now       string   `json:"now"`  // its current state: in use, changed or removed
}

// newFormerRule returns the rule of a decision as it was at that time; nil if no rule decided, or it is unknown.
func newFormerRule(ctx context.Context, h *app.App, d postroom.Decision) (*FormerRule, error) {
	if d.RuleID == "" {
		return nil, nil //nolint:nilnil // none is no error
	}
	then, err := h.Rules.RuleAt(ctx, d.RuleID, d.RuleVersion)
	if errors.Is(err, postroom.ErrNotFound) {
		return nil, nil //nolint:nilnil // it was stored before versions were kept
	}
	if err != nil {
		return nil, err
	}
	text := rulesfile.Marshal(&rulesfile.File{Rules: []rules.Rule{*then}})
	v := &FormerRule{Name: then.Name, Condition: then.Condition.String(), Text: string(text), Now: "in use"}
	for _, a := range append([]rules.RuleAction{{Type: then.Action, Parameters: then.Parameters}}, then.Also...) {
		label, _ := a.Parameters.Text(postroom.ParamLabel)
		v.Actions = append(v.Actions, strings.TrimSpace(string(a.Type)+" "+label))
	}
	now, err := h.Rules.Get(ctx, d.RuleID)
	switch {
	case errors.Is(err, postroom.ErrNotFound):
		v.Now = "removed"
	case err != nil:
		return nil, err
	case now.Version() != d.RuleVersion:
		v.Now = "changed"
	}
	return v, nil
}

func (v *FormerRule) print(r *printer.Report) {
	if v == nil || v.Now == "in use" {
		return
	}
	r.Heading("The rule as it was then, since " + v.Now)
	r.Add("name", v.Name)
	r.Add("condition", v.Condition)
	r.Add("does", strings.Join(v.Actions, "\n"))
}
