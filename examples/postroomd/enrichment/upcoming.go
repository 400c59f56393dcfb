package enrichment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/llm/enrich"
)

// An Appointment is an event that the mail of a mailbox names.
type Appointment struct {
	enrich.Event

	MessageID string `json:"message_id"` // Gmail's
	From      string `json:"from"`
	Subject   string `json:"subject"`
	Unsure    bool   `json:"unsure"`
	// Conflicts are appointments at the same time, as texts; five at most.
	Conflicts []string `json:"conflicts"`
	// File is the path of its file in the folder of appointments, and Draft is Gmail's id of the draft that has it; empty
	// if there is none.
	File  string `json:"file,omitempty"`
	Draft string `json:"draft,omitempty"`

	message, uid string // ours
	begins, ends time.Time
	allDay       bool
}

// Line says the appointment on one line.
func (a *Appointment) Line() string {
	if a.Unsure {
		return EventText(&a.Event) + " (unsure)"
	}
	return EventText(&a.Event)
}

// Appointments are those that are to come in a mailbox.
type Appointments struct {
	List []Appointment `json:"list"` // the next first
	More int           `json:"more"` // how many are left out at the end
}

// The bounds of lists of appointments.
const (
	mostRead      = 1000 // messages that name some, the newest
	mostUpcoming  = 50
	mostConflicts = 5
)

// Upcoming returns the appointments of a mailbox that have not ended. What says no zone is in that of the owner. Of
// what one sender has written about an event more than once, the newest mail holds.
func Upcoming(ctx context.Context, store *enrich.Store, mail *mailstore.Store, accountID string, now time.Time,
	zone *time.Location) (Appointments, error) {
	found, err := upcoming(ctx, store, mail, accountID, now, zone)
	list := Appointments{List: found[:min(len(found), mostUpcoming)]}
	list.More = len(found) - len(list.List)
	if err == nil {
		err = addPlaces(ctx, mail, accountID, list.List)
	}
	return list, err
}

func upcoming(ctx context.Context, store *enrich.Store, mail *mailstore.Store, accountID string, now time.Time,
	zone *time.Location) ([]Appointment, error) {
	known, err := store.List(ctx, enrich.Filter{AccountID: accountID, HasEvent: true, Limit: mostRead})
	if err != nil {
		return nil, err
	}
	found, seen := []Appointment{}, map[string]bool{}
	for _, e := range known {
		if !slices.ContainsFunc(e.Events, func(event enrich.Event) bool { return isUpcoming(&event, now, zone) }) &&
			!slices.ContainsFunc(e.Events, func(event enrich.Event) bool { return event.Canceled }) {
			continue
		}
		msg, err := mail.Message(ctx, e.AccountID, e.MessageID)
		if errors.Is(err, postroom.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for i, event := range e.Events {
			key := strings.ToLower(msg.From.Email) + "\x00" + cmp.Or(event.UID, event.Title+"\x00"+event.Start)
			if seen[key] {
				continue
			}
			seen[key] = true
			if !event.Canceled && isUpcoming(&event, now, zone) {
				a := Appointment{Event: event, MessageID: msg.ProviderID, From: msg.From.Email, Subject: msg.Subject,
					Unsure: !e.Stands(enrich.StageCalendar), Conflicts: []string{}, message: e.MessageID,
					uid: e.EventUID(i)}
				a.begins, a.ends, a.allDay, _ = event.Span(zone)
				found = append(found, a)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Appointment) int {
		return cmp.Or(a.begins.Compare(b.begins), cmp.Compare(a.Title, b.Title))
	})
	conflicts(found)
	return found, nil
}

func isUpcoming(e *enrich.Event, now time.Time, zone *time.Location) bool {
	_, ends, _, ok := e.Span(zone)
	return ok && ends.After(now)
}

// conflicts notes which of the sorted appointments are at the same time. What lasts whole days is beside all else.
func conflicts(list []Appointment) {
	for i := range list {
		a := &list[i]
		for j := i + 1; j < len(list) && !a.allDay && len(a.Conflicts) < mostConflicts; j++ {
			b := &list[j]
			if !b.begins.Before(a.ends) {
				break
			}
			if b.allDay {
				continue
			}
			a.Conflicts = append(a.Conflicts, EventText(&b.Event))
			if len(b.Conflicts) < mostConflicts {
				b.Conflicts = append(b.Conflicts, EventText(&a.Event))
			}
		}
	}
}

// AddConflicts adds what the appointments of the message collide with.
func (v *View) AddConflicts(ctx context.Context, store *enrich.Store, mail *mailstore.Store, msg *postroom.Message,
	now time.Time, zone *time.Location) error {
	if len(v.Events) == 0 {
		return nil
	}
	all, err := upcoming(ctx, store, mail, msg.AccountID, now, zone)
	for i := range all {
		if all[i].message == msg.ID {
			v.Conflicts = append(v.Conflicts, ConflictTexts(&all[i])...)
		}
	}
	return err
}

// ConflictTexts say what an appointment collides with.
func ConflictTexts(a *Appointment) (texts []string) {
	for _, other := range a.Conflicts {
		texts = append(texts, fmt.Sprintf("%s is at the same time as %s", a.Title, other))
	}
	return texts
}
