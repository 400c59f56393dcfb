// Package events records the changes of what may be done as a whole: stops, open breakers, settings, databases that
// were put back and accepted, and requests that people are not asked any more. A host records with kinds of its own
// what else people do and nothing else has on record. Rows are only added.
package events

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/internal/uuid7"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/audit"
)

// A Kind names a change.
type Kind string

// The kinds of events.
const (
	Stopped         Kind = "stopped"
	Resumed         Kind = "resumed"
	BreakerOpened   Kind = "breaker_opened"
	BreakerClosed   Kind = "breaker_closed"
	Settings        Kind = "settings" // Why has them, as JSON
	RestoreAccepted Kind = "restore_accepted"
	// NotAsked reports that models have caused so many requests of a kind that people are not asked about more of it
	// for the rest of the day.
	NotAsked Kind = "not_asked"
	// DraftAsked and the next ones report what a person has said about the draft of an answer; Why names its thread.
	DraftAsked     Kind = "draft_asked"
	DraftSend      Kind = "draft_send" // before Gmail is asked; Why has the hash of the draft as well
	DraftRework    Kind = "draft_rework"
	DraftDiscarded Kind = "draft_discarded"

	// VoiceEdited and VoiceRebuild report what a person has said about the profile of its way to write.
	VoiceEdited  Kind = "voice_edited"
	VoiceRebuild Kind = "voice_rebuild"

	// DriftWarns and DriftAsks report that people have corrected some of what a rule, or the models, have done last, and
	// so much that people are asked from then on; DriftEnded, that a person has said that it is right again, or that the
	// corrections were made in bulk, and do not count yet.
	DriftWarns Kind = "drift_warns"
	DriftAsks  Kind = "drift_asks"
	DriftEnded Kind = "drift_ended"

	// AwaySet and AwayEnded report that mail is answered automatically while the owner of a mailbox is away, and that it
	// is not any more.
	AwaySet   Kind = "away_set"
	AwayEnded Kind = "away_ended"
)

// AuditKind is the kind of the entries that a [Log] adds to the audit log.
const AuditKind = "event"

// An Event is a change of what may be done, with its author, time and reason.
type Event struct {
	ID        string
	Kind      Kind
	AccountID string          // empty: all accounts
	Source    postroom.Source // empty: all sources
	By        string          // the person or program
	Why       string
	At        time.Time

	// Was has the settings that preceded those in Why, as JSON. It is empty for the first event, for other kinds, and in
	// the results of [Log.List].
	Was string
}

type row struct {
	ID        string          `db:"id"`
	Kind      Kind            `db:"kind"`
	AccountID string          `db:"account_id"`
	Source    postroom.Source `db:"source"`
	By        string          `db:"changed_by"`
	Why       string          `db:"why"`
	At        dbtime.Time     `db:"created_at"`
}

// digest is the hash of the columns.
func (r *row) digest() string {
	return audit.Digest(r.ID, string(r.Kind), r.AccountID, string(r.Source), r.By, r.Why, dbtime.Format(r.At.Time))
}

// An AuditLog is what a [Log] needs of the audit log; *audit.Log implements it.
type AuditLog interface {
	Append(ctx context.Context, tx queue.Tx, entries ...audit.Entry) error
}

// A Log is the record of events in a database. It is safe for concurrent use. [New] makes one.
type Log struct {
	db     queue.DB
	audit  AuditLog
	notify func(ctx context.Context, tx queue.Tx, e Event) error
}

// New returns the log of a database that safety.Migrate has prepared. notify is called for each event, in its
// transaction; an error of it rolls the event back. log and notify may be nil.
func New(db queue.DB, log AuditLog, notify func(ctx context.Context, tx queue.Tx, e Event) error) *Log {
	return &Log{db: db, audit: log, notify: notify}
}

