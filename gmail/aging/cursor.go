package aging

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
)

const (
	sqlCursors = `
SELECT rule_id, ordinal, rule_version, age_seconds, asked_until
FROM rule_ages
WHERE account_id = $1`

	sqlSaveCursor = `
INSERT INTO rule_ages (account_id, rule_id, ordinal, rule_version, age_seconds, asked_until,
  messages, actions, left_alone, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT (account_id, rule_id, ordinal) DO UPDATE SET
  rule_version = excluded.rule_version,
  age_seconds = excluded.age_seconds,
  asked_until = excluded.asked_until,
  messages = rule_ages.messages + excluded.messages,
  actions = rule_ages.actions + excluded.actions,
  left_alone = rule_ages.left_alone + excluded.left_alone,
  updated_at = excluded.updated_at`

	sqlForgetCursor = `DELETE FROM rule_ages WHERE account_id = $1 AND rule_id = $2 AND ordinal = $3`

	sqlCounts = `
SELECT COALESCE(SUM(messages), 0) AS messages, COALESCE(SUM(actions), 0) AS actions,
  COALESCE(SUM(left_alone), 0) AS left_alone
FROM rule_ages
WHERE account_id = $1`
)

// A cursor is how far a rule has been asked for one of its ages.
type cursor struct {
	ruleID, version string
	ordinal         int // of the age
	age             time.Duration
	asked           time.Time // messages received until then have been asked about

	messages, decided, leftAlone int // in this run
	saved                        Counts
}

func (c *cursor) count(done rules.Applied) {
	c.messages += done.Messages
	c.leftAlone += done.LeftAlone
	for _, n := range done.Actions {
		c.decided += n
	}
}

type cursorRow struct {
	RuleID  string      `db:"rule_id"`
	Ordinal int         `db:"ordinal"`
	Version string      `db:"rule_version"`
	Age     int64       `db:"age_seconds"` // 0 if it is not known
	Asked   dbtime.Time `db:"asked_until"`
}

type cursors []cursorRow

func (j *job) cursors(ctx context.Context, accountID string) (list cursors, err error) {
	if err := dbquery.Select(ctx, j.Store.DB().Reader(), &list, sqlCursors, accountID); err != nil {
		return nil, fmt.Errorf("aging: cursors: %w", err)
	}
	return list, nil
}

// firstWithin is how soon after a rule was stored its first run comes, as a rule. One that comes later, as after a dry
// run, does nothing to what has become old since: nobody expects the rule to begin with mail of months.
const firstWithin = 24 * time.Hour

// of returns the cursor for an age of a rule. A new one begins with what has become old since the rule was stored,
// which may be an hour ago. Another version goes on with what the last one was late with.
func (list cursors) of(rule *rules.Aging, ordinal int, now time.Time) *cursor {
	from := now
	if stored := rule.StoredAt; stored.Before(now) && now.Sub(stored) <= firstWithin {
		from = stored
	}
	age := rule.Ages[ordinal]
	c := &cursor{ruleID: rule.RuleID, version: rule.Version, ordinal: ordinal, age: age, asked: from.Add(-age - settled)}
	i := slices.IndexFunc(list, func(r cursorRow) bool {
		return r.RuleID == rule.RuleID && r.Ordinal == ordinal && r.Version == rule.Version
	})
	if i >= 0 {
		c.asked = list[i].Asked.Time
	} else if last, ok := list.last(rule.RuleID, age); ok && last.Before(c.asked) {
		c.asked = last
	}
	return c
}

// last returns how far the last version of a rule was asked for the age, or for the greatest one below. A greater age
// is none of these: what it has waited for may be old enough for the new age already, and nobody expects an action on
// all of that.
func (list cursors) last(ruleID string, age time.Duration) (asked time.Time, ok bool) {
	var found int64
	for _, r := range list {
		if r.RuleID == ruleID && r.Age > found && r.Age <= int64(age/time.Second) {
			found, asked, ok = r.Age, r.Asked.Time, true
		}
	}
	return asked, ok
}

// save stores how far a rule has been asked, and counts what was not counted before.
func (j *job) save(ctx context.Context, w *queue.Work[Payload], c *cursor) error {
	add := Counts{c.messages - c.saved.Messages, c.decided - c.saved.Actions, c.leftAlone - c.saved.LeftAlone}
	err := w.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, sqlSaveCursor, w.Payload.AccountID, c.ruleID, c.ordinal,
			c.version, int64(c.age/time.Second), dbtime.Of(c.asked), add.Messages, add.Actions, add.LeftAlone,
			dbtime.Of(queue.Now(tx)))
		if err != nil {
			return fmt.Errorf("aging: rule %s: %w", c.ruleID, err)
		}
		return nil
	})
	if err == nil {
		c.saved = Counts{c.messages, c.decided, c.leftAlone}
	}
	return err
}

// forget deletes the cursors of rules that are not asked any more.
func (j *job) forget(ctx context.Context, w *queue.Work[Payload], list cursors, aging []rules.Aging) error {
	gone := slices.DeleteFunc(slices.Clone(list), func(r cursorRow) bool {
		return slices.ContainsFunc(aging, func(a rules.Aging) bool { return a.RuleID == r.RuleID && r.Ordinal < len(a.Ages) })
	})
	if len(gone) == 0 {
		return nil
	}
	return w.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		for _, r := range gone {
			if _, err := tx.ExecContext(ctx, sqlForgetCursor, w.Payload.AccountID, r.RuleID,
				r.Ordinal); err != nil {
				return fmt.Errorf("aging: rule %s: %w", r.RuleID, err)
			}
		}
		return nil
	})
}

// Counts are what the rules of an account have been asked again about, for as long as they have been asked.
type Counts struct {
	Messages  int `db:"messages"`   // that were asked about
	Actions   int `db:"actions"`    // that were recorded
	LeftAlone int `db:"left_alone"` // actions that were left out, since a person has changed or undone it
}

// Count returns the counts of an account.
func Count(ctx context.Context, store *mailstore.Store, accountID string) (n Counts, err error) {
	if err := dbquery.Get(ctx, store.DB().Reader(), &n, sqlCounts, accountID); err != nil {
		return n, fmt.Errorf("aging: count: %w", err)
	}
	return n, nil
}
