package learning

import (
	"context"
	"errors"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/rules/lessons"
)

// Models is what people type in place of a rule for the models of a mailbox.
const Models = "models"

// A Drift is a rule, or the models, of whose last actions some were corrected.
type Drift struct {
	Mailbox   string             `json:"mailbox"`
	AccountID string             `json:"-"`
	RuleID    string             `json:"rule_id,omitempty"` // empty: the models
	Rule      string             `json:"rule,omitempty"`
	State     lessons.DriftState `json:"state"` // warns or asks
	Acted     int                `json:"acted"` // messages on which it has acted last, 20 at most
	Corrected int                `json:"corrected"`
	Why       string             `json:"why"`
	Since     time.Time          `json:"since"`

	named string
}

// What says in one sentence what has drifted, and what follows.
func (d *Drift) What() string {
	if d.State == lessons.DriftAsks {
		return "You are asked about " + d.named + "."
	}
	return "Look at " + d.named + "."
}

// Typed is what the command takes for it.
func (d *Drift) Typed() string {
	if d.RuleID == "" {
		return Models
	}
	return d.RuleID
}

// Drifts lists the rules and models of a mailbox that warn or ask; none where nothing is learned.
func Drifts(ctx context.Context, h *app.App, account mailstore.Account) ([]Drift, error) {
	if h.Lessons == nil {
		return nil, nil
	}
	found, err := h.Lessons.Drifts(ctx, account.ID)
	var list []Drift
	for i := range found {
		d := &found[i]
		list = append(list, Drift{Mailbox: account.Email, AccountID: account.ID, RuleID: d.RuleID, Rule: d.Rule,
			State: d.State, Acted: d.Acted, Corrected: d.Corrected, Why: d.Why(), Since: d.ChangedAt, named: d.Named()})
	}
	return list, err
}

// RightAgain ends that something warns or asks: the models of a mailbox, for the word [Models], or a rule, by its name,
// or by its id or as much of it as is unique.
func RightAgain(ctx context.Context, h *app.App, account mailstore.Account, typed, by string) (Drift, error) {
	if err := Check(h); err != nil {
		return Drift{}, err
	}
	list, err := Drifts(ctx, h, account)
	if err != nil {
		return Drift{}, err
	}
	var ids []string
	for i := range list {
		d := &list[i]
		if d.Typed() == typed || d.RuleID != "" && (d.Rule == typed || app.MatchesID(d.RuleID, typed)) {
			ids = append(ids, d.Typed())
		}
	}
	id, err := app.OneID(ids, "rule that warns or asks", typed, "postroomd learn list")
	if err != nil {
		return Drift{}, err
	}
	for i := range list {
		if list[i].Typed() != id {
			continue
		}
		err := h.RightAgain(ctx, account.ID, list[i].RuleID, by)
		if errors.Is(err, lessons.ErrRight) {
			err = usage.Wrap(err)
		}
		return list[i], err
	}
	return Drift{}, nil
}
