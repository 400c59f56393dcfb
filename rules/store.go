package rules

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/queue"
)

//go:embed migrations
var migrations embed.FS

// Migrate creates the tables of this package (deterministic_rules, rules_revision) or brings them up to date. It may be
// called at every start, by several processes at once.
func Migrate(ctx context.Context, db queue.DB) error {
	return migrate.Up(ctx, db, string(db.Dialect()), "rules", migrations)
}

var (
	// ErrNameTaken: another rule of the account has the name.
	ErrNameTaken = errors.New("another rule has this name")
	// ErrSameRule: a rule cannot swap priorities with itself.
	ErrSameRule = errors.New("a rule cannot be swapped with itself")
)

// A Store keeps rules. Its reading methods see what has been committed, its writing methods take the caller's
// transaction. A rule that is not there is [postroom.ErrNotFound]; a rule that is not valid is [ErrInvalidRule] and is
// not stored.
type Store struct{ db queue.DB }

// NewStore makes a store of a database that [Migrate] has prepared.
func NewStore(db queue.DB) *Store { return &Store{db: db} }

// List returns all rules in the order in which they are tried, disabled ones included.
func (s *Store) List(ctx context.Context) ([]Rule, error) {
	return selectRules(ctx, s.db.Reader(), sqlRules)
}

// Get returns one rule.
func (s *Store) Get(ctx context.Context, id string) (*Rule, error) {
	return get(ctx, s.db.Reader(), id)
}

// Revision counts the changes of the rules: as long as it stays the same, so do they.
func (s *Store) Revision(ctx context.Context) (int64, error) {
	var revision int64
	if err := dbquery.Get(ctx, s.db.Reader(), &revision, sqlRevision); err != nil {
		return 0, fmt.Errorf("read the revision of the rules: %w", err)
	}
	return revision, nil
}

// Create stores a new rule under a new id and returns it as stored. An empty scope is global, an empty safe mode the
// default one; [New] fills in the rest.
func (s *Store) Create(ctx context.Context, tx queue.Tx, r Rule) (*Rule, error) {
	if err := beginChange(ctx, tx); err != nil {
		return nil, err
	}
	if err := insert(ctx, tx, &r); err != nil {
		return nil, err
	}
	return &r, nil
}

// Delete removes a rule. What it has decided stays in the ledger.
func (s *Store) Delete(ctx context.Context, tx queue.Tx, id string) error {
	return s.change(ctx, tx, id, func(r *Rule) error {
		_, err := tx.ExecContext(ctx, sqlDeleteRule, id)
		return wrap("delete", r, err)
	})
}

// SetEnabled switches a rule on or off. Switching it on forgets why it was disabled.
func (s *Store) SetEnabled(ctx context.Context, tx queue.Tx, id string, enabled bool) error {
	return s.change(ctx, tx, id, func(r *Rule) error {
		if !enabled {
			return disable(ctx, tx, r, "")
		}
		r.Enabled, r.DisabledReason = true, ""
		return update(ctx, tx, r)
	})
}

// Disable switches a rule off and keeps the reason for people.
func (s *Store) Disable(ctx context.Context, tx queue.Tx, id, reason string) error {
	return s.change(ctx, tx, id, func(r *Rule) error { return disable(ctx, tx, r, reason) })
}

// DisableUsingLabel disables the rules of the account that ask for the label or do something with it, by its exact id or
// its name, and returns how many there were. Rules of all accounts and of other accounts stay: an id means nothing in
// another mailbox, and a name may exist there. What they still decide about the label is refused when it is decided.
func (s *Store) DisableUsingLabel(ctx context.Context, tx queue.Tx, accountID string, label postroom.Label) (int, error) {
	if err := beginChange(ctx, tx); err != nil {
		return 0, err
	}
	all, err := selectRules(ctx, tx, sqlEnabled)
	if err != nil {
		return 0, err
	}
	disabled := 0
	for _, r := range all {
		if !r.belongsTo(accountID) || !r.usesLabel(label) {
			continue
		}
		if err := disable(ctx, tx, &r, fmt.Sprintf("Label '%s' was deleted from Gmail", label.Name)); err != nil {
			return 0, err
		}
		disabled++
	}
	return disabled, nil
}

