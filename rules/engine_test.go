package rules_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/mime/authres"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/rulestest"
	"github.com/postroom-go/postroom/rules/internal/storetest"
	"github.com/postroom-go/postroom/rules/rulestore"
)

func mailFrom(email string) *postroom.Message {
	return &postroom.Message{ID: "m1", AccountID: "acc", From: postroom.Address{Email: email}, Subject: "Hello"}
}

func newEngine(t *testing.T, s *rulestore.Store) *rules.Engine {
	t.Helper()
	e, err := rules.NewEngine(rules.EngineConfig{Store: s})
	require.NoError(t, err)
	return e
}

func decide(t *testing.T, e *rules.Engine, msg *postroom.Message) postroom.Decision {
	t.Helper()
	d, err := e.Decide(t.Context(), msg)
	require.NoError(t, err)
	require.NoError(t, d.Validate(nil, time.Now()))
	return d
}

func TestEngineDecidesByTheFirstMatchingRule(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		later := rules.NewRule("later", rulestest.FromDomain("example.com"), postroom.Star, nil)
		later.Priority = 101
		storetest.Create(t, db, s, later)
		r := rules.NewRule("it's first", rulestest.FromDomain("example.com"), postroom.Delete,
			postroom.Parameters{"why": []any{"x"}})
		r.SafeMode, r.Authentication = postroom.SafeDangerousOverride, rules.AuthenticationNotRequired
		created := storetest.Create(t, db, s, r)

		e := newEngine(t, s)
		d := decide(t, e, mailFrom("amy@example.com"))
		require.Equal(t, postroom.Decision{
			Action: postroom.Delete, Parameters: postroom.Parameters{"why": []any{"x"}}, Confidence: 1,
			Rationale:    "Matched deterministic rule 'it's first' (priority 100)",
			Explanations: postroom.Explanations{SalientFeatures: []string{`sender_domain "example.com"`}},
			Source:       postroom.SourceDeterministic, RuleID: created.ID, RuleName: "it's first",
			RuleVersion: created.Version(), SafeMode: postroom.SafeDangerousOverride,
		}, d)

		d.Parameters["why"].([]any)[0] = "changed"
		require.Equal(t, postroom.Parameters{"why": []any{"x"}}, decide(t, e, mailFrom("amy@example.com")).Parameters,
			"a decision shares nothing with its rule")
	})
}

func TestEngineSaysWhenNothingMatches(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		storetest.Create(t, db, s, rules.NewRule("r", rulestest.FromDomain("example.com"), postroom.Star, nil))
		d := decide(t, newEngine(t, s), mailFrom("amy@example.org"))
		require.Equal(t, postroom.None, d.Action)
		require.Equal(t, postroom.SourceNone, d.Source)
		require.Equal(t, "No deterministic rule matched", d.Rationale)
	})
}

func TestEngineSeesEachChangeAtTheNextDecision(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		storetest.Import(t, db, s, "", []rules.Rule{}...)
		e := newEngine(t, s)
		msg := mailFrom("amy@example.com")
		require.Equal(t, postroom.None, decide(t, e, msg).Action)

		id := storetest.Create(t, db, s, rules.NewRule("r", rulestest.FromDomain("example.com"), postroom.Star, nil)).ID
		require.Equal(t, postroom.Star, decide(t, e, msg).Action)

		archive := postroom.Archive
		require.NoError(t, storetest.Write(t, db, func(ctx context.Context, tx queue.Tx) error {
			_, err := s.Patch(ctx, tx, id, rulestore.Patch{Action: &archive})
			return err
		}))
		require.Equal(t, postroom.Archive, decide(t, e, msg).Action)

		require.NoError(t, storetest.Write(t, db, func(ctx context.Context, tx queue.Tx) error {
			return s.SetEnabled(ctx, tx, id, false)
		}))
		require.Equal(t, postroom.None, decide(t, e, msg).Action)
	})
}

