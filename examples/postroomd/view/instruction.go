package view

import (
	"context"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/llm/guidance"
)

// An Instruction is an instruction to the model, with what of it is binding.
type Instruction struct {
	ID       string                `json:"id"`
	Name     string                `json:"name,omitempty"`
	Scope    guidance.Scope        `json:"scope"`
	ScopeRef string                `json:"scope_ref"`
	For      string                `json:"for"` // the mail that it is about, for people
	Text     string                `json:"text"`
	Forbids  []postroom.ActionType `json:"forbids"`
	Binding  string                `json:"binding"` // what it forbids, for people; empty if nothing
	// Unauthenticated says that the text is also about mail whose sender is not verified.
	Unauthenticated bool `json:"unauthenticated,omitempty"`

	Enabled   bool      `json:"enabled"`
	Priority  int       `json:"priority"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	Revision  int64     `json:"revision"`
}

// Revised returns the revision of the instruction, for its ETag.
func (v Instruction) Revised() int64 { return v.Revision }

func newInstruction(i guidance.Instruction, accounts []mailstore.Account) Instruction {
	v := Instruction{
		ID: i.ID, Name: i.Name, Scope: i.Scope, ScopeRef: i.ScopeRef, For: i.About(), Text: i.Text,
		Forbids:         append([]postroom.ActionType{}, i.Forbids...),
		Unauthenticated: i.Unauthenticated, Enabled: i.Enabled, Priority: i.Priority, CreatedAt: i.CreatedAt,
		UpdatedAt: i.UpdatedAt, Revision: i.Revision,
	}
	if i.Scope == guidance.ScopeMailbox {
		v.For = "mail to " + EmailOf(accounts, i.ScopeRef)
	}
	if len(i.Forbids) > 0 {
		v.Binding = "no " + strings.Join(KindNames(i.Forbids), ", ") + " for " + v.For
	}
	return v
}

// KindNames are the names of kinds of actions.
func KindNames(kinds []postroom.ActionType) []string {
	return printer.List(kinds, func(t postroom.ActionType) string { return string(t) })
}

// Effect says what of the instruction is binding, and what is not.
func (v *Instruction) Effect() string {
	binding := v.Binding
	if binding == "" {
		binding = "nothing; add --forbid archive"
	}
	text := "binding: " + binding + "\n"
	if strings.TrimSpace(v.Text) != "" {
		text += "advice: the text, which the model reads and may ignore"
		if v.Scope.OfSender() && !v.Unauthenticated {
			text += "; only with mail whose sender is verified"
		}
		text += "\n"
	}
	return text
}

// NewInstructions views all instructions, in the order in which the model reads them.
func NewInstructions(ctx context.Context, h *app.App) ([]Instruction, error) {
	list, err := h.Models.Guidance.Instructions(ctx)
	if err != nil {
		return nil, err
	}
	return InstructionsWithMailboxes(ctx, h, list)
}

// InstructionsWithMailboxes views instructions with the addresses of the mailboxes.
func InstructionsWithMailboxes(ctx context.Context, h *app.App, list []guidance.Instruction) ([]Instruction, error) {
	accounts, err := h.Mail.Accounts(ctx)
	return printer.List(list, func(i guidance.Instruction) Instruction { return newInstruction(i, accounts) }), err
}
