package appointments

import (
	"context"
	"embed"
	"fmt"

	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/queue"
)

//go:embed migrations
var migrations embed.FS

// Migrate creates the table of this package, kept_appointments, or brings it up to date. Call it at every start;
// several processes may do so at once.
func Migrate(ctx context.Context, db queue.DB) error {
	err := fields.Required("appointments: Migrate: db", db, "a database opened with queue/sqlite or queue/postgres")
	if err != nil {
		return err
	}
	return migrate.Up(ctx, db, string(db.Dialect()), "gmail/appointments", migrations)
}

// A Place is where an appointment was put.
type Place struct {
	// Path is that of its file, below the folder, with slashes; empty if it has none. A person may have moved it since.
	Path string
	// Draft is Gmail's id of the draft that has it; empty if none has. A person may have sent or deleted it since.
	Draft string
}

// A Key names an appointment of an account.
type Key struct{ MessageID, ID string }

// Places says where the appointments of messages of an account were put. Under an empty ID is the draft of a message.
func Places(ctx context.Context, q dbquery.Querier, accountID string, messageIDs ...string) (map[Key]Place, error) {
	rows, err := read(ctx, q, accountID, messageIDs...)
	places := make(map[Key]Place, len(rows))
	for _, r := range rows {
		places[Key{r.MessageID, r.Appointment}] = Place{r.Path, r.Draft}
	}
	return places, err
}

// Forget removes what is known of the appointments of an account in the caller's transaction. The files and the drafts
// stay.
func Forget(ctx context.Context, tx queue.Tx, accountID string) error {
	if _, err := dbquery.Exec(ctx, tx, sqlForget, accountID); err != nil {
		return fmt.Errorf("appointments: forget account %s: %w", accountID, err)
	}
	return nil
}

type row struct {
	AccountID   string      `db:"account_id"`
	MessageID   string      `db:"message_id"`
	Appointment string      `db:"appointment"`
	Path        string      `db:"path"`
	SHA256      string      `db:"sha256"`
	Draft       string      `db:"draft"`
	KeptAt      dbtime.Time `db:"kept_at"`
}

const (
	columns = `account_id, message_id, appointment, path, sha256, draft, kept_at`

	sqlRead = `
SELECT ` + columns + `
FROM kept_appointments
WHERE account_id = $1 AND message_id IN `

	sqlSave = `
INSERT INTO kept_appointments (` + columns + `)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (account_id, message_id, appointment) DO UPDATE
SET path = excluded.path, sha256 = excluded.sha256, draft = excluded.draft, kept_at = excluded.kept_at`

	// A new file is where another was that a person has removed.
	sqlLeavePath = `
UPDATE kept_appointments
SET path = ''
WHERE path = $1 AND NOT (account_id = $2 AND message_id = $3 AND appointment = $4)`

	sqlDelete = `DELETE FROM kept_appointments WHERE account_id = $1 AND message_id = $2 AND appointment = $3`

	sqlForget = `DELETE FROM kept_appointments WHERE account_id = $1`
)

func read(ctx context.Context, q dbquery.Querier, accountID string, messageIDs ...string) (rows []row, err error) {
	if len(messageIDs) == 0 {
		return nil, nil
	}
	query := sqlRead + maildb.Places(2, len(messageIDs))
	if err := dbquery.Select(ctx, q, &rows, query, maildb.Args(accountID, messageIDs)...); err != nil {
		return nil, fmt.Errorf("appointments: read where those of account %s are: %w", accountID, err)
	}
	return rows, nil
}

// known returns what is kept of a message, by the ids of the appointments.
func (k *Keeper) known(ctx context.Context, p Payload) (map[string]row, error) {
	rows, err := read(ctx, k.cfg.Queue.DB().Reader(), p.AccountID, p.MessageID)
	known := make(map[string]row, len(rows))
	for _, r := range rows {
		known[r.Appointment] = r
	}
	return known, err
}

// record stores the changes that were made.
func (k *Keeper) record(ctx context.Context, tx queue.Tx, p Payload, changes []change) error {
	for _, c := range changes {
		if c.Content == nil {
			if _, err := dbquery.Exec(ctx, tx, sqlDelete, p.AccountID, p.MessageID, c.ID); err != nil {
				return fmt.Errorf("appointments: remove what is kept of message %s: %w", p.MessageID, err)
			}
			continue
		}
		if _, err := dbquery.Exec(ctx, tx, sqlLeavePath, c.Path, p.AccountID, p.MessageID, c.ID); err != nil {
			return fmt.Errorf("appointments: store the file %s: %w", c.Path, err)
		}
		if err := k.save(ctx, tx, p, row{Appointment: c.ID, Path: c.Path, SHA256: hashOf(c.Content)}); err != nil {
			return err
		}
	}
	return nil
}

func (k *Keeper) save(ctx context.Context, tx queue.Tx, p Payload, r row) error {
	_, err := dbquery.Exec(ctx, tx, sqlSave, p.AccountID, p.MessageID, r.Appointment, r.Path, r.SHA256, r.Draft,
		dbtime.Of(k.cfg.Now()))
	if err != nil {
		return fmt.Errorf("appointments: store what is kept of message %s: %w", p.MessageID, err)
	}
	return nil
}