// Add records an event. It sets the id and the time.
func (l *Log) Add(ctx context.Context, tx queue.Tx, e Event) (err error) {
	if e.ID, err = uuid7.New(); err != nil {
		return err
	}
	e.At, e.By, e.Why = dbtime.Truncate(queue.Now(tx)), dbvalue.Clean(e.By), dbvalue.Clean(e.Why)
	r := row{e.ID, e.Kind, e.AccountID, e.Source, e.By, e.Why, dbtime.Of(e.At)}
	_, err = tx.ExecContext(ctx, insertEvent, r.ID, string(r.Kind), r.AccountID, string(r.Source), r.By, r.Why, r.At)
	if err != nil {
		return fmt.Errorf("safety: record that it is %s: %w", e.Kind, err)
	}
	if l.audit != nil {
		err := l.audit.Append(ctx, tx, audit.Entry{Kind: AuditKind, AccountID: r.AccountID, Subject: r.ID,
			Note: string(r.Kind), Digest: r.digest()})
		if err != nil {
			return err
		}
	}
	if l.notify == nil {
		return nil
	}
	return l.notify(ctx, tx, e)
}

// AddSettings records settings, as JSON, unless they are those that were recorded last.
func (l *Log) AddSettings(ctx context.Context, tx queue.Tx, by, text string) error {
	var last string
	if err := dbquery.Get(ctx, tx, &last, selectSettings); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("safety: read the settings that were recorded last: %w", err)
	}
	if text == last {
		return nil
	}
	return l.Add(ctx, tx, Event{Kind: Settings, By: by, Why: text, Was: last})
}

const maxLimit = 100

// List lists the events, newest first. limit is 1 to 100.
func (l *Log) List(ctx context.Context, limit int) ([]Event, error) {
	return l.Page(ctx, Filter{Limit: limit})
}

// A Filter selects events.
type Filter struct {
	AccountID string // of this account alone; empty: of all, with those that concern all accounts
	Before    string // only those before the event with this id; empty: from the newest on
	Limit     int    // 1 to 100
}

// Page lists the events that the filter selects, newest first.
func (l *Log) Page(ctx context.Context, f Filter) ([]Event, error) {
	if f.Limit < 1 || f.Limit > maxLimit {
		return nil, fmt.Errorf("safety: events: the limit is %d; it must be within 1 and %d", f.Limit, maxLimit)
	}
	var rows []row
	if err := dbquery.Select(ctx, l.db.Reader(), &rows, selectEvents, f.AccountID, f.Before, f.Limit); err != nil {
		return nil, fmt.Errorf("safety: list events: %w", err)
	}
	list := make([]Event, len(rows))
	for i, r := range rows {
		list[i] = Event{ID: r.ID, Kind: r.Kind, AccountID: r.AccountID, Source: r.Source, By: r.By, Why: r.Why,
			At: r.At.Time}
	}
	return list, nil
}

// AuditRows returns up to limit events whose ids come after the given one, to compare them with the audit log.
func (l *Log) AuditRows(ctx context.Context, q audit.Querier, after string, limit int) ([]audit.Row, error) {
	var rows []row
	if err := dbquery.Select(ctx, q, &rows, selectAfter, after, limit); err != nil {
		return nil, fmt.Errorf("safety: read events: %w", err)
	}
	list := make([]audit.Row, len(rows))
	for i := range rows {
		list[i] = audit.Row{ID: rows[i].ID, Kind: AuditKind, Digest: rows[i].digest()}
	}
	return list, nil
}

const (
	insertEvent = `
INSERT INTO safety_events (id, kind, account_id, source, changed_by, why, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)`

	selectSettings = `
SELECT why
FROM safety_events
WHERE kind = 'settings'
ORDER BY id DESC
LIMIT 1`

	selectEvents = `
SELECT id, kind, account_id, source, changed_by, why, created_at
FROM safety_events
WHERE ($1 = '' OR account_id = $1)
  AND ($2 = '' OR id < $2)
ORDER BY id DESC
LIMIT $3`

	selectAfter = `
SELECT id, kind, account_id, source, changed_by, why, created_at
FROM safety_events
WHERE id > $1
ORDER BY id
LIMIT $2`
)
