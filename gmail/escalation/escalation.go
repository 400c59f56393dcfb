// Package escalation carries out the action escalate: it hands a message to the owner of the mailbox, with a label and
// a word about why.
//
//	service, err := escalation.New(escalation.Config{Store: store, Clients: clients, Told: tell})
//	kinds, err := postroom.NewKinds(postroom.KindsConfig{Add: []postroom.Kind{
//		escalation.Kind(func() *escalation.Service { return service })}})
//
// # The way of an escalation
//
// [Kind] is an action that rules, models and people can decide on. The message gets the label [Config].Label, which is
// made if the mailbox has none, and [Config].Told is called in the transaction that completes the action: once for each
// action, whatever is repeated after a crash. The parameter reason of the action, which stays on record with it, says
// why. Nothing is sent to anybody else.
//
// Undoing the action takes the label off, unless the message had it before.
package escalation

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/queue"
)

// DefaultLabel is the label of messages that a person has to look at.
const DefaultLabel = "Postroom/Action Required"

// Config configures a [Service]. It is copied and checked once, by [New].
type Config struct {
	// Store holds the mail. Required.
	Store *mailstore.Store
	// Clients returns the client of an account. Required.
	Clients gmailapi.Clients
	// Label is the name of the label. Default [DefaultLabel].
	Label string
	// Told tells a person of an action, in the transaction that completes it. Default nil: the label is all.
	Told func(ctx context.Context, tx postroom.Tx, a postroom.Action) error
}

// A Service hands messages to people. It is safe for concurrent use. [New] makes one.
type Service struct {
	cfg     Config
	mailbox *gmail.Mailbox
}

// New makes a service; the error names what is wrong.
func New(cfg Config) (*Service, error) {
	cfg.Label = cmp.Or(cfg.Label, DefaultLabel)
	err := errors.Join(
		fields.Required("escalation: Config.Store", cfg.Store, "one made by mailstore.New"),
		fields.Required("escalation: Config.Clients", cfg.Clients, "the clients of the accounts"),
	)
	if fault := postroom.CheckLabelName(cfg.Label); fault != nil {
		err = errors.Join(err, fmt.Errorf("escalation: Config.Label: %w", fault))
	}
	if err != nil {
		return nil, err
	}
	mailbox, err := gmail.NewMailbox(gmail.MailboxConfig{Store: cfg.Store, Clients: cfg.Clients})
	if err != nil {
		return nil, err
	}
	return &Service{cfg, mailbox}, nil
}

var errNoService = queue.Fatal(errors.New("escalation: the kind has no Service, which puts labels on; give New's"))

// Kind returns the kind of action that hands a message to a person. The function returns the service when an action is
// carried out; a nil function, or one that returns nil, is for programs that only read rules.
func Kind(service func() *Service) postroom.Kind {
	of := func() (*Service, error) {
		if service != nil {
			if s := service(); s != nil {
				return s, nil
			}
		}
		return nil, errNoService
	}
	k, _ := postroom.StandardKind(postroom.Escalate)
	k.Handler = func(ctx context.Context, run postroom.Run, a postroom.Action) (postroom.Outcome, error) {
		s, err := of()
		if err != nil {
			return postroom.Outcome{}, err
		}
		return s.escalate(ctx, run, a)
	}
	k.Undo = func(ctx context.Context, _ postroom.Run, a postroom.Action) (postroom.Commit, error) {
		s, err := of()
		if err != nil {
			return nil, err
		}
		return s.takeBack(ctx, a)
	}
	return k
}

// paramLabel is the parameter of the undo data that has the id of the label which the action has put on.
const paramLabel = "label_id"

func (s *Service) escalate(ctx context.Context, run postroom.Run, a postroom.Action) (done postroom.Outcome,
	err error) {
	label, err := s.label(ctx, a.AccountID)
	if err != nil {
		return done, gmailapi.Verdict(err)
	}
	before, err := postroom.Step(ctx, run, "escalate", func(ctx context.Context) (postroom.Snapshot, error) {
		return s.mailbox.Snapshot(ctx, a.AccountID, a.MessageID)
	})
	if err != nil {
		return done, err
	}
	var change postroom.LabelChange
	if !before.Has(label) {
		change.Add, done.Undo = []string{label}, postroom.Parameters{paramLabel: label}
	}
	store, err := s.change(ctx, a, change)
	done.Commit = func(ctx context.Context, tx postroom.Tx) error {
		if err := store(ctx, tx); err != nil || s.cfg.Told == nil {
			return err
		}
		return s.cfg.Told(ctx, tx, a)
	}
	return done, err
}

func (s *Service) takeBack(ctx context.Context, a postroom.Action) (postroom.Commit, error) {
	if a.UndoHint == nil {
		return nil, nil //nolint:nilnil // nothing was done
	}
	label, ok := a.UndoHint.Undo.Text(paramLabel)
	if !ok {
		return nil, nil //nolint:nilnil // the message had the label before
	}
	return s.change(ctx, a, postroom.LabelChange{Remove: []string{label}})
}

// change changes labels at Gmail, and returns what stores that as a change of this program.
func (s *Service) change(ctx context.Context, a postroom.Action, change postroom.LabelChange) (postroom.Commit, error) {
	store, err := s.mailbox.Follow(ctx, a.AccountID, a.MessageID)
	if err != nil {
		return nil, err
	}
	after, err := s.mailbox.Apply(ctx, a.AccountID, a.MessageID, change)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, tx postroom.Tx) error { return store(ctx, tx, change, after) }, nil
}

// label returns the id of the label. It asks Gmail: a label that is stored here may be gone there.
func (s *Service) label(ctx context.Context, accountID string) (string, error) {
	client, err := gmailapi.FindClient(ctx, s.cfg.Clients, accountID)
	if err != nil {
		return "", err
	}
	labels, err := client.ListLabels(ctx)
	if err != nil {
		return "", err
	}
	for _, l := range labels {
		if gmailapi.SameLabelName(l.Name, s.cfg.Label) {
			return l.ID, nil
		}
	}
	label, err := client.CreateLabel(ctx, s.cfg.Label)
	if err != nil {
		return "", err
	}
	return label.ID, s.cfg.Store.DB().Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := s.cfg.Store.SaveLabel(ctx, tx, accountID, label); err != nil {
			return err
		}
		return s.cfg.Store.DescribeLabel(ctx, tx, accountID, label.ID, "messages that a person has to look at", false)
	})
}
