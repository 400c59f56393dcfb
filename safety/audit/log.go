package audit

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/queue"
)

// An Entry is one entry of the log.
type Entry struct {
	Number    int64       `db:"number"     json:"number"` // from 1
	AccountID string      `db:"account_id" json:"account_id,omitempty"`
	Kind      string      `db:"kind"       json:"kind"` // decision, action, approval, event or undo
	Subject   string      `db:"subject_id" json:"subject_id"`
	Rev       int         `db:"rev"        json:"rev,omitempty"` // how often the row had been written, if it counts that
	Note      string      `db:"note"       json:"note,omitempty"`
	Digest    string      `db:"digest"     json:"digest,omitempty"` // of the row; see [Digest]
	Hash      string      `db:"hash"       json:"hash"`             // of the entry and the hash before
	At        dbtime.Time `db:"created_at" json:"at"`
}

// Digest returns a hash of the columns of a row.
func Digest(parts ...string) string { return hash(parts) }

// hash is a SHA-256 in hexadecimal. Quoted strings are unambiguous.
func hash(parts []string) string {
	text := make([]byte, 0, 1024)
	for _, part := range parts {
		text = append(strconv.AppendQuote(text, part), ' ')
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// chain returns the hash of an entry that comes after an entry with the hash before.
func (e *Entry) chain(before string) string {
	return hash([]string{
		before, strconv.FormatInt(e.Number, 10), e.AccountID, e.Kind, e.Subject, strconv.Itoa(e.Rev), e.Note, e.Digest,
		dbtime.Format(e.At.Time),
	})
}

// A Head is the end of the log: the number of its entries and the hash of the last. If it is kept elsewhere, it later
// proves that the log up to there is unchanged.
type Head struct {
	Entries int64  `db:"number" json:"entries"`
	Hash    string `db:"hash"   json:"hash"`
}

// String returns the head in the form that [ParseHead] parses.
func (h Head) String() string { return fmt.Sprintf("%d:%s", h.Entries, h.Hash) }

// ParseHead parses the result of [Head.String].
func ParseHead(s string) (h Head, err error) {
	entries, sum, _ := strings.Cut(s, ":")
	h.Entries, err = strconv.ParseInt(entries, 10, 64)
	h.Hash = sum
	if err != nil || h.Entries < 1 || sum == "" {
		return h, fmt.Errorf("audit: %q is no head of the log; give one as it was printed, such as 345:0f3a…", s)
	}
	return h, nil
}

// A Log is the audit log of a database. It is safe for concurrent use. [New] makes one.
type Log struct {
	db       queue.DB
	postgres bool
}

const giveDB = "a database opened with queue/sqlite or queue/postgres"

// New returns the log of a database; [Migrate] must have prepared it.
func New(db queue.DB) (*Log, error) {
	if err := fields.Required("audit: New: db", db, giveDB); err != nil {
		return nil, err
	}
	return &Log{db: db, postgres: string(db.Dialect()) == "postgres"}, nil
}

//go:embed migrations
var migrations embed.FS

// Migrate creates the table audit_entries or brings it up to date. Call it at every start; several processes may do
// so at once.
func Migrate(ctx context.Context, db queue.DB) error {
	if err := fields.Required("audit: Migrate: db", db, giveDB); err != nil {
		return err
	}
	return migrate.Up(ctx, db, string(db.Dialect()), "audit", migrations)
}

// Append adds entries in the caller's transaction. The caller sets the account, kind, subject, rev, note and digest
// of each.
func (l *Log) Append(ctx context.Context, tx queue.Tx, entries ...Entry) error {
	add := func(ctx context.Context) error {
		if err := l.add(ctx, tx, entries); err != nil {
			return fmt.Errorf("audit: add to the log: %w", err)
		}
		return nil
	}
	// Transactions on PostgreSQL wait for each other from here to their end, and at their end they wait for nothing else.
	if l.postgres && queue.AtEnd(tx, add) {
		return nil
	}
	return add(ctx)
}

func (l *Log) add(ctx context.Context, tx queue.Tx, entries []Entry) error {
	if l.postgres {
		if _, err := tx.ExecContext(ctx, lockLog); err != nil {
			return err
		}
	}
	head, err := l.Head(ctx, tx)
	if err != nil {
		return err
	}
	at := dbtime.Of(dbtime.Truncate(queue.Now(tx)))
	for i := range entries {
		e := entries[i]
		e.Number, e.At = head.Entries+1, at
		e.Hash = e.chain(head.Hash)
		_, err := tx.ExecContext(ctx, insertEntry, e.Number, e.AccountID, e.Kind, e.Subject, e.Rev, e.Note,
			e.Digest, e.Hash, e.At)
		if err != nil {
			return err
		}
		head = Head{e.Number, e.Hash}
	}
	return nil
}

// Head returns the end of the log; zero if the log is empty. q is the database or a transaction.
func (l *Log) Head(ctx context.Context, q Querier) (h Head, err error) {
	err = dbquery.Get(ctx, q, &h, selectHead)
	if errors.Is(err, sql.ErrNoRows) {
		return h, nil
	}
	return h, err
}

// Entries returns up to limit entries whose numbers come after the given one, oldest first.
func (l *Log) Entries(ctx context.Context, after int64, limit int) ([]Entry, error) {
	var entries []Entry
	if err := dbquery.Select(ctx, l.db.Reader(), &entries, selectEntries, after, limit); err != nil {
		return nil, fmt.Errorf("audit: read the log: %w", err)
	}
	return entries, nil
}

// Has reports whether the log has a head, as its end or before.
func (l *Log) Has(ctx context.Context, q Querier, head Head) (bool, error) {
	var sum string
	err := dbquery.Get(ctx, q, &sum, selectHash, head.Entries)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return sum == head.Hash, err
}

// Undo returns the entry of the request of an undo, by the id of its job, the first if there were several. known
// reports whether there is one.
func (l *Log) Undo(ctx context.Context, jobID string) (e Entry, known bool, err error) {
	err = dbquery.Get(ctx, l.db.Reader(), &e, selectUndo, jobID)
	if errors.Is(err, sql.ErrNoRows) {
		return e, false, nil
	}
	if err != nil {
		return e, false, fmt.Errorf("audit: read who has requested an undo: %w", err)
	}
	return e, true, nil
}

// A Querier is a database or a transaction.
type Querier = dbquery.Querier

const (
	lockLog = `
SELECT pg_advisory_xact_lock(hashtextextended('postroom audit ' || current_schema(), 0))`

	selectHead = `
SELECT number, hash
FROM audit_entries
ORDER BY number DESC
LIMIT 1`

	selectHash = `
SELECT hash
FROM audit_entries
WHERE number = $1`

	insertEntry = `
INSERT INTO audit_entries (number, account_id, kind, subject_id, rev, note, digest, hash, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`

	selectUndo = `
SELECT number, account_id, kind, subject_id, rev, note, digest, hash, created_at
FROM audit_entries
WHERE kind = 'undo'
  AND subject_id = $1
ORDER BY number
LIMIT 1`

	selectEntries = `
SELECT number, account_id, kind, subject_id, rev, note, digest, hash, created_at
FROM audit_entries
WHERE number > $1
ORDER BY number
LIMIT $2`
)
