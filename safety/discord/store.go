package discord

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/queue"
)

//go:embed migrations
var migrations embed.FS

// Migrate creates or updates the tables discord_whitelist and discord_messages. Call it at every start; several
// processes may do so at once.
func Migrate(ctx context.Context, db queue.DB) error {
	if err := fields.Required("discord: Migrate: db", db,
		"a database opened with queue/sqlite or queue/postgres"); err != nil {
		return err
	}
	return migrate.Up(ctx, db, string(db.Dialect()), "discord", migrations)
}

const (
	selectMessage = `
SELECT approval_id, action_id, channel_id, message_id, shown, gone, started_at, posted_at, reminded_at
FROM discord_messages
WHERE approval_id = $1`

	// The time of the first attempt stays: the search for the message begins there.
	insertMessage = `
INSERT INTO discord_messages (approval_id, action_id, channel_id, message_id, shown, gone, started_at)
VALUES ($1, $2, $3, '', '', 0, $4)
ON CONFLICT (approval_id) DO NOTHING`

	setPosted = `
UPDATE discord_messages
SET message_id = $1,
  shown = $2,
  posted_at = $3
WHERE approval_id = $4`

	setShown = `
UPDATE discord_messages
SET shown = $1,
  gone = $2
WHERE approval_id = $3`

	setReminded = `
UPDATE discord_messages
SET reminded_at = $1
WHERE approval_id = $2`

	countMessages = `
SELECT COUNT(*)
FROM discord_messages
JOIN approvals ON approvals.id = discord_messages.approval_id AND approvals.outcome = 'waiting'
WHERE discord_messages.message_id <> ''
  AND discord_messages.gone = 0`
)

// Posted returns the number of waiting requests with a message.
func Posted(ctx context.Context, db queue.DB) (int, error) {
	n := 0
	if err := dbquery.Get(ctx, db.Reader(), &n, countMessages); err != nil {
		return 0, fmt.Errorf("discord: count messages: %w", err)
	}
	return n, nil
}

// A messageRow is the message about a request.
type messageRow struct {
	ApprovalID string      `db:"approval_id"`
	ActionID   string      `db:"action_id"`
	ChannelID  string      `db:"channel_id"`
	MessageID  string      `db:"message_id"` // empty until it is known
	Shown      string      `db:"shown"`
	Gone       int         `db:"gone"` // 1: somebody has deleted it
	StartedAt  dbtime.Time `db:"started_at"`
	PostedAt   dbtime.Time `db:"posted_at"`
	RemindedAt dbtime.Time `db:"reminded_at"`
}

// message returns the row of a request. It returns false if posting has not begun.
func (b *Bot) message(ctx context.Context, q dbquery.Querier, approvalID string) (row messageRow, ok bool, err error) {
	err = dbquery.Get(ctx, q, &row, selectMessage, approvalID)
	if errors.Is(err, sql.ErrNoRows) {
		return row, false, nil
	}
	if err != nil {
		return row, false, fmt.Errorf("discord: read the message of request %s: %w", approvalID, err)
	}
	return row, true, nil
}

// due reports whether a digest must list the request: it was posted or last listed at least the given time ago.
func (r *messageRow) due(now time.Time, after time.Duration) bool {
	last := r.PostedAt
	if !r.RemindedAt.IsZero() {
		last = r.RemindedAt
	}
	return !last.IsZero() && !last.After(now.Add(-after))
}
