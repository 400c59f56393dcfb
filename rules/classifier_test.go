package rules_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/rulestest"
	"github.com/postroom-go/postroom/rules/internal/storetest"
	"github.com/postroom-go/postroom/rules/rulestore"
)

// decideAtOnce decides about a message that gets its id afterwards, and records that; it reports whether there is
// something to record.
func decideAtOnce(t *testing.T, db queue.DB, cfg rules.Config) bool {
	t.Helper()
	return decideAtOnceAbout(t, db, cfg, mailFrom("amy@example.com"))
}

func decideAtOnceAbout(t *testing.T, db queue.DB, cfg rules.Config, msg *postroom.Message) bool {
	t.Helper()
	c, err := rules.NewClassifier(cfg)
	require.NoError(t, err)
	msg.ID = ""
	record, err := c.Decide(t.Context(), msg)
	require.NoError(t, err)
	if record == nil {
		return false
	}
	msg.ID = "m1"
	require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		if _, err := tx.ExecContext(ctx, createLedger); err != nil {
			return err
		}
		return record(ctx, tx)
	}))
	return true
}

func withStored(t *testing.T, db queue.DB, s *rulestore.Store, list ...rules.Rule) (rules.Config, *ledger) {
	t.Helper()
	for _, r := range list {
		storetest.Create(t, db, s, r)
	}
	box, l := &mailbox{labels: map[string]string{"shops": "Label_7"}}, &ledger{refused: map[string]string{}}
	e, err := rules.NewEngine(rules.EngineConfig{Store: s, Senders: seenAlways{}})
	require.NoError(t, err)
	return rules.Config{Messages: box, Labels: box, Ledger: l, Rules: e}, l
}

// seenAlways are senders of whom all have written before.
type seenAlways struct{}

func (seenAlways) SenderSeen(context.Context, *postroom.Message) (bool, error) { return true, nil }

func TestClassifierDecidesByRulesAtOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		r := rules.NewRule("shopping", rulestest.FromDomain("example.com"), postroom.Move,
			postroom.Parameters{"label": "SHOPS"})
		r.Also = []rules.RuleAction{{Type: postroom.ApplyLabel, Parameters: postroom.Parameters{"label": "None"}}}
		cfg, l := withStored(t, db, s, r)
		require.True(t, decideAtOnce(t, db, cfg))
		require.Equal(t, []string{"move Label_7"}, actionsOf(l.recorded))
		require.Equal(t, postroom.SourceDeterministic, l.recorded[0].Source)
		require.Len(t, l.refused, 1, "there is no label None")
	})
}

func TestClassifierLeavesToTheJobWhatRulesAloneDoNotDecide(t *testing.T) {
	seen, err := rules.ParseCondition([]byte(`{"type":"sender_seen"}`))
	require.NoError(t, err)
	other := rules.NewRule("other", rulestest.FromDomain("example.net"), postroom.Star, nil)
	mine := rules.NewRule("mine", rulestest.FromDomain("example.com"), postroom.Star, nil)
	model := always(postroom.Decision{Action: postroom.Archive, Confidence: 1, Rationale: "dull",
		Source: postroom.SourceModel})
	for name, test := range map[string]struct {
		list   []rules.Rule
		change func(*rules.Config)
		atOnce bool
	}{
		"a rule decides":                           {[]rules.Rule{mine}, func(c *rules.Config) { c.Fallback = model }, true},
		"no rule decides, and there is no model":   {[]rules.Rule{other}, func(*rules.Config) {}, true},
		"no rule decides, and a model is there to": {[]rules.Rule{other}, func(c *rules.Config) { c.Fallback = model }, false},
		"a rule asks about other messages":         {[]rules.Rule{mine, rules.NewRule("known", seen, postroom.Star, nil)}, func(*rules.Config) {}, false},
		"what decides may want the stored message": {nil, func(c *rules.Config) { c.Rules = byRule(postroom.Star, nil) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
				cfg, l := withStored(t, db, s, test.list...)
				test.change(&cfg)
				require.Equal(t, test.atOnce, decideAtOnce(t, db, cfg))
				require.Equal(t, test.atOnce, len(l.recorded) == 1)
			})
		})
	}
}

func TestClassifierSaysThatThereIsNoModel(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		storetest.Import(t, db, s, "", []rules.Rule{}...)
		cfg, l := withStored(t, db, s)
		require.True(t, decideAtOnce(t, db, cfg))
		require.Equal(t, "No deterministic rule matched, and no model is configured", l.recorded[0].Rationale)
	})
}

// A model is not asked about mail that has become old.
func TestAModelIsNotAskedAboutOldMail(t *testing.T) {
	asked := always(postroom.Decision{Action: postroom.Archive, Confidence: 1, Rationale: "dull",
		Source: postroom.SourceModel})
	for age, atOnce := range map[time.Duration]bool{time.Hour: true, 100 * 365 * 24 * time.Hour: false, 0: false} {
		storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
			storetest.Import(t, db, s, "", []rules.Rule{}...)
			cfg, l := withStored(t, db, s)
			cfg.Fallback, cfg.FallbackAge = asked, age
			msg := mailFrom("amy@example.com")
			msg.ReceivedAt = time.Now().Add(-2 * time.Hour)
			require.Equal(t, atOnce, decideAtOnceAbout(t, db, cfg, msg), age)
			if atOnce {
				require.Equal(t, "No deterministic rule matched, and a model is not asked about mail that is older than 1h0m0s",
					l.recorded[0].Rationale)
				require.Equal(t, postroom.SourceNone, l.recorded[0].Source)
			}
		})
	}
}

func TestClassifierNeedsWhatRegisterNeeds(t *testing.T) {
	_, err := rules.NewClassifier(rules.Config{})
	require.ErrorContains(t, err, "rules: Config.Ledger")
}
