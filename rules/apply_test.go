package rules_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/rulestest"
	"github.com/postroom-go/postroom/rules/internal/storetest"
	"github.com/postroom-go/postroom/rules/rulestore"
)

// keyedLedger records a decision once for each message and key, and what it has written only with its transaction.
type keyedLedger struct {
	decisions map[string]postroom.Decision // by message and key
	refused   map[string]string
	failAt    string // a message
	waitFor   postroom.ActionType
}

func newKeyedLedger() *keyedLedger {
	return &keyedLedger{decisions: map[string]postroom.Decision{}, refused: map[string]string{}}
}

var errLedger = errors.New("the ledger is away")

func (l *keyedLedger) Record(_ context.Context, msg *postroom.Message, d postroom.Decision) func(context.Context,
	queue.Tx) (postroom.Action, error) {
	return func(context.Context, queue.Tx) (postroom.Action, error) {
		if msg.ID == l.failAt {
			return postroom.Action{}, errLedger
		}
		l.decisions[msg.ID+" "+d.Key] = d
		if d.Action == l.waitFor {
			return postroom.Action{State: postroom.ActionPendingApproval}, nil
		}
		return postroom.Action{State: postroom.ActionQueued}, nil
	}
}

func (l *keyedLedger) Refuse(_ context.Context, _ queue.Tx, msg *postroom.Message, d postroom.Decision,
	reason string) (postroom.Action, error) {
	l.refused[msg.ID+" "+d.Key] = reason
	return postroom.Action{}, nil
}

func TestApplyRecordsADecisionForEachChange(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		shop := rules.NewRule("shop", rulestest.FromDomain("shop.example"), postroom.Archive, nil)
		shop.Also = []rules.RuleAction{{Type: postroom.ApplyLabel, Parameters: postroom.Parameters{"label": "Shops"}}}
		storetest.Create(t, db, s, shop)
		storetest.Create(t, db, s, rules.NewRule("lost", rulestest.FromDomain("lost.example"), postroom.Move,
			postroom.Parameters{"label": "Gone"}))
		storetest.Create(t, db, s, rules.NewRule("bad", rulestest.FromDomain("bad.example"), postroom.Delete, nil))
		off := storetest.Create(t, db, s, rules.NewRule("off", rulestest.FromDomain("off.example"), postroom.Star, nil))
		require.NoError(t, storetest.Write(t, db, func(ctx context.Context, tx queue.Tx) error {
			return s.SetEnabled(ctx, tx, off.ID, false)
		}))

		var mail []*postroom.Message
		for i := range 250 {
			msg := mailFrom([]string{"a@shop.example", "a@lost.example", "a@bad.example", "a@off.example", "a@b.example"}[i%5])
			msg.ID, msg.LabelIDs = fmt.Sprintf("m%03d", i), []string{postroom.LabelInbox}
			if i%10 == 0 {
				msg.LabelIDs = []string{"Label_7"}
			}
			mail = append(mail, msg)
		}
		l := newKeyedLedger()
		l.waitFor = postroom.Delete
		cfg := rules.ApplyConfig{
			Engine: newEngine(t, s), Messages: rulestest.Sequence(mail...), Batch: "b-1", Ledger: l,
			Labels: &mailbox{labels: map[string]string{"shops": "Label_7"}}, DryRun: true,
		}
		want := rules.Applied{
			Batch: "b-1", Messages: 250, Matched: 150, Actions: map[string]int{"archive": 25, "apply_label": 25, "delete": 50},
			Rules:     map[string]int{"shop": 50, "bad": 50},
			AlreadySo: 50, Refused: 50,
		}
		done, err := rules.Apply(t.Context(), cfg)
		require.NoError(t, err)
		require.Equal(t, want, done)
		require.Empty(t, l.decisions, "a dry run records nothing")

		cfg.DryRun, want.Waiting = false, 50
		done, err = rules.Apply(t.Context(), cfg)
		require.NoError(t, err)
		require.Equal(t, want, done)
		require.Len(t, l.decisions, 100)
		require.Len(t, l.refused, 50)
		for key, d := range l.decisions {
			require.Contains(t, key, " "+rules.BatchKey("b-1"))
			require.Equal(t, postroom.SourceDeterministic, d.Source)
			require.NotEmpty(t, d.RuleVersion)
			require.Contains(t, d.Rationale, "batch b-1")
		}
		require.Equal(t, "Label_7", l.decisions["m005 apply:b-1:2"].Parameters["label"])
		_, err = rules.Apply(t.Context(), cfg)
		require.NoError(t, err)
		require.Len(t, l.decisions, 100, "the same batch again records nothing more")

		cfg.Only, cfg.Batch = []string{"bad"}, ""
		done, err = rules.Apply(t.Context(), cfg)
		require.NoError(t, err)
		require.Equal(t, map[string]int{"bad": 50}, done.Rules)
		require.Len(t, done.Batch, 36)
		for _, name := range []string{"none", "off"} {
			cfg.Only = []string{name}
			_, err = rules.Apply(t.Context(), cfg)
			require.ErrorContains(t, err, name)
		}
	})
}

