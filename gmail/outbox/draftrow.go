package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// A draftRow is a draft as it is stored.
type draftRow struct {
	AccountID     string      `db:"account_id"`
	Key           string      `db:"draft_key"`
	State         DraftState  `db:"state"`
	MessageID     string      `db:"rfc_message_id"`
	ID            string      `db:"provider_draft_id"`
	ThreadID      string      `db:"provider_thread_id"`
	SentMessageID string      `db:"sent_message_id"`
	HistoryID     int64       `db:"history_id"` // from before it was made
	OpenUntil     dbtime.Time `db:"open_until"`
	Version       int64       `db:"version"`
	draftReply
}

// A draftReply is the reply that a draft contains: the message that it answers, and a payload with its recipients.
type draftReply struct {
	OriginalMessageID string `db:"original_message_id"`
	Payload           string `db:"payload_json"`
}

func (r *draftRow) draft() Draft {
	return Draft{
		AccountID: r.AccountID, Key: r.Key, State: r.State, ID: r.ID, ThreadID: r.ThreadID, MessageID: r.MessageID,
		SentMessageID: r.SentMessageID,
	}
}

func (r *draftRow) unclear(cause error, wait time.Duration) error {
	return &gmailapi.Error{Op: "draft " + r.Key, Class: gmailapi.ClassUnclear, RetryAfter: max(wait, time.Millisecond),
		Err: cause}
}

// not is the error of a call that the state of the draft does not allow.
func (r *draftRow) not(op string) error {
	if r.State == DraftCreating {
		return &gmailapi.Error{Op: op + " draft " + r.Key, Class: gmailapi.ClassNotFound,
			Err: fmt.Errorf("it was never made; call Create again: %w", postroom.ErrNotFound)}
	}
	return &gmailapi.Error{Op: op + " draft " + r.Key, Class: gmailapi.ClassGone, Err: fmt.Errorf("it is %s", r.State)}
}

func (s messageRows) draft(ctx context.Context, accountID, key string) (*draftRow, error) {
	return readDraft(ctx, s.db.Reader(), accountID, key)
}

func readDraft(ctx context.Context, q dbquery.Querier, accountID, key string) (*draftRow, error) {
	row := new(draftRow)
	err := maildb.Get(ctx, q, row, "draft "+key, sqlDraft, accountID, key)
	return row, err
}

// insertDraft stores a new draft, unless the key has one, and returns the stored one.
func (s messageRows) insertDraft(ctx context.Context, accountID, key, messageID string) (row *draftRow, err error) {
	row = new(draftRow)
	err = s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		now := dbtime.Of(queue.Now(tx))
		if _, err := maildb.Exec(ctx, tx, "draft "+key, sqlInsertDraft, accountID, key, messageID, now, now); err != nil {
			return err
		}
		stored, err := readDraft(ctx, tx, accountID, key)
		row = stored
		return err
	})
	return row, err
}

// saveDraft stores a change of the draft. An attempt is open for the given time; 0 means none. If the draft has
// changed since it was read, nothing is stored.
func (s messageRows) saveDraft(ctx context.Context, r *draftRow, open time.Duration) error {
	return s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error { return r.save(ctx, tx, open) })
}

// endDraft stores what Gmail has said of the end of a draft, whatever another call has noted of it meanwhile: it may
// have found it gone, and not know why. The end of ctx has no effect.
func (s messageRows) endDraft(ctx context.Context, r *draftRow) error {
	return s.db.Write(context.WithoutCancel(ctx), func(ctx context.Context, tx queue.Tx) error {
		_, err := maildb.Exec(ctx, tx, "draft "+r.Key, sqlEndDraft, string(r.State), r.ThreadID, r.SentMessageID,
			dbtime.Time{}, dbtime.Of(queue.Now(tx)), r.AccountID, r.Key)
		if err != nil {
			return err
		}
		stored, err := readDraft(ctx, tx, r.AccountID, r.Key)
		if err == nil {
			*r = *stored
		}
		return err
	})
}

func (r *draftRow) save(ctx context.Context, tx queue.Tx, open time.Duration) error {
	now := queue.Now(tx)
	until := dbtime.Time{}
	if open > 0 {
		until = dbtime.Of(now.Add(open))
	}
	changed, err := maildb.Exec(ctx, tx, "draft "+r.Key, sqlSaveDraft, string(r.State), r.MessageID, r.ID, r.ThreadID,
		r.SentMessageID,
		r.HistoryID, until, dbtime.Of(now), r.OriginalMessageID, r.Payload, r.AccountID, r.Key, r.Version)
	if err != nil {
		return err
	}
	if changed == 0 {
		return r.unclear(errors.New("another call has changed it since"), attempts.Soon)
	}
	r.Version, r.OpenUntil = r.Version+1, until
	return nil
}

// EndCalls says of the drafts that no call of before can have an effect any more, so that nothing waits to see whether
// one has. It is for a host whose Gmail, as that of a demo, has ended with the process that made the calls, before
// anything else is done with drafts.
func EndCalls(ctx context.Context, db queue.DB) error {
	return db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := maildb.Exec(ctx, tx, "drafts", sqlEndDraftCalls, dbtime.Of(queue.Now(tx)))
		return err
	})
}

// now returns the time of the database, which attempts use.
func (s messageRows) now(ctx context.Context) (now time.Time, err error) {
	err = s.db.Write(ctx, func(_ context.Context, tx queue.Tx) error { now = queue.Now(tx); return nil })
	return now, err
}
