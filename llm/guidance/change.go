package guidance

import (
	"context"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/internal/uuid7"
	"github.com/postroom-go/postroom/queue"
)

// ErrSame reports that a direction or a rule was to be swapped with itself.
var ErrSame = errors.New("it cannot be swapped with itself")

// CreateDirection stores a new direction under a new id and returns the stored one. Its id, times and revision are ignored.
func (s *Store) CreateDirection(ctx context.Context, tx queue.Tx, d Direction) (Direction, error) {
	d, err := d.checked()
	if err != nil {
		return d, err
	}
	if d.ID, err = uuid7.New(); err != nil {
		return d, err
	}
	now := dbtime.Truncate(queue.Now(tx))
	d.CreatedAt, d.UpdatedAt, d.Revision = now, now, 1
	_, err = dbquery.Exec(ctx, tx, sqlInsertDirection, d.ID, d.AccountID, d.Text, dbvalue.Number(d.Enabled), d.Priority, dbtime.Of(now), dbtime.Of(now))
	if err == nil {
		err = s.logStored(ctx, tx, postroom.RuleKindDirection, d.ID)
	}
	return d, failed("store direction", d.ID, err)
}

// CreateRule stores a new rule under a new id and returns the stored one. Its id, times and revision are ignored.
func (s *Store) CreateRule(ctx context.Context, tx queue.Tx, r ScopedRule) (ScopedRule, error) {
	r.ID = ""
	r, err := s.storable(ctx, tx, r)
	if err != nil {
		return r, err
	}
	if r.ID, err = uuid7.New(); err != nil {
		return r, err
	}
	now := dbtime.Truncate(queue.Now(tx))
	r.CreatedAt, r.UpdatedAt, r.Revision = now, now, 1
	_, err = dbquery.Exec(ctx, tx, sqlInsertRule,
		r.ID, r.Name, r.Description, r.Scope, r.ScopeRef, r.Text, dbvalue.Number(r.Enabled), r.Priority, dbtime.Of(now), dbtime.Of(now))
	if isTaken(err) {
		return r, nameTaken(r.Name)
	}
	if err == nil {
		err = s.logStored(ctx, tx, postroom.RuleKindInstruction, r.ID)
	}
	return r, failed("store rule", r.Name, err)
}

// storable is the rule as it is stored, unless another has its name.
func (s *Store) storable(ctx context.Context, tx queue.Tx, r ScopedRule) (ScopedRule, error) {
	r, err := r.checked()
	if err != nil {
		return r, err
	}
	var taken int
	if err := dbquery.Get(ctx, tx, &taken, sqlRuleNamed, r.Name, r.ID); err != nil {
		return r, failed("store rule", r.Name, err)
	}
	if taken > 0 {
		return r, nameTaken(r.Name)
	}
	return r, nil
}

func nameTaken(name string) error { return fmt.Errorf("rule %q: %w", name, ErrNameTaken) }

// isTaken reports whether PostgreSQL refuses a name that another transaction has stored since it was looked for. SQLite has one writer.
func isTaken(err error) bool {
	const uniqueViolation = "23505"
	fault, ok := errors.AsType[interface {
		error
		SQLState() string
	}](err)
	return ok && fault.SQLState() == uniqueViolation
}

// A DirectionPatch changes a direction; nil fields do not change.
type DirectionPatch struct {
	AccountID *string `json:"account_id"`
	Text      *string `json:"text"`
	Enabled   *bool   `json:"enabled"`
	Priority  *int    `json:"priority"`
	// Revision is the revision of the direction for which the patch was made: if the direction has changed since, nothing
	// changes, and the error is [ErrGuidanceChanged]. 0 means no check.
	Revision int64 `json:"revision"`
}

// PatchDirection changes a direction and returns it as changed.
func (s *Store) PatchDirection(ctx context.Context, tx queue.Tx, id string, p DirectionPatch) (Direction, error) {
	d, err := s.lockedDirection(ctx, tx, id)
	if err != nil {
		return d, err
	}
	if err := stale("direction", id, p.Revision, d.Revision); err != nil {
		return d, err
	}
	set(&d.AccountID, p.AccountID)
	set(&d.Text, p.Text)
	set(&d.Enabled, p.Enabled)
	set(&d.Priority, p.Priority)
	if d, err = d.checked(); err != nil {
		return d, err
	}
	return s.updateDirection(ctx, tx, d)
}

// A ScopedRulePatch changes a rule; nil fields do not change.
type ScopedRulePatch struct {
	Name        *string `json:"name"`
	Description *string `json:"description"`
	Scope       *Scope  `json:"scope"` // global also clears the reference
	ScopeRef    *string `json:"scope_ref"`
	Text        *string `json:"text"`
	Enabled     *bool   `json:"enabled"`
	Priority    *int    `json:"priority"`
	Revision    int64   `json:"revision"` // as that of a [DirectionPatch]
}

// PatchRule changes a rule and returns it as changed.
func (s *Store) PatchRule(ctx context.Context, tx queue.Tx, id string, p ScopedRulePatch) (ScopedRule, error) {
	r, err := s.lockedRule(ctx, tx, id)
	if err != nil {
		return r, err
	}
	if err := stale("rule", id, p.Revision, r.Revision); err != nil {
		return r, err
	}
	set(&r.Name, p.Name)
	set(&r.Description, p.Description)
	set(&r.Scope, p.Scope)
	set(&r.ScopeRef, p.ScopeRef)
	if p.Scope != nil && *p.Scope == ScopeGlobal && p.ScopeRef == nil {
		r.ScopeRef = ""
	}
	set(&r.Text, p.Text)
	set(&r.Enabled, p.Enabled)
	set(&r.Priority, p.Priority)
	if r, err = s.storable(ctx, tx, r); err != nil {
		return r, err
	}
	return s.updateRule(ctx, tx, r)
}

