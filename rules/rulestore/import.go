package rulestore

import (
	"context"
	"fmt"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
)

// An Imported counts the changes of an import.
type Imported struct{ Added, Changed, Removed, Unchanged int }

// Import makes the stored rules of an account equal to the given ones, usually those of a rulesfile.File; an empty
// accountID means the rules that belong to no account. Rules are matched by name: an existing rule keeps its id, and
// a rule whose name is not given is deleted. A rule that was disabled with a reason stays disabled until its
// definition changes.
//
// The rules of other accounts do not change. Import checks all rules before it writes. Nil rules are [ErrNoRules]; a
// non-nil empty list, which rulesfile.Parse returns for a file without rules, deletes all rules of the account,
// and says that it is to have none.
func (s *Store) Import(ctx context.Context, tx queue.Tx, accountID string, list []rules.Rule) (Imported, error) {
	return s.importFrom(ctx, tx, accountID, list, nil)
}

// ImportFile is Import for the rules of a file: the version that it makes keeps the text of the file. A file in which
// only text such as a comment has changed also makes one.
func (s *Store) ImportFile(ctx context.Context, tx queue.Tx, accountID string, from rules.Source) (Imported, error) {
	by := s.author
	by.Origin, by.Detail = OriginFile, from.Name
	return s.As(by).importFrom(ctx, tx, accountID, from.Rules, &from.Text)
}

func (s *Store) importFrom(ctx context.Context, tx queue.Tx, accountID string, list []rules.Rule,
	source *string) (Imported, error) {
	var done Imported
	if err := s.checkImport(accountID, list); err != nil {
		return done, err
	}
	e, err := s.begin(ctx, tx)
	if err != nil {
		return done, err
	}
	if source != nil {
		e.source = source
		if err := e.keepFirst(ctx, accountID); err != nil {
			return done, err
		}
	}
	e.touched[accountID] = map[string]bool{}
	stored, err := selectRules(ctx, tx, sqlRulesOf, accountID)
	if err != nil {
		return done, err
	}
	left := make(map[string]*rules.Rule, len(stored))
	for i := range stored {
		left[stored[i].Name] = &stored[i]
	}
	for _, r := range list {
		r.AccountID = accountID
		if err := e.put(ctx, &done, &r, left[r.Name]); err != nil {
			return done, err
		}
		delete(left, r.Name)
	}
	for _, r := range left {
		if err := e.remove(ctx, r); err != nil {
			return done, err
		}
		done.Removed++
	}
	return done, e.end(ctx)
}

func (s *Store) checkImport(accountID string, list []rules.Rule) error {
	if list == nil {
		return fmt.Errorf("import rules: account %q: %w; to delete all of them, give an empty list that is not nil",
			accountID, ErrNoRules)
	}
	names := make(map[string]bool, len(list))
	for _, r := range list {
		if names[r.Name] {
			return fmt.Errorf("import rules: %q: %w", r.Name, ErrNameTaken)
		}
		names[r.Name] = true
		r.AccountID = accountID
		r.Normalize()
		if err := r.Validate(s.kinds); err != nil {
			return fmt.Errorf("import rules: %w", err)
		}
	}
	return nil
}

// put stores r in place of old, or as a new rule if old is nil, and counts it.
func (e *edit) put(ctx context.Context, d *Imported, r, old *rules.Rule) error {
	if old == nil {
		d.Added++
		return e.insert(ctx, r)
	}
	r.Normalize()
	r.ID, r.CreatedAt, r.UpdatedAt, r.Revision = old.ID, old.CreatedAt, old.UpdatedAt, old.Revision
	same, err := sameDefinition(r, old)
	if err != nil {
		return err
	}
	same = same && old.Damage == nil
	if same && old.DisabledReason != "" {
		r.Enabled, r.DisabledReason = old.Enabled, old.DisabledReason
	}
	if same && r.Enabled == old.Enabled && r.Position == old.Position {
		d.Unchanged++
		return nil
	}
	d.Changed++
	return e.update(ctx, r)
}

// sameDefinition reports whether two rules are equal but for their position, whether they are enabled, and their times.
func sameDefinition(r, old *rules.Rule) (bool, error) {
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
