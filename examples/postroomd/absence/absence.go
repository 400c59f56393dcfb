// Package absence is what the doors of a postroomd say and show of the times in which the owner of a mailbox is away.
// Package gmail/away answers mail meanwhile.
package absence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/away"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/suggest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/events"
)

// Wanted is what a person says of an absence.
type Wanted struct {
	From     string `json:"from,omitempty"     jsonschema:"its first day, as 2027-01-31; now, if left out"`
	Until    string `json:"until"              jsonschema:"its last day, as 2027-01-31"`
	Text     string `json:"text,omitempty"     jsonschema:"the answer, which may have variables such as {{first_name|all}} and {{until}}"`
	Snippet  string `json:"snippet,omitempty"  jsonschema:"in place of text: the name of a snippet of the rules of the mailbox"`
	Days     int    `json:"days,omitempty"     jsonschema:"after how many days a sender is answered again, 3 to 90; never in this absence, if left out"`
	Audience string `json:"audience,omitempty" jsonschema:"everybody, or known: those to whom you have written before; everybody, if left out"`
}

// A Status is the last absence of a mailbox.
type Status struct {
	Mailbox  string    `json:"mailbox"`
	State    string    `json:"state"` // off, on, or planned
	From     time.Time `json:"from,omitzero"`
	Until    time.Time `json:"until,omitzero"` // the first instant after it
	LastDay  string    `json:"last_day,omitempty"`
	Text     string    `json:"text,omitempty"`
	Days     int       `json:"days,omitempty"`
	Audience string    `json:"audience,omitempty"`
	SetBy    string    `json:"set_by,omitempty"`
	EndedBy  string    `json:"ended_by,omitempty"`
	Answered int       `json:"answered"` // senders

	AccountID string `json:"-"`
}

// The states of a [Status].
const (
	Off     = "off"
	On      = "on"
	Planned = "planned"
)

// Line says the state on one line; empty if nobody is away.
func (s *Status) Line() string {
	switch s.State {
	case On:
		return fmt.Sprintf("away until %s, answered %s", s.LastDay, printer.Count(s.Answered, "sender", "senders"))
	case Planned:
		return fmt.Sprintf("away from %s until %s", s.From.Local().Format(time.DateOnly), s.LastDay)
	}
	return ""
}

// Of returns the last absence of a mailbox.
func Of(ctx context.Context, h *app.App, account mailstore.Account) (Status, error) {
	s := Status{Mailbox: account.Email, State: Off, AccountID: account.ID}
	a, err := h.Away.Absence(ctx, account.ID)
	if errors.Is(err, postroom.ErrNotFound) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	s.show(&a, time.Now())
	s.Answered, err = h.Away.Answered(ctx, account.ID, a.Since)
	return s, err
}

func (s *Status) show(a *away.Absence, now time.Time) {
	switch {
	case a.On(now):
		s.State = On
	case !a.Over(now):
		s.State = Planned
	}
	s.From, s.Until, s.LastDay, s.Text, s.Days = a.From, a.Until, a.LastDay(), a.Text, a.Days
	s.Audience, s.SetBy, s.EndedBy = string(a.Audience), a.SetBy, a.EndedBy
}

// All returns the last absences of the mailboxes.
func All(ctx context.Context, h *app.App) ([]Status, error) {
	accounts, err := h.Mail.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]Status, len(accounts))
	for i, account := range accounts {
		if list[i], err = Of(ctx, h, account); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Read reads what a person says, and returns the absence as it would be stored. What cannot be is the fault of the
// person.
func Read(h *app.App, account mailstore.Account, w Wanted, by string) (a away.Absence, err error) {
	a = away.Absence{AccountID: account.ID, Text: w.Text, Days: w.Days, Audience: away.Audience(w.Audience), SetBy: by}
	if a.From, err = day("the first day", w.From); err != nil {
		return a, err
	}
	if a.Until, err = day("the last day", w.Until); err != nil {
		return a, err
	}
	if !a.Until.IsZero() {
		a.Until = a.Until.AddDate(0, 0, 1)
	}
	if w.Snippet != "" {
		if a.Text, err = snippet(h, account.Email, w); err != nil {
			return a, err
		}
	}
	a, err = h.Away.Check(a)
	return a, fault(err)
}

// day reads a day, in the zone of the machine.
func day(what, text string) (time.Time, error) {
	if text = strings.TrimSpace(text); text == "" {
		return time.Time{}, nil
	}
	at, err := time.ParseInLocation(time.DateOnly, text, time.Local)
	if err != nil {
		return at, usage.Errorf("%s is %q; write a day such as %s", what, text, time.Now().Format(time.DateOnly))
	}
	return at, nil
}

// snippet returns a text of the rules of a mailbox.
func snippet(h *app.App, email string, w Wanted) (string, error) {
	if strings.TrimSpace(w.Text) != "" {
		return "", usage.Errorf("there are both a text and the snippet %q; give one of the two", w.Snippet)
	}
	file, err := h.Env.ReadRules(h.Env.RulesPath(email))
	if err != nil {
		return "", err
	}
	if file == nil || len(file.Snippets) == 0 {
		return "", usage.Errorf("the rules of %s have no snippets; write them under snippets:, or give the text", email)
	}
	text, ok := file.Snippets[w.Snippet]
	if !ok {
		return "", usage.Errorf("there is no snippet %q; %s", w.Snippet,
			suggest.Instead(w.Snippet, slices.Sorted(maps.Keys(file.Snippets)), "the snippets are"))
	}
	return text, nil
}

// Set switches an absence on, and has the audit log say who.
func Set(ctx context.Context, h *app.App, account mailstore.Account, a away.Absence) (s Status, err error) {
	err = h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		stored, err := h.Away.Set(ctx, tx, a)
		if err != nil {
			return err
		}
		return h.Ledger.Events().Add(ctx, tx, events.Event{Kind: events.AwaySet, AccountID: a.AccountID, By: a.SetBy,
			Why: "until " + stored.LastDay()})
	})
	if err != nil {
		return s, fault(err)
	}
	return Of(ctx, h, account)
}

