package mailstore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// InsertedHeader is the name of the header field that each message of [Inserted] must carry.
const InsertedHeader = "X-Postroom-Digest"

// InsertedDomain is the domain of the senders of such messages: nobody has an address there, and no sender there counts
// as seen before.
const InsertedDomain = "postroom.invalid"

// Inserted is the record of messages that the host puts into a mailbox, such as digests. They are stored, and handed on
// to nobody: nothing is decided about them, now or later.
type Inserted struct{ store *Store }

// Inserted returns the record of messages that the host puts into mailboxes.
func (s *Store) Inserted() Inserted { return Inserted{s} }

// Record records that a message with the Message-ID, without angle brackets, is about to be put into the mailbox. The
// id must be one that nobody can guess: mail that has it and the header field counts as the host's.
func (i Inserted) Record(ctx context.Context, tx queue.Tx, accountID, messageID string) error {
	return maildb.MustExec(ctx, tx, "inserted message", `
INSERT INTO inserted_messages (account_id, rfc_message_id, created_at)
VALUES ($1, $2, $3)`, accountID, messageID, dbtime.Of(queue.Now(tx)))
}

// Has reports whether a message, which need not be stored, is one of the host's: it carries the header field, and its
// Message-ID is on record and not that of another stored message.
func (i Inserted) Has(ctx context.Context, m *postroom.Message) (bool, error) {
	if len(m.Header(InsertedHeader)) == 0 {
		return false, nil
	}
	var n int
	err := maildb.Get(ctx, i.store.db.Reader(), &n, "inserted message", `
SELECT COUNT(*)
FROM inserted_messages
WHERE account_id = $1
  AND rfc_message_id = $2
  AND (message_id IS NULL OR message_id = $3)`, m.AccountID, m.MessageID, m.ID)
	return n > 0, err
}

// Stored notes which stored message it is. Call it in the transaction that stores the message.
func (i Inserted) Stored(ctx context.Context, tx queue.Tx, m *postroom.Message) error {
	_, err := maildb.Exec(ctx, tx, "inserted message", `
UPDATE inserted_messages
SET message_id = $1
WHERE account_id = $2
  AND rfc_message_id = $3`, m.ID, m.AccountID, m.MessageID)
	return err
}

// isInserted reports whether an address is of a sender of such messages.
func isInserted(email string) bool { return strings.HasSuffix(email, "@"+InsertedDomain) }

// countInsertedArrived counts the stored messages of the host that [Store.CountArrived] would count.
func (s *Store) countInsertedArrived(ctx context.Context, accountID string, in Arrived) (n int, err error) {
	err = maildb.Get(ctx, s.db.Reader(), &n, "count inserted messages", `
SELECT COUNT(*)
FROM inserted_messages
JOIN messages ON messages.id = inserted_messages.message_id
WHERE inserted_messages.account_id = $1
  AND messages.id >= $2
  AND messages.id < $3
  AND messages.deleted_at IS NULL
  AND COALESCE(received_at, messages.created_at) >= $4`, append([]any{accountID}, in.args()...)...)
	return n, err
}

// countInserted counts the stored messages of the host that Gmail received within a time.
func (s *Store) countInserted(ctx context.Context, accountID string, from, to time.Time) (n int, err error) {
	err = maildb.Get(ctx, s.db.Reader(), &n, "count inserted messages", `
SELECT COUNT(*)
FROM inserted_messages
JOIN messages ON messages.id = inserted_messages.message_id
WHERE inserted_messages.account_id = $1
  AND messages.deleted_at IS NULL
  AND COALESCE(received_at, messages.created_at) >= $2
  AND COALESCE(received_at, messages.created_at) < $3`, accountID, dbtime.Of(from), dbtime.Of(to))
	return n, err
}

// A NewSender is a sender of whom the account had no mail before.
type NewSender struct {
	Name    string `db:"from_name"`
	Email   string `db:"from_email"`
	Subject string `db:"subject"` // of the first message
}

// maxNewSenders bounds the list of new senders.
const maxNewSenders = 200

// NewSenders lists the senders whose first message is among those that arrived, the newest first and 200 at most. Sent
// mail, drafts, spam, trash and messages of the host do not count.
func (s *Store) NewSenders(ctx context.Context, accountID string, in Arrived) (list []NewSender, err error) {
	args := append([]any{accountID}, in.args()...)
	args = append(args, "%@"+InsertedDomain, postroom.LabelSent, postroom.LabelDraft, postroom.LabelSpam,
		postroom.LabelTrash, maxNewSenders)
	if err := dbquery.Select(ctx, s.db.Reader(), &list, sqlNewSenders, args...); err != nil {
		return nil, fmt.Errorf("gmail: list new senders: %w", err)
	}
	return list, nil
}

const sqlNewSenders = `
SELECT from_name, from_email, subject
FROM messages m
WHERE account_id = $1
  AND id >= $2
  AND id < $3
  AND deleted_at IS NULL
  AND COALESCE(received_at, created_at) >= $4
  AND from_email <> ''
  AND from_email NOT LIKE $5
  AND NOT EXISTS (
    SELECT 1
    FROM message_labels l
    WHERE l.account_id = m.account_id
      AND l.label_id IN ($6, $7, $8, $9)
      AND l.at = COALESCE(m.received_at, m.created_at)
      AND l.message_id = m.id)
  AND NOT EXISTS (
    SELECT 1
    FROM messages e
    WHERE e.account_id = m.account_id
      AND SUBSTR(COALESCE(e.from_key, LOWER(e.from_email)), 1, 320) =
        SUBSTR(COALESCE(m.from_key, LOWER(m.from_email)), 1, 320)
      AND e.id < $3
      AND (e.id < $2
        OR COALESCE(e.received_at, e.created_at) < COALESCE(m.received_at, m.created_at)
        OR COALESCE(e.received_at, e.created_at) = COALESCE(m.received_at, m.created_at) AND e.id < m.id))
ORDER BY COALESCE(received_at, created_at) DESC, id DESC
LIMIT $10`
