package safety

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
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/queue"
)

// A Breaker stops the rules, or the models, of an account when their actions are unusual: it opens when one of its numbers is
// reached within Window. While it is open, decisions of the source wait for a person, and its earlier decisions that no person
// has approved are held. It closes after OpenFor or by [Ledger.CloseBreakers]; earlier actions no longer count then.
//
// The zero Breaker never opens.
type Breaker struct {
	// Actions is the number of actions without a person that opens it. Default 0: no limit.
	Actions int
	// Failures is the number of failed actions that opens it. Default 0: no limit.
	Failures int
	// Undos is the number of undone actions that opens it. Default 0: no limit.
	Undos int
	// Window is the period that is counted. Default 1 hour; bounds 1 minute to 366 days.
	Window time.Duration
	// OpenFor is how long it stays open. Default 1 hour; bounds 1 minute to 10 years. 10 years means until a person closes it.
	OpenFor time.Duration
}

func (b Breaker) withDefaults() (Breaker, error) {
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
			return b, fmt.Errorf("safety: Policy.Breaker.%s is %d; it must be within 0 and %d", n.name, n.n, maxCap)
		}
	}
	if b.Window < time.Minute || b.Window > maxCapWindow {
		return b, fmt.Errorf("safety: Policy.Breaker.Window is %v; it must be within 1m and %v", b.Window, maxCapWindow)
	}
	if b.OpenFor < time.Minute || b.OpenFor > maxWindow {
		return b, fmt.Errorf("safety: Policy.Breaker.OpenFor is %v; it must be within 1m and %v", b.OpenFor, maxWindow)
	}
	return b, nil
}

// An OpenBreaker is a source that is stopped for an account.
type OpenBreaker struct {
	AccountID string
	Source    postroom.Source
	Why       string // for people
	OpenedAt  time.Time
	OpenUntil time.Time // when it closes by itself
}

// String describes what is stopped and why, for people.
func (b *OpenBreaker) String() string {
	return fmt.Sprintf("what %s decide is stopped since %s, until %s or until a person resumes: %s",
		sourceName(b.Source), b.OpenedAt.UTC().Format(time.RFC3339), b.OpenUntil.UTC().Format(time.RFC3339), b.Why)
}

func sourceName(s postroom.Source) string {
	if s == postroom.SourceModel {
		return "models"
	}
	return "rules"
}

type breakerRow struct {
	BreaksAccount string          `db:"breaker.account_id"`
	Breaks        postroom.Source `db:"breaker.source"`
	BrokenBy      string          `db:"breaker.why"`
	OpenedAt      dbtime.Time     `db:"breaker.opened_at"` // zero: it has never been open
	OpenUntil     dbtime.Time     `db:"breaker.open_until"`
	ClosedAt      dbtime.Time     `db:"breaker.closed_at"` // zero: nobody has closed it
}

func (r *breakerRow) breaker() OpenBreaker {
	return OpenBreaker{AccountID: r.BreaksAccount, Source: r.Breaks, Why: r.BrokenBy, OpenedAt: r.OpenedAt.Time, OpenUntil: r.OpenUntil.Time}
}

// A sourceRow is a breaker alone.
type sourceRow struct{ breakerRow }

func (r *sourceRow) value() (OpenBreaker, error) { return r.breaker(), nil } //nolint:unparam // as all rows

func (r *breakerRow) open(now time.Time) bool {
	return !r.OpenedAt.IsZero() && r.ClosedAt.IsZero() && now.Before(r.OpenUntil.Time)
}

// countedFrom returns the time from which a closed breaker counts: the actions that opened it do not open it again.
func (r *breakerRow) countedFrom(window time.Time) time.Time {
	last := r.ClosedAt.Time
	if last.IsZero() {
		last = r.OpenUntil.Time
	}
	if last.After(window) {
		return last
	}
	return window
}

// breaks reports whether there is a breaker for the source.
func (l *Ledger) breaks(s postroom.Source) bool {
	b := l.gate.policy.Breaker
	return (s == postroom.SourceDeterministic || s == postroom.SourceModel) && (b.Actions > 0 || b.Failures > 0 || b.Undos > 0)
}

func (l *Ledger) breaker(ctx context.Context, tx queue.Tx, accountID string, source postroom.Source) (r breakerRow, err error) {
	err = dbquery.Get(ctx, tx, &r, selectBreaker, accountID, string(source))
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return r, fmt.Errorf("safety: read the breaker of account %s: %w", accountID, err)
	}
	return r, nil
}

