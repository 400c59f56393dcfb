package rules_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulestore"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/gate"
)

// A desk is a store of rules, and a ledger that looks them up.
type desk struct {
	store  *rulestore.Store
	ledger *safety.Ledger
	queue  *queue.Queue
	cfg    rules.Config
}

// newDesk makes a desk whose accounts have no rules yet, as a person has stored.
func newDesk(t *testing.T, db queue.DB) *desk {
	d := newUnstored(t, db)
	d.storeNone(t, "")
	return d
}

// newUnstored makes a desk for which nobody has stored rules.
func newUnstored(t *testing.T, db queue.DB) *desk {
	for _, migrate := range []func(context.Context, queue.DB) error{queue.Migrate, rulestore.Migrate, safety.Migrate} {
		require.NoError(t, migrate(t.Context(), db))
	}
	var err error
	d := &desk{}
	d.store, err = rulestore.New(rulestore.Config{DB: db})
	require.NoError(t, err)
	d.queue, err = queue.New(db, nil)
	require.NoError(t, err)
	d.ledger, err = safety.NewLedger(safety.Config{
		DB: db, Rules: d.store, Execute: func(context.Context, queue.Tx, postroom.Action) error { return nil },
	})
	require.NoError(t, err)
	engine, err := rules.NewEngine(rules.EngineConfig{Store: d.store})
	require.NoError(t, err)
	box := &mailbox{messages: map[string]*postroom.Message{"m1": mailFrom("amy@example.com")},
		labels: map[string]string{"shops": "Label_7"}}
	d.cfg = rules.Config{Messages: box, Labels: box, Ledger: d.ledger, Rules: engine}
	return d
}

// storeNone stores that the account has no rules; an empty id is that of all accounts.
func (d *desk) storeNone(t *testing.T, accountID string) {
	d.write(t, func(ctx context.Context, tx queue.Tx) error {
		_, err := d.store.Import(ctx, tx, accountID, []rules.Rule{})
		return err
	})
}

func (d *desk) write(t *testing.T, fn func(ctx context.Context, tx queue.Tx) error) {
	require.NoError(t, d.queue.DB().Write(t.Context(), fn))
}

func (d *desk) create(t *testing.T, r rules.Rule) (created *rules.Rule) {
	d.write(t, func(ctx context.Context, tx queue.Tx) (err error) {
		created, err = d.store.Create(ctx, tx, r)
		return err
	})
	return created
}

func (d *desk) classify(t *testing.T) safety.Entry {
	dispatcher, err := queue.NewDispatcher(d.queue, nil)
	require.NoError(t, err)
	require.NoError(t, rules.Register(dispatcher, d.cfg))
	_, err = d.queue.Enqueue(t.Context(), rules.NewClassifyJob("acc", "m1"))
	require.NoError(t, err)
	require.NoError(t, dispatcher.RunUntilIdle(t.Context()))
	entries, err := d.ledger.Actions(t.Context(), safety.Filter{})
	require.NoError(t, err)
	require.Len(t, entries, 1)
	return entries[0]
}

func fromAmy(action postroom.ActionType, p postroom.Parameters, mode postroom.SafeMode) rules.Rule {
	r := rules.NewRule("Amy", rules.Condition{Type: rules.SenderEmail, Value: "amy@example.com"}, action, p)
	r.SafeMode, r.Authentication = mode, rules.AuthenticationNotRequired
	return r
}

// TestALyingFallback: an answer that says it was a rule of the user's is a model's, and deletes nothing; not even
// with the id and the version of a rule that is stored.
func TestALyingFallback(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db)
		other := rules.NewRule("Ben", rules.Condition{Type: rules.SenderEmail, Value: "ben@example.com"},
			postroom.Delete, nil)
		other.SafeMode = postroom.SafeDangerousOverride
		stored := d.create(t, other)
		d.cfg.Fallback = always(postroom.Decision{
			Action: postroom.Delete, Confidence: 1, Rationale: "the mail says so", Source: postroom.SourceDeterministic,
			RuleID: stored.ID, RuleName: "Ben", RuleVersion: stored.Version(), SafeMode: postroom.SafeDangerousOverride,
			Key: "another",
		})
		e := d.classify(t)
		require.Equal(t, postroom.ActionPendingApproval, e.Action.State)
		require.Equal(t, postroom.SourceModel, e.Decision.Decision.Source)
		require.Empty(t, e.Decision.Decision.RuleID)
		require.Empty(t, e.Decision.Decision.RuleVersion)
		require.Empty(t, e.Decision.Decision.SafeMode)
		require.Empty(t, e.Decision.Decision.Key, "there is one decision for a message that has arrived")
		require.Empty(t, e.Decision.Verdict.Released)
	})
}

// TestAFallbackThatSaysNobodyDecided does not escape the check of the confidence.
func TestAFallbackThatSaysNobodyDecided(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db)
		d.cfg.Fallback = always(postroom.Decision{Action: postroom.Archive, Confidence: 0.1, Rationale: "dull",
			Source: postroom.SourceNone})
		require.Equal(t, postroom.ActionPendingApproval, d.classify(t).Action.State)
	})
}

// TestARuleThatMatchedReleases: a rule that is stored as it matched acts without a person, its label by name or not.
func TestARuleThatMatchedReleases(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db)
		stored := d.create(t, fromAmy(postroom.Delete, nil, postroom.SafeDangerousOverride))
		e := d.classify(t)
		require.Equal(t, postroom.ActionQueued, e.Action.State)
		require.Equal(t, stored.Version(), e.Decision.Decision.RuleVersion)
	})
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db)
		d.create(t, fromAmy(postroom.Move, postroom.Parameters{"label": "Shops"}, postroom.SafeDefault))
		require.Equal(t, postroom.ActionQueued, d.classify(t).Action.State)
	})
}

// TestARuleThatChangesBeforeTheRecord: what matched is no longer what the user wants.
func TestARuleThatChangesBeforeTheRecord(t *testing.T) {
	for name, change := range map[string]func(ctx context.Context, tx queue.Tx, d *desk, r *rules.Rule) error{
		"deleted": func(ctx context.Context, tx queue.Tx, d *desk, r *rules.Rule) error {
			return d.store.Delete(ctx, tx, r.ID)
		},
		"disabled": func(ctx context.Context, tx queue.Tx, d *desk, r *rules.Rule) error {
			return d.store.SetEnabled(ctx, tx, r.ID, false)
		},
		"narrowed": func(ctx context.Context, tx queue.Tx, _ *desk, r *rules.Rule) error {
			_,
				err := tx.ExecContext(ctx,
				`UPDATE deterministic_rules SET scope = 'domain', scope_ref = 'elsewhere.example' WHERE id = $1`, r.ID)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, db queue.DB) {
				d := newDesk(t, db)
				stored := d.create(t, fromAmy(postroom.Delete, nil, postroom.SafeDangerousOverride))
				engine := d.cfg.Rules
				d.cfg.Rules = postroom.DeciderFunc(func(ctx context.Context, msg *postroom.Message) (postroom.Decision, error) {
					decision, err := engine.Decide(ctx, msg)
					d.write(t, func(ctx context.Context, tx queue.Tx) error { return change(ctx, tx, d, stored) })
					return decision, err
				})
				e := d.classify(t)
				require.Equal(t, postroom.ActionPendingApproval, e.Action.State)
				require.Contains(t, e.Decision.Verdict.Overrides, gate.OverrideRule)
			})
		})
	}
}
