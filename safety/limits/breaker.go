package limits

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/events"
)

// A Breaker stops the rules, or the models, of an account when their actions are unusual: it opens when one of its
// numbers is reached within Window. While it is open, decisions of the source wait for a person, and its earlier
// decisions that no person has approved are held. It closes after OpenFor or by [Breakers.Close]; earlier
// actions no longer count then.
//
// The zero Breaker never opens.
type Breaker struct {
	// Actions is the number of actions without a person that opens it. Default 0: no limit.
	Actions int
	// Failures is the number of failed actions that opens it. Default 0: no limit.
	Failures int
	// Undos is the number of undone actions that opens it. It is for a host whose programs undo: what a person undoes is
	// their own will, and no reason to stop. Default 0: no limit.
	Undos int
	// Window is the period that is counted. Default 1 hour; bounds 1 minute to 366 days.
	Window time.Duration
	// OpenFor is how long it stays open. Default 1 hour; bounds 1 minute to 10 years. 10 years means until a person
	// closes it.
	OpenFor time.Duration
}

// WithDefaults returns the breaker with its defaults, or an error that names the field of the policy.
func (b Breaker) WithDefaults() (Breaker, error) {
	if b.Window == 0 {
		b.Window = time.Hour
	}
	if b.OpenFor == 0 {
		b.OpenFor = time.Hour
	}
	for _, n := range []struct {
		name string
		n    int
	}{{"Actions", b.Actions}, {"Failures", b.Failures}, {"Undos", b.Undos}} {
		if n.n < 0 || n.n > maxCap {
			return b, fmt.Errorf("gate: Policy.Breaker.%s is %d; it must be within 0 and %d", n.name, n.n, maxCap)
		}
	}
	if b.Window < time.Minute || b.Window > maxCapWindow {
		return b, fmt.Errorf("gate: Policy.Breaker.Window is %v; it must be within 1m and %v", b.Window, maxCapWindow)
	}
	if b.OpenFor < time.Minute || b.OpenFor > maxWindow {
		return b, fmt.Errorf("gate: Policy.Breaker.OpenFor is %v; it must be within 1m and %v", b.OpenFor, maxWindow)
	}
	return b, nil
}

// An Open breaker is a source that is stopped for an account.
type Open struct {
	AccountID string
	Source    postroom.Source
	Why       string // for people
	OpenedAt  time.Time
	OpenUntil time.Time // when it closes by itself
}

// String describes what is stopped and why, for people.
func (o *Open) String() string {
	return fmt.Sprintf("what %s decide is stopped since %s, until %s or until a person resumes: %s",
		sourceName(o.Source), o.OpenedAt.UTC().Format(time.RFC3339), o.OpenUntil.UTC().Format(time.RFC3339), o.Why)
}

func sourceName(s postroom.Source) string {
	if s == postroom.SourceModel {
		return "models"
	}
	return "rules"
}

// A Row is the breaker of a source and an account in the database. A query that joins the table safety_breakers selects
// [Columns] into it.
type Row struct {
	AccountID string          `db:"breaker.account_id"`
	Source    postroom.Source `db:"breaker.source"`
	Why       string          `db:"breaker.why"`
	OpenedAt  dbtime.Time     `db:"breaker.opened_at"` // zero: it has never been open
	OpenUntil dbtime.Time     `db:"breaker.open_until"`
	ClosedAt  dbtime.Time     `db:"breaker.closed_at"` // zero: nobody has closed it
}

// Columns are the columns of a [Row]. They are zero where no row is joined.
const Columns = `COALESCE(safety_breakers.account_id, '') AS "breaker.account_id", COALESCE(safety_breakers.source, '') AS "breaker.source",
  COALESCE(safety_breakers.why, '') AS "breaker.why", safety_breakers.opened_at AS "breaker.opened_at",
  safety_breakers.open_until AS "breaker.open_until", safety_breakers.closed_at AS "breaker.closed_at"`

