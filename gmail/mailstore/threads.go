package mailstore

import (
	"context"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/internal/uuid7"
	"github.com/postroom-go/postroom/queue"
)

// A Thread is a conversation as Gmail groups messages. Subject and Snippet are from its newest message.
type Thread struct {
	ID            string // ours, a UUID
	ProviderID    string
	Subject       string
	Snippet       string
	LastMessageAt time.Time // only moves forward; zero when no message of the thread has a known time
}

// Thread returns one thread of the account, or [postroom.ErrNotFound].
func (s *Store) Thread(ctx context.Context, accountID, threadID string) (Thread, error) {
	var row struct {
		ID            string      `db:"id"`
		ProviderID    string      `db:"provider_thread_id"`
		Subject       string      `db:"subject"`
		Snippet       string      `db:"snippet"`
		LastMessageAt dbtime.Time `db:"last_message_at"`
	}
	err := maildb.Get(ctx, s.db.Reader(), &row, "thread "+threadID, sqlThread, accountID, threadID)
	return Thread{row.ID, row.ProviderID, row.Subject, row.Snippet, row.LastMessageAt.Time}, err
}

// ThreadID returns the UUID of the thread with Gmail's id, or [postroom.ErrNotFound].
func (s *Store) ThreadID(ctx context.Context, accountID, providerID string) (id string, err error) {
	err = maildb.Get(ctx, s.db.Reader(), &id, "thread "+providerID, sqlThreadID, accountID, providerID)
	return id, err
}

// saveThread makes sure that the message's thread is there and has its subject, snippet and time from its newest
// message.
func (s *Store) saveThread(ctx context.Context, tx queue.Tx, m *postroom.Message) error {
	id, err := uuid7.New()
	if err != nil {
		return err
	}
	now := dbtime.Of(queue.Now(tx))
	return maildb.Get(ctx, tx, &m.ThreadID, "thread "+m.ProviderThreadID, sqlUpsertThread,
		id, m.AccountID, m.ProviderThreadID, dbvalue.Clean(m.Subject), dbvalue.Clean(m.Snippet),
		storedTime(m.ReceivedAt), now, now)
}
