package filing

import (
	"context"
	"embed"
	"fmt"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/internal/safefolder"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/queue"
)

//go:embed migrations
var migrations embed.FS

// Migrate creates the tables of this package, filed_files and filed_actions, or brings them up to date. Call it at
// every start; several processes may do so at once.
func Migrate(ctx context.Context, db queue.DB) error {
	if err := fields.Required("filing: Migrate: db", db, giveDB); err != nil {
		return err
	}
	return migrate.Up(ctx, db, string(db.Dialect()), "gmail/filing", migrations)
}

const (
	sqlFileOfMessage = `
SELECT sha256, path, written
FROM filed_files
WHERE account_id = $1 AND message_id = $2 AND sha256 = $3`

	// Another file may have the path.
	sqlClaim = `
INSERT INTO filed_files (account_id, message_id, sha256, path, taken, size, written, filed_at)
VALUES ($1, $2, $3, $4, $5, $6, 0, $7)
ON CONFLICT DO NOTHING`

	sqlRelease = `
DELETE FROM filed_files
WHERE account_id = $1 AND message_id = $2 AND sha256 = $3 AND written = 0`

	sqlSetWritten = `
UPDATE filed_files
SET written = 1
WHERE account_id = $1 AND message_id = $2 AND sha256 = $3`

	sqlInsertAction = `
INSERT INTO filed_actions (action_id, account_id, message_id, sha256)
VALUES ($1, $2, $3, $4)
ON CONFLICT DO NOTHING`

	sqlFilesOfAction = `
SELECT f.sha256, f.path, f.written
FROM filed_actions a
JOIN filed_files f ON f.account_id = a.account_id AND f.message_id = a.message_id AND f.sha256 = a.sha256
WHERE a.action_id = $1
ORDER BY f.path`

	sqlOthersWant = `
SELECT count(*)
FROM filed_actions
WHERE account_id = $1 AND message_id = $2 AND sha256 = $3 AND action_id <> $4`

	sqlDeleteAction = `
DELETE FROM filed_actions
WHERE action_id = $1 AND sha256 = $2`

	sqlDeleteFile = `
DELETE FROM filed_files
WHERE account_id = $1 AND message_id = $2 AND sha256 = $3`

	sqlForgetActions = `DELETE FROM filed_actions WHERE account_id = $1`
	sqlForgetFiles   = `DELETE FROM filed_files WHERE account_id = $1`
)

// A fileRow is the place of a file.
type fileRow struct {
	SHA256  string `db:"sha256"`
	Path    string `db:"path"`
	Written int    `db:"written"`
}

// known returns the place that a file of the message has, if it has one.
func (j *job) known(ctx context.Context, sum string) (row fileRow, ok bool, err error) {
	var rows []fileRow
	err = dbquery.Select(ctx, j.cfg.DB.Reader(), &rows, sqlFileOfMessage, j.action.AccountID, j.action.MessageID, sum)
	if err != nil {
		return row, false, fmt.Errorf("filing: read the files of message %s: %w", j.action.MessageID, err)
	}
	if len(rows) == 0 {
		return row, false, nil
	}
	return rows[0], true, nil
}

// claim returns the place of a file of the message. It gives the file a free one if it has none.
func (j *job) claim(ctx context.Context, f chosen) (row fileRow, err error) {
	row, ok, err := j.known(ctx, f.SHA256)
	if ok || err != nil {
		return row, err
	}
	base, end := split(f.Name)
	dir, name := j.path.Fill(safefolder.Filling{Message: j.message, At: j.at(), Mailbox: j.mailbox,
		Besides: map[string]string{varFilename: base}})
	digits := safefolder.Digits(j.mailbox, j.message, 6)
	for n := range safefolder.MostAlike {
		at := safefolder.Alternative(dir, name, digits, end, n)
		if found, err := j.place.hash(ctx, at); err != nil {
			return row, err
		} else if found != "" {
			continue
		}
		var changed int64
		err := j.cfg.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
			changed, err = dbquery.Exec(ctx, tx, sqlClaim, j.action.AccountID, j.action.MessageID, f.SHA256, at,
				strings.ToLower(at), f.Size, dbtime.Of(j.cfg.Now()))
			return err
		})
		if err != nil {
			return row, fmt.Errorf("filing: store the place of %s: %w", at, err)
		}
		if changed == 1 {
			return fileRow{SHA256: f.SHA256, Path: at}, nil
		}
		if row, ok, err = j.known(ctx, f.SHA256); ok || err != nil { // an attempt that is taken for dead was faster
			return row, err
		}
	}
	return row, safefolder.TooMany(safefolder.Alternative(dir, name, digits, end, 0), words)
}

// release gives up a place that another file has taken.
func (j *job) release(ctx context.Context, row fileRow) error {
	return j.cfg.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := dbquery.Exec(ctx, tx, sqlRelease, j.action.AccountID, j.action.MessageID, row.SHA256)
		if err != nil {
			err = fmt.Errorf("filing: give up the place %s: %w", row.Path, err)
		}
		return err
	})
}

// record records that the files of an action are written.
func record(ctx context.Context, tx postroom.Tx, a postroom.Action, files []chosen) error {
	for _, f := range files {
		_, err := dbquery.Exec(ctx, tx, sqlSetWritten, a.AccountID, a.MessageID, f.SHA256)
		if err == nil {
			_, err = dbquery.Exec(ctx, tx, sqlInsertAction, a.ID, a.AccountID, a.MessageID, f.SHA256)
		}
		if err != nil {
			return fmt.Errorf("filing: store the files of action %s: %w", a.ID, err)
		}
	}
	return nil
}

// Forget removes what is known of the files of an account in the caller's transaction. The files stay.
func Forget(ctx context.Context, tx queue.Tx, accountID string) error {
	for _, statement := range []string{sqlForgetActions, sqlForgetFiles} {
		if _, err := dbquery.Exec(ctx, tx, statement, accountID); err != nil {
			return fmt.Errorf("filing: forget account %s: %w", accountID, err)
		}
	}
	return nil
}
