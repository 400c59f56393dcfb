package rulestore

import (
	"context"
	"fmt"
	"strconv"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
)

// Disable disables a rule and stores the reason, for people.
func (s *Store) Disable(ctx context.Context, tx queue.Tx, id, reason string) error {
	return s.change(ctx, tx, id, func(e *edit, r *rules.Rule) error { return e.disable(ctx, r, reason) })
}

// DisableUsingLabel disables the rules of the account whose condition or action names the label, by its exact id or its
// name, and returns them. Rules of no account and of other accounts stay enabled: an id means nothing in another
// mailbox, and the name may exist there. A decision of theirs that names the missing label is refused.
func (s *Store) DisableUsingLabel(ctx context.Context, tx queue.Tx, accountID string,
	label postroom.Label) (disabled []rules.Rule, err error) {
	e, err := s.begin(ctx, tx)
	if err != nil {
		return nil, err
	}
	reason := fmt.Sprintf("Label '%s' was deleted from Gmail", label.Name)
	e.by(OriginProgram, reason)
	all, err := selectRules(ctx, tx, sqlEnabled)
	if err != nil {
		return nil, err
	}
	for _, r := range all {
		if !belongsTo(&r, accountID) || !r.UsesLabel(s.kinds, label) {
			continue
		}
		if err := e.disable(ctx, &r, reason); err != nil {
			return nil, err
		}
		r.Enabled, r.DisabledReason = false, reason
		disabled = append(disabled, r)
	}
	return disabled, e.end(ctx)
}

// belongsTo reports whether the rule belongs to the account.
func belongsTo(r *rules.Rule, accountID string) bool {
	return r.AccountID == accountID || (r.Scope == rules.ScopeAccount && r.ScopeRef == accountID)
}

// DisableBroken calls fault with a rule as it is stored now, in a write transaction of its own, and disables the rule
// with the error that fault returns as the reason. If there is none, or the rule is disabled already, nothing
// changes.
func (s *Store) DisableBroken(ctx context.Context, id string, fault func(r *rules.Rule) error) error {
	return s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		return s.change(ctx, tx, id, func(e *edit, r *rules.Rule) error {
			err := fault(r)
			if err == nil || !r.Enabled {
				return nil
			}
			e.by(OriginProgram, "the rule "+strconv.Quote(r.Name)+" cannot be evaluated")
			return e.disable(ctx, r, err.Error())
		})
	})
}