func set[T any](to *T, value *T) {
	if value != nil {
		*to = *value
	}
}

func stale(what, id string, asked, now int64) error {
	if asked == 0 || asked == now {
		return nil
	}
	return fmt.Errorf("llm/guidance: %s %q: %w: the patch is for revision %d and it is at %d; read it again", what, id, ErrChanged, asked, now)
}

// lockedDirection waits for other changes of the direction, and blocks them until the transaction ends.
func (s *Store) lockedDirection(ctx context.Context, tx queue.Tx, id string) (Direction, error) {
	n, err := dbquery.Exec(ctx, tx, sqlLockDirection, id)
	if err := changed("direction", id, n, err); err != nil {
		return Direction{}, err
	}
	if err := s.genuine(ctx, tx, postroom.RuleKindDirection, id); err != nil {
		return Direction{}, err
	}
	return getDirection(ctx, tx, id)
}

func (s *Store) lockedRule(ctx context.Context, tx queue.Tx, id string) (ScopedRule, error) {
	n, err := dbquery.Exec(ctx, tx, sqlLockRule, id)
	if err := changed("rule", id, n, err); err != nil {
		return ScopedRule{}, err
	}
	if err := s.genuine(ctx, tx, postroom.RuleKindInstruction, id); err != nil {
		return ScopedRule{}, err
	}
	return getRule(ctx, tx, id)
}

func (s *Store) updateDirection(ctx context.Context, tx queue.Tx, d Direction) (Direction, error) {
	d.UpdatedAt = dbtime.Truncate(queue.Now(tx))
	d.Revision++
	n, err := dbquery.Exec(ctx, tx, sqlUpdateDirection,
		d.AccountID, d.Text, dbvalue.Number(d.Enabled), d.Priority, d.Revision, dbtime.Of(d.UpdatedAt), d.ID)
	if err := changed("direction", d.ID, n, err); err != nil {
		return d, err
	}
	return d, s.logStored(ctx, tx, postroom.RuleKindDirection, d.ID)
}

func (s *Store) updateRule(ctx context.Context, tx queue.Tx, r ScopedRule) (ScopedRule, error) {
	r.UpdatedAt = dbtime.Truncate(queue.Now(tx))
	r.Revision++
	n, err := dbquery.Exec(ctx, tx, sqlUpdateRule,
		r.Name, r.Description, r.Scope, r.ScopeRef, r.Text, dbvalue.Number(r.Enabled), r.Priority, r.Revision, dbtime.Of(r.UpdatedAt), r.ID)
	if isTaken(err) {
		return r, nameTaken(r.Name)
	}
	if err := changed("rule", r.ID, n, err); err != nil {
		return r, err
	}
	return r, s.logStored(ctx, tx, postroom.RuleKindInstruction, r.ID)
}

// SwapDirections exchanges the priorities of two directions.
func (s *Store) SwapDirections(ctx context.Context, tx queue.Tx, id, otherID string) error {
	return swap(ctx, tx, id, otherID, s.lockedDirection, func(a, b *Direction) { a.Priority, b.Priority = b.Priority, a.Priority }, s.updateDirection)
}

// SwapRules exchanges the priorities of two rules.
func (s *Store) SwapRules(ctx context.Context, tx queue.Tx, id, otherID string) error {
	return swap(ctx, tx, id, otherID, s.lockedRule, func(a, b *ScopedRule) { a.Priority, b.Priority = b.Priority, a.Priority }, s.updateRule)
}

// swap locks both in the order of their ids, so that two swaps do not deadlock.
func swap[T any](
	ctx context.Context, tx queue.Tx, id, otherID string,
	locked func(context.Context, queue.Tx, string) (T, error), exchange func(a, b *T), update func(context.Context, queue.Tx, T) (T, error),
) error {
	if id == otherID {
		return fmt.Errorf("llm/guidance: swap %q: %w", id, ErrSame)
	}
	a, err := locked(ctx, tx, min(id, otherID))
	if err != nil {
		return err
	}
	b, err := locked(ctx, tx, max(id, otherID))
	if err != nil {
		return err
	}
	exchange(&a, &b)
	if _, err := update(ctx, tx, a); err != nil {
		return err
	}
	_, err = update(ctx, tx, b)
	return err
}

// DeleteDirection deletes a direction.
func (s *Store) DeleteDirection(ctx context.Context, tx queue.Tx, id string) error {
	d, err := getDirection(ctx, tx, id)
	if err != nil {
		return err
	}
	n, err := dbquery.Exec(ctx, tx, sqlDeleteDirection, id)
	if err := changed("direction", id, n, err); err != nil {
		return err
	}
	return s.logGone(ctx, tx, postroom.RuleKindDirection, id, d.AccountID)
}

// DeleteRule deletes a rule.
func (s *Store) DeleteRule(ctx context.Context, tx queue.Tx, id string) error {
	n, err := dbquery.Exec(ctx, tx, sqlDeleteRule, id)
	if err := changed("rule", id, n, err); err != nil {
		return err
	}
	return s.logGone(ctx, tx, postroom.RuleKindInstruction, id, "")
}
