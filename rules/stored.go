package rules

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// Version returns a hash of what the rule does: of all its fields but its ID, its position, its times and whether it is
// enabled. A decision names it, so that it can be told whether the rule is still the one that matched. It is empty for a rule
// that cannot be stored.
func (r *Rule) Version() string {
	of, err := toRow(r)
	if err != nil {
		return ""
	}
	of.ID, of.Enabled, of.DisabledReason, of.Position = "", 0, sql.NullString{}, 0
	of.CreatedAt, of.UpdatedAt = dbtime.Time{}, dbtime.Time{}
	text, err := json.Marshal(of) //nolint:musttag // a hash is made of all columns there are, whatever their names
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// StoredRule returns the rule as it is stored now, or [postroom.ErrNotFound]. The safety gate asks it about the rule of each
// decision, in the transaction that records the decision.
func (s *Store) StoredRule(ctx context.Context, tx queue.Tx, id string) (postroom.StoredRule, error) {
	found, err := getRow(ctx, tx, id)
	if err != nil {
		return postroom.StoredRule{}, err
	}
	r := found.rule()
	r.normalize()
	stored := postroom.StoredRule{ID: r.ID, Name: r.Name, Version: r.Version(), Enabled: r.Enabled, SafeMode: r.SafeMode}
	for _, a := range r.actions() {
		stored.Actions = append(stored.Actions, postroom.RuleAction(a))
	}
	if s.log != nil {
		stored.State, err = found.state()
	}
	return stored, err
}
