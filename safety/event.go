package safety

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
)

// An EventKind names a change to the ledger as a whole.
type EventKind string

// The kinds of events.
const (
	EventStopped       EventKind = "stopped"
	EventResumed       EventKind = "resumed"
	EventBreakerOpened EventKind = "breaker_opened"
	EventBreakerClosed EventKind = "breaker_closed"
	EventSettings      EventKind = "settings"         // Why has them, as JSON
	EventRestored      EventKind = "restore_accepted" // see [Ledger.AcceptRestore]
)

// An Event is a change of what may be done, with its author, time and reason.
type Event struct {
	ID        string
	Kind      EventKind
	AccountID string          // empty: all accounts
	Source    postroom.Source // empty: all sources
	By        string          // the person or program
	Why       string
	At        time.Time

	// Was has the settings that preceded those in Why, as JSON. It is empty for the first event, for other kinds, and in the
	// results of [Ledger.Events].
	Was string
}

type eventRow struct {
	ID        string          `db:"id"`
	Kind      EventKind       `db:"kind"`
	AccountID string          `db:"account_id"`
	Source    postroom.Source `db:"source"`
	By        string          `db:"changed_by"`
	Why       string          `db:"why"`
	At        dbtime.Time     `db:"created_at"`
}

func (r *eventRow) value() (Event, error) { //nolint:unparam // as all rows
	return Event{ID: r.ID, Kind: r.Kind, AccountID: r.AccountID, Source: r.Source, By: r.By, Why: r.Why, At: r.At.Time}, nil
}

// event records a change, and calls [Config].Notify.
func (l *Ledger) event(ctx context.Context, tx queue.Tx, e Event) (err error) {
	if e.ID, err = uuid7.New(); err != nil {
		return err
	}
	e.At = dbtime.Truncate(queue.Now(tx))
	row := eventRow{e.ID, e.Kind, e.AccountID, e.Source, e.By, e.Why, dbtime.Of(e.At)}
	_, err = tx.ExecContext(ctx, insertEvent, e.ID, string(e.Kind), e.AccountID, string(e.Source), e.By, e.Why, dbtime.Of(e.At))
	if err != nil {
		return fmt.Errorf("safety: record that it is %s: %w", e.Kind, err)
	}
	if err := l.auditEvent(ctx, tx, &row); err != nil {
		return err
	}
	if l.cfg.Notify == nil {
		return nil
	}
	return l.cfg.Notify(ctx, tx, e)
}

// settings are the settings that decide which actions need a person.
type settings struct {
	Policy         Policy
	Approvers      []string
	ApprovalExpiry string
	DryRun         bool
}

// RecordSettings records the settings of the ledger as an [Event] if they differ from those last recorded, so that the record
// shows under which settings a decision was made. Call it when a program begins to decide. by names the program or person.
func (l *Ledger) RecordSettings(ctx context.Context, tx queue.Tx, by string) error {
	text, err := encode("settings", settings{l.gate.policy, l.cfg.Approvers, l.cfg.ApprovalExpiry.String(), l.cfg.DryRun})
	if err != nil {
		return err
	}
	var last string
	if err := dbquery.Get(ctx, tx, &last, selectSettings); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("safety: read the settings that were recorded last: %w", err)
	}
	if text == last {
		return nil
	}
	return l.event(ctx, tx, Event{Kind: EventSettings, By: dbvalue.Clean(by), Why: text, Was: last})
}

// Events lists the changes of what may be done, newest first. limit is 1 to 100.
func (l *Ledger) Events(ctx context.Context, limit int) ([]Event, error) {
	if limit < 1 || limit > maxLimit {
		return nil, fmt.Errorf("safety: events: the limit is %d; it must be within 1 and %d", limit, maxLimit)
	}
	events, err := all[eventRow, Event](ctx, l.cfg.DB.Reader(), selectEvents, limit)
	if err != nil {
		return nil, fmt.Errorf("safety: list events: %w", err)
	}
	return events, nil
}
