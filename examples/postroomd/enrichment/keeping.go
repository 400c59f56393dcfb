package enrichment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/gmail/appointments"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/llm/enrich"
	"github.com/postroom-go/postroom/queue"
)

// newKeeper makes what keeps appointments as files or in drafts; nil if that is not configured. A dry run keeps none.
func (c *Config) newKeeper(store *enrich.Store) (*appointments.Keeper, error) {
	set := &c.Settings.Enrich
	if set.Events == "" || c.Settings.Safety.DryRun {
		return nil, nil //nolint:nilnil // documented
	}
	cfg := appointments.Config{Queue: c.Queue, Held: c.Held,
		Find: func(ctx context.Context, accountID, messageID string) (appointments.Found, error) {
			return c.find(ctx, store, accountID, messageID)
		}}
	if set.Events == config.EventFiles {
		cfg.Folder = string(set.EventsFolder)
		return appointments.New(cfg)
	}
	drafts, err := outbox.NewDrafts(outbox.DraftsConfig{Store: c.Mail, Clients: c.Clients})
	if err != nil {
		return nil, err
	}
	cfg.Drafts = drafts
	return appointments.New(cfg)
}

// Register registers the handlers of the jobs.
func (s *Service) Register(d *queue.Dispatcher, opts ...queue.HandlerOption) error {
	err := s.Service.Register(d, opts...)
	if s.keeper != nil {
		err = errors.Join(err, s.keeper.Register(d, opts...))
	}
	return err
}

// follow returns what has files or a draft follow what is known of a message; nil if it names no appointment, and has
// named none that a person has rejected since.
func (s *Service) follow(e *enrich.Enrichment) func(context.Context, queue.Tx) error {
	if s.keeper == nil || len(e.Events) == 0 && e.Denials[enrich.StageCalendar].By == "" {
		return nil
	}
	return func(ctx context.Context, tx queue.Tx) error {
		return s.keeper.Follow(ctx, tx, e.AccountID, e.MessageID)
	}
}

// find returns the appointments of a message that stand.
func (c *Config) find(ctx context.Context, store *enrich.Store, accountID, messageID string) (f appointments.Found,
	err error) {
	e, err := store.Get(ctx, accountID, messageID)
	if err != nil {
		return f, err
	}
	msg, err := c.Mail.Message(ctx, accountID, messageID)
	if err != nil {
		return f, err
	}
	account, err := c.Mail.Account(ctx, accountID)
	if err == nil {
		err = account.Usable() // a pause of the mailbox holds for it
	}
	if f.Owner = account.Email; err != nil {
		return f, err
	}
	if !e.Stands(enrich.StageCalendar) {
		return f, nil
	}
	now, about := time.Now(), c.about(msg, f.Owner)
	for i := range e.Events {
		event := &e.Events[i]
		if ics := e.EventICS(i, about); ics != nil {
			begins, ends, _, _ := event.Span(c.Zone)
			f.List = append(f.List, appointments.Appointment{ID: e.EventUID(i), Day: begins.Format(time.DateOnly),
				Title: event.Title, ICS: ics, Over: !ends.After(now)})
		}
	}
	v := NewView(e, msg)
	if err := v.AddConflicts(ctx, store, c.Mail, msg, now, c.Zone); err != nil {
		return f, err
	}
	f.Subject = "Appointment: " + cmp.Or(msg.Subject, v.Calendar.Value)
	f.Text = draftText(&v, about)
	return f, nil
}

// about says what mail an appointment is from.
func (c *Config) about(msg *postroom.Message, mailbox string) string {
	from := strings.TrimSpace(msg.From.Name + " <" + msg.From.Email + ">")
	text := fmt.Sprintf("From a mail of %s: %s", from, msg.Subject)
	if c.Page != nil {
		text += "\n" + c.Page(mailbox, msg.ProviderThreadID)
	}
	return text
}

// draftText is the text of a draft with the appointments of a message.
func draftText(v *View, about string) string {
	var b strings.Builder
	for i := range v.Events {
		if !v.Events[i].Canceled {
			b.WriteString(EventText(&v.Events[i]) + "\n")
		}
	}
	for _, text := range v.Conflicts {
		b.WriteString("Conflict: " + text + "\n")
	}
	b.WriteString("\n" + about + "\n\nOpen the attached file to add it to your calendar. This draft is for you alone: " +
		"nothing was sent, and nobody was answered.\n")
	return b.String()
}

// addPlaces notes where appointments were put.
func addPlaces(ctx context.Context, mail *mailstore.Store, accountID string, list []Appointment) error {
	ids := make([]string, len(list))
	for i := range list {
		ids[i] = list[i].message
	}
	found, err := appointments.Places(ctx, mail.DB().Reader(), accountID, ids...)
	for i := range list {
		a := &list[i]
		a.File = found[appointments.Key{MessageID: a.message, ID: a.uid}].Path
		a.Draft = found[appointments.Key{MessageID: a.message}].Draft
	}
	return err
}

// Kept says where the appointment was put; empty if nowhere.
func (a *Appointment) Kept() string {
	var places []string
	if a.File != "" {
		places = append(places, "in the file "+a.File)
	}
	if a.Draft != "" {
		places = append(places, "in a draft to yourself")
	}
	return strings.Join(places, ", and ")
}
