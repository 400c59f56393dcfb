package main

import (
	"context"
	"github.com/postroom-go/postroom/llm/guidance"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/gmail"
)

// An instruction is a direction or a rule for the model.
type instruction struct {
	ID        string    `json:"id"`
	Name      string    `json:"name,omitempty"` // of a rule
	For       string    `json:"for"`            // all mail, a mailbox, a domain or a sender
	Text      string    `json:"text"`
	Enabled   bool      `json:"enabled"`
	Priority  int       `json:"priority"`
	Revision  int64     `json:"revision"`
	CreatedAt time.Time `json:"created_at"`

	direction *guidance.Direction  `json:"-"` // else a rule
	rule      *guidance.ScopedRule `json:"-"`
}

func newInstructions(ctx context.Context, h *host) ([]instruction, error) {
	accounts, err := h.mail.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	directions, err := h.models.guide.Directions(ctx)
	if err != nil {
		return nil, err
	}
	list := printer.List(directions, func(d guidance.Direction) instruction { return ofDirection(d, accounts) })
	rules, err := h.models.guide.Rules(ctx)
	return append(list, printer.List(rules, func(r guidance.ScopedRule) instruction { return ofRule(r, accounts) })...), err
}

func ofDirection(d guidance.Direction, accounts []gmail.Account) instruction {
	about := "all mail"
	if d.AccountID != "" {
		about = emailOf(accounts, d.AccountID)
	}
	return instruction{ID: d.ID, For: about, Text: d.Text, Enabled: d.Enabled, Priority: d.Priority, Revision: d.Revision, CreatedAt: d.CreatedAt, direction: &d}
}

func ofRule(r guidance.ScopedRule, accounts []gmail.Account) instruction {
	about := "all mail"
	switch r.Scope {
	case guidance.ScopeAccount:
		about = emailOf(accounts, r.ScopeRef)
	case guidance.ScopeDomain, guidance.ScopeSender:
		about = "mail from " + r.ScopeRef
	}
	return instruction{
		ID: r.ID, Name: r.Name, For: about, Text: r.Text, Enabled: r.Enabled, Priority: r.Priority, Revision: r.Revision, CreatedAt: r.CreatedAt, rule: &r,
	}
}
