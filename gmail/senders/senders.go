// Package senders knows who has written to an account before, as the condition sender_seen of package rules asks.
//
// The stored mail knows it once the older mail of the account is stored. Before that, and for good if the backfill
// lists a part of the mail only, Gmail is asked about a sender that is not stored: by one search, at 5 units, and by
// the header of what it finds, at 20 units a message, since Gmail's search also finds addresses in display names.
package senders

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/internal/mailname"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/queue"
)

// Config configures [Senders]. It is copied and checked once, by [New].
type Config struct {
	// Store holds the mail. Required.
	Store *mailstore.Store
	// Queue has the jobs that store it. Required.
	Queue *queue.Queue
	// Clients returns the client of an account. Required.
	Clients gmailapi.Clients
	// SpamAndTrash has Gmail search there too: set it if backfills include them. Default false.
	SpamAndTrash bool
}

// Senders is what the EngineConfig of package rules wants. It is safe for concurrent use. [New] makes one; the zero
// Senders is unusable.
type Senders struct {
	cfg Config

	mu    sync.Mutex
	whole map[string]bool // the ids of the accounts whose older mail is stored
	// found has when the messages arrived before which Gmail has found one of their sender.
	found map[correspondence]time.Time
}

type correspondence struct{ accountID, sender string }

// New makes senders; a missing field is an error that names it.
func New(cfg Config) (*Senders, error) {
	err := errors.Join(
		fields.Required("senders: Config.Store", cfg.Store, "a store made by mailstore.New"),
		fields.Required("senders: Config.Queue", cfg.Queue, "one made by queue.New"),
		fields.Required("senders: Config.Clients", cfg.Clients, "what finds an account's client, such as gmail.NewClients"),
	)
	if err != nil {
		return nil, err
	}
	return &Senders{cfg: cfg, whole: map[string]bool{}, found: map[correspondence]time.Time{}}, nil
}

// SenderSeen reports whether the account has received a message from the sender of msg before msg; see
// [mailstore.Store.SenderSeen]. It may call Gmail. A handler can return its errors: they defer a job that the quota of
// the account does not permit to ask.
func (s *Senders) SenderSeen(ctx context.Context, msg *postroom.Message) (bool, error) {
	stored, err := s.cfg.Store.SenderSeen(ctx, msg)
	if err != nil || stored {
		return stored, err
	}
	sender := mailname.Address(dbvalue.Clean(msg.From.Email))
	if sender == "" {
		return false, nil
	}
	whole, err := s.isWhole(ctx, msg.AccountID)
	if err != nil || whole {
		return false, err
	}
	return s.ask(ctx, msg, sender)
}

// isWhole reports whether all mail of the account is stored: a backfill has listed all of it, and no message is left to
// be fetched.
func (s *Senders) isWhole(ctx context.Context, accountID string) (bool, error) {
	s.mu.Lock()
	whole := s.whole[accountID]
	s.mu.Unlock()
	if whole {
		return true, nil
	}
	account, err := s.cfg.Store.Account(ctx, accountID)
	if err != nil {
		return false, err
	}
	if b := account.Backfill; !account.BackfilledAll || b.Query != "" || b.State != mailstore.BackfillDone {
		return false, nil
	}
	fetching, err := s.cfg.Queue.Jobs(ctx, queue.Filter{Types: []string{string(gmail.JobIngest)},
		LimitKey: mailstore.LimitKey(accountID), States: []queue.State{queue.StateQueued, queue.StateRunning}, Limit: 1})
	if err != nil || len(fetching) > 0 {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.whole[accountID] = true
	return true, nil
}

// mostRead bounds the messages whose sender is read: of a search for an address the first is nearly always by it.
const mostRead = 5

var errQuotaSpent = errors.New("the account's quota is spent; whether its sender has written before is asked later")

// ask asks Gmail, unless it has found an earlier message of the sender.
func (s *Senders) ask(ctx context.Context, msg *postroom.Message, sender string) (bool, error) {
	before := msg.ReceivedAt
	if before.IsZero() {
		before = time.Now()
	}
	key := correspondence{msg.AccountID, sender}
	s.mu.Lock()
	at, known := s.found[key]
	s.mu.Unlock()
	if known && !before.Before(at) {
		return true, nil
	}
	client, err := gmailapi.FindClient(ctx, s.cfg.Clients, msg.AccountID)
	if err == nil {
		known, err = s.search(ctx, client, sender, before)
	}
	if err != nil || !known {
		return false, gmailapi.Verdict(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.found[key] = before
	return true, nil
}

// search reports whether Gmail finds a message of the sender that arrived before a time.
func (s *Senders) search(ctx context.Context, client *gmailapi.Client, sender string, before time.Time) (bool, error) {
	wait := client.QuotaWait(false, gmailapi.MethodListMessages, gmailapi.MethodGetMessage)
	if wait > time.Second {
		return false, &gmailapi.Error{Op: "search for a sender", Class: gmailapi.ClassRateLimited, RetryAfter: wait,
			Err: errQuotaSpent}
	}
	page, err := client.ListMessages(ctx, gmailapi.MessageList{
		Query:            fmt.Sprintf(`from:"%s" before:%d`, strings.ReplaceAll(sender, `"`, ""), before.Unix()),
		IncludeSpamTrash: s.cfg.SpamAndTrash, Max: mostRead})
	if err != nil {
		return false, err
	}
	for _, id := range page.IDs {
		from, err := client.From(ctx, id)
		if err != nil && !errors.Is(err, postroom.ErrMessageGone) {
			return false, err
		}
		if err == nil && isBy(from, sender) {
			return true, nil
		}
	}
	return false, nil
}

// isBy reports whether the first address of a From field is the sender's.
func isBy(from, sender string) bool {
	list, _ := mime.ParseAddresses(from)
	return len(list) > 0 && mailname.Address(dbvalue.Clean(list[0].Email)) == sender
}
