package rulestore

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
)

//go:embed migrations
var migrations embed.FS

// Migrate creates the tables of this package (deterministic_rules, rules_revision, rule_versions, rule_history) or
// brings them up to date. Call it at every start; several processes may do so at once.
func Migrate(ctx context.Context, db queue.DB) error {
	if err := fields.Required("rulestore: Migrate: db", db, giveDB); err != nil {
		return err
	}
	return migrate.Up(ctx, db, string(db.Dialect()), "rules", migrations)
}

var (
	// ErrNameTaken reports that another rule of the account has the name.
	ErrNameTaken = errors.New("another rule has this name")
	// ErrNoRules reports that an import was given nil rules and would delete all that are stored.
	ErrNoRules = errors.New("no rules are given, and all that are stored would be deleted")
	// ErrChanged reports that a patch was made for an older revision of the rule.
	ErrChanged = errors.New("the rule has been changed meanwhile")
	// ErrSameRule reports that a rule was to be swapped with itself.
	ErrSameRule = errors.New("a rule cannot be swapped with itself")
)

var _ rules.Store = (*Store)(nil)

// A Store keeps rules. Its reading methods see committed data; its writing methods take the caller's transaction. A
// missing rule is [postroom.ErrNotFound]; an invalid rule is [rules.ErrInvalidRule] and is not stored. [New] makes a
// Store; the zero Store is unusable.
type Store struct {
	db     queue.DB
	kinds  *postroom.Kinds
	author Author

	understood *rowsUnderstood
}

// giveDB says where a database comes from.
const giveDB = "a database opened with queue/sqlite or queue/postgres"

// Config configures a [Store]. It is copied and checked once, by [New].
type Config struct {
	// DB holds the rules. Required; [Migrate] must have prepared it.
	DB queue.DB
	// Kinds are the actions that rules may have; a rule with another is not stored, and not evaluated. Default nil:
	// those that package gmail carries out.
	Kinds *postroom.Kinds
}

// New makes a store; a missing field is an error that names it.
func New(cfg Config) (*Store, error) {
	if err := fields.Required("rulestore: Config.DB", cfg.DB, giveDB); err != nil {
		return nil, err
	}
	return &Store{db: cfg.DB, kinds: cfg.Kinds, understood: new(rowsUnderstood)}, nil
}

// Kinds returns the actions that rules may have; nil means those that package gmail carries out.
func (s *Store) Kinds() *postroom.Kinds { return s.kinds }

// Write runs fn in a write transaction of the database that holds the rules.
func (s *Store) Write(ctx context.Context, fn func(ctx context.Context, tx queue.Tx) error) error {
	return s.db.Write(ctx, fn)
}

// List returns all rules in the order in which they are tried, disabled ones included.
func (s *Store) List(ctx context.Context) ([]rules.Rule, error) {
	return selectRules(ctx, s.db.Reader(), sqlRules)
}

// ListTx is List within a transaction.
func (s *Store) ListTx(ctx context.Context, tx queue.Tx) ([]rules.Rule, error) {
	return selectRules(ctx, tx, sqlRules)
}

// ListOf returns the rules of List that belong to the account, or to none.
func (s *Store) ListOf(ctx context.Context, accountID string) ([]rules.Rule, error) {
	return selectRules(ctx, s.db.Reader(), sqlRulesFor, accountID)
}

// Get returns one rule.
func (s *Store) Get(ctx context.Context, id string) (*rules.Rule, error) {
	return get(ctx, s.db.Reader(), id)
}

// GetTx is Get within a transaction.
func (s *Store) GetTx(ctx context.Context, tx queue.Tx, id string) (*rules.Rule, error) {
	return get(ctx, tx, id)
}

// Revision returns the number of changes of the rules: while it is equal, the rules are.
func (s *Store) Revision(ctx context.Context) (int64, error) {
	var revision int64
	if err := dbquery.Get(ctx, s.db.Reader(), &revision, sqlRevision); err != nil {
		return 0, fmt.Errorf("read the revision of the rules: %w", err)
	}
	return revision, nil
}

// Lock waits for earlier changes of rules, and blocks later ones until the transaction ends: rules, or the file that
// they come from, can be read and changed as one.
func (s *Store) Lock(ctx context.Context, tx queue.Tx) error {
	if _, err := tx.ExecContext(ctx, sqlLockRevision); err != nil {
		return fmt.Errorf("lock rules: %w", err)
	}
	return nil
}

// Create stores a new rule under a new id and returns it as stored. An empty scope means global, an empty safe mode
// means default; [rules.NewRule] sets the other defaults. What the rule says must be possible now: a snooze until a
// time that has passed is not.
func (s *Store) Create(ctx context.Context, tx queue.Tx, r rules.Rule) (*rules.Rule, error) {
	e, err := s.begin(ctx, tx)
	if err != nil {
		return nil, err
	}
	if err := e.insert(ctx, &r); err != nil {
		return nil, err
	}
	if err := r.CheckTimes(s.kinds, queue.Now(tx)); err != nil {
		return nil, err
	}
	return &r, e.end(ctx)
}

// Delete removes a rule. Its decisions stay in the ledger.
func (s *Store) Delete(ctx context.Context, tx queue.Tx, id string) error {
	return s.change(ctx, tx, id, func(e *edit, r *rules.Rule) error { return e.remove(ctx, r) })
}

// SetEnabled enables or disables a rule. It clears the reason for which the rule was disabled.
func (s *Store) SetEnabled(ctx context.Context, tx queue.Tx, id string, enabled bool) error {
	return s.change(ctx, tx, id, func(e *edit, r *rules.Rule) error {
		if !enabled {
			return e.disable(ctx, r, "")
		}
		r.Enabled, r.DisabledReason = true, ""
		return e.update(ctx, r)
	})
}

// Swap exchanges the priorities of two rules.
func (s *Store) Swap(ctx context.Context, tx queue.Tx, id, otherID string) error {
	if id == otherID {
		return fmt.Errorf("%w: %s", ErrSameRule, id)
	}
	return s.change(ctx, tx, id, func(e *edit, r *rules.Rule) error {
		other, err := get(ctx, tx, otherID)
		if err != nil {
			return err
		}
		r.Priority, other.Priority = other.Priority, r.Priority
		if err := e.update(ctx, r); err != nil {
			return err
		}
		return e.update(ctx, other)
	})
}

func selectRules(ctx context.Context, q dbquery.Querier, statement string, args ...any) ([]rules.Rule, error) {
	var rows []row
	if err := dbquery.Select(ctx, q, &rows, statement, args...); err != nil {
		return nil, fmt.Errorf("read rules: %w", err)
	}
	list := make([]rules.Rule, len(rows))
	for i := range rows {
		list[i] = rows[i].rule()
	}
	return list, nil
}

func get(ctx context.Context, q dbquery.Querier, id string) (*rules.Rule, error) {
	r, err := getRow(ctx, q, id)
	if err != nil {
		return nil, err
	}
	rule := r.rule()
	return &rule, nil
}

func getRow(ctx context.Context, q dbquery.Querier, id string) (*row, error) {
	var r row
	err := dbquery.Get(ctx, q, &r, sqlRule, id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("rule %q: %w", id, postroom.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read rule %q: %w", id, err)
	}
	return &r, nil
}

// checked returns the row of a rule, or an error if the rule is invalid or its name is taken.
func (s *Store) checked(ctx context.Context, tx queue.Tx, r *rules.Rule) (*row, error) {
	r.Normalize()
	if err := r.Validate(s.kinds); err != nil {
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

func wrap(verb string, r *rules.Rule, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s rule %q: %w", verb, r.Name, err)
}
