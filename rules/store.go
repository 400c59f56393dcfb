package rules

import (
	"context"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
)

// A Store keeps the rules that an [Engine] decides by, and must be safe for concurrent use. *rulestore.Store
// implements it.
type Store interface {
	// Kinds returns the actions that rules may have; nil means those that package gmail carries out.
	Kinds() *postroom.Kinds
	// Revision returns the number of changes of the rules: while it is equal, the rules are.
	Revision(ctx context.Context) (int64, error)
	// Stored reports whether rules were ever stored for the account, if only an empty list, or for all accounts.
	Stored(ctx context.Context, accountID string) (bool, error)
	// List returns all rules in the order in which they are tried, disabled ones included.
	List(ctx context.Context) ([]Rule, error)
	// RuleAt returns a rule at the version that a decision names, which is [Rule.Version], or [postroom.ErrNotFound].
	RuleAt(ctx context.Context, id, version string) (*Rule, error)
	// DisableBroken calls fault with a rule as it is stored now, in a write transaction of its own, and disables the
	// rule with the error that fault returns as the reason. If there is none, or the rule is disabled already, nothing
	// changes. A missing rule is [postroom.ErrNotFound].
	DisableBroken(ctx context.Context, id string, fault func(r *Rule) error) error
	// Write runs fn in a write transaction of the database that holds the rules.
	Write(ctx context.Context, fn func(ctx context.Context, tx queue.Tx) error) error
}
