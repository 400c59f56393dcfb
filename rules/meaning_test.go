package rules_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/rulestest"
	"github.com/postroom-go/postroom/rules/internal/storetest"
	"github.com/postroom-go/postroom/rules/rulestore"
)

// meansWith reports whether a condition matches a message of which a meaning is known.
func meansWith(t *testing.T, condition string, m rules.Meaning) (found bool) {
	t.Helper()
	set := rules.NewSetWithFacts([]rules.Rule{rules.NewRule("r", of(t, condition), postroom.Star, nil)}, nil)
	require.Empty(t, set.Broken())
	msg := &postroom.Message{From: postroom.Address{Email: "amy@a.example"}}
	for range set.AllWith(msg, now, &rules.Facts{Meaning: m}) {
		found = true
	}
	explained := set.ExplainWith(msg, now, &rules.Facts{Meaning: m}).Rules[0]
	require.Equal(t, found, explained.Outcome == rules.Matched)
	require.NotEmpty(t, explained.Reason)
	return found
}

// A rule about the meaning of mail matches when that is known, and not before, whatever it says.
func TestPredicatesAboutTheMeaning(t *testing.T) {
	topic, priority := rules.Meaning{Topic: "Work"}, rules.Meaning{Priority: "high", HasActionItems: true}
	events := rules.Meaning{EventsKnown: true, HasEvent: true}
	all := rules.Meaning{Topic: "Work", Priority: "low", EventsKnown: true}
	for _, test := range []struct {
		condition string
		meaning   rules.Meaning
		want      bool
	}{
		{"{type: topic, value: work}", topic, true}, {"{type: topic, values: [home, WORK]}", topic, true},
		{"{type: topic, value: home}", topic, false}, {"{type: topic, value: work}", priority, false},
		{"{op: not, children: [{type: topic, value: home}]}", topic, true},
		{"{op: not, children: [{type: topic, value: home}]}", priority, false},
		{"{op: or, children: [{type: topic, value: work}, {type: priority, value: high}]}", topic, false},
		{"{op: or, children: [{type: sender_domain, value: a.example}, {type: priority, value: high}]}", topic, false},
		{"{type: priority, value: HIGH}", priority, true}, {"{type: priority, value: low}", priority, false},
		{"{type: has_action_items}", priority, true}, {"{type: has_action_items}", all, false},
		{"{op: not, children: [{type: has_action_items}]}", all, true},
		{"{op: not, children: [{type: has_action_items}]}", topic, false},
		{"{type: has_event}", events, true}, {"{type: has_event}", all, false},
		{"{op: not, children: [{type: has_event}]}", all, true}, {"{op: not, children: [{type: has_event}]}", topic, false},
		{"{type: sender_domain, value: a.example}", rules.Meaning{}, true},
	} {
		require.Equal(t, test.want, meansWith(t, test.condition, test.meaning), "%s with %+v", test.condition, test.meaning)
	}
	set := rules.NewSetWithFacts([]rules.Rule{rules.NewRule("r", of(t, "{type: topic, value: home}"), postroom.Star,
		nil)}, nil)
	msg := &postroom.Message{}
	require.Equal(t, `it fails: topic "home" (it is "Work")`, set.ExplainWith(msg, now, &rules.Facts{Meaning: topic}).Rules[0].Reason)
	require.Contains(t, set.ExplainWith(msg, now, &rules.Facts{}).Rules[0].Reason, "is not known yet")
	for _, wrong := range []string{`{"type":"topic"}`, `{"type":"priority"}`, `{"type":"has_event","value":"x"}`} {
		_, err := rules.ParseCondition([]byte(wrong))
		require.Error(t, err, wrong)
	}
}

// meanings tells what it is told to.
type meanings struct {
	known rules.Meaning
	err   error
}

func (m *meanings) Meaning(context.Context, *postroom.Message) (rules.Meaning, error) {
	return m.known, m.err
}

// The rules are asked again when it is known what mail means, and only what those decide is recorded that ask for it.
func TestRulesDecideWhenTheMeaningIsKnown(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		known := &meanings{}
		e, err := rules.NewEngine(rules.EngineConfig{Store: s, Meanings: known})
		require.NoError(t, err)
		urgent := rules.NewRule("urgent", rulestest.Predicate(rules.Priority, "high"), postroom.Star, nil)
		urgent.Continue = true
		storetest.Create(t, db, s, urgent)
		storetest.Create(t, db, s, rules.NewRule("news", rulestest.Predicate(rules.SenderDomain, "news.example"),
			postroom.Archive, nil))
		storetest.Create(t, db, s, rules.NewRule("work", rulestest.Predicate(rules.Topic, "work"), postroom.MarkRead, nil))

		msg := mailFrom("amy@example.com")
		msg.ID, msg.LabelIDs = "m", []string{postroom.LabelInbox, postroom.LabelUnread}
		decisions, ok, err := e.DecideUnstored(t.Context(), msg)
		require.NoError(t, err)
		require.True(t, ok, "of new mail nothing is known, and that is known")
		require.Equal(t, postroom.SourceNone, decisions[0].Source)

		l := newKeyedLedger()
		cfg := rules.ApplyConfig{Engine: e, Meant: true, Messages: rulestest.Sequence(msg), Ledger: l,
			Labels: &mailbox{}}
		apply := func(m rules.Meaning) (actions []string) {
			t.Helper()
			known.known, l.decisions = m, map[string]postroom.Decision{}
			_, err := rules.Apply(t.Context(), cfg)
			require.NoError(t, err)
			for key, d := range l.decisions {
				require.Contains(t, key, "m meant:"+d.RuleID+":"+d.RuleVersion+":")
				require.Contains(t, d.Rationale, "asked when it was known what the message means")
				actions = append(actions, string(d.Action))
			}
			return actions
		}
		require.Empty(t, apply(rules.Meaning{}))
		require.Empty(t, apply(rules.Meaning{Topic: "home", Priority: "low"}))
		require.ElementsMatch(t, []string{"star"}, apply(rules.Meaning{Priority: "high"}))
		require.ElementsMatch(t, []string{"star", "mark_read"}, apply(rules.Meaning{Topic: "work", Priority: "high"}))
		msg.From.Email = "x@news.example"
		require.ElementsMatch(t, []string{"star"}, apply(rules.Meaning{Topic: "work", Priority: "high"}),
			"what the rule before decides is an exception, and was done when the mail came")

		known.err = errors.New("database is away")
		_, err = e.Decide(t.Context(), msg)
		require.ErrorIs(t, err, known.err)
		require.ErrorIs(t, err, rules.ErrMeaning)
	})
}

