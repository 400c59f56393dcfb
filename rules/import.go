package rules

import (
	"context"
	"fmt"

	"github.com/postroom-go/postroom/queue"
)

// An Imported counts the changes of an import.
type Imported struct{ Added, Changed, Removed, Unchanged int }

// Import makes the stored rules of an account equal to the given ones, usually [File.Rules]; an empty accountID names the
// rules that belong to no account. Rules are matched by name: a rule that is there keeps its id, and a rule whose name is not
// given is deleted. A rule that was disabled with a reason stays disabled until its definition changes.
//
// The rules of other accounts do not change. Import checks all rules before it writes. Nil rules are [ErrNoRules]; an empty
// list that is not nil, which [Parse] returns for a file without rules, deletes all rules of the account.
func (s *Store) Import(ctx context.Context, tx queue.Tx, accountID string, rules []Rule) (Imported, error) {
	var done Imported
	if err := s.checkImport(accountID, rules); err != nil {
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
		if err := s.put(ctx, tx, &done, &r, left[r.Name]); err != nil {
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

func (s *Store) checkImport(accountID string, rules []Rule) error {
	if rules == nil {
		return fmt.Errorf("import rules: account %q: %w; to delete all of them, give an empty list that is not nil", accountID, ErrNoRules)
	}
	names := make(map[string]bool, len(rules))
	for _, r := range rules {
		if names[r.Name] {
			return fmt.Errorf("import rules: %q: %w", r.Name, ErrNameTaken)
		}
		names[r.Name] = true
		r.AccountID = accountID
		r.normalize()
		if err := r.Validate(s.kinds); err != nil {
			return fmt.Errorf("import rules: %w", err)
		}
	}
	return nil
}

// put stores r in place of old, or as a new rule if old is nil, and counts it.
func (s *Store) put(ctx context.Context, tx queue.Tx, d *Imported, r, old *Rule) error {
	if old == nil {
		d.Added++
		return s.insert(ctx, tx, r)
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
	return s.update(ctx, tx, r)
}

// sameDefinition reports whether two rules are equal but for their position, whether they are enabled, and their times.
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
