// Package enrichment finds out for postroomd what mail means: package llm/enrich with the configuration, the mail and
// the models of the daemon.
package enrichment

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/gmail/appointments"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/senders"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/enrich"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/calendar"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/safety"
)

// A Service is that of package enrich, once [Service.Open] was called; the pipeline is made before, and knows it.
type Service struct {
	*enrich.Service // nil before

	keeper *appointments.Keeper // nil: appointments are kept nowhere else
}

// Config configures [Service.Open].
type Config struct {
	Settings *config.Config
	Queue    *queue.Queue
	Mail     *mailstore.Store
	Clients  gmailapi.Clients
	// Model is asked about what nothing else tells; nil: nobody is.
	Model enrich.Model
	// Decisions lists decisions, as [safety.Ledger.Decisions] does.
	Decisions func(ctx context.Context, f safety.Filter) ([]safety.DecisionRecord, error)
	// Held returns an error while nothing may be changed.
	Held func(ctx context.Context) error
	// Page is the address at which Gmail shows a message of a mailbox; nil: there is none.
	Page func(mailbox, id string) string
	Zone *time.Location // of the owner
	// Ended is called when it is known what a message means.
	Ended  func(ctx context.Context, msg *postroom.Message) error
	Logger *slog.Logger
}

// Open makes the service.
func (s *Service) Open(c Config) error {
	set := &c.Settings.Enrich
	categories, err := set.OwnCategories()
	if err != nil {
		return fmt.Errorf("enrich.categories: %w", err)
	}
	levels, err := set.OwnLevels()
	if err != nil {
		return fmt.Errorf("enrich.levels: %w", err)
	}
	stages := make([]enrich.Stage, len(set.Stages))
	for i, name := range set.Stages {
		stages[i] = enrich.Stage(name)
	}
	cfg := enrich.Config{
		Queue: c.Queue, Messages: c.Mail, LimitKey: mailstore.LimitKey, Stages: stages, Categories: categories,
		Levels: levels, SureFrom: set.SureFrom,
		ModelAge: c.Settings.LLM.Age, WrittenTo: senders.Correspondents{Store: c.Mail}.WrittenTo, Logger: c.Logger,
		First: c.named(categories), Owner: c.owner, Calendars: c.calendars,
		OnEnded: func(ctx context.Context, msg *postroom.Message, e *enrich.Enrichment) (
			func(context.Context, queue.Tx) error, error) {
			return s.follow(e), c.Ended(ctx, msg)
		},
	}
	if set.Model {
		cfg.Model = c.Model
	}
	if s.Service, err = enrich.New(cfg); err != nil {
		return err
	}
	s.keeper, err = c.newKeeper(s.Store)
	return err
}

// owner returns the address of a mailbox.
func (c *Config) owner(ctx context.Context, accountID string) (string, error) {
	account, err := c.Mail.Account(ctx, accountID)
	return account.Email, err
}

// calendars reads the calendars of a message, which Gmail keeps.
func (c *Config) calendars(ctx context.Context, msg *postroom.Message) ([]*calendar.Calendar, error) {
	client, err := gmailapi.FindClient(ctx, c.Clients, msg.AccountID)
	if err != nil {
		return nil, err
	}
	raw, err := client.GetRaw(ctx, msg.ProviderID)
	switch gmailapi.ClassOf(err) {
	case gmailapi.ClassGone, gmailapi.ClassForbidden, gmailapi.ClassInvalid:
		return nil, fmt.Errorf("%w: %w", postroom.ErrNotFound, err)
	}
	if err != nil {
		return nil, err
	}
	return read(raw)
}

// read reads the calendars of a message. What cannot be read now, never can.
func read(raw *gmailapi.RawMessage) ([]*calendar.Calendar, error) {
	content, err := raw.Bytes()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", postroom.ErrNotFound, err)
	}
	m, err := mime.ParseBytes(content, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", postroom.ErrNotFound, err)
	}
	calendars, err := calendar.FromMessage(m)
	if err != nil && len(calendars) == 0 {
		return nil, fmt.Errorf("%w: %w", postroom.ErrNotFound, err)
	}
	return calendars, nil
}

// Meaning returns what rules may know of a message: what is sure. It implements [rules.Meanings].
func (s *Service) Meaning(ctx context.Context, msg *postroom.Message) (m rules.Meaning, err error) {
	e, err := s.Get(ctx, msg.AccountID, msg.ID)
	if errors.Is(err, postroom.ErrNotFound) {
		return m, nil
	}
	if err != nil {
		return m, err
	}
	if e.Stands(enrich.StageCategory) {
		m.Topic = e.Category
	}
	if e.Stands(enrich.StageImportance) {
		m.Priority, m.HasActionItems = e.Level, len(e.ActionItems) > 0
	}
	if m.EventsKnown = e.Stands(enrich.StageCalendar); m.EventsKnown {
		m.HasEvent = slices.ContainsFunc(e.Events, func(e enrich.Event) bool { return !e.Canceled })
	}
	return m, nil
}

// Decided begins with a message when something was decided about it. It is the field OnDecided of a pipeline.
func (s *Service) Decided(ctx context.Context, tx queue.Tx, msg *postroom.Message, decided []postroom.Decision) error {
	var answer *postroom.ModelAnswer
	if len(decided) > 0 {
		answer = decided[0].Enrichment
	}
	return s.Arrived(ctx, tx, msg, answer)
}

// Question is that of [enrich.Service]; the decider is made before it.
func (s *Service) Question(ctx context.Context, msg *postroom.Message) (*decide.Question, error) {
	return s.Service.Question(ctx, msg)
}

// Keep is how long it is known what mail meant.
const Keep = 2 * 366 * 24 * time.Hour
