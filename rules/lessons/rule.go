package lessons

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/backtest"
	"github.com/postroom-go/postroom/rules/learn"
)

// A State is the state of a learned rule.
type State string

// The states of a learned rule.
const (
	Proposed  State = "proposed"  // it waits for a person
	Shadow    State = "shadow"    // it will be applied by itself; until then its matches are counted
	Accepted  State = "accepted"  // it is one of the rules in use
	Dismissed State = "dismissed" // it comes again once its support has doubled; so does one that was removed
)

// A Rule is a rule that was learned.
type Rule struct {
	ID        string
	AccountID string
	Key       string // see [learn.Finding]
	State     State
	Class     learn.Class
	Name      string
	Text      string // the rule as a rules file
	Evidence

	Agreeing      int
	Contradicting int
	Lower         float64 // the lower bound of its precision
	First, Last   time.Time

	// Matched is how much mail of the last 90 days it would have decided about, beside the rules in use.
	Matched int
	// ShadowMatched is that of the mail since ProposedAt, of a rule in Shadow.
	ShadowMatched int

	ProposedAt time.Time
	ChangedAt  time.Time // when the State changed
	ChangedBy  string    // the person, or "learning"

	dismissedAt int // the support with which it was dismissed
}

// Evidence is what taught a rule, for people.
type Evidence struct {
	Taught  []string          `json:"taught"`            // ids of messages that agree, the newest first
	Against []string          `json:"against,omitempty"` // of those that contradict it
	Samples []backtest.Sample `json:"samples,omitempty"` // of Matched
}

// By is the author of what this package does by itself.
const By = "learning"

type ruleRow struct {
	ID            string      `db:"id"`
	AccountID     string      `db:"account_id"`
	Key           string      `db:"rule_key"`
	State         State       `db:"state"`
	Class         learn.Class `db:"class"`
	Name          string      `db:"name"`
	Text          string      `db:"rule_text"`
	Agreeing      int         `db:"agreeing"`
	Contradicting int         `db:"contradicting"`
	Lower         float64     `db:"lower_bound"`
	First         dbtime.Time `db:"first_at"`
	Last          dbtime.Time `db:"last_at"`
	Evidence      string      `db:"evidence_json"`
	Matched       int         `db:"matched"`
	DismissedAt   int         `db:"dismissed_at_agreeing"`
	ShadowMatched int         `db:"shadow_matched"`
	ProposedAt    dbtime.Time `db:"proposed_at"`
	ChangedAt     dbtime.Time `db:"changed_at"`
	ChangedBy     string      `db:"changed_by"`
}

func (r *ruleRow) value() (Rule, error) {
	v := Rule{ID: r.ID, AccountID: r.AccountID, Key: r.Key, State: r.State, Class: r.Class, Name: r.Name, Text: r.Text,
		Agreeing: r.Agreeing, Contradicting: r.Contradicting, Lower: r.Lower, First: r.First.Time, Last: r.Last.Time,
		Matched: r.Matched, ShadowMatched: r.ShadowMatched, ProposedAt: r.ProposedAt.Time, ChangedAt: r.ChangedAt.Time,
		ChangedBy: r.ChangedBy, dismissedAt: r.DismissedAt}
	if err := json.Unmarshal([]byte(r.Evidence), &v.Evidence); err != nil {
		return v, fmt.Errorf("lessons: the evidence of learned rule %s cannot be read: %w", r.ID, err)
	}
	return v, nil
}

// Learned lists the learned rules of an account, the newest first. Those that are accepted are among them as long as
// they are in use.
func (s *Store) Learned(ctx context.Context, accountID string) ([]Rule, error) {
	return learned(ctx, s.cfg.DB.Reader(), accountID)
}

