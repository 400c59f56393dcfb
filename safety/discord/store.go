package discord

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/queue"
)

//go:embed migrations
var migrations embed.FS

// Migrate creates the tables (discord_whitelist, discord_messages) or brings them up to date. Call it at every start; several
// processes may do so at once.
func Migrate(ctx context.Context, db queue.DB) error {
	if err := fields.Required("discord: Migrate: db", db, "a database opened with queue/sqlite or queue/postgres"); err != nil {
		return err
	}
	return migrate.Up(ctx, db, string(db.Dialect()), "discord", migrations)
}

const (
	selectPeople = `
SELECT user_id, name
FROM discord_whitelist
ORDER BY user_id`

	selectPerson = `
SELECT user_id, name
FROM discord_whitelist
WHERE user_id = $1`

	deletePeople = `
DELETE FROM discord_whitelist`

	// Of two programs that start at once and set the same, neither fails.
	insertPerson = `
INSERT INTO discord_whitelist (user_id, name, added_at)
VALUES ($1, $2, $3)
ON CONFLICT (user_id) DO UPDATE
SET name = excluded.name`

	selectMessage = `
SELECT approval_id, action_id, channel_id, message_id, shown, gone, started_at, posted_at, reminded_at
FROM discord_messages
WHERE approval_id = $1`

	// The first attempt stays: from its time on the message is looked for.
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

// A Person may decide by pressing buttons.
type Person struct {
	// UserID is the id of the account at Discord, which is a number. Names there can be changed, ids cannot.
	UserID string `db:"user_id"`
	// Name goes on record as the approver; [safety.Config].Approvers must have it, if that is set. Empty: "discord:" and the id.
	Name string `db:"name"`
}

// SetWhitelist makes people, and nobody else, those who may decide by pressing buttons. An empty list allows nobody.
func SetWhitelist(ctx context.Context, tx queue.Tx, people []Person) error {
	if _, err := tx.ExecContext(ctx, deletePeople); err != nil {
		return fmt.Errorf("discord: set the whitelist: %w", err)
	}
	seen := map[string]bool{}
	for _, p := range people {
		if !validID(p.UserID) || seen[p.UserID] {
			return fmt.Errorf("discord: set the whitelist: user %q: give the id of an account, which is a number, once", p.UserID)
		}
		seen[p.UserID] = true
		p.Name = strings.TrimSpace(p.Name)
		if p.Name == "" {
			p.Name = "discord:" + p.UserID
		}
		if _, err := tx.ExecContext(ctx, insertPerson, p.UserID, dbvalue.Clean(p.Name), dbtime.Of(queue.Now(tx))); err != nil {
			return fmt.Errorf("discord: set the whitelist: %w", err)
		}
	}
	return nil
}

// Whitelist lists those who may decide by pressing buttons.
func Whitelist(ctx context.Context, db queue.DB) ([]Person, error) {
	people := []Person{}
	if err := dbquery.Select(ctx, db.Reader(), &people, selectPeople); err != nil {
		return nil, fmt.Errorf("discord: read the whitelist: %w", err)
	}
	return people, nil
}

// Posted returns the number of requests that wait for an answer and have a message.
func Posted(ctx context.Context, db queue.DB) (int, error) {
	n := 0
	if err := dbquery.Get(ctx, db.Reader(), &n, countMessages); err != nil {
		return 0, fmt.Errorf("discord: count messages: %w", err)
	}
	return n, nil
}

// person returns the person on the whitelist; it is false for somebody else.
func (b *Bot) person(ctx context.Context, userID string) (p Person, ok bool, err error) {
	err = dbquery.Get(ctx, b.cfg.DB.Reader(), &p, selectPerson, userID)
	if errors.Is(err, sql.ErrNoRows) {
		return p, false, nil
	}
	if err != nil {
		return p, false, fmt.Errorf("discord: read the whitelist: %w", err)
	}
	return p, true, nil
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

// message returns the row of a request; it is false when none was begun.
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

// due reports whether a digest is to have the request: it was posted, or was in one, at least as long ago as given.
func (r *messageRow) due(now time.Time, after time.Duration) bool {
	last := r.PostedAt
	if !r.RemindedAt.IsZero() {
		last = r.RemindedAt
	}
	return !last.IsZero() && !last.After(now.Add(-after))
}