// Hold returns a [*postroom.HeldError] while the breaker is open.
func (r *Row) Hold(now time.Time) error {
	if !r.open(now) {
		return nil
	}
	open := r.value()
	return &postroom.HeldError{Reason: open.String()}
}

func (r *Row) value() Open {
	return Open{AccountID: r.AccountID, Source: r.Source, Why: r.Why, OpenedAt: r.OpenedAt.Time,
		OpenUntil: r.OpenUntil.Time}
}

func (r *Row) open(now time.Time) bool {
	return !r.OpenedAt.IsZero() && r.ClosedAt.IsZero() && now.Before(r.OpenUntil.Time)
}

// countedFrom returns the time from which a closed breaker counts: the actions that opened it do not open it again.
func (r *Row) countedFrom(window time.Time) time.Time {
	last := r.ClosedAt.Time
	if last.IsZero() {
		last = r.OpenUntil.Time
	}
	if last.After(window) {
		return last
	}
	return window
}

// Breakers open and close the breakers of a database. It is safe for concurrent use. [NewBreakers] makes one.
type Breakers struct {
	db      queue.DB
	breaker func(accountID string) Breaker
	counts  Counts
	events  *events.Log
}

// NewBreakers returns the breakers of a database that safety.Migrate has prepared. of returns the breaker of an
// account, which must have its defaults.
func NewBreakers(db queue.DB, of func(accountID string) Breaker, counts Counts, log *events.Log) *Breakers {
	return &Breakers{db: db, breaker: of, counts: counts, events: log}
}

// watches reports whether there is a breaker for the source.
func (b *Breaker) watches(s postroom.Source) bool {
	return (s == postroom.SourceDeterministic || s == postroom.SourceModel) &&
		(b.Actions > 0 || b.Failures > 0 || b.Undos > 0)
}

func (b *Breakers) row(ctx context.Context, tx queue.Tx, accountID string, source postroom.Source) (r Row, err error) {
	err = dbquery.Get(ctx, tx, &r, selectBreaker, accountID, string(source))
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return r, fmt.Errorf("safety: read the breaker of account %s: %w", accountID, err)
	}
	return r, nil
}

// Stopped returns, for people, why a decision of the source about a message of the account must wait for a person;
// empty if it need not. If the source has reached the limit of actions, Stopped opens its breaker.
func (b *Breakers) Stopped(ctx context.Context, tx queue.Tx, accountID string,
	source postroom.Source) (reason string, err error) {
	breaker := b.breaker(accountID)
	if !breaker.watches(source) {
		return "", nil
	}
	r, err := b.row(ctx, tx, accountID, source)
	if err != nil {
		return "", err
	}
	stopped := "what " + sourceName(source) + " decide is stopped: "
	if r.open(queue.Now(tx)) {
		return stopped + r.Why, nil
	}
	if breaker.Actions == 0 {
		return "", nil
	}
	n, err := b.counts.Unattended(ctx, tx, Query{AccountID: accountID, Sources: []postroom.Source{source},
		Since: r.countedFrom(queue.Now(tx).Add(-breaker.Window)), Most: breaker.Actions})
	if err != nil || n < breaker.Actions {
		return "", err
	}
	why := fmt.Sprintf("%s have done %d actions within %v", sourceName(source), n, breaker.Window)
	return stopped + why, b.trip(ctx, tx, accountID, source, why)
}

// Failed opens the breaker of the source that has decided about an action if too many of its actions have failed.
func (b *Breakers) Failed(ctx context.Context, tx queue.Tx, a postroom.Action) error {
	return b.tripAfter(ctx, tx, a, b.breaker(a.AccountID).Failures, b.counts.Failed, "failed")
}

// Undone opens the breaker of the source that has decided about an action if too many of its actions were undone.
func (b *Breakers) Undone(ctx context.Context, tx queue.Tx, a postroom.Action) error {
	return b.tripAfter(ctx, tx, a, b.breaker(a.AccountID).Undos, b.counts.Undone, "were undone")
}

