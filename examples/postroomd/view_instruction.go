package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/llm/guidance"
)

// An instructionView is an instruction to the model, with what of it is binding.
type instructionView struct {
	ID        string                `json:"id"`
	Name      string                `json:"name,omitempty"`
	Scope     guidance.Scope        `json:"scope"`
	ScopeRef  string                `json:"scope_ref"`
	For       string                `json:"for"` // the mail that it is about, for people
	Text      string                `json:"text"`
	Forbids   []postroom.ActionType `json:"forbids"`
	Binding   string                `json:"binding"` // what it forbids, for people; empty if nothing
	Enabled   bool                  `json:"enabled"`
	Priority  int                   `json:"priority"`
	CreatedAt time.Time             `json:"created_at"`
	UpdatedAt time.Time             `json:"updated_at"`
	Revision  int64                 `json:"revision"`
}

func viewInstruction(i guidance.Instruction, accounts []gmail.Account) instructionView {
	v := instructionView{
		ID: i.ID, Name: i.Name, Scope: i.Scope, ScopeRef: i.ScopeRef, For: i.About(), Text: i.Text, Forbids: append([]postroom.ActionType{}, i.Forbids...),
		Enabled: i.Enabled, Priority: i.Priority, CreatedAt: i.CreatedAt, UpdatedAt: i.UpdatedAt, Revision: i.Revision,
	}
	if i.Scope == guidance.ScopeMailbox {
		v.For = "mail to " + emailOf(accounts, i.ScopeRef)
	}
	if len(i.Forbids) > 0 {
		v.Binding = "no " + strings.Join(kindNames(i.Forbids), ", ") + " for " + v.For
	}
	return v
}

func kindNames(kinds []postroom.ActionType) []string {
	return printer.List(kinds, func(t postroom.ActionType) string { return string(t) })
}

// effect says what of the instruction is binding, and what is not.
func (v *instructionView) effect() string {
	binding := v.Binding
	if binding == "" {
		binding = "nothing; add --forbid archive"
	}
	text := "binding: " + binding + "\n"
	if strings.TrimSpace(v.Text) != "" {
		text += "advice: the text, which the model reads and may ignore\n"
	}
	return text
}

func viewInstructions(ctx context.Context, h *host) ([]instructionView, error) {
	list, err := h.guide.Instructions(ctx)
	if err != nil {
		return nil, err
	}
	return withMailboxes(ctx, h, list)
}

// withMailboxes views instructions with the addresses of the mailboxes.
func withMailboxes(ctx context.Context, h *host, list []guidance.Instruction) ([]instructionView, error) {
	accounts, err := h.mail.Accounts(ctx)
	return printer.List(list, func(i guidance.Instruction) instructionView { return viewInstruction(i, accounts) }), err
}

// findInstruction returns the instruction with the given prefix of its id.
func findInstruction(ctx context.Context, h *host, id string) (instructionView, error) {
	list, err := viewInstructions(ctx, h)
	if err != nil {
		return instructionView{}, err
	}
	prefix := strings.ToLower(strings.TrimSpace(id))
	list = slices.DeleteFunc(list, func(i instructionView) bool { return prefix == "" || !strings.HasPrefix(i.ID, prefix) })
	if len(list) != 1 {
		return instructionView{}, usage.Errorf("%d instructions have an id that begins with %q; 'postroomd instructions list' lists them", len(list), id)
	}
	return list[0], nil
}
