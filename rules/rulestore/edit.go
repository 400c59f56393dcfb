package rulestore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/internal/uuid7"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
)

// An edit is one change of the stored rules in one transaction. It tracks the rules that it wrote, and its end makes
// a version of each set of rules that has changed.
type edit struct {
	store    *Store
	tx       queue.Tx
	author   Author
	revision int64
	source   *string                    // the file that the rules were read from
	touched  map[string]map[string]bool // ids by account
}

// begin waits for the changes that began before: on PostgreSQL the lock of the row serializes them.
func (s *Store) begin(ctx context.Context, tx queue.Tx) (*edit, error) {
	e := &edit{store: s, tx: tx, author: s.author, touched: map[string]map[string]bool{}}
	if _, err := tx.ExecContext(ctx, sqlNextRevision); err != nil {
		return nil, fmt.Errorf("change rules: %w", err)
	}
	if err := dbquery.Get(ctx, tx, &e.revision, sqlRevision); err != nil {
		return nil, fmt.Errorf("change rules: %w", err)
	}
	return e, nil
}

// by names the origin of a change that the program itself makes.
func (e *edit) by(origin Origin, detail string) {
	e.author.Origin, e.author.Detail = origin, detail
}

// change calls fn with one stored rule, after all changes that began before.
func (s *Store) change(ctx context.Context, tx queue.Tx, id string, fn func(e *edit, r *rules.Rule) error) error {
	e, err := s.begin(ctx, tx)
	if err != nil {
		return err
	}
	r, err := get(ctx, tx, id)
	if err != nil {
		return err
	}
	if err := fn(e, r); err != nil {
		return err
	}
	return e.end(ctx)
}

// touch is called before a rule is written for the first time.
func (e *edit) touch(ctx context.Context, r *rules.Rule) error {
	ids := e.touched[r.AccountID]
	if ids == nil {
		if err := e.keepFirst(ctx, r.AccountID); err != nil {
			return err
		}
		ids = map[string]bool{}
		e.touched[r.AccountID] = ids
	}
	ids[r.ID] = true
	return nil
}

// insert stores r under a new id and sets its id, times and revision.
func (e *edit) insert(ctx context.Context, r *rules.Rule) error {
	id, err := uuid7.New()
	if err != nil {
		return fmt.Errorf("store rule %q: %w", r.Name, err)
	}
	r.ID, r.CreatedAt, r.UpdatedAt, r.Revision = id, queue.Now(e.tx), queue.Now(e.tx), e.revision
	stored, err := e.store.checked(ctx, e.tx, r)
	if err != nil {
		return err
	}
	return errors.Join(e.touch(ctx, r), wrap("store", r, e.insertRow(ctx, stored)))
}

func (e *edit) insertRow(ctx context.Context, r *row) error {
	_, err := e.tx.ExecContext(ctx, sqlInsertRule,
		r.ID, r.AccountID, r.Name, r.Description, r.Enabled, r.DisabledReason,
		r.Scope, r.ScopeRef, r.Priority, r.Position,
		r.Conditions, r.Action, r.Parameters, r.SafeMode,
		r.Also, r.Continues, r.Schedule, r.Authentication, r.CreatedAt, r.UpdatedAt, r.Revision)
	return err
}

func (e *edit) update(ctx context.Context, r *rules.Rule) error {
	r.UpdatedAt, r.Revision = queue.Now(e.tx), e.revision
	stored, err := e.store.checked(ctx, e.tx, r)
	if err != nil {
		return err
	}
	if err := e.touch(ctx, r); err != nil {
		return err
	}
	_, err = e.tx.ExecContext(ctx, sqlUpdateRule,
		stored.Name, stored.Description, stored.Enabled, stored.DisabledReason,
		stored.Scope, stored.ScopeRef, stored.Priority, stored.Position,
		stored.Conditions, stored.Action, stored.Parameters, stored.SafeMode,
		stored.Also, stored.Continues, stored.Schedule, stored.Authentication, stored.UpdatedAt, stored.Revision, stored.ID)
	return wrap("store", r, err)
}

// disable writes only the state of the rule: a broken rule can be disabled without being checked or rewritten.
func (e *edit) disable(ctx context.Context, r *rules.Rule, reason string) error {
	if err := e.touch(ctx, r); err != nil {
		return err
	}
	_, err := e.tx.ExecContext(ctx, sqlDisableRule, nullable(dbvalue.Clean(reason)), dbtime.Of(queue.Now(e.tx)),
		e.revision, r.ID)
	return wrap("disable", r, err)
}

func (e *edit) remove(ctx context.Context, r *rules.Rule) error {
	if err := e.touch(ctx, r); err != nil {
		return err
	}
	_, err := e.tx.ExecContext(ctx, sqlDeleteRule, r.ID)
	return wrap("delete", r, err)
}

// end makes the versions.
func (e *edit) end(ctx context.Context) error {
	for _, account := range slices.Sorted(maps.Keys(e.touched)) {
		if err := e.record(ctx, account, slices.Sorted(maps.Keys(e.touched[account]))); err != nil {
			return fmt.Errorf("keep the version of the rules: %w", err)
		}
	}
	return nil
}