func TestABrokenRuleIsIsolatedAndDisabled(t *testing.T) {
	spoiled := map[string]string{
		"a regex of another engine":   `UPDATE deterministic_rules SET conditions = '{"type":"subject_regex","value":"(?=x)"}' WHERE id = $1`,
		"a type of a newer program":   `UPDATE deterministic_rules SET conditions = '{"type":"mood","value":"glad"}' WHERE id = $1`,
		"conditions of another shape": `UPDATE deterministic_rules SET conditions = '[1]' WHERE id = $1`,
		"parameters of another shape": `UPDATE deterministic_rules SET parameters = '"x"' WHERE id = $1`,
	}
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		for name, statement := range spoiled {
			t.Run(name, func(t *testing.T) {
				broken := storetest.Create(t, db, s, rules.NewRule("broken "+name, rulestest.FromDomain("example.com"),
					postroom.Star, nil))
				good := storetest.Create(t, db, s, rules.NewRule("good "+name, rulestest.FromDomain("example.com"),
					postroom.Archive, nil))
				require.NoError(t, storetest.Write(t, db, func(ctx context.Context, tx queue.Tx) error {
					_, err := tx.ExecContext(ctx, statement, broken.ID)
					return err
				}))
				var log bytes.Buffer
				e, err := rules.NewEngine(rules.EngineConfig{Store: s, Logger: slog.New(slog.NewTextHandler(&log, nil))})
				require.NoError(t, err)
				require.Equal(t, good.ID, decide(t, e, mailFrom("amy@example.com")).RuleID)

				stored, err := s.Get(t.Context(), broken.ID)
				require.NoError(t, err)
				require.False(t, stored.Enabled)
				require.Contains(t, stored.DisabledReason, "invalid rule")
				require.Contains(t, log.String(), broken.ID)
				log.Reset()
				require.Equal(t, good.ID, decide(t, e, mailFrom("amy@example.com")).RuleID)
				require.Empty(t, log.String(), "it is disabled and told once")

				require.NoError(t, storetest.Write(t, db, func(ctx context.Context, tx queue.Tx) error {
					return s.Delete(ctx, tx, good.ID)
				}))
			})
		}
	})
}

func TestEngineFailsWhenItCannotReadTheRules(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := newEngine(t, s).Decide(ctx, mailFrom("amy@example.com"))
		require.ErrorIs(t, err, context.Canceled)
	})
}

type senders struct {
	seen  bool
	err   error
	asked int
}

func (s *senders) SenderSeen(context.Context, *postroom.Message) (bool, error) {
	s.asked++
	return s.seen, s.err
}

func TestEngineAsksForTheSendersOfThePast(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		storetest.Import(t, db, s, "", []rules.Rule{}...)
		known := &senders{}
		e, err := rules.NewEngine(rules.EngineConfig{Store: s, Senders: known})
		require.NoError(t, err)
		msg := mailFrom("amy@example.com")
		require.Equal(t, postroom.SourceNone, decide(t, e, msg).Source)
		require.Zero(t, known.asked, "no rule asks")

		storetest.Create(t, db, s, rules.NewRule("new", rules.NoneOf(rulestest.Predicate(rules.SenderSeen, "")),
			postroom.Star, nil))
		require.Equal(t, postroom.Star, decide(t, e, msg).Action)
		known.seen = true
		require.Equal(t, postroom.SourceNone, decide(t, e, msg).Source)
		known.err = errors.New("database is away")
		_, err = e.Decide(t.Context(), msg)
		require.ErrorIs(t, err, known.err)
		explained, err := e.Explain(t.Context(), msg)
		require.NoError(t, err, "an explanation says what it does not know")
		require.ErrorIs(t, explained.Unsure, known.err)
		require.Equal(t, rules.Matched, explained.Rules[0].Outcome)
	})
}

func TestARuleThatAsksForSendersNobodyKnowsIsBroken(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		r := storetest.Create(t, db, s, rules.NewRule("new", rules.NoneOf(rulestest.Predicate(rules.SenderSeen, "")),
			postroom.Star, nil))
		e, err := rules.NewEngine(rules.EngineConfig{Store: s, Logger: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		require.Equal(t, postroom.SourceNone, decide(t, e, mailFrom("amy@example.com")).Source)
		stored, err := s.Get(t.Context(), r.ID)
		require.NoError(t, err)
		require.False(t, stored.Enabled)
		require.Contains(t, stored.DisabledReason, "sender_seen needs a record of senders")
	})
}

func TestEngineTakesTheWordOfItsServer(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		storetest.Create(t, db, s, rules.NewRule("known", rulestest.Predicate(rules.Authenticated, ""), postroom.Star, nil))
		msg := mailFrom("amy@example.com")
		msg.Headers = []postroom.Header{
			{Name: "Authentication-Results", Value: "mx.host.example; dmarc=pass header.from=example.com"},
			{Name: "Received", Value: "from a by mx.host.example; Sun, 1 Mar 2026 01:29:58 -0800"},
		}
		require.Equal(t, postroom.SourceNone, decide(t, newEngine(t, s), msg).Source)
		e, err := rules.NewEngine(rules.EngineConfig{Store: s, AuthServer: authres.Server{ID: "mx.host.example"}})
		require.NoError(t, err)
		require.Equal(t, postroom.Star, decide(t, e, msg).Action)
	})
}
