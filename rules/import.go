package rules

import (
	"context"
	"fmt"

	"github.com/postroom-go/postroom/queue"
)

// An Imported tells what an import changed.
type Imported struct{ Added, Changed, Removed, Unchanged int }

// Import makes the stored rules of an account equal to the given ones, which usually are [File.Rules]; an empty accountID
// stands for the rules of all accounts. Rules are the same when their names are: they keep their ids, and those whose
// name is not given are deleted. A rule that was disabled with a reason stays so until its definition changes.
//
// The rules of other accounts stay as they are. All rules are checked before anything is written.
func (s *Store) Import(ctx context.Context, tx queue.Tx, accountID string, rules []Rule) (Imported, error) {
	var done Imported
	if err := checkImport(accountID, rules); err != nil {
		return done, err
	}
	if err := beginChange(ctx, tx); err != nil {
		return done, err
	}
	stored, err := selectRules(ctx, tx, sqlRulesOf, accountID)
	if err != nil {
		return done, err
	}
	left := make(map[string]*Rule, len(stored))
	for i := range stored {
		left[stored[i].Name] = &stored[i]
	}
	for _, r := range rules {
		r.AccountID = accountID
		if err := done.put(ctx, tx, &r, left[r.Name]); err != nil {
			return done, err
		}
		delete(left, r.Name)
	}
	for _, r := range left {
		if _, err := tx.ExecContext(ctx, sqlDeleteRule, r.ID); err != nil {
			return done, wrap("delete", r, err)
		}
		done.Removed++
	}
	return done, nil
}

func checkImport(accountID string, rules []Rule) error {
	names := make(map[string]bool, len(rules))
	for _, r := range rules {
		if names[r.Name] {
			return fmt.Errorf("import rules: %q: %w", r.Name, ErrNameTaken)
		}
		names[r.Name] = true
		r.AccountID = accountID
		r.normalize()
		if err := r.Validate(); err != nil {
			return fmt.Errorf("import rules: %w", err)
		}
	}
	return nil
}

// put stores r in the place of old, which is nil when there is none.
func (d *Imported) put(ctx context.Context, tx queue.Tx, r, old *Rule) error {
	if old == nil {
		d.Added++
		return insert(ctx, tx, r)
	}
	r.normalize()
	r.ID, r.CreatedAt, r.UpdatedAt = old.ID, old.CreatedAt, old.UpdatedAt
	same, err := sameDefinition(r, old)
	if err != nil {
		return err
	}
	same = same && old.damage == nil
	if same && old.DisabledReason != "" {
		r.Enabled, r.DisabledReason = old.Enabled, old.DisabledReason
	}
	if same && r.Enabled == old.Enabled && r.Position == old.Position {
		d.Unchanged++
		return nil
	}
	d.Changed++
	return update(ctx, tx, r)
}

// sameDefinition tells whether two rules say the same; where they stand, whether they are enabled and when they were
// stored aside.
func sameDefinition(r, old *Rule) (bool, error) {
	a, err := toRow(r)
	if err != nil {
		return false, err
	}
	b, err := toRow(old)
	if err != nil {
		return false, err
	}
	a.Enabled, a.DisabledReason, a.Position = b.Enabled, b.DisabledReason, b.Position
	return *a == *b, nil
}
