package mailstore

import (
	"context"
	"fmt"
	"time"

	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/queue"
)

// A BrokenMessage arrived, but Gmail's answer did not hold it. The answer is kept as it came until the ingest job,
// retried by a person, succeeds or finds the message gone.
type BrokenMessage struct {
	AccountID  string
	ProviderID string // Gmail's id
	JobID      string // the failed ingest job: retry it when the cause is repaired
	Reason     string
	Subject    string // as far as it can be read; may be empty
	Snippet    string // Gmail's
	Size       int64  // of the kept bytes
	ReceivedAt time.Time
	CreatedAt  time.Time
}

// Broken lists the account's broken messages, oldest first.
func (s *Store) Broken(ctx context.Context, accountID string) ([]BrokenMessage, error) {
	var rows []struct {
		AccountID  string      `db:"account_id"`
		ProviderID string      `db:"provider_message_id"`
		JobID      string      `db:"job_id"`
		Reason     string      `db:"reason"`
		Subject    string      `db:"subject"`
		Snippet    string      `db:"snippet"`
		Size       int64       `db:"size"`
		ReceivedAt dbtime.Time `db:"received_at"`
		CreatedAt  dbtime.Time `db:"created_at"`
	}
	if err := dbquery.Select(ctx, s.db.Reader(), &rows, sqlBroken, accountID); err != nil {
		return nil, fmt.Errorf("gmail: broken messages: %w", err)
	}
	broken := make([]BrokenMessage, len(rows))
	for i, r := range rows {
		broken[i] = BrokenMessage{
			r.AccountID, r.ProviderID, r.JobID, r.Reason, r.Subject, r.Snippet, r.Size, r.ReceivedAt.Time, r.CreatedAt.Time,
		}
	}
	return broken, nil
}

// BrokenRaw returns the answer that Gmail gave for a broken message. It returns [postroom.ErrNotFound] if the message
// is not broken.
func (s *Store) BrokenRaw(ctx context.Context, accountID, providerID string) ([]byte, error) {
	var raw []byte
	err := maildb.Get(ctx, s.db.Reader(), &raw, "broken message "+providerID, sqlBrokenRaw, accountID, providerID)
	return raw, err
}

// SaveBroken stores an answer that could not be read.
func (c Copies) SaveBroken(ctx context.Context, tx queue.Tx, b BrokenMessage, raw []byte) error {
	now := dbtime.Of(queue.Now(tx))
	if raw == nil {
		raw = []byte{} // no content is not NULL
	}
	_, err := maildb.Exec(ctx, tx, "broken message "+b.ProviderID, sqlUpsertBroken,
		b.AccountID, b.ProviderID, b.JobID, dbvalue.Clean(b.Reason), dbvalue.Clean(b.Subject), dbvalue.Clean(b.Snippet), raw,
		dbtime.Of(b.ReceivedAt), now, now)
	return err
}

func (s *Store) forgetBroken(ctx context.Context, tx queue.Tx, accountID, providerID string) error {
	_, err := maildb.Exec(ctx, tx, "broken message "+providerID, sqlDeleteBroken, accountID, providerID)
	return err
}