// End ends the absence of a mailbox, and has the audit log say who. It reports whether there was one.
func End(ctx context.Context, h *app.App, accountID, by string) (ended bool, err error) {
	err = h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		if ended, err = h.Away.End(ctx, tx, accountID, by); err != nil || !ended {
			return err
		}
		return h.Ledger.Events().Add(ctx, tx, events.Event{Kind: events.AwayEnded, AccountID: accountID, By: by})
	})
	return ended, err
}

// fault makes an absence that cannot be set the fault of who has said it.
func fault(err error) error {
	if _, invalid := errors.AsType[*away.InvalidError](err); invalid {
		return usage.Wrap(err)
	}
	return err
}

// Print prints an absence for people.
func (s *Status) Print(w io.Writer) error {
	f := printer.NewFields(w)
	f.Add("mailbox", s.Mailbox)
	state := s.Line()
	if state == "" {
		state = "not away"
	}
	f.Add("state", state)
	if s.State != Off {
		f.Add("from", printer.Clock(s.From))
		f.Add("last day", s.LastDay)
		f.Add("answers", audienceWords(s.Audience))
		again := "once in this absence"
		if s.Days > 0 {
			again = fmt.Sprintf("once in %d days", s.Days)
		}
		f.Add("each", again)
		f.Add("set by", s.SetBy)
		f.Add("text", s.Text)
	}
	return f.Flush()
}

func audienceWords(audience string) string {
	if audience == string(away.Known) {
		return "those to whom you have written before"
	}
	return "everybody"
}

// A Preview is whom an absence would have answered in the last two weeks.
type Preview struct {
	Looked  int      `json:"messages"`
	Senders int      `json:"senders"`
	Listed  []Sender `json:"list"`
	Cut     bool     `json:"cut,omitempty"` // there was more mail than was looked at
}

// A Sender would have been answered.
type Sender struct {
	Name    string    `json:"name,omitempty"`
	Email   string    `json:"email"`
	Subject string    `json:"subject"`
	At      time.Time `json:"at"`
}

// NewPreview looks whom an absence would have answered. Gmail is asked for the addresses of the mailbox.
func NewPreview(ctx context.Context, h *app.App, a away.Absence) (v Preview, err error) {
	p, err := h.Away.Preview(ctx, a)
	v = Preview{Looked: p.Looked, Senders: p.Senders, Cut: p.Cut,
		Listed: printer.List(p.Listed, func(s away.Sender) Sender { return Sender(s) })}
	return v, err
}

// Line says how many would have been answered.
func (p *Preview) Line() string {
	text := fmt.Sprintf("In the last 14 days it would have answered %s, of %s",
		printer.Count(p.Senders, "sender", "senders"), printer.Count(p.Looked, "message", "messages"))
	if p.Cut {
		text += " that were looked at, the latest"
	}
	return text + "."
}

// Print prints whom it would have answered.
func (p *Preview) Print(w io.Writer) error {
	if _, err := fmt.Fprintln(w, p.Line()); err != nil {
		return err
	}
	if len(p.Listed) == 0 {
		return nil
	}
	t := printer.NewTable(w, "LAST MAIL", "SENDER", "SUBJECT")
	for _, s := range p.Listed {
		t.Row(printer.Minute(s.At), printer.Short(s.Email, 50), printer.Short(s.Subject, 60))
	}
	if err := t.Flush(""); err != nil {
		return err
	}
	if more := p.Senders - len(p.Listed); more > 0 {
		_, err := fmt.Fprintf(w, "and %d more\n", more)
		return err
	}
	return nil
}