// A dry run writes nothing, and so does not disable a rule that is broken.
func TestADryRunLeavesABrokenRuleAsItIs(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		storetest.Create(t, db, s, rules.NewRule("good", rulestest.FromDomain("a.example"), postroom.Star, nil))
		// nobody knows
		asks := storetest.Create(t, db, s, rules.NewRule("asks", rules.Condition{Type: rules.SenderSeen}, postroom.Star, nil))
		before, err := s.Revision(t.Context())
		require.NoError(t, err)
		cfg := rules.ApplyConfig{Engine: newEngine(t, s), Messages: rulestest.Sequence(mailFrom("a@a.example")),
			Ledger: newKeyedLedger(), Labels: &mailbox{}, DryRun: true}
		done, err := rules.Apply(t.Context(), cfg)
		require.NoError(t, err)
		require.Equal(t, map[string]int{"good": 1}, done.Rules)
		stored, err := s.Get(t.Context(), asks.ID)
		require.NoError(t, err)
		require.True(t, stored.Enabled)
		after, err := s.Revision(t.Context())
		require.NoError(t, err)
		require.Equal(t, before, after)

		cfg.DryRun = false
		_, err = rules.Apply(t.Context(), cfg)
		require.NoError(t, err)
		stored, err = s.Get(t.Context(), asks.ID)
		require.NoError(t, err)
		require.Contains(t, stored.DisabledReason, "sender_seen")
	})
}

func TestApplySaysHowFarItCame(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		storetest.Create(t, db, s, rules.NewRule("all", rulestest.FromDomain("a.example"), postroom.Star, nil))
		var mail []*postroom.Message
		for i := range 250 {
			msg := mailFrom("a@a.example")
			msg.ID = fmt.Sprintf("m%03d", i)
			mail = append(mail, msg)
		}
		l := newKeyedLedger()
		cfg := rules.ApplyConfig{Engine: newEngine(t, s), Messages: rulestest.Sequence(mail...), Ledger: l,
			Labels: &mailbox{}, Batch: "x"}
		l.failAt = "m150"
		done, err := rules.Apply(t.Context(), cfg)
		require.ErrorIs(t, err, errLedger)
		require.Equal(t, 100, done.Messages)
		require.Equal(t, map[string]int{"star": 100}, done.Actions)
		l.failAt = ""
		done, err = rules.Apply(t.Context(), cfg)
		require.NoError(t, err)
		require.Equal(t, 250, done.Messages)
		require.Len(t, l.decisions, 250)

		away := errors.New("the disk is away")
		cfg.Messages = func(yield func(*postroom.Message, error) bool) { yield(nil, away) }
		_, err = rules.Apply(t.Context(), cfg)
		require.ErrorIs(t, err, away)
	})
}

// people have changed the messages whose ids they hold.
type people map[string]bool

func (p people) Reverses(_ context.Context, msg *postroom.Message, _ *postroom.Decision) (bool, error) {
	return p[msg.ID], nil
}

func TestApplyLeavesAloneWhatPeopleHaveChanged(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		storetest.Create(t, db, s, rules.NewRule("all", rulestest.FromDomain("a.example"), postroom.Star, nil))
		mail := []*postroom.Message{mailFrom("a@a.example"), mailFrom("a@a.example"), mailFrom("a@a.example")}
		mail[0].ID, mail[1].ID, mail[2].ID = "m0", "m1", "m2"
		mail[2].LabelIDs = []string{postroom.LabelStarred}
		l := newKeyedLedger()
		cfg := rules.ApplyConfig{Engine: newEngine(t, s), Messages: rulestest.Sequence(mail...), Ledger: l,
			Labels: &mailbox{}, Batch: "x", People: people{"m0": true, "m2": true}}
		done, err := rules.Apply(t.Context(), cfg)
		require.NoError(t, err)
		require.Equal(t, rules.Applied{Batch: "x", Messages: 3, Matched: 3, Actions: map[string]int{"star": 1},
			Rules: map[string]int{"all": 1}, AlreadySo: 1, LeftAlone: 1}, done)
		require.Contains(t, l.decisions, "m1 apply:x:1")
		require.Len(t, l.decisions, 1)

		cfg.People = nil
		done, err = rules.Apply(t.Context(), cfg)
		require.NoError(t, err)
		require.Zero(t, done.LeftAlone)
		require.Len(t, l.decisions, 2)
	})
}

// What is skipped is counted, and the rest of its rule is done under the keys that it has anyway.
func TestApplySkipsKinds(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		rule := rules.NewRule("all", rulestest.FromDomain("a.example"), postroom.Delete, nil)
		rule.Also = []rules.RuleAction{{Type: postroom.Star}}
		storetest.Create(t, db, s, rule)
		msg := mailFrom("a@a.example")
		msg.ID = "m0"
		l := newKeyedLedger()
		done, err := rules.Apply(t.Context(), rules.ApplyConfig{Engine: newEngine(t, s), Messages: rulestest.Sequence(msg),
			Ledger: l, Labels: &mailbox{}, Batch: "x",
			Skip: func(kind postroom.ActionType) bool { return kind == postroom.Delete }})
		require.NoError(t, err)
		require.Equal(t, rules.Applied{Batch: "x", Messages: 1, Matched: 1, Actions: map[string]int{"star": 1},
			Rules: map[string]int{"all": 1}, Skipped: 1}, done)
		require.Len(t, l.decisions, 1)
		require.Contains(t, l.decisions, "m0 apply:x:2")
	})
}

func TestApplyNamesWhatIsMissing(t *testing.T) {
	_, err := rules.Apply(t.Context(), rules.ApplyConfig{Batch: strings.Repeat("x", 65)})
	for _, field := range []string{"Engine", "Messages", "Labels", "Ledger", "Batch"} {
		require.ErrorContains(t, err, "ApplyConfig."+field)
	}
}