func learned(ctx context.Context, q dbquery.Querier, accountID string) ([]Rule, error) {
	var rows []ruleRow
	if err := dbquery.Select(ctx, q, &rows, sqlRulesOf, accountID); err != nil {
		return nil, fmt.Errorf("lessons: list the learned rules of account %s: %w", accountID, err)
	}
	list := make([]Rule, len(rows))
	for i := range rows {
		var err error
		if list[i], err = rows[i].value(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Rule returns a learned rule, or [postroom.ErrNotFound].
func (s *Store) Rule(ctx context.Context, id string) (Rule, error) {
	return ruleOf(ctx, s.cfg.DB.Reader(), id)
}

func ruleOf(ctx context.Context, q dbquery.Querier, id string) (Rule, error) {
	var row ruleRow
	err := dbquery.Get(ctx, q, &row, sqlRule, id)
	if errors.Is(err, sql.ErrNoRows) {
		return Rule{}, fmt.Errorf("lessons: learned rule %s: %w", id, postroom.ErrNotFound)
	}
	if err != nil {
		return Rule{}, fmt.Errorf("lessons: read learned rule %s: %w", id, err)
	}
	return row.value()
}

// ErrState reports that a learned rule is in another state by now.
var ErrState = errors.New("the learned rule is in another state")

// Accept marks a rule that was proposed, or is in shadow, as one of those in use. Call it in the transaction that puts
// the rule there. A rule in another state is [ErrState].
func (s *Store) Accept(ctx context.Context, tx queue.Tx, id, by string) (Rule, error) {
	return s.change(ctx, tx, id, Accepted, by, Proposed, Shadow)
}

// Dismiss marks a rule that was proposed, or is in shadow, as not wanted: it is proposed again once its support has
// doubled. A rule in another state is [ErrState].
func (s *Store) Dismiss(ctx context.Context, tx queue.Tx, id, by string) (Rule, error) {
	return s.change(ctx, tx, id, Dismissed, by, Proposed, Shadow)
}

// Withdraw marks an accepted rule as not wanted any more, as [Store.Dismiss] does. Call it in the transaction that
// removes the rule from those in use. A rule in another state is [ErrState].
func (s *Store) Withdraw(ctx context.Context, tx queue.Tx, id, by string) (Rule, error) {
	return s.change(ctx, tx, id, Dismissed, by, Accepted)
}

func (s *Store) change(ctx context.Context, tx queue.Tx, id string, to State, by string, from ...State) (Rule, error) {
	r, err := ruleOf(ctx, tx, id)
	if err != nil {
		return r, err
	}
	was := r.State
	for _, state := range from {
		if was != state {
			continue
		}
		r.State, r.ChangedAt, r.ChangedBy = to, queue.Now(tx), by
		if to == Dismissed {
			r.dismissedAt = r.Agreeing
		}
		written, err := update(ctx, tx, &r, was)
		if err != nil || written {
			return r, err
		}
	}
	return r, fmt.Errorf("lessons: learned rule %s is %s: %w", id, was, ErrState)
}

// update writes a rule, if it still has the state.
func update(ctx context.Context, tx queue.Tx, r *Rule, was State) (bool, error) {
	evidence, err := json.Marshal(r.Evidence)
	if err != nil {
		return false, fmt.Errorf("lessons: write learned rule %s: %w", r.ID, err)
	}
	n, err := dbquery.Exec(ctx, tx, sqlUpdateRule, string(r.State), string(r.Class), dbvalue.Clean(r.Name),
		dbvalue.Clean(r.Text), r.Agreeing, r.Contradicting, r.Lower, dbtime.Of(r.First), dbtime.Of(r.Last),
		dbvalue.Clean(string(evidence)), r.Matched, r.dismissedAt, r.ShadowMatched, dbtime.Of(r.ProposedAt),
		dbtime.Of(r.ChangedAt), dbvalue.Clean(r.ChangedBy), r.ID, string(was))
	if err != nil {
		return false, fmt.Errorf("lessons: write learned rule %s: %w", r.ID, err)
	}
	return n > 0, nil
}

func insert(ctx context.Context, tx queue.Tx, r *Rule) error {
	evidence, err := json.Marshal(r.Evidence)
	if err == nil {
		_, err = dbquery.Exec(ctx, tx, sqlInsertRule, r.ID, r.AccountID, dbvalue.Clean(r.Key), string(r.State),
			string(r.Class), dbvalue.Clean(r.Name), dbvalue.Clean(r.Text), r.Agreeing, r.Contradicting, r.Lower,
			dbtime.Of(r.First), dbtime.Of(r.Last), dbvalue.Clean(string(evidence)), r.Matched, r.dismissedAt,
			r.ShadowMatched, dbtime.Of(r.ProposedAt), dbtime.Of(r.ChangedAt), dbvalue.Clean(r.ChangedBy))
	}
	if err != nil {
		return fmt.Errorf("lessons: write learned rule %q: %w", r.Name, err)
	}
	return nil
}
