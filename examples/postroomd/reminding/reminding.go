// Package reminding makes, changes and lists reminders as people ask for them, in their own words and time zone. The
// commands, the API and the page take it.
package reminding

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/reminders"
	"github.com/postroom-go/postroom/queue"
)

// A Reminder is something that the owner of a mailbox is told at a time.
type Reminder struct {
	ID          string          `json:"id"`
	Mailbox     string          `json:"mailbox"`
	Text        string          `json:"text"`
	Notes       string          `json:"notes,omitempty"`
	Every       string          `json:"every,omitempty"` // a cron expression; empty for one that comes once
	Zone        string          `json:"zone,omitempty"`  // of every
	State       reminders.State `json:"state"`
	Next        time.Time       `json:"next,omitzero"`
	Deliveries  int             `json:"deliveries"`
	DeliveredAt time.Time       `json:"delivered_at,omitzero"`
	CreatedAt   time.Time       `json:"created_at"`
}

// Canceled reports whether it comes no more, by a person's word.
func (r Reminder) Canceled() bool { return r.State == reminders.Canceled }

// A Page is a page of reminders, the latest first.
type Page struct {
	List []Reminder `json:"reminders"`
	Next string     `json:"next,omitempty"` // the id after which the next page begins; empty on the last one
}

// shownFor is how long an open list has what came once.
const shownFor = 7 * 24 * time.Hour

// A Filter selects reminders.
type Filter struct {
	AccountID string // empty: of all mailboxes
	All       bool   // also those that are canceled, and those that came once more than a week ago
	Before    string // the id of the last one of the page before
	Limit     int    // of the page
}

// List reads a page of reminders.
func List(ctx context.Context, h *app.App, f Filter) (v Page, err error) {
	list, err := h.Reminders.List(ctx, reminders.Filter{UserID: f.AccountID, Open: !f.All,
		DeliveredSince: time.Now().Add(-shownFor), Before: f.Before, Limit: f.Limit + 1})
	if err != nil {
		return v, err
	}
	if len(list) > f.Limit {
		list = list[:f.Limit]
		v.Next = list[f.Limit-1].ID
	}
	mailboxes, err := view.Mailboxes(ctx, h)
	v.List = printer.List(list, func(r reminders.Reminder) Reminder { return newReminder(r, mailboxes) })
	return v, err
}

// ByTime returns reminders as they come next, and then those that have come.
func (p Page) ByTime() []Reminder {
	list := slices.Clone(p.List)
	slices.SortStableFunc(list, func(a, b Reminder) int {
		if a.Next.IsZero() != b.Next.IsZero() {
			return cmp.Compare(b.Next.Unix(), a.Next.Unix())
		}
		return a.Next.Compare(b.Next)
	})
	return list
}

// Read reads one reminder; an unknown one is [postroom.ErrNotFound].
func Read(ctx context.Context, h *app.App, id string) (v Reminder, err error) {
	r, err := h.Reminders.Reminder(ctx, id)
	if err != nil {
		return v, err
	}
	mailboxes, err := view.Mailboxes(ctx, h)
	return newReminder(r, mailboxes), err
}

func newReminder(r reminders.Reminder, mailboxes map[string]string) Reminder {
	return Reminder{ID: r.ID, Mailbox: mailboxes[r.UserID], Text: r.Title, Notes: r.Body, Every: r.Cron, Zone: r.Zone,
		State: r.State, Next: r.Next, Deliveries: r.Deliveries, DeliveredAt: r.DeliveredAt, CreatedAt: r.CreatedAt}
}

// A Request is what a person wants to be reminded of.
type Request struct {
	Account     mailstore.Account
	Text, Notes string
	// At is when it comes, in words or as a time, see [reminders.ParseTime]. Give this or Every.
	At string
	// Every is a cron expression, see [queue.Schedule].
	Every string
	// Zone is that of At and Every. Default: that of the configuration; for At, else that of this machine.
	Zone string
}

// Add makes a reminder. What cannot be one is a [usage.Error].
func Add(ctx context.Context, h *app.App, r Request) (v Reminder, err error) {
	name, zone, err := zoneOf(h, r.Zone)
	if err != nil {
		return v, err
	}
	n := reminders.NewReminder{UserID: r.Account.ID, Title: r.Text, Body: r.Notes, Cron: strings.TrimSpace(r.Every)}
	if n.Cron != "" {
		n.Zone = name
	}
	if strings.TrimSpace(r.At) != "" {
		if n.At, err = reminders.ParseTime(r.At, time.Now().In(zone)); err != nil {
			return v, usage.Wrap(err)
		}
	}
	var id string
	err = h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		made, err := h.Reminders.Add(ctx, tx, n)
		id = made.ID
		return err
	})
	if err != nil {
		return v, ofPerson(err)
	}
	return Read(ctx, h, id)
}

// Snooze has a reminder come at a time, in words or as a time. An empty zone is as in a [Request].
func Snooze(ctx context.Context, h *app.App, id, until, zoneName string) (Reminder, error) {
	_, zone, err := zoneOf(h, zoneName)
	if err != nil {
		return Reminder{}, err
	}
	at, err := reminders.ParseTime(until, time.Now().In(zone))
	if err != nil {
		return Reminder{}, usage.Wrap(err)
	}
	return change(ctx, h, id, func(ctx context.Context, tx queue.Tx) error { return h.Reminders.Snooze(ctx, tx, id, at) })
}

// Cancel ends a reminder.
func Cancel(ctx context.Context, h *app.App, id string) (Reminder, error) {
	return change(ctx, h, id, func(ctx context.Context, tx queue.Tx) error { return h.Reminders.Cancel(ctx, tx, id) })
}

func change(ctx context.Context, h *app.App, id string, fn func(context.Context, queue.Tx) error) (Reminder, error) {
	if err := h.DB.Write(ctx, fn); err != nil {
		return Reminder{}, ofPerson(err)
	}
	return Read(ctx, h, id)
}

func zoneOf(h *app.App, name string) (string, *time.Location, error) {
	name = cmp.Or(name, h.Zone())
	zone, err := time.LoadLocation(name)
	if err != nil {
		return "", nil, usage.Errorf("there is no time zone %q; write one such as \"Europe/Berlin\"", name)
	}
	return name, zone, nil
}

// ofPerson makes a fault of what a person has asked for one.
func ofPerson(err error) error {
	for _, of := range []error{reminders.ErrInvalid, reminders.ErrTooMany, reminders.ErrCanceled} {
		if errors.Is(err, of) {
			return usage.Wrap(err)
		}
	}
	return err
}

// IsMissing reports whether there is no such reminder.
func IsMissing(err error) bool { return errors.Is(err, postroom.ErrNotFound) }

// Print prints a reminder for people.
func Print(w io.Writer, r Reminder) error {
	f := printer.NewFields(w)
	f.Add("id", r.ID)
	f.Add("text", r.Text)
	f.Add("notes", r.Notes)
	f.Add("state", string(r.State))
	f.Add("next", printer.Clock(r.Next))
	f.Add("every", strings.TrimSpace(r.Every+" "+r.Zone))
	f.Add("mailbox", r.Mailbox)
	f.Add("came", printer.Clock(r.DeliveredAt))
	return f.Flush()
}
