package view

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/rules/backtest"
	"github.com/postroom-go/postroom/rules/ruleschat"
)

// A ChatReply is the model's answer as JSON.
type ChatReply struct {
	Session  string           `json:"session"`
	Number   int              `json:"number"` // of the message
	Text     string           `json:"text"`
	Model    string           `json:"model"`
	Proposed []string         `json:"proposed,omitempty"` // the rules that would change, as the lines of a difference
	File     string           `json:"file,omitempty"`     // the whole file as it would be
	Tried    *backtest.Report `json:"tried,omitempty"`
}

// Print prints the answer of the model.
func (v *ChatReply) Print(r *printer.Report) {
	r.Heading(v.Model)
	r.Quote(v.Text)
	if v.File == "" {
		r.Heading("Answer with")
		r.Verbatim("postroomd rules chat say --session " + v.Session + " TEXT")
		return
	}
	r.Heading("Proposed")
	for _, text := range v.Proposed {
		r.Verbatim(text)
	}
	if v.Tried != nil {
		r.Heading("Tried on stored mail")
		r.Line(fmt.Sprintf("Of %s, %d would have been decided about differently.",
			printer.Count(v.Tried.Messages, "message", "messages"), v.Tried.Changed))
		for _, c := range v.Tried.Changes {
			r.Line(fmt.Sprintf("%d: %s instead of %s", c.Count, actionsOr(c.After), actionsOr(c.Before)))
		}
	}
	r.Heading("Nothing is changed yet. Accept it with")
	r.Verbatim(fmt.Sprintf("postroomd rules chat accept %s %d", v.Session, v.Number))
}

func actionsOr(actions []string) string {
	if len(actions) == 0 {
		return "nothing"
	}
	return strings.Join(actions, ", ")
}

// A ChatSession is a session as JSON.
type ChatSession struct {
	ID        string    `json:"id"`
	For       string    `json:"for"` // the mailbox
	By        string    `json:"by"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	About     string    `json:"about"` // What was said first
}

// NewChatSessions reads the newest sessions of an account, or for an empty id of all, at most limit.
func NewChatSessions(ctx context.Context, h *app.App, accountID string, limit int) ([]ChatSession, error) {
	chat, err := h.NewRulesChat("")
	if err != nil {
		return nil, err
	}
	sessions, err := chat.Sessions(ctx, accountID, limit)
	if err != nil {
		return nil, err
	}
	accounts, err := h.Mail.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]ChatSession, len(sessions))
	for i, s := range sessions {
		said, err := chat.Messages(ctx, s.ID)
		if err != nil {
			return nil, err
		}
		list[i] = ChatSession{ID: s.ID, For: EmailOf(accounts, s.AccountID), By: s.By, CreatedAt: s.CreatedAt,
			UpdatedAt: s.UpdatedAt}
		if len(said) > 0 {
			list[i].About = said[0].Text
		}
	}
	return list, nil
}

// A ChatMessage is a message of a session as JSON.
type ChatMessage struct {
	Number     int       `json:"number"`
	Role       string    `json:"role"`
	Model      string    `json:"model,omitempty"`
	Text       string    `json:"text"`
	At         time.Time `json:"at"`
	Rules      string    `json:"rules,omitempty"`  // proposed
	Remove     []string  `json:"remove,omitempty"` // proposed
	AcceptedBy string    `json:"accepted_by,omitempty"`
	AcceptedAt time.Time `json:"accepted_at,omitzero"`
}

// NewChatMessage makes the view of a message of a session.
func NewChatMessage(m ruleschat.Message) ChatMessage {
	v := ChatMessage{Number: m.Number, Role: string(m.Role), Model: m.Model, Text: m.Text, At: m.At}
	if p := m.Proposal; p != nil {
		v.Rules, v.Remove, v.AcceptedBy, v.AcceptedAt = p.Rules, p.Remove, p.AcceptedBy, p.AcceptedAt
	}
	return v
}

// Print prints the message; person names the person who has written.
func (v ChatMessage) Print(r *printer.Report, person string) {
	who := v.Model
	if who == "" {
		who = person
	}
	r.Heading(fmt.Sprintf("%d: %s, %s", v.Number, who, printer.Clock(v.At)))
	r.Quote(v.Text)
	if v.Rules != "" {
		r.Heading("Proposed")
		r.Verbatim(v.Rules)
	}
	for _, name := range v.Remove {
		r.Line("without the rule " + name)
	}
	if !v.AcceptedAt.IsZero() {
		r.Line(fmt.Sprintf("accepted by %s, %s", v.AcceptedBy, printer.Clock(v.AcceptedAt)))
	}
}
