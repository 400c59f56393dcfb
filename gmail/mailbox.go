package gmail

import (
	"context"
	"errors"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/queue"
)

// A Mailbox reads and changes the labels of messages of any account, named by their UUIDs, as package undo requires.
// A handler can return its errors. For a message that Gmail no longer has the error is [postroom.ErrMessageGone].
// [NewMailbox] makes one; the zero Mailbox is unusable.
type Mailbox struct {
	store   *mailstore.Store
	clients gmailapi.Clients
}

// MailboxConfig configures a [Mailbox]. It is copied and checked once, by [NewMailbox].
type MailboxConfig struct {
	// Store has Gmail's ids of the messages. Required.
	Store *mailstore.Store
	// Clients returns the client of an account. Required.
	Clients gmailapi.Clients
}

// NewMailbox makes a mailbox; a missing field is an error that names it.
func NewMailbox(cfg MailboxConfig) (*Mailbox, error) {
	err := errors.Join(
		fields.Required("gmail: MailboxConfig.Store", cfg.Store, giveStore),
		fields.Required("gmail: MailboxConfig.Clients", cfg.Clients, giveClients),
	)
	if err != nil {
		return nil, err
	}
	return &Mailbox{store: cfg.Store, clients: cfg.Clients}, nil
}

// Snapshot returns the present labels of a message at Gmail.
func (m *Mailbox) Snapshot(ctx context.Context, accountID, messageID string) (postroom.Snapshot, error) {
	return m.Apply(ctx, accountID, messageID, postroom.LabelChange{})
}

// AccountRemoved reports whether the account was removed, or is being removed; see [RemoveAccount].
func (m *Mailbox) AccountRemoved(ctx context.Context, accountID string) (bool, error) {
	return removed(m.store.Account(ctx, accountID))
}

// AccountRemovedTx is AccountRemoved within a transaction.
func (m *Mailbox) AccountRemovedTx(ctx context.Context, tx queue.Tx, accountID string) (bool, error) {
	return removed(m.store.AccountTx(ctx, tx, accountID))
}

func removed(account mailstore.Account, err error) (bool, error) {
	if errors.Is(err, postroom.ErrNotFound) {
		return true, nil
	}
	return err == nil && account.State == mailstore.AccountRemoving, err
}

// LimitKey returns the limit key of the account's jobs, see [mailstore.LimitKey].
func (m *Mailbox) LimitKey(accountID string) string { return mailstore.LimitKey(accountID) }

// Identify returns an error if Gmail's id of the message differs from the one in the decision, which happens only if
// the database was altered.
func (m *Mailbox) Identify(ctx context.Context, a postroom.Action) error {
	id, err := m.store.Copies().ProviderID(ctx, a.AccountID, a.MessageID)
	if err == nil {
		err = mailstore.CheckProviderID(a, id)
	}
	return gmailapi.Verdict(err)
}

// Apply changes the labels of a message at Gmail, the trash included, and returns the labels afterwards. It may make
// several calls, and can be repeated after a failure. An empty change only reads.
func (m *Mailbox) Apply(ctx context.Context, accountID, messageID string,
	change postroom.LabelChange) (postroom.Snapshot, error) {
	id, err := m.store.Copies().ProviderID(ctx, accountID, messageID)
	if err != nil {
		return postroom.Snapshot{}, gmailapi.Verdict(err)
	}
	client, err := m.open(ctx, accountID)
	if err != nil {
		return postroom.Snapshot{}, gmailapi.Verdict(err)
	}
	image, err := applyChange(ctx, client, id, change)
	return image, gmailapi.Verdict(err)
}

// open returns the client of an account that may be used.
func (m *Mailbox) open(ctx context.Context, accountID string) (*gmailapi.Client, error) {
	account, err := m.store.Account(ctx, accountID)
	if err == nil {
		err = account.Usable()
	}
	if err != nil {
		return nil, err
	}
	return gmailapi.FindClient(ctx, m.clients, accountID)
}

// End finds out how an executing action ends whose job has ended without it. It looks for a message that the action
// may have sent, as the job would have done, and sends nothing. While it is not known whether the message was sent,
// the error defers a job.
func (m *Mailbox) End(ctx context.Context, a postroom.Action) (postroom.ActionEnd, error) {
	open := func(ctx context.Context) (*gmailapi.Client, error) {
		client, err := m.open(ctx, a.AccountID)
		if errors.Is(err, postroom.ErrNotFound) {
			err = &gmailapi.Error{Op: "open mailbox", Class: gmailapi.ClassNotFound, Err: err}
		}
		return client, err
	}
	delivery := &outbox.Delivery{DB: m.store.DB(), Write: m.store.DB().Write, Open: open}
	return delivery.End(ctx, a)
}

// Follow must be called before [Mailbox.Apply]. The function that it returns stores the changes that were made since,
// without a call to Gmail. Changes by others are left to the history, which reports them.
func (m *Mailbox) Follow(ctx context.Context, accountID, messageID string) (postroom.StoreChange, error) {
	known, err := m.store.Copies().Copy(ctx, accountID, messageID)
	if err != nil {
		return nil, gmailapi.Verdict(err)
	}
	return func(ctx context.Context, tx postroom.Tx, change postroom.LabelChange, after postroom.Snapshot) error {
		return m.store.Copies().StoreOwnChange(ctx, tx, accountID, known, change, after)
	}, nil
}

// Copies returns, by UUID, the stored labels of those of the messages that Gmail has, as of the last sync. It makes
// no call to Gmail.
func (m *Mailbox) Copies(ctx context.Context, accountID string, messageIDs []string) (map[string]postroom.Snapshot,
	error) {
	return m.store.Copies().Labels(ctx, accountID, messageIDs)
}

// MissingLabels returns those of the labels that the mailbox lacked at the last sync of its labels. Before the first
// sync it returns none.
func (m *Mailbox) MissingLabels(ctx context.Context, accountID string, labelIDs []string) ([]string, error) {
	return m.store.Copies().MissingLabels(ctx, accountID, labelIDs)
}
