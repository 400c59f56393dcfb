package app

import (
	"cmp"
	"context"
	"errors"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/safety"
)

// LabelNames are the names of the labels of all accounts. Labels of two accounts can have the same id at Gmail.
type LabelNames map[labelKey]string

type labelKey struct{ AccountID, ID string }

// Name returns the label's name, or the id of a deleted label.
func (n LabelNames) Name(accountID, id string) string {
	return cmp.Or(n[labelKey{accountID, id}], id)
}

// LabelNames returns the names of the labels of all accounts.
func (h *App) LabelNames(ctx context.Context) (LabelNames, error) {
	accounts, err := h.Mail.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	names := make(LabelNames)
	for _, a := range accounts {
		labels, err := h.Mail.Labels(ctx, a.ID)
		if err != nil {
			return nil, err
		}
		for _, l := range labels {
			names[labelKey{a.ID, l.ID}] = printer.Printable(l.Name)
		}
	}
	return names, nil
}

// NameDeletedLabels adds the labels of actions that are gone, by the names that they have in the rules that decided.
func (h *App) NameDeletedLabels(ctx context.Context, names LabelNames, entries []safety.Entry) error {
	for i := range entries {
		action, decision := &entries[i].Action, &entries[i].Decision.Decision
		id, ok := action.Parameters.Text(postroom.ParamLabel)
		key := labelKey{action.AccountID, id}
		if !ok || names[key] != "" || decision.RuleID == "" {
			continue
		}
		rule, err := h.Rules.RuleAt(ctx, decision.RuleID, decision.RuleVersion)
		switch {
		case errors.Is(err, postroom.ErrNotFound):
		case err != nil:
			return err
		default:
			names[key] = printer.Printable(labelOf(rule, safety.Undone(action.Type)))
		}
	}
	return nil
}

// labelOf returns the label that the rule names for actions of the type; empty if it names none, or several.
func labelOf(r *rules.Rule, of postroom.ActionType) (name string) {
	for _, a := range append([]rules.RuleAction{{Type: r.Action, Parameters: r.Parameters}}, r.Also...) {
		label, ok := a.Parameters.Text(postroom.ParamLabel)
		switch {
		case !ok || a.Type != of:
		case name != "":
			return ""
		default:
			name = label
		}
	}
	return name
}

// Describe returns an action with its label.
func Describe(a postroom.Action, names LabelNames) string {
	if label, ok := a.Parameters.Text(postroom.ParamLabel); ok {
		return string(a.Type) + " " + names.Name(a.AccountID, label)
	}
	return string(a.Type)
}