// Swap exchanges the priorities of two rules.
func (s *Store) Swap(ctx context.Context, tx queue.Tx, id, otherID string) error {
	if id == otherID {
		return fmt.Errorf("%w: %s", ErrSameRule, id)
	}
	return s.change(ctx, tx, id, func(r *Rule) error {
		other, err := get(ctx, tx, otherID)
		if err != nil {
			return err
		}
		r.Priority, other.Priority = other.Priority, r.Priority
		if err := update(ctx, tx, r); err != nil {
			return err
		}
		return update(ctx, tx, other)
	})
}

// change lets fn change one stored rule, after all changes that began before.
func (s *Store) change(ctx context.Context, tx queue.Tx, id string, fn func(r *Rule) error) error {
	if err := beginChange(ctx, tx); err != nil {
		return err
	}
	r, err := get(ctx, tx, id)
	if err != nil {
		return err
	}
	return fn(r)
}

func beginChange(ctx context.Context, tx queue.Tx) error {
	if _, err := tx.ExecContext(ctx, sqlNextRevision); err != nil {
		return fmt.Errorf("change rules: %w", err)
	}
	return nil
}

func selectRules(ctx context.Context, q dbquery.Querier, statement string, args ...any) ([]Rule, error) {
	var rows []row
	if err := dbquery.Select(ctx, q, &rows, statement, args...); err != nil {
		return nil, fmt.Errorf("read rules: %w", err)
	}
	rules := make([]Rule, len(rows))
	for i := range rows {
		rules[i] = rows[i].rule()
	}
	return rules, nil
}

func get(ctx context.Context, q dbquery.Querier, id string) (*Rule, error) {
	var r row
	err := dbquery.Get(ctx, q, &r, sqlRule, id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("rule %q: %w", id, postroom.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read rule %q: %w", id, err)
	}
	rule := r.rule()
	return &rule, nil
}

// insert stores r under a new id, as it is then.
func insert(ctx context.Context, tx queue.Tx, r *Rule) error {
	id, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("make a rule's id: %w", err)
	}
	r.ID, r.CreatedAt, r.UpdatedAt = id.String(), queue.Now(tx), queue.Now(tx)
	stored, err := checked(ctx, tx, r)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, sqlInsertRule,
		stored.ID, stored.AccountID, stored.Name, stored.Description, stored.Enabled, stored.DisabledReason,
		stored.Scope, stored.ScopeRef, stored.Priority, stored.Position,
		stored.Conditions, stored.Action, stored.Parameters, stored.SafeMode, stored.CreatedAt, stored.UpdatedAt)
	return wrap("store", r, err)
}

func update(ctx context.Context, tx queue.Tx, r *Rule) error {
	stored, err := checked(ctx, tx, r)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, sqlUpdateRule,
		stored.Name, stored.Description, stored.Enabled, stored.DisabledReason,
		stored.Scope, stored.ScopeRef, stored.Priority, stored.Position,
		stored.Conditions, stored.Action, stored.Parameters, stored.SafeMode, dbtime.Of(queue.Now(tx)), stored.ID)
	return wrap("store", r, err)
}

// checked is the row of a valid rule whose name is free.
func checked(ctx context.Context, tx queue.Tx, r *Rule) (*row, error) {
	r.normalize()
	if err := r.Validate(); err != nil {
		return nil, err
	}
	var holder string
	switch err := dbquery.Get(ctx, tx, &holder, sqlNameTakenBy, r.AccountID, r.Name, r.ID); {
	case err == nil:
		return nil, fmt.Errorf("rule %q: %w (rule %s)", r.Name, ErrNameTaken, holder)
	case !errors.Is(err, sql.ErrNoRows):
		return nil, fmt.Errorf("look for rule %q: %w", r.Name, err)
	}
	return toRow(r)
}

// disable writes no more than the rule's state: a rule that is broken must not be checked, or rewritten, to be disabled.
func disable(ctx context.Context, tx queue.Tx, r *Rule, reason string) error {
	reason = strings.ReplaceAll(strings.ToValidUTF8(reason, "\uFFFD"), "\x00", "\uFFFD")
	_, err := tx.ExecContext(ctx, sqlDisableRule, nullable(reason), dbtime.Of(queue.Now(tx)), r.ID)
	return wrap("disable", r, err)
}

func wrap(verb string, r *Rule, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s rule %q: %w", verb, r.Name, err)
}
