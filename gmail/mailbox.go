package gmail

import (
	"context"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
)

// A Mailbox reads and changes the labels of messages by our ids, on any account: what taking actions back needs. Its
// errors are verdicts for the queue; a message that Gmail no longer has is [postroom.ErrMessageGone].
type Mailbox struct {
	store   *Store
	clients Clients
}

// NewMailbox makes a mailbox of a store and the accounts' clients.
func NewMailbox(store *Store, clients Clients) *Mailbox {
	return &Mailbox{store: store, clients: clients}
}

// Image reads what a message carries at Gmail now.
func (m *Mailbox) Image(ctx context.Context, accountID, messageID string) (postroom.Image, error) {
	return m.Apply(ctx, accountID, messageID, postroom.LabelChange{})
}

// Apply changes what a message carries at Gmail, the trash included, and returns what it carries then. It may take more
// than one call to Gmail; doing all of it again after a failure ends in the same state. An empty change only reads.
func (m *Mailbox) Apply(ctx context.Context, accountID, messageID string, change postroom.LabelChange) (postroom.Image, error) {
	id, err := m.store.providerID(ctx, accountID, messageID)
	if err != nil {
		return postroom.Image{}, Verdict(err)
	}
	client, err := m.clients.Client(ctx, accountID)
	if err != nil {
		return postroom.Image{}, Verdict(err)
	}
	image, err := client.apply(ctx, id, change)
	return image, Verdict(err)
}

// SetImage stores what a message carries, in the caller's transaction; Gmail is not asked.
func (m *Mailbox) SetImage(ctx context.Context, tx queue.Tx, accountID, messageID string, image postroom.Image) error {
	return m.store.SetLabels(ctx, tx, accountID, messageID, image)
}