func (b *Breakers) tripAfter(ctx context.Context, tx queue.Tx, a postroom.Action, most int,
	count func(context.Context, queue.Tx, Query) (int, error), what string) error {
	if most == 0 {
		return nil
	}
	breaker := b.breaker(a.AccountID)
	source, err := b.counts.Source(ctx, tx, a.DecisionID)
	if err != nil || !breaker.watches(source) {
		return err
	}
	r, err := b.row(ctx, tx, a.AccountID, source)
	if err != nil || r.open(queue.Now(tx)) {
		return err
	}
	n, err := count(ctx, tx, Query{AccountID: a.AccountID, Sources: []postroom.Source{source},
		Since: r.countedFrom(queue.Now(tx).Add(-breaker.Window)), Most: most})
	if err != nil || n < most {
		return err
	}
	return b.trip(ctx, tx, a.AccountID, source, fmt.Sprintf("%d actions of %s %s within %v", n, sourceName(source), what,
		breaker.Window))
}

// trip opens a breaker. Of several concurrent calls, one notifies.
func (b *Breakers) trip(ctx context.Context, tx queue.Tx, accountID string, source postroom.Source, why string) error {
	now := queue.Now(tx)
	opened, err := dbquery.Exec(ctx, tx, openBreaker, accountID, string(source), dbtime.Of(now),
		dbtime.Of(now.Add(b.breaker(accountID).OpenFor)), why)
	if err != nil {
		return fmt.Errorf("safety: open the breaker of account %s: %w", accountID, err)
	}
	if opened == 0 {
		return nil
	}
	return b.events.Add(ctx, tx, events.Event{Kind: events.BreakerOpened, AccountID: accountID, Source: source,
		By: "postroom", Why: why})
}

// Open lists the sources that are stopped now, by account.
func (b *Breakers) Open(ctx context.Context) ([]Open, error) {
	var rows []Row
	if err := dbquery.Select(ctx, b.db.Reader(), &rows, selectBreakers, dbtime.Of(time.Now())); err != nil {
		return nil, fmt.Errorf("safety: list open breakers: %w", err)
	}
	open := make([]Open, len(rows))
	for i := range rows {
		open[i] = rows[i].value()
	}
	return open, nil
}

// Close closes the open breakers of one account, or of all if accountID is empty, and returns how many it has closed.
// by is the person and must not be blank.
func (b *Breakers) Close(ctx context.Context, tx queue.Tx, accountID, by, why string) (closed int, err error) {
	if strings.TrimSpace(by) == "" {
		return 0, errors.New("safety: close breakers: the name of who does it is blank, and it goes on record")
	}
	var rows []Row
	if err := dbquery.Select(ctx, tx, &rows, closeBreakers, dbtime.Of(queue.Now(tx)), accountID); err != nil {
		return 0, fmt.Errorf("safety: close breakers: %w", err)
	}
	for i := range rows {
		e := events.Event{Kind: events.BreakerClosed, AccountID: rows[i].AccountID, Source: rows[i].Source, By: by, Why: why}
		if err := b.events.Add(ctx, tx, e); err != nil {
			return 0, err
		}
	}
	return len(rows), nil
}

const (
	selectBreaker = `
SELECT ` + Columns + `
FROM safety_breakers
WHERE account_id = $1
  AND source = $2`

	selectBreakers = `
SELECT ` + Columns + `
FROM safety_breakers
WHERE closed_at IS NULL
  AND open_until > $1
ORDER BY account_id, source`

	// No row: it is open already.
	openBreaker = `
INSERT INTO safety_breakers (account_id, source, opened_at, open_until, why)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (account_id, source) DO UPDATE
SET opened_at = excluded.opened_at,
  open_until = excluded.open_until,
  why = excluded.why,
  closed_at = NULL
WHERE safety_breakers.closed_at IS NOT NULL
  OR safety_breakers.open_until <= excluded.opened_at`

	closeBreakers = `
UPDATE safety_breakers
SET closed_at = $1
WHERE closed_at IS NULL
  AND open_until > $1
  AND ($2 = '' OR account_id = $2)
RETURNING ` + Columns
)
