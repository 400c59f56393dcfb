package rules_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/storetest"
	"github.com/postroom-go/postroom/rules/rulestore"
)

// TestConfirm: a decision is made again of the same message, at the time when it was made, and not of another.
func TestConfirm(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		deletes := rules.NewRule("old offers", rules.AllOf(rules.Condition{Type: rules.SubjectContains, Value: "offer"},
			rules.Condition{Type: "newer_than", Value: "1h"}, rules.Condition{Type: "unread"}), postroom.Delete,
			postroom.Parameters{"why": "old"})
		deletes.SafeMode = postroom.SafeDangerousOverride
		deletes = *storetest.Create(t, db, s, deletes)
		e := newEngine(t, s)
		now := time.Now().Add(-48 * time.Hour)
		msg := mailFrom("amy@example.com")
		msg.Subject, msg.ReceivedAt, msg.LabelIDs = "An offer", now.Add(-time.Minute), []string{postroom.LabelUnread}
		fresh := *msg
		fresh.ReceivedAt = time.Now()
		permit := postroom.Permit{Decision: decide(t, e, &fresh), DecidedAt: now}
		require.Equal(t, postroom.Delete, permit.Decision.Action)
		confirm := func(change func(msg *postroom.Message, p *postroom.Permit)) string {
			other, p := *msg, permit
			change(&other, &p)
			fault, err := e.Confirm(t.Context(), &other, p)
			require.NoError(t, err)
			return fault
		}
		as := func(*postroom.Message, *postroom.Permit) {}
		const not = "the rules do not decide delete by rule 'old offers' about it, as they are now"
		require.Empty(t, confirm(as))
		for name, change := range map[string]func(msg *postroom.Message, p *postroom.Permit){
			"subject": func(msg *postroom.Message, _ *postroom.Permit) { msg.Subject = "Contract" },
			"label":   func(msg *postroom.Message, _ *postroom.Permit) { msg.LabelIDs = nil },
			"time":    func(_ *postroom.Message, p *postroom.Permit) { p.DecidedAt = now.Add(2 * time.Hour) },
			"version": func(_ *postroom.Message, p *postroom.Permit) { p.Decision.RuleVersion = "1" },
			"rule":    func(_ *postroom.Message, p *postroom.Permit) { p.Decision.RuleID = "another" },
			"parameters": func(_ *postroom.Message, p *postroom.Permit) {
				p.Decision.Parameters = postroom.Parameters{"why": "new"}
			},
		} {
			require.Equal(t, not, confirm(change), name)
		}
		require.Equal(t, "no rule has decided", confirm(func(_ *postroom.Message, p *postroom.Permit) {
			p.Decision.Source = postroom.SourceModel
		}))

		// Apply may leave rules out: the rule alone counts, at the version that decided.
		batch := func(_ *postroom.Message, p *postroom.Permit) { p.Decision.Key = rules.BatchKey("b") + "1" }
		require.Empty(t, confirm(batch))
		keep := rules.NewRule("keep", rules.Condition{Type: rules.SubjectContains, Value: "offer"}, postroom.None, nil)
		keep.Priority = 1
		storetest.Create(t, db, s, keep)
		require.Equal(t, not, confirm(as), "another rule would have decided")
		require.Empty(t, confirm(batch))
		storetest.Write(t, db, func(ctx context.Context, tx queue.Tx) error { return s.Delete(ctx, tx, deletes.ID) })
		require.Empty(t, confirm(batch), "as it was")
		require.Equal(t, not, confirm(func(msg *postroom.Message, p *postroom.Permit) {
			batch(msg, p)
			msg.Subject = "Contract"
		}))
		require.Equal(t, "rule 'old offers' is not stored as it was when it decided",
			confirm(func(msg *postroom.Message, p *postroom.Permit) {
				batch(msg, p)
				p.Decision.RuleVersion = "1"
			}))
	})
}
