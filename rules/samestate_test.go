package rules_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/safety"
)

// An overtakenLog is a log before which somebody else changes a rule, once, when the rules have been read that it is asked about.
type overtakenLog struct {
	*safety.Ledger
	change func()
}

func (l *overtakenLog) overtake() {
	if change := l.change; change != nil {
		l.change = nil
		change()
	}
}

func (l *overtakenLog) CheckRules(ctx context.Context, tx queue.Tx, kind postroom.RuleKind, stored []postroom.RuleState) ([]postroom.RuleFault, error) {
	l.overtake()
	return l.Ledger.CheckRules(ctx, tx, kind, stored)
}

// An overtakenStore is a store whose rule is changed, once, after it was looked up.
type overtakenStore struct {
	*rules.Store
	change func()
}

func (s *overtakenStore) StoredRule(ctx context.Context, tx queue.Tx, id string) (postroom.StoredRule, error) {
	rule, err := s.Store.StoredRule(ctx, tx, id)
	if change := s.change; change != nil {
		s.change = nil
		change()
	}
	return rule, err
}

// changes are those of a rule by its store.
var changes = map[string]func(ctx context.Context, tx queue.Tx, s *rules.Store, r *rules.Rule) error{
	"created": func(ctx context.Context, tx queue.Tx, s *rules.Store, r *rules.Rule) error {
		_, err := s.Create(ctx, tx, rules.NewRule("Another", r.Condition, postroom.Star, nil))
		return err
	},
	"patched": func(ctx context.Context, tx queue.Tx, s *rules.Store, r *rules.Rule) error {
		_, err := s.Patch(ctx, tx, r.ID, rules.Patch{Priority: new(7)})
		return err
	},
	"disabled": func(ctx context.Context, tx queue.Tx, s *rules.Store, r *rules.Rule) error {
		return s.SetEnabled(ctx, tx, r.ID, false)
	},
	"deleted": func(ctx context.Context, tx queue.Tx, s *rules.Store, r *rules.Rule) error {
		return s.Delete(ctx, tx, r.ID)
	},
}

// TestAChangeMeanwhileIsNoFault: the rules and what the log says about them are read from one state of the database.
func TestAChangeMeanwhileIsNoFault(t *testing.T) {
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, db queue.DB) {
				d := newSignedDesk(t, db, "a")
				require.NoError(t, d.ledger.AdoptRules(t.Context()))
				rule := d.create(t, fromAmy(postroom.Archive, nil, postroom.SafeDefault))
				log := &overtakenLog{Ledger: d.ledger}
				log.change = func() {
					d.write(t, func(ctx context.Context, tx queue.Tx) error { return change(ctx, tx, d.store, rule) })
				}
				store, err := rules.NewStore(rules.StoreConfig{DB: db, Kinds: everyKind(t), Log: log})
				require.NoError(t, err)
				engine, err := rules.NewEngine(rules.EngineConfig{Store: store})
				require.NoError(t, err)
				decided, err := engine.Decide(t.Context(), mailFrom("amy@example.com"))
				require.NoError(t, err)
				require.Nil(t, log.change, "it was changed in between")
				require.False(t, decided.NeedsApproval, decided.Rationale)
				faults, err := store.Faults(t.Context())
				require.NoError(t, err)
				require.Empty(t, faults)
			})
		})
	}
}

// TestARuleThatIsChangedMeanwhileIsNotAltered, though on PostgreSQL the gate sees it before the change, and the log after it.
func TestARuleThatIsChangedMeanwhileIsNotAltered(t *testing.T) {
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			db := dbtest.Postgres(t) // SQLite has one writer
			d := newSignedDesk(t, db, "a")
			require.NoError(t, d.ledger.AdoptRules(t.Context()))
			rule := d.create(t, fromAmy(postroom.Archive, nil, postroom.SafeDefault))
			gate := &overtakenStore{Store: d.store}
			ledger, err := safety.NewLedger(safety.Config{
				DB: db, Kinds: everyKind(t), Rules: gate, Key: []byte(strings.Repeat("a", 32)),
				Execute: func(context.Context, queue.Tx, postroom.Action) error { return nil },
			})
			require.NoError(t, err)
			decided, err := d.cfg.Rules.Decide(t.Context(), mailFrom("amy@example.com"))
			require.NoError(t, err)
			gate.change = func() {
				done := make(chan error) // another goroutine stands for another process
				go func() {
					done <- db.Write(context.Background(), func(ctx context.Context, tx queue.Tx) error { return change(ctx, tx, d.store, rule) })
				}()
				require.NoError(t, <-done)
			}
			var a postroom.Action
			d.write(t, func(ctx context.Context, tx queue.Tx) (err error) {
				a, err = ledger.Record(ctx, tx, mailFrom("amy@example.com"), decided)
				return err
			})
			require.Nil(t, gate.change, "it was changed in between")
			entry, err := ledger.Decision(t.Context(), a.DecisionID)
			require.NoError(t, err)
			require.NotContains(t, entry.Verdict.Overrides, safety.OverrideUnsigned, entry.Verdict.Reasons)
			require.Equal(t, name != "created", a.State == postroom.ActionApprovedPending, "%s %v", a.State, entry.Verdict.Reasons)
		})
	}
}
