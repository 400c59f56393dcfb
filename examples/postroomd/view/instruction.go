package view

import (
	"context"
	"github.com/postroom-go/postroom/llm/guidance"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/gmail"
)

// An instruction is a direction or a rule for the model.
type Instruction struct {
	ID        string    `json:"id"`
	Name      string    `json:"name,omitempty"` // of a rule
	For       string    `json:"for"`            // all mail, a mailbox, a domain or a sender
	Text      string    `json:"text"`
	Enabled   bool      `json:"enabled"`
	Priority  int       `json:"priority"`
	Revision  int64     `json:"revision"`
	CreatedAt time.Time `json:"created_at"`

	direction *guidance.Direction  `json:"-"` // else a rule
	Rule      *guidance.ScopedRule `json:"-"`
}

func NewInstructions(ctx context.Context, h *app.App) ([]Instruction, error) {
	accounts, err := h.Mail.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	directions, err := h.Models.Guidance.Directions(ctx)
	if err != nil {
		return nil, err
	}
	list := printer.List(directions, func(d guidance.Direction) Instruction { return ofDirection(d, accounts) })
	rules, err := h.Models.Guidance.Rules(ctx)
	return append(list, printer.List(rules, func(r guidance.ScopedRule) Instruction { return ofRule(r, accounts) })...), err
}

func ofDirection(d guidance.Direction, accounts []gmail.Account) Instruction {
	about := "all mail"
	if d.AccountID != "" {
		about = EmailOf(accounts, d.AccountID)
	}
	return Instruction{ID: d.ID, For: about, Text: d.Text, Enabled: d.Enabled, Priority: d.Priority, Revision: d.Revision, CreatedAt: d.CreatedAt, direction: &d}
}

func ofRule(r guidance.ScopedRule, accounts []gmail.Account) Instruction {
	about := "all mail"
	switch r.Scope {
	case guidance.ScopeAccount:
		about = EmailOf(accounts, r.ScopeRef)
	case guidance.ScopeDomain, guidance.ScopeSender:
		about = "mail from " + r.ScopeRef
	}
	return Instruction{
		ID: r.ID, Name: r.Name, For: about, Text: r.Text, Enabled: r.Enabled, Priority: r.Priority, Revision: r.Revision, CreatedAt: r.CreatedAt, Rule: &r,
	}
}