// breakerDoubts asks about the decisions of a stopped source, and stops the source when it has reached a limit.
func (l *Ledger) breakerDoubts(ctx context.Context, tx queue.Tx, accountID string, d postroom.Decision) ([]Doubt, error) {
	if !l.breaks(d.Source) {
		return nil, nil
	}
	r, err := l.breaker(ctx, tx, accountID, d.Source)
	if err != nil {
		return nil, err
	}
	why := r.BrokenBy
	if !r.open(queue.Now(tx)) {
		b := l.gate.policy.Breaker
		if b.Actions == 0 {
			return nil, nil
		}
		n, err := l.countAlone(ctx, tx, accountID, []postroom.Source{d.Source}, nil, r.countedFrom(queue.Now(tx).Add(-b.Window)), b.Actions)
		if err != nil || n < b.Actions {
			return nil, err
		}
		why = fmt.Sprintf("%s have done %d actions within %v", sourceName(d.Source), n, b.Window)
		if err := l.trip(ctx, tx, accountID, d.Source, why); err != nil {
			return nil, err
		}
	}
	return []Doubt{{OverrideBreaker, "what " + sourceName(d.Source) + " decide is stopped: " + why}}, nil
}

// tripAfter opens the breaker of the action's source if it has too many failed or undone actions.
func (l *Ledger) tripAfter(ctx context.Context, tx queue.Tx, a postroom.Action, most int, count, what string) error {
	if most == 0 {
		return nil
	}
	var source postroom.Source
	if err := dbquery.Get(ctx, tx, &source, selectSource, a.DecisionID); err != nil {
		return fmt.Errorf("safety: read decision %s: %w", a.DecisionID, err)
	}
	if !l.breaks(source) {
		return nil
	}
	r, err := l.breaker(ctx, tx, a.AccountID, source)
	if err != nil || r.open(queue.Now(tx)) {
		return err
	}
	var n int
	since := r.countedFrom(queue.Now(tx).Add(-l.gate.policy.Breaker.Window))
	if err := dbquery.Get(ctx, tx, &n, count, a.AccountID, string(source), dbtime.Of(since), most); err != nil {
		return fmt.Errorf("safety: count %s: %w", what, err)
	}
	if n < most {
		return nil
	}
	return l.trip(ctx, tx, a.AccountID, source, fmt.Sprintf("%d actions of %s %s within %v", n, sourceName(source), what, l.gate.policy.Breaker.Window))
}

// trip opens a breaker. Of several concurrent calls, one notifies.
func (l *Ledger) trip(ctx context.Context, tx queue.Tx, accountID string, source postroom.Source, why string) error {
	now := queue.Now(tx)
	opened, err := dbquery.Exec(ctx, tx, openBreaker, accountID, string(source), dbtime.Of(now), dbtime.Of(now.Add(l.gate.policy.Breaker.OpenFor)), why)
	if err != nil {
		return fmt.Errorf("safety: open the breaker of account %s: %w", accountID, err)
	}
	if opened == 0 {
		return nil
	}
	return l.event(ctx, tx, Event{Kind: EventBreakerOpened, AccountID: accountID, Source: source, By: "postroom", Why: why})
}

// heldByBreaker holds the decision of a stopped source, unless a person has approved it.
func (p *permitRow) heldByBreaker(now time.Time) error {
	if p.ApprovalID != "" || !p.open(now) {
		return nil
	}
	b := p.breaker()
	return held(b.String(), time.Time{})
}

// Breakers lists the sources that are stopped now, by account.
func (l *Ledger) Breakers(ctx context.Context) ([]OpenBreaker, error) {
	open, err := all[sourceRow, OpenBreaker](ctx, l.cfg.DB.Reader(), selectBreakers, dbtime.Of(time.Now()))
	if err != nil {
		return nil, fmt.Errorf("safety: list open breakers: %w", err)
	}
	return open, nil
}

// CloseBreakers closes the open breakers of one account, or of all if accountID is empty, and returns how many it has closed. by
// is the person and must not be blank.
func (l *Ledger) CloseBreakers(ctx context.Context, tx queue.Tx, accountID, by, why string) (closed int, err error) {
	if strings.TrimSpace(by) == "" {
		return 0, errors.New("safety: close breakers: the name of who does it is blank, and it goes on record")
	}
	var rows []breakerRow
	if err := dbquery.Select(ctx, tx, &rows, closeBreakers, dbtime.Of(queue.Now(tx)), accountID); err != nil {
		return 0, fmt.Errorf("safety: close breakers: %w", err)
	}
	for i := range rows {
		b := rows[i].breaker()
		e := Event{Kind: EventBreakerClosed, AccountID: b.AccountID, Source: b.Source, By: dbvalue.Clean(by), Why: dbvalue.Clean(why)}
		if err := l.event(ctx, tx, e); err != nil {
			return 0, err
		}
	}
	return len(rows), nil
}