// What becomes known later lets another rule decide; what the first has done is not done again.
func TestARuleDecidesOnceWhateverIsFoundOutLater(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		known := &meanings{}
		e, err := rules.NewEngine(rules.EngineConfig{Store: s, Meanings: known})
		require.NoError(t, err)
		urgent := rules.NewRule("urgent", rulestest.Predicate(rules.Priority, "high"), postroom.Star, nil)
		urgent.Continue = true
		storetest.Create(t, db, s, urgent)
		work := rules.NewRule("work", rulestest.Predicate(rules.Topic, "work"), postroom.MarkRead, nil)
		work.Also = []rules.RuleAction{{Type: postroom.Archive}}
		work = *storetest.Create(t, db, s, work)
		msg := mailFrom("amy@example.com")
		msg.ID, msg.LabelIDs = "m", []string{postroom.LabelInbox, postroom.LabelUnread}

		l := newKeyedLedger()
		cfg := rules.ApplyConfig{Engine: e, Meant: true, Messages: rulestest.Sequence(msg), Ledger: l, Labels: &mailbox{}}
		for _, known.known = range []rules.Meaning{{Topic: "work"}, {Topic: "work", Priority: "high"}} {
			_, err := rules.Apply(t.Context(), cfg)
			require.NoError(t, err)
		}
		require.Len(t, l.decisions, 3, "star, mark_read and archive, once each")
		require.Contains(t, l.decisions, "m meant:"+work.ID+":"+work.Version()+":2")

		l.decisions = map[string]postroom.Decision{}
		cfg.Decided = func(_ context.Context, _ *postroom.Message, rule, version string) (bool, error) {
			return rule == work.ID && version == work.Version(), nil
		}
		done, err := rules.Apply(t.Context(), cfg)
		require.NoError(t, err)
		require.Equal(t, map[string]int{"star": 1}, done.Actions, "the other has decided")
	})
}

// What a mail has talked a model into does nothing dangerous by itself, whatever the rule waives.
func TestAMeaningAloneDoesNothingDangerous(t *testing.T) {
	rule := rules.NewRule("r", of(t, "{op: or, children: [{type: topic, value: work}, {type: sender_domain, value: a.example}]}"),
		postroom.Delete, nil)
	rule.SafeMode, rule.Authentication = postroom.SafeDangerousOverride, rules.AuthenticationNotRequired
	also := rules.NewRule("s", of(t, "{type: sender_domain, value: a.example}"), postroom.Delete, nil)
	msg := &postroom.Message{From: postroom.Address{Email: "amy@a.example"}}
	decided := func(action postroom.ActionType, r rules.Rule) postroom.Decision {
		t.Helper()
		r.Action = action
		x := rules.NewSetWithFacts([]rules.Rule{r}, nil).ExplainWith(msg, now,
			&rules.Facts{Meaning: rules.Meaning{Topic: "work"}})
		require.Equal(t, action, x.Decisions[0].Action)
		return x.Decisions[0]
	}
	d := decided(postroom.Delete, rule)
	require.True(t, d.NeedsApproval)
	require.Contains(t, d.ApprovalReason, "the meaning of the mail")
	require.False(t, decided(postroom.Archive, rule).NeedsApproval)
	require.False(t, decided(postroom.Delete, also).NeedsApproval)
}

func TestARuleThatAsksForAMeaningNobodyKnowsIsBroken(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		r := storetest.Create(t, db, s, rules.NewRule("they", rulestest.Predicate(rules.HasEvent, ""), postroom.Star, nil))
		e, err := rules.NewEngine(rules.EngineConfig{Store: s, Logger: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		require.Equal(t, postroom.SourceNone, decide(t, e, mailFrom("amy@example.com")).Source)
		stored, err := s.Get(t.Context(), r.ID)
		require.NoError(t, err)
		require.False(t, stored.Enabled)
		require.Contains(t, stored.DisabledReason, "nothing is configured that does")
	})
}
