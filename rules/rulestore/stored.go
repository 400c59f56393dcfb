package rulestore

import (
	"context"
	"sync"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
)

// StoredRule returns the rule as it is stored now, or [postroom.ErrNotFound]. The safety gate asks it about the rule
// of each decision, in the transaction that records the decision. The result must not be modified.
func (s *Store) StoredRule(ctx context.Context, tx queue.Tx, id string) (postroom.StoredRule, error) {
	found, err := getRow(ctx, tx, id)
	if err != nil {
		return postroom.StoredRule{}, err
	}
	return s.understood.rule(found), nil
}

// rowsUnderstood caches the decoded rows, by the ids of the rules. A rule decides about many messages, and decoding a
// row takes longer than reading it. A row that differs in any column is decoded again.
type rowsUnderstood struct {
	mu   sync.Mutex
	rows map[string]rowUnderstood
}

type rowUnderstood struct {
	row    row
	stored postroom.StoredRule
}

// mostUnderstood bounds the rules that are kept: about 2 MB.
const mostUnderstood = 1000

func (u *rowsUnderstood) rule(r *row) postroom.StoredRule {
	u.mu.Lock()
	defer u.mu.Unlock()
	if before, ok := u.rows[r.ID]; ok && before.row == *r {
		return before.stored
	}
	stored := r.stored()
	if u.rows == nil || len(u.rows) >= mostUnderstood {
		u.rows = map[string]rowUnderstood{}
	}
	u.rows[r.ID] = rowUnderstood{*r, stored}
	return stored
}

// stored is the rule as the gate sees it.
func (r *row) stored() postroom.StoredRule {
	rule := r.rule()
	rule.Normalize()
	stored := postroom.StoredRule{ID: rule.ID, Name: rule.Name, Version: rule.Version(), Enabled: rule.Enabled,
		SafeMode: rule.SafeMode}
	for _, a := range rule.Permits() {
		stored.Actions = append(stored.Actions, postroom.RuleAction(a))
	}
	return stored
}
